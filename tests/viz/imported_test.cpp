// Pictures and the report of a plan that only a log describes: what it leaves out is shown as unknown, never as 0, nothing or the
// first split.
#include "runtime/error.h"
#include "tests/support/traces/imported.h"
#include "tests/viz/parsed.h"
#include "viz/pictures/picture.h"
#include "viz/report/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace schedscope {
namespace {

using nlohmann::json;
using schedscope::test::Imported;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Node 4, a view, is left out; sizes below a KiB are logged as 0K; where mask, positions and the weight lie is not told.
constexpr std::string_view log_of_three_splits = R"(
## SPLIT #0: CPU # 0 inputs
node #  0 (  GET_ROWS):                 embd (  10K) [  CPU  1.wgt0] use=2,c=1:    token_embd.weight ( 128K) [  CPU   1.dst]           inp_tokens (   0K) [  CPU   1.inp]

## SPLIT #1: Vulkan0 # 3 inputs: [embd (  10K)] [mask (  40K)] [positions (   0K)]
node #  1 (  RMS_NORM):               norm-0 (  10K) [Vulka   2.sup] use=1,c=1:       Vulkan0#embd#0 (  10K) [ NULL        ]
node #  2 (      ROPE):               Qcur-0 (  10K) [Vulka   2.sup] use=1,c=1:               norm-0 (  10K) [Vulka   2.sup]  Vulkan0#positions#0 (   0K) [ NULL        ]
node #  3 (       ADD):                 kq-0 (  10K) [Vulka   2.sup] use=1,c=1:               Qcur-0 (  10K) [Vulka   2.sup]       Vulkan0#mask#0 (  40K) [ NULL        ]

## SPLIT #2: Vulkan0 # 1 inputs: [output_norm.weight (   0K)]
node #  5 (       MUL):          result_norm (  10K) [Vulka   1.off] use=0,c=1:                 kq-0 (  10K) [Vulka   2.sup] Vulkan0#output_norm. (   0K) [ NULL        ]
)";

class ImportedPicture : public ::testing::Test {
protected:
    Imported log = Imported::text(log_of_three_splits);

    Parsed draw(PictureView view) {
        PictureOptions options;
        options.view = view;
        return Parsed(make_dot(*log.history, options));
    }
    std::string refusal(PictureView view, std::optional<Pass> pass = {}) {
        PictureOptions options;
        options.view = view;
        options.pass = pass;
        try {
            make_dot(*log.history, options);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.what();
        }
        return "no error";
    }
};

TEST_F(ImportedPicture, SplitsAddUpWhatIsKnownAndSayThatThereIsMore) {
    const Parsed parsed = draw(PictureView::splits);
    EXPECT_THAT(parsed.graph.at("label"), HasSubstr("3 splits, 4 copies of at least 50.0 KiB, 6 nodes"));
    EXPECT_THAT(parsed.label("split 1"), HasSubstr("3 inputs, at least 50.0 KiB"));
    EXPECT_THAT(parsed.label("split 2"), HasSubstr("1 input, ?"));
    for (const auto& [id, values] : parsed.nodes) {
        EXPECT_THAT(values.at("label"), Not(HasSubstr("0 B"))) << id;
    }
}

TEST_F(ImportedPicture, AnUnknownPlaceIsNotTheFirstSplit) {
    const Parsed parsed = draw(PictureView::splits);
    EXPECT_EQ(parsed.sources_of("split 2"), std::vector<std::string>{"split 2 reads from unknown"});
    EXPECT_THAT(parsed.label("split 2 reads from unknown"),
                AllOf(HasSubstr("unknown"), HasSubstr("output_norm.weight"), HasSubstr("<b>?</b>")));
    EXPECT_EQ(parsed.edge("split 2 reads from unknown", "split 2").values.at("bytes"), "");
    EXPECT_EQ(parsed.edge("split 0", "split 1").values.at("bytes"), "10240") << "embd is computed there";
    EXPECT_THAT(parsed.label("split 1 reads from unknown"), AllOf(HasSubstr("2 copies"), HasSubstr("at least 40.0 KiB")));
}

