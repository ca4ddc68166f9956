// Pictures of every pass: the same things at the same places, whatever was decided by then.
#include "runtime/error.h"
#include "tests/viz/parsed.h"
#include "tests/viz/recorded.h"
#include "viz/pictures/picture.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sequence : public ::testing::Test {
protected:
    Sequence() { std::filesystem::create_directory(folder); }
    ~Sequence() override { std::filesystem::remove_all(folder); }
    std::vector<std::string> write(PictureView view, const std::string& name) {
        PictureOptions options;
        options.view = view;
        std::vector<std::string> names = write_pictures_of_passes(history, options, *picture_format_of(name), folder + name);
        for (std::string& file : names) {
            file.erase(0, folder.size());
        }
        return names;
    }
    std::string content(const std::string& name) const {
        std::ostringstream bytes;
        bytes << std::ifstream(folder + name, std::ios::binary).rdbuf();
        return bytes.str();
    }

    const std::string folder = ::testing::TempDir() + "schedscope-sequence-" + std::to_string(getpid()) + "/";
    Sketch sketch = llama(4, 3);
    History history{recorded(sketch)};
};

TEST_F(Sequence, OnePictureAPass) {
    EXPECT_THAT(write(PictureView::nodes, "plan.svg"),
                ElementsAre("plan-1.svg", "plan-2a.svg", "plan-2b.svg", "plan-2c.svg", "plan-2d.svg", "plan-3.svg", "plan-4.svg",
                            "plan-5.svg", "plan-allocate.svg", "plan-execute.svg"));
    EXPECT_THAT(content("plan-2a.svg"), HasSubstr("after pass 2a"));
    EXPECT_THAT(content("plan-5.svg"), HasSubstr("split 1"));
    EXPECT_THAT(write(PictureView::splits, "s.png"), ElementsAre("s-5.png", "s-allocate.png", "s-execute.png"));
    EXPECT_THAT(write(PictureView::memory, "m.pdf"), ElementsAre("m-allocate.pdf", "m-execute.pdf"));
}

TEST_F(Sequence, NothingMoves) {
    for (const PictureView view : {PictureView::nodes, PictureView::layers}) {
        const std::vector<std::string> names = write(view, "plan.dot");
        const Parsed last(content(names.back()));
        ASSERT_GT(last.nodes.size(), 5U);
        for (const std::string& name : names) {
            const Parsed picture(content(name));
            EXPECT_GT(picture.nodes.size(), 5U);
            for (const auto& [id, values] : picture.nodes) {
                ASSERT_EQ(last.nodes.count(id), 1U) << id << " in " << name;
                EXPECT_EQ(values.at("pos"), last.nodes.at(id).at("pos")) << id << " in " << name;
                EXPECT_EQ(values.at("width"), last.nodes.at(id).at("width")) << id << " in " << name;
                EXPECT_EQ(values.at("height"), last.nodes.at(id).at("height")) << id << " in " << name;
            }
            EXPECT_EQ(picture.graph.at("bb"), last.graph.at("bb")) << name;
            ASSERT_EQ(picture.edges.size(), last.edges.size()) << name;
            for (size_t i = 0; i < picture.edges.size(); ++i) {
                EXPECT_EQ(picture.edges[i].values.at("pos"), last.edges[i].values.at("pos")) << name;
            }
        }
    }
}

TEST_F(Sequence, ShowsWhatWasDecidedByThen) {
    write(PictureView::nodes, "plan.dot");
    const Parsed first(content("plan-1.dot")), second(content("plan-2a.dot")), fifth(content("plan-5.dot"));
    EXPECT_THAT(first.label("norm-3"), HasSubstr("unassigned"));
    EXPECT_THAT(second.label("norm-3"), HasSubstr("Vulkan0 by 2.sup"));
    EXPECT_EQ(first.nodes.at("split 1@title").at("style"), "invis") << "not made yet";
    EXPECT_EQ(fifth.nodes.at("split 1@title").at("style"), "");
    EXPECT_THAT(fifth.label("split 1@title"), HasSubstr("split 1"));
}

TEST_F(Sequence, AFailedLayoutWritesNothing) {
    PictureOptions options;
    options.layout_command = {"/proc/self/exe", "--crashing-child"};
    EXPECT_THROW(write_pictures_of_passes(history, options, PictureFormat::svg, folder + "plan.svg"), Error);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace
} // namespace schedscope
