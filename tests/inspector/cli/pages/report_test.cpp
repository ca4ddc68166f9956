// The report in a browser: what the page shows is what `show` and `explain` tell of the same trace.
#include "runtime/numbers.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/inspector/cli/pages/browser.h"
#include "tests/support/paths.h"
#include "traces/history/words/words.h"
#include "viz/tables/cell.h"
#include "viz/tables/view_names.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using paths::sample;

json shown(const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"show", sample(name), "--json"});
    return json::parse(run(more).out);
}

/// A report of a sample, opened at any of its views.
class ReportPage {
public:
    explicit ReportPage(const std::string& name) {
        const Outcome outcome = run({"export", sample(name), "--html", folder_ / "report.html"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
    BrowserPage open(const std::string& at) const { return open_page(folder_ / "report.html", at); }
    std::string html() const { return read_bytes(folder_ / "report.html"); }

private:
    Folder folder_;
};

class EachReport : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Sample, EachReport,
                         ::testing::Values("all-cpu", "partial-offload", "experts-offload", "llava-1.6", "mixed-sampling",
                                           "pipeline"),
                         [](const auto& info) { return as_test_name(info.param); });

TEST_P(EachReport, OpensEveryViewWithoutAComplaint) {
    NEEDS_BROWSER();
    const ReportPage report(GetParam());
    for (const char* view :
         {"nodes", "splits", "copies", "fusion", "memory", "timeline", "tokens", "layers", // and links of before
          "assignments", "kernels", "reuse", "passes"}) {
        const BrowserPage page = report.open("view=" + std::string(view) + "&eval=0");
        EXPECT_EQ(page.complaints, "") << view;
        EXPECT_THAT(page.dom, HasSubstr("aria-selected=\"true\"")) << view;
        EXPECT_THAT(page.dom, Not(HasSubstr("undefined"))) << view;
    }
}

TEST(ReportPages, TheSliderShowsTheAssignmentsOfEachPass) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    for (const char* pass : {"1", "2a", "3", "5"}) {
        const BrowserPage page = report.open("view=assignments&eval=0&pass=" + std::string(pass));
        const json table = shown("partial-offload", {"--what", "assignments", "--eval", "0", "--pass", pass});
        int compared = 0;
        for (const json& row : table["assignments"]) {
            const std::string cells = page.row(row["id"].get<int>());
            if (cells.empty()) {
                continue;
            }
            const std::string backend = row["backend"].is_null() ? "unassigned" : row["backend"].get<std::string>();
            EXPECT_THAT(cells, HasSubstr(row["name"].get<std::string>())) << pass;
            EXPECT_THAT(cells, HasSubstr(backend)) << pass << ": " << row;
            if (!row["cause"].is_null()) {
                EXPECT_THAT(cells, HasSubstr(row["cause"].get<std::string>())) << pass;
            }
            ++compared;
        }
        EXPECT_GT(compared, 150) << pass;
    }
}

TEST(ReportPages, NothingHasATimeBeforeItRan) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const char* time = "title=\"of the kernel that wrote it in this evaluation\"";
    for (const char* pass : {"1", "2a", "5"}) {
        EXPECT_THAT(report.open("view=assignments&eval=0&pass=" + std::string(pass)).dom, Not(HasSubstr(time))) << pass;
    }
    EXPECT_THAT(report.open("view=assignments&eval=0").dom, HasSubstr(time));
}

TEST(ReportPages, WhatABackendWasIsAColumnWhereAPassChangedOne) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const char* was = "title=\"the backend before the pass, or the step, that changed it\"";
    EXPECT_THAT(report.open("view=assignments&eval=0&pass=2a").dom, HasSubstr(was));
    EXPECT_THAT(report.open("view=assignments&eval=0").dom, Not(HasSubstr(was)));
}

