#include "tests/viz/parsed.h"
#include "tests/viz/sketch.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::HasSubstr;

const std::vector<record::BufferSize> buffer{{0, 0, 2048, 0}};

/// x (0…4), then y in the second half (0…1) whose place z takes over in place at 1, then w where y was.
Sketch packed() {
    Sketch s({"CPU"});
    const TensorId in = s.leaf("in", {1}, 0);
    const TensorId x = s.add("x", Op::ADD, {256}, 0, {in}), y = s.add("y", Op::ADD, {256}, 0, {in}),
                   z = s.add("z", Op::ADD, {256}, 0, {y}), w = s.add("w", Op::ADD, {256}, 0, {z, x});
    s.split_up();
    s.state.placements = {
        {x, no_tensor, 0, 0, 0, 3, 0, 1024}, {y, no_tensor, 0, 0, 1, 2, 1024, 1024}, {z, y, 0, 0, 2, 3, 1024, 1024}};
    (void)w;
    return s;
}

struct Box {
    double left, bottom, right, top;
};
Box box_of(const Parsed& parsed, const std::string& id) {
    const auto& values = parsed.nodes.at(id);
    const auto comma = values.at("pos").find(',');
    const double x = std::stod(values.at("pos")), y = std::stod(values.at("pos").substr(comma + 1));
    const double width = std::stod(values.at("width")) * 72, height = std::stod(values.at("height")) * 72;
    return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

TEST(MemoryView, ARectangleIsTimeByOffset) {
    const Parsed parsed(draw_memory(packed().subject(), 0, buffer));
    const Box frame = box_of(parsed, "buffer 0.0 frame"), x = box_of(parsed, "x"), y = box_of(parsed, "y");
    EXPECT_NEAR(x.left, frame.left, 0.1);
    EXPECT_NEAR(x.right, frame.right, 0.1) << "used from the first node to the last one";
    EXPECT_NEAR(x.bottom, frame.bottom, 0.1);
    EXPECT_NEAR(x.top, (frame.bottom + frame.top) / 2, 0.1) << "half of the buffer";
    EXPECT_NEAR(y.bottom, x.top, 0.1);
    EXPECT_NEAR(y.left, frame.left + (frame.right - frame.left) / 4, 0.1);
}

TEST(MemoryView, WhatWorksInPlaceFollowsItsParentWithoutOverlap) {
    const Parsed parsed(draw_memory(packed().subject(), 0, buffer));
    EXPECT_NEAR(box_of(parsed, "y").right, box_of(parsed, "z").left, 0.1);
    EXPECT_THAT(parsed.nodes.at("z").at("style"), HasSubstr("dotted"));
    EXPECT_THAT(parsed.nodes.at("z").at("tooltip"), HasSubstr("in the place of y"));
}

TEST(MemoryView, TellsSizeAndTheMostInUse) {
    EXPECT_THAT(Parsed(draw_memory(packed().subject(), 0, buffer)).label("buffer 0.0 title"),
                HasSubstr("2.0 KiB, 3 tensors; most in use 2.0 KiB at place 1 (y)"));
}

TEST(MemoryView, FitsAScreenAndNamesSmallBoxesBelow) {
    Sketch s({"CPU"});
    TensorId last = s.leaf("in", {1}, 0);
    constexpr int n = 100;
    for (int i = 0; i < n; ++i) {
        last = s.add("blk." + std::to_string(i) + ".a_long_name", Op::ADD, {256}, 0, {last});
        s.state.placements.push_back({last, no_tensor, 0, 0, i, i + 1, 1024 * (i % 8), 1024});
    }

    s.split_up();
    const Parsed parsed(draw_memory(s.subject(), 0, {}));
    const Box frame = box_of(parsed, "buffer 0.0 frame");
    EXPECT_LE(frame.right - frame.left, 1200);
    size_t unsaid = 0;
    for (const record::Placement& p : s.state.placements) {
        unsaid += parsed.label(s.subject().id(p.tensor)).empty() ? 1 : 0;
    }
    for (int i = 1; i <= n; i += 25) {
        const std::string line = parsed.label("buffer 0.0 key " + std::to_string(i));
        EXPECT_THAT(line, HasSubstr("a_long_name")) << "of number " << i;
    }
    EXPECT_EQ(unsaid, 0U);
    EXPECT_LT(box_of(parsed, "buffer 0.0 key 1").top, frame.bottom);
}

TEST(MemoryView, CountsNodesInRoundNumbers) {
    const Parsed parsed(draw_memory(packed().subject(), 0, buffer));
    EXPECT_TRUE(parsed.nodes.contains("buffer 0.0 use 0"));
    EXPECT_TRUE(parsed.nodes.contains("buffer 0.0 use 4"));
    EXPECT_THAT(parsed.label("buffer 0.0 offset 1024"), HasSubstr("1.0 KiB"));
}

TEST(MemoryView, EachBufferHasItsPanelAndEverySplitABand) {
    Sketch s = llama(2, 1);
    s.split_up();
    s.state.placements = {{s.state.order[0], no_tensor, 1, 0, 0, 3, 0, 4096},
                          {s.state.order.back(), no_tensor, 0, 0, 40, 50, 128, 4096}};
    const Parsed parsed(draw_memory(s.subject(), 0, {}));
    EXPECT_LT(box_of(parsed, "buffer 1.0 frame").top, box_of(parsed, "buffer 0.0 frame").bottom);
    double end = box_of(parsed, "buffer 0.0 frame").left;
    for (size_t split = 0; split < s.state.splits.size(); ++split) {
        const Box band = box_of(parsed, "buffer 0.0 split " + std::to_string(split));
        EXPECT_NEAR(band.left, end, 0.1);
        end = band.right;
    }
    EXPECT_NEAR(end, box_of(parsed, "buffer 0.0 frame").right, 0.1);
}

} // namespace
} // namespace schedscope
