// Reports of runs whose names somebody chose to become markup or script, opened in a browser: nothing of them runs, asks for
// something or becomes an element.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/pages/browser.h"
#include "tests/support/traces/hostile_run.h"
#include "traces/store/writer.h"

#include <cstdio>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>

namespace schedscope::test {
namespace {

constexpr int n_reports = 50;

/// The texts of report number `seed`: half of them pieces that do something, the rest letters and signs.
std::vector<std::string> texts_of(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(120);
    for (uint8_t& byte : bytes) {
        const uint32_t kind = random() % 8;
        byte = static_cast<uint8_t>(kind == 0 ? 0 : kind < 5 ? 0x80 + random() % 0x80 : 0x20 + random() % 0x5F);
    }
    return hostile_texts(bytes);
}

/// Opens page after page in a frame, in each of its views, follows it where it can be clicked, and writes down what should not
/// be. The first page is harmless: what elements and attributes it has, the others may have.
constexpr std::string_view visitor =
    R"(<!doctype html><meta charset="utf-8"><pre id="result">unfinished</pre><iframe id="frame" width="1200" height="800"></iframe><script>
const frame = document.getElementById("frame"), found = [], allowed = new Set();
let harmless = true, visited = 0, clicked = 0;
const turn = () => new Promise(done => setTimeout(done, 0));
const load = file => new Promise(done => { frame.onload = done; frame.src = file; });
const parts = d => {
  const all = ["script", "style", "meta", "title"].map(tag => d.querySelectorAll(tag).length + " " + tag);
  for (const e of d.querySelectorAll("*")) { all.push(e.tagName); for (const a of e.attributes) all.push(e.tagName + " " + a.name); }
  return new Set(all);
};
function look(file, where) {
  const w = frame.contentWindow, d = frame.contentDocument, say = what => found.push(file + " " + where + ": " + what);
  if (!d) return say("it went elsewhere");
  if (w.pwned !== undefined || window.pwned !== undefined) say("a script ran");
  delete w.pwned; delete window.pwned;
  if (!w.location.pathname.endsWith("/" + file)) say("it went to " + w.location);
  for (const asked of w.performance.getEntriesByType("resource")) say("it asked for " + asked.name);
  for (const part of parts(d)) if (harmless) allowed.add(part); else if (!allowed.has(part)) say("it has " + part);
  for (const e of d.querySelectorAll("[style]")) if (/url|expression|import/i.test(e.getAttribute("style"))) say("style " + e.getAttribute("style"));
  ++visited;
}
async function visit(file) {
  await load(file);
  look(file, "opened");
  if (!frame.contentDocument || !frame.contentDocument.getElementById("data")) return;
  const data = JSON.parse(frame.contentDocument.getElementById("data").textContent), names = data.plans[0].tensors.map(t => data.texts[t[0]]);
  for (const view of VIEWS) for (const pass of ["1", "4a"]) {
    const asked = names[visited % names.length];
    frame.contentWindow.location.hash = "eval=0&pass=" + pass + "&view=" + view + "&q=" + encodeURIComponent(asked) + "&tensor=" + encodeURIComponent(asked);
    await turn(); await turn();
    look(file, view);
    const row = frame.contentDocument.querySelector("tr.of, #view svg g[tabindex], #view svg g");
    if (row) { row.dispatchEvent(new MouseEvent("click", {bubbles: true})); ++clicked; await turn(); look(file, view + " clicked"); }
  }
}
(async () => { try { for (const file of FILES) { await visit(file); harmless = false; } } catch (e) { found.push("the visitor failed: " + e.stack); }
document.getElementById("result").textContent = "visited " + visited + ", clicked " + clicked + "\n" + found.join("\n"); })();
</script>)";

BrowserPage visited(const Folder& folder, const std::vector<std::string>& files) {
    std::string page(visitor);
    const auto fill = [&](const std::string& place, const std::string& with) {
        for (size_t at = page.find(place); at != std::string::npos; at = page.find(place, at + with.size())) {
            page.replace(at, place.size(), with);
        }
    };
    const nlohmann::json views{"splits", "layers", "nodes",   "memory", "timeline", "assignments",
                               "copies", "fusion", "kernels", "tokens", "reuse",    "passes"};
    fill("FILES", nlohmann::json(files).dump());
    fill("VIEWS", views.dump());
    write_bytes(folder / "visitor.html", page);
    return open_page(folder / "visitor.html", "", {{"--allow-file-access-from-files"}, std::chrono::minutes(10)});
}

/// A report by the program, pictures and all.
void write_report(const Folder& folder, const std::string& name, const std::vector<std::string>& texts) {
    const std::string trace = folder / (name + ".trace");
    TraceWriter writer(trace);
    record_hostile_run(writer, texts);
    writer.close();
    const Outcome outcome = run({"export", trace, "--html", folder / (name + ".html")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
}

/// What the visitor wrote down; the first line says how much it saw.
std::vector<std::string> findings_of(const BrowserPage& page) {
    const size_t first = page.text.find("visited ");
    return lines_of(page.text.substr(first == std::string::npos ? 0 : first));
}

TEST(HostileReports, RunNothingButTheirOwnScript) {
    NEEDS_BROWSER();
    const Folder folder;
    std::vector<std::string> files;
    const auto add = [&](const std::string& name, const std::vector<std::string>& texts) {
        write_report(folder, name, texts);
        files.push_back(name + ".html");
    };
    add("harmless", {"blk.0.attn_q.weight", "norm-0", "Qcur-0 (reshaped)", "cache_k_l0"});
    for (int i = 0; i < n_reports; ++i) {
        add("report" + std::to_string(i), texts_of(static_cast<uint32_t>(i)));
    }
    const BrowserPage page = visited(folder, files);
    const std::vector<std::string> findings = findings_of(page);
    int n_visited = 0, n_clicked = 0;
    ASSERT_EQ(std::sscanf(findings.at(0).c_str(), "visited %d, clicked %d", &n_visited, &n_clicked), 2) << page.text;
    constexpr int n_views = 12, n_passes = 2;
    EXPECT_GE(n_visited, n_reports * (1 + n_views * n_passes));
    EXPECT_GE(n_clicked, n_reports * n_passes * 4);
    EXPECT_THAT(std::vector<std::string>(findings.begin() + 1, findings.end()), ::testing::Each(""));
    EXPECT_EQ(page.complaints, "");
}

/// What would be found if a report were as careless as this one.
TEST(HostileReports, WouldBeFoundOut) {
    NEEDS_BROWSER();
    const Folder folder;
    write_bytes(folder / "harmless.html", "<!doctype html><meta charset=utf-8><title>t</title><p>norm-0");
    write_bytes(folder / "careless.html",
                "<!doctype html><meta charset=utf-8><title>t</title><p>norm-0<script>window.pwned=1</script><b onclick=\"1\">");
    EXPECT_THAT(findings_of(visited(folder, {"harmless.html", "careless.html"})),
                ::testing::IsSupersetOf({"visited 2, clicked 0", "careless.html opened: a script ran",
                                         "careless.html opened: it has 1 script", "careless.html opened: it has B onclick"}));
}

/// What a page writes to its console, throws, or is not allowed; and the next page is not blamed for it.
TEST(HostileReports, AreHeardComplaining) {
    NEEDS_BROWSER();
    const Folder folder;
    write_bytes(folder / "complains.html",
                "<!doctype html><meta charset=utf-8><meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
                "script-src 'unsafe-inline'\"><script>console.log('it said')</script><script>throw new Error('it threw')</script>"
                "<img src=forbidden.png>");
    write_bytes(folder / "content.html", "<!doctype html><meta charset=utf-8><p>nothing");
    EXPECT_THAT(open_page(folder / "complains.html", "").complaints,
                ::testing::AllOf(::testing::HasSubstr("it said"), ::testing::HasSubstr("it threw"),
                                 ::testing::HasSubstr("forbidden.png")));
    const BrowserPage content = open_page(folder / "content.html", "");
    EXPECT_EQ(content.complaints, "");
    EXPECT_EQ(content.text, "nothing");
}

} // namespace
} // namespace schedscope::test