TEST(ReportPages, ThePictureIsColouredAsOfThePass) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const BrowserPage first = report.open("view=nodes&eval=0&pass=1"), second = report.open("view=nodes&eval=0&pass=2a");
    EXPECT_THAT(first.text, HasSubstr("unassigned"));
    EXPECT_THAT(first.text, Not(HasSubstr("by 2.sup")));
    EXPECT_THAT(second.text, HasSubstr("V Vulkan0 by 2.sup"));
    EXPECT_THAT(second.text, HasSubstr("●")) << "what changed is marked not by colour alone";
}

/// What a query asks of tensors no row of a split, a buffer or a device says.
TEST(ReportPages, ASearchSaysWhereTensorsAreThatTheViewHasNoRowsOf) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const json all = shown("partial-offload", {"--what", "assignments", "--eval", "0"})["assignments"];
    const auto n = std::count_if(all.begin(), all.end(), [](const json& row) { return row["op"] == "ROPE"; });
    EXPECT_THAT(report.open("view=splits&eval=0&q=op%3DROPE").text,
                HasSubstr("0 rows of 24; " + std::to_string(n) + " tensors in 1 nodes"));
    const std::string memory = report.open("view=memory&eval=0&q=op%3DROPE").text;
    EXPECT_THAT(memory, ContainsRegex("[1-9][0-9]* found"));
    EXPECT_THAT(memory, Not(HasSubstr("rows of")));
    EXPECT_THAT(memory, HasSubstr("own memory in")) << "the tables of buffers stay";
    EXPECT_THAT(report.open("view=timeline&eval=0&q=backend%3DVulkan0").text, HasSubstr("what each device did"));
}

TEST(ReportPages, SearchFindsWhatTheTableHas) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    int expected = 0;
    const json table = shown("partial-offload", {"--what", "assignments", "--eval", "0"});
    for (const json& row : table["assignments"]) {
        expected += row["op"] == "MUL_MAT" && row["backend"] == "Vulkan0" ? 1 : 0;
    }
    ASSERT_GT(expected, 5);
    const BrowserPage page = report.open("view=assignments&eval=0&q=op%3DMUL_MAT%20backend%3Dvulkan0");
    EXPECT_THAT(page.text, HasSubstr(std::to_string(expected) + " rows of "));
    EXPECT_THAT(report.open("view=nodes&eval=0&q=cause~1.off").dom, HasSubstr("hit"));
    EXPECT_THAT(report.open("view=nodes&q=colour%3Dred").text, HasSubstr("'colour' is no field; there are name op "));
}

TEST(ReportPages, ALinkToWhatIsNotThereSaysSo) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const auto missed = [&](const std::string& at) {
        const std::string text = report.open(at).text;
        const size_t begin = text.find("the link's ");
        return begin == std::string::npos ? "" : text.substr(begin, text.find(" not in this report") - begin);
    };
    EXPECT_EQ(missed("eval=99"), "the link's eval=99 is");
    EXPECT_EQ(missed("eval=0&pass=9&view=dreams&tensor=no-such"), "the link's pass=9, view=dreams, tensor=no-such are");
    EXPECT_EQ(missed("colour=red"), "the link's colour=red is");
    EXPECT_EQ(missed("q=%E0%A4%A"), "the link's q=%E0%A4%A is");
    EXPECT_EQ(missed("eval=0&pass=2a&view=assignments&q=op%3DMUL_MAT&tensor=norm-0"), "");
    EXPECT_EQ(missed(""), "");
}

TEST(ReportPages, CopiesTellHowManyExpertsTheyTook) {
    NEEDS_BROWSER();
    const BrowserPage page = ReportPage("experts-offload").open("view=copies&eval=0");
    int compared = 0;
    const json table = shown("experts-offload", {"--what", "copies", "--eval", "0"});
    for (const json& row : table["copies"]) {
        if (!row["experts"].is_null()) {
            const std::string cells = page.row(row["id"].get<int>());
            EXPECT_THAT(cells, HasSubstr(row["experts"].dump() + row["experts_total"].dump())) << row;
            ++compared;
        }
    }
    EXPECT_GT(compared, 0);
}