TEST_F(ImportedPicture, LayersCountTheNodesThatTheLogLeavesOut) {
    const Parsed parsed = draw(PictureView::layers);
    EXPECT_THAT(parsed.graph.at("label"), AllOf(HasSubstr("6 nodes in 3 groups, 3 splits, 4 copies of at least 50.0 KiB"),
                                                HasSubstr("unknown"), HasSubstr("1 node"), HasSubstr("(not in this trace)")));
    EXPECT_THAT(parsed.label("layer 0"), HasSubstr("3 copies for it, at least 50.0 KiB"));
    EXPECT_THAT(parsed.label("output"), AllOf(HasSubstr("Vulkan0 1"), HasSubstr("unknown 1"), HasSubstr("1 copy for it, ?")));
    EXPECT_THAT(parsed.edge("before the layers", "layer 0").values.at("label"), HasSubstr("<b>at least 10.0 KiB</b>"));
}

TEST_F(ImportedPicture, NodesSayWhereACopyComesFromAsFarAsTheLogDoes) {
    const Parsed parsed = draw(PictureView::nodes);
    EXPECT_THAT(parsed.label("Vulkan0#embd#0"), AllOf(HasSubstr("from CPU, "), HasSubstr("10.0 KiB")));
    EXPECT_THAT(parsed.label("Vulkan0#mask#0"), AllOf(HasSubstr("from unknown, "), HasSubstr("40.0 KiB")));
    EXPECT_THAT(parsed.label("Vulkan0#positions#0"), AllOf(HasSubstr("from unknown, "), HasSubstr("<b>?</b>")));
    EXPECT_EQ(parsed.nodes.count("mask"), 0U) << "the copy says all that is known of it";
    EXPECT_THAT(parsed.sources_of("Vulkan0#mask#0"), ::testing::IsEmpty());
    for (const auto& [id, values] : parsed.nodes) {
        EXPECT_THAT(values.at("label"), Not(HasSubstr("unassigned"))) << id;
        EXPECT_THAT(values.at("bytes"), Not(HasSubstr("-"))) << id;
    }
}

TEST_F(ImportedPicture, IsTitledByTheLog) {
    EXPECT_THAT(draw(PictureView::splits).graph.at("label"),
                AllOf(HasSubstr("log schedscope-log-"), Not(HasSubstr("(unknown)"))));
}

TEST_F(ImportedPicture, WhatALogNeverTellsIsRefusedByName) {
    EXPECT_THAT(refusal(PictureView::memory), HasSubstr("where tensors lie is unknown: this trace has no records of memory"));
    EXPECT_THAT(refusal(PictureView::nodes, Pass::place), HasSubstr("this trace has no records of passes; leave out --pass"));
    EXPECT_THROW(write_pictures_of_passes(*log.history, {}, PictureFormat::svg, "/nowhere/p.svg"), Error);
}

TEST_F(ImportedPicture, TheReportHasNoRowForANodeThatIsNotInTheLog) {
    const std::string report = make_report(*log.history, {});
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const size_t first = report.find(open) + open.size();
    const json data = json::parse(report.substr(first, report.find("</script>", first) - first));
    constexpr int unknown = 5, name = 0, role = 5;
    int left_out = 0;
    for (const json& row : data["plans"][0]["tensors"]) {
        const std::string shown = data["texts"][row[name].get<size_t>()];
        EXPECT_NE(shown, "");
        EXPECT_EQ(shown == "(unknown)", row[role] == unknown) << row;
        left_out += row[role] == unknown ? 1 : 0;
    }
    EXPECT_EQ(left_out, 1);
    const json& columns = data["columns"]["copies"];
    const auto bytes =
        std::find_if(columns.begin(), columns.end(), [](const json& c) { return c["key"] == "bytes"; }) - columns.begin();
    for (const json& copy : data["evaluations"][0]["tables"]["copies"]) {
        EXPECT_TRUE(copy[3 + bytes] == "?" || copy[3 + bytes] > 0) << copy;
    }
    for (const char* count : {"tokens", "sequences", "outputs"}) {
        EXPECT_TRUE(data["evaluations"][0][count].is_null()) << count;
    }
}

} // namespace
} // namespace schedscope