TEST(ReportPages, ALinkToANameOfManySaysWhichItTook) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    EXPECT_THAT(report.open("eval=0&view=nodes&tensor=norm-2").text, HasSubstr("2 tensors have this name; this is number 1"));
    EXPECT_THAT(report.open("eval=0&view=nodes&tensor=embd").text, Not(HasSubstr("tensors have this name")));
}

/// The report opened at `at`, then keys are pressed.
BrowserPage after_keys(const std::string& report, const std::string& at, const std::vector<std::string>& keys) {
    const Folder folder;
    std::string page = report,
                script = "<script>for (const key of " + json(keys).dump() +
                         ") document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));</script>";
    page.insert(page.rfind("</body>"), script);
    write_bytes(folder / "report.html", page);
    return open_page(folder / "report.html", at);
}

TEST(ReportPages, TheViewsHaveTheInspectorsNamesOrderAndKeys) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const std::string dom = report.open("eval=0").dom;
    size_t before = 0;
    for (size_t i = 0; i < view_names.size(); ++i) {
        const std::string name(view_names[i]), key = std::to_string((i + 1) % 10);
        const size_t tab = dom.find(std::string(">").append(key).append(" ").append(name).append("</button>"));
        if (name == "what-if" || name == "queries" ||
            name == "values") { // the first two are the inspector's; nothing was watched
            EXPECT_EQ(tab, std::string::npos) << name;
            continue;
        }
        ASSERT_NE(tab, std::string::npos) << name;
        EXPECT_GT(tab, before) << name;
        before = tab;
        const BrowserPage opened = after_keys(report.html(), "eval=0&view=layers", {key});
        EXPECT_THAT(opened.dom, ContainsRegex("id=\"tab-" + name + "\" aria-selected=\"true\"")) << name;
        EXPECT_EQ(opened.complaints, "") << name;
    }
    EXPECT_GT(dom.find(">layers</button>"), before) << "the report's own";
}

TEST(ReportPages, TheInspectorsKeysGoFromPassToPass) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const auto pass_after = [&](const std::vector<std::string>& keys) {
        const std::string dom = after_keys(report.html(), "eval=0&view=splits&pass=1", keys).dom;
        const size_t at = dom.find("id=\"pass-text\"");
        return dom.substr(at, dom.find("</output>", at) - at);
    };
    EXPECT_THAT(pass_after({"s"}), HasSubstr("2a "));
    EXPECT_THAT(pass_after({"s", "s", "S"}), HasSubstr("2a "));
    EXPECT_THAT(pass_after({"N"}), HasSubstr("2d ")) << "the four sweeps of pass 2 are one";
    EXPECT_THAT(pass_after({"N", "N"}), HasSubstr("3 "));
    EXPECT_THAT(pass_after({"N", "N", "P"}), HasSubstr("2d "));
}

TEST(ReportPages, AChosenNamesakeStaysTheSameOneInAnotherPlan) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const json table = shown("partial-offload", {"--what", "assignments", "--eval", "0"});
    std::vector<int> ids;
    for (const json& row : table["assignments"]) {
        if (row["name"] == "norm-2") {
            ids.push_back(row["id"].get<int>());
        }
    }
    ASSERT_EQ(ids.size(), 2U);
    for (size_t nth = 0; nth < ids.size(); ++nth) {
        const std::string at = "eval=0&view=assignments&tensor=norm-2%40" + std::to_string(ids[nth]);
        const BrowserPage page = after_keys(report.html(), at, {"]"});
        EXPECT_EQ(page.complaints, "");
        EXPECT_THAT(page.text, HasSubstr("(evaluation 1)"));
        EXPECT_THAT(page.text, HasSubstr("this is number " + std::to_string(nth + 1)));
    }
}

/// Is the row of the chosen tensor within what is seen of its table?
bool shows_chosen_row(const std::string& report, const std::string& at, const std::vector<std::string>& keys) {
    std::string page = report;
    page.insert(
        page.rfind("</body>"),
        "<script>addEventListener('load', () => { const row = document.querySelector('tr.chosen')?.getBoundingClientRect(), "
        "area = document.getElementById('view').getBoundingClientRect(); "
        "document.body.dataset.seen = row !== undefined && row.top >= area.top && row.bottom <= area.bottom; });</script>");
    const BrowserPage shown = after_keys(page, at, keys);
    EXPECT_EQ(shown.complaints, "");
    EXPECT_THAT(shown.dom, HasSubstr("data-seen"));
    return shown.dom.find("data-seen=\"true\"") != std::string::npos;
}

TEST(ReportPages, TheChosenTensorsRowIsSeen) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    EXPECT_TRUE(shows_chosen_row(report.html(), "eval=0&view=assignments&tensor=result_norm", {}));
    EXPECT_TRUE(shows_chosen_row(report.html(), "eval=0&view=splits&tensor=result_norm", {"6"})) << "the table opened behind it";
    EXPECT_TRUE(shows_chosen_row(report.html(), "eval=0&view=assignments&tensor=result_norm", {"k", "k", "k"}));
}

TEST(ReportPages, AnEvaluationWithoutAPlanHasNoTensors) {
    NEEDS_BROWSER();
    // The third of the evaluations, its plan taken away.
    std::string report = ReportPage("partial-offload").html();
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const size_t first = report.find(open) + open.size(), end = report.find("</script>", first);
    json data = json::parse(report.substr(first, end - first));
    ASSERT_GT(data["evaluations"].size(), 3U);
    data["evaluations"][2]["plan"] = -1;
    report.replace(first, end - first, data.dump(-1, ' ', true));
    const BrowserPage without = after_keys(report, "eval=1&view=assignments&tensor=norm-2", {"]", "n", "p", "j", "k", "Enter"});
    EXPECT_EQ(without.complaints, "");
    EXPECT_THAT(without.text, HasSubstr("Nothing was planned for this evaluation."));
    EXPECT_THAT(without.dom, Not(HasSubstr("id=\"story\"")));
    const BrowserPage behind = after_keys(report, "eval=1&view=assignments&tensor=norm-2", {"]", "]"});
    EXPECT_EQ(behind.complaints, "");
    EXPECT_THAT(behind.dom, Not(HasSubstr("id=\"story\""))) << "a number of another plan is no tensor of this one";
    EXPECT_THAT(after_keys(report, "eval=1&view=assignments&tensor=norm-2", {"]", "[", "j"}).dom, HasSubstr("id=\"story\""));
}

TEST(ReportPages, BelowTheMemoryStandsWhatShowTellsOfBuffers) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    for (const std::string eval : {"0", "1"}) {
        const BrowserPage page = report.open("view=memory&eval=" + eval);
        const std::string told = run({"show", sample("partial-offload"), "--what", "memory", "--eval", eval}).out;
        const json rows = shown("partial-offload", {"--what", "memory", "--eval", eval})["memory"];
        ASSERT_FALSE(rows.empty());
        const size_t table = page.dom.find("id=\"below\"");
        ASSERT_NE(table, std::string::npos);
        const std::string buffers = page.dom.substr(table, page.dom.find("</table>", table) - table);
        EXPECT_EQ(count(buffers, "<tr>"), rows.size() + 1);
        for (const json& row : rows) {
            EXPECT_THAT(buffers, HasSubstr("<td>" + row["buffer_type"].get<std::string>() + "</td>"));
            if (!row["replan"].is_null()) {
                EXPECT_THAT(buffers, HasSubstr("<td>" + row["replan"].get<std::string>() + "</td>"));
            }
        }
    }
    EXPECT_THAT(report.open("view=memory&eval=0&pass=2a").dom, Not(HasSubstr("id=\"below\""))) << "not laid out yet";
}

TEST(ReportPages, TellsWhatAnEvaluationIsAndWhyItWasPlanned) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const json rows = shown("partial-offload", {"--what", "reuse"})["reuse"];
    ASSERT_GT(rows.size(), 1U);
    int planned_again = 0, used_again = 0;
    for (size_t eval = 0; eval < std::min<size_t>(rows.size(), 4); ++eval) {
        const BrowserPage page = report.open("view=passes&eval=" + std::to_string(eval));
        EXPECT_THAT(page.text, ContainsRegex("1 sequence, [0-9]+ output"));
        if (const json& failed = rows[eval]["failed"]; failed.is_string() && !failed.get<std::string>().empty()) {
            EXPECT_THAT(page.text,
                        HasSubstr("planned again, because this check of the last one failed: " + failed.get<std::string>()));
            ++planned_again;
        } else if (rows[eval]["reused"] == true) {
            EXPECT_THAT(page.text, HasSubstr("uses the plan of evaluation "));
            ++used_again;
        }
    }
    EXPECT_GT(planned_again, 0);
    EXPECT_GT(used_again, 0);
}

/// Left, top, width and height of the part of the picture that is seen.
std::array<double, 4> seen_part(const BrowserPage& page) {
    const std::string open = "viewBox=\"";
    const size_t at = page.dom.find(open);
    std::array<double, 4> part{};
    if (at == std::string::npos ||
        std::sscanf(page.dom.c_str() + at + open.size(), "%lf %lf %lf %lf", &part[0], &part[1], &part[2], &part[3]) != 4) {
        ADD_FAILURE() << "no picture";
    }
    return part;
}

TEST(ReportPages, TheNodesOpenWhereThePlanStarts) {
    NEEDS_BROWSER();
    const BrowserPage page = ReportPage("partial-offload").open("eval=0&pass=2a&view=nodes");
    const auto [left, top, width, height] = seen_part(page);
    const size_t name = page.dom.find(">embd<"), shape = page.dom.rfind("<rect x=\"", name);
    ASSERT_NE(name, std::string::npos);
    double x = 0, y = 0;
    ASSERT_EQ(std::sscanf(page.dom.c_str() + shape, "<rect x=\"%lf\" y=\"%lf\"", &x, &y), 2);
    EXPECT_GT(x, left);
    EXPECT_LT(x, left + width);
    EXPECT_GT(y, top);
    EXPECT_LT(y, top + height);
}

TEST(ReportPages, TheTimelineHasRoomForItsLongestLabel) {
    NEEDS_BROWSER();
    const BrowserPage page = ReportPage("pipeline").open("eval=1&view=timeline");
    EXPECT_THAT(page.text, HasSubstr("V0.1 Vulkan0.1"));
    EXPECT_LT(seen_part(page)[0], -71); // 14 bold letters of 10 points, and 8 points between them and the lanes
}

TEST(ReportPages, TheTimelinesTablesSayWhatTheyAre) {
    NEEDS_BROWSER();
    const std::string text = ReportPage("partial-offload").open("eval=0&view=timeline").text;
    const size_t devices = text.find("what each device did"), kernels = text.find("the same, kernel by kernel"),
                 in_order = text.find("kernels, in order");
    EXPECT_LT(devices, kernels);
    EXPECT_LT(kernels, in_order);
    EXPECT_NE(in_order, std::string::npos);
    const std::string other = ReportPage("llama-cpp").open("view=timeline").text;
    EXPECT_THAT(other, HasSubstr("No kernels were recorded: the bars are whole splits."));
    EXPECT_THAT(other, Not(HasSubstr("no rows")));
}

TEST(ReportPages, AnEmptyListSaysWhyAsTheInspectorDoes) {
    NEEDS_BROWSER();
    const std::string text = ReportPage("llama-cpp").open("view=tokens").text;
    EXPECT_THAT(text, HasSubstr("which tokens were sampled"));
    EXPECT_THAT(text, Not(HasSubstr("no rows")));
}

TEST(ReportPages, NamesOnlyViewsThatAreThere) {
    NEEDS_BROWSER();
    EXPECT_THAT(ReportPage("partial-offload").open("eval=0").text, HasSubstr(" 1…7 views"));
}

TEST(ReportPages, TheSplitsTableEndsWithItsLists) {
    NEEDS_BROWSER();
    const std::string dom = ReportPage("partial-offload").open("eval=0&view=splits").dom;
    EXPECT_LT(dom.find(">share</th>"), dom.find(">copies in</th>"));
    EXPECT_THAT(dom, HasSubstr("blk.0.<wbr>attn_<wbr>norm.<wbr>weight"));
}

TEST(ReportPages, ATextIsNoWiderThanItsBox) {
    NEEDS_BROWSER();
    std::string page = ReportPage("partial-offload").html();
    page.insert(page.rfind("</body>"),
                "<script>addEventListener('load', () => { const widths = [...document.querySelectorAll('svg.picture rect.shape')]"
                ".flatMap(box => [...box.parentNode.querySelectorAll(':scope > text:not(.over)')]"
                ".map(text => text.getBBox().width - box.getBBox().width)); "
                "document.body.dataset.widest = widths.length > 0 && Math.max(...widths) < 0; });</script>");
    EXPECT_THAT(after_keys(page, "eval=0&view=splits", {}).dom, HasSubstr("data-widest=\"true\""));
}

TEST(ReportPages, WhatASplitIsCalledLiesOnNoNode) {
    NEEDS_BROWSER();
    std::string page = ReportPage("partial-offload").html();
    page.insert(
        page.rfind("</body>"),
        "<script>addEventListener('load', () => { const groups = [...document.querySelectorAll('svg.picture g')]; "
        "const names = groups.filter(g => /^split \\d/.test(g.textContent) && !g.querySelector('.shape'))"
        ".flatMap(g => [...g.querySelectorAll('text')].map(text => text.getBBox())); "
        "const boxes = [...document.querySelectorAll('svg.picture g.node > .shape')].map(shape => shape.getBBox()); "
        "const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height; "
        "document.body.dataset.clear = names.length > 40 && boxes.length > 100 && "
        "!names.some(a => boxes.some(b => meet(a, b))); });</script>");
    EXPECT_THAT(after_keys(page, "eval=0&view=nodes", {}).dom, HasSubstr("data-clear=\"true\""));
}

TEST(ReportPages, AStoryIsWhatExplainTells) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    for (const auto& [eval, tensor] :
         {std::pair{"0", "attn_norm-0"}, {"0", "l_out-1"}, {"1", "ffn_norm-2"}, {"2", "ffn_norm-2"}}) {
        const BrowserPage page = report.open("view=nodes&eval=" + std::string(eval) + "&tensor=" + tensor);
        const Outcome told = run({"explain", sample("partial-offload"), tensor, "--eval", eval, "--json"});
        const json story = json::parse(told.out);
        ASSERT_FALSE(story["story"].empty());
        for (const json& step : story["story"]) {
            EXPECT_THAT(page.text, HasSubstr("[step " + std::to_string(step["step"].get<int64_t>()) + "]")) << tensor;
        }
        for (const json& line : story["then"]) {
            EXPECT_THAT(page.text, HasSubstr(line["text"].get<std::string>())) << tensor << " in " << eval;
        }
    }
}

TEST(ReportPages, AStorySaysWhereItGoesOnBehindTheShownPass) {
    NEEDS_BROWSER();
    const ReportPage report("partial-offload");
    const auto at = [&](const std::string& pass) {
        return report.open("view=nodes&eval=0&tensor=attn_norm-0" + (pass.empty() ? "" : "&pass=" + pass)).text;
    };
    const std::string first = at("1"), said = "What follows comes after pass 1, at whose end the plan is shown:";
    ASSERT_THAT(first, HasSubstr(said));
    EXPECT_LT(first.find("[step 285]"), first.find(said));
    EXPECT_LT(first.find(said), first.find("[step 655]"));
    EXPECT_THAT(at("before"), HasSubstr("What follows comes after what is shown, the plan before its first pass:"));
    EXPECT_THAT(at("execute"), Not(HasSubstr("What follows comes after")));
    EXPECT_THAT(at(""), Not(HasSubstr("What follows comes after")));
}

/// What a column of the splits' table says from top to bottom, once its head was clicked.
std::string ordered_column(std::string page, const std::string& title) {
    const Folder folder;
    page.insert(page.rfind("</body>"),
                "<script>addEventListener('load', () => { const head = () => [...document.querySelectorAll('th')]"
                ".find(th => th.textContent.replace(/ [▴▾]$/, '') === '" +
                    title +
                    "'); head().click(); const at = [...head().parentNode.children].indexOf(head());"
                    "document.body.dataset.said = [...document.querySelectorAll('tbody tr')]"
                    ".map(row => row.children[at].textContent).join('|'); });</script>");
    write_bytes(folder / "report.html", page);
    const std::string dom = open_page(folder / "report.html", "view=splits&eval=0").dom, mark = "data-said=\"";
    const size_t begin = dom.find(mark) + mark.size();
    return dom.substr(begin, dom.find('"', begin) - begin);
}

/// "≥ 10.0 KiB", "3 – 5": by what they say, not by their letters.
TEST(ReportPages, ColumnsAreOrderedByNumbersHoweverTheyAreSaid) {
    NEEDS_BROWSER();
    const Folder folder;
    ASSERT_EQ(run({"import", paths::log("2026-05"), "-o", folder / "t.trace"}).code, 0);
    ASSERT_EQ(run({"export", folder / "t.trace", "--html", folder / "r.html"}).code, 0);
    EXPECT_EQ(ordered_column(read_bytes(folder / "r.html"), "bytes"), "0 B|≥ 10.0 KiB|≥ 12.0 MiB");
    EXPECT_THAT(ordered_column(ReportPage("partial-offload").html(), "from – to"),
                ::testing::StartsWith("0 – 0|1 – 1|2 – 2|3 – 5|6 – 7|8 – 11|12 – 20|"));
}

/// Of a log, in which nothing says where tensors lie, and of a run.
TEST(ReportPages, SayOfMemoryWhatShowSays) {
    NEEDS_BROWSER();
    const Folder folder;
    write_bytes(folder / "log",
                "load_tensors:   CPU_Mapped model buffer size =     0.41 MiB\n" + read_bytes(paths::log("several")));
    ASSERT_EQ(run({"import", folder / "log", "-o", folder / "t.trace"}).code, 0);
    ASSERT_EQ(run({"export", folder / "t.trace", "--html", folder / "r.html"}).code, 0);
    const std::string logged = open_page(folder / "r.html", "view=memory").text;
    EXPECT_THAT(logged, AllOf(HasSubstr("Where tensors lie is not recorded"), HasSubstr("model: CPU_Mapped 0.41 MiB"),
                              Not(HasSubstr("Nothing of this view was recorded"))));
    EXPECT_THAT(ReportPage("partial-offload").open("view=memory").text, HasSubstr("reserved beforehand for"));
}

TEST(ReportPages, AVerificationsDifferencesAreATable) {
    NEEDS_BROWSER();
    EXPECT_THAT(ReportPage("all-cpu").open("").dom, Not(HasSubstr("tab-values"))) << "which it has not";
    const Folder folder;
    const std::string trace = folder / "t.trace", device = has_device("Vulkan0") ? "vulkan0" : "cpu";
    ASSERT_EQ(run({"verify", "-m", model("q4_0"), "-p", known_text(10), "--device", device + ",cpu", "--record", trace}).code, 0);
    ASSERT_EQ(run({"export", trace, "--html", folder / "report.html"}).code, 0);
    const json rows = json::parse(run({"show", trace, "--what", "differences", "--eval", "1", "--json"}).out)["differences"];
    ASSERT_FALSE(rows.empty());
    const BrowserPage page = open_page(folder / "report.html", "eval=1&view=values");
    EXPECT_EQ(page.complaints, "");
    EXPECT_THAT(page.dom, HasSubstr("tab-values"));
    EXPECT_THAT(page.dom, Not(HasSubstr("undefined")));
    size_t n = 0;
    for (const json& row : rows) {
        EXPECT_THAT(page.text, HasSubstr(row["tensor"].get<std::string>()));
        n += row["element"].is_null() ? 1 : 0;
    }
    EXPECT_EQ(count(page.dom, "<td>equal</td>"), n);
    EXPECT_EQ(count(page.dom, "<td>within</td>"), rows.size() - n);
}

/// Calls a function of the page's script for each number: its answers, a line each.
std::string written_by_page(const std::string& report, const std::string& function, const std::vector<double>& numbers) {
    const Folder folder;
    std::string page = report;
    page.insert(page.rfind("</body>"), "<script>document.body.append(['<<', ..." + json(numbers).dump() + ".map(n => " +
                                           function + "), '>>'].join('\\n'))</script>");
    write_bytes(folder / "report.html", page);
    const std::string text = open_page(folder / "report.html", "").text;
    const size_t first = text.find("<<\n") + 3;
    return text.substr(first, text.find(">>") - first);
}

TEST(ReportPages, NumbersAreRoundedAsShowRoundsThem) {
    NEEDS_BROWSER();
    const std::string report = ReportPage("all-cpu").html();
    std::vector<double> whole, real;
    for (int64_t unit = 1; unit <= int64_t{1} << 40; unit *= 2) { // many lie halfway
        for (const int64_t n : {3, 5, 8, 9, 33, 203, 999, 1005, 1235, 8448, 9995, 99'950}) {
            whole.push_back(to_double(n * unit));
            real.push_back(to_double(n) / to_double(unit));
        }
    }
    for (int64_t unit = 10; unit <= 1'000'000'000; unit *= 10) {
        for (const int64_t n : {1, 5, 125, 245, 999, 1205, 1235, 9995}) {
            whole.push_back(to_double(n * unit));
            real.push_back(-to_double(n * unit) / 8);
            real.push_back(to_double(n) / to_double(unit));
        }
    }
    const auto expect = [&](const std::string& function, const std::vector<double>& numbers, const auto& write) {
        std::string text;
        for (const double n : numbers) {
            text += write(n) + "\n";
        }
        EXPECT_EQ(written_by_page(report, function, numbers), text) << function;
    };
    expect("bytes(n)", whole, [](double n) { return words::bytes(static_cast<int64_t>(n)); });
    expect("duration(n)", whole, [](double n) { return words::duration(static_cast<int64_t>(n)); });
    expect("WRITE.real(n)", real, [](double n) { return words::number(n); });
    for (const auto& [name, unit] :
         {std::pair{"percent", tables::Unit::percent}, {"rough", tables::Unit::rough}, {"exact", tables::Unit::exact}}) {
        expect("WRITE." + std::string(name) + "(n)", real, [&, unit = unit](double n) { return tables::text_of(n, unit); });
    }
    EXPECT_EQ(written_by_page(report, "WRITE.bars([n, 8])", {0, 1, 3, 4, 8}), " █\n▁█\n▃█\n▄█\n██\n");
    EXPECT_EQ(words::bars({4, 8}), "▄█");
}

TEST(ReportPages, OfAnotherProgramSayWhatIsNotKnown) {
    NEEDS_BROWSER();
    const BrowserPage page = ReportPage("llama-cpp").open("view=timeline");
    EXPECT_EQ(page.complaints, "");
    EXPECT_THAT(page.text, Not(HasSubstr("null")));
    EXPECT_THAT(page.text, HasSubstr("28 plans, 12,175 records"));
    EXPECT_THAT(page.text, HasSubstr("splits on Vulkan0 were not timed: record with --sync"));
}

TEST(ReportPages, ABrokenTraceIsRefused) {
    const Folder folder;
    write_bytes(folder / "t.trace", "no trace");
    const Outcome outcome = run({"export", folder / "t.trace", "--html", folder / "r.html"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_FALSE(exists(folder / "r.html"));
    EXPECT_EQ(run({"export", sample("all-cpu"), "--html", folder / "no" + std::string("where/r.html")}).code, 4);
    EXPECT_EQ(run({"export", sample("all-cpu")}).code, 2);
}

} // namespace
} // namespace schedscope::test
