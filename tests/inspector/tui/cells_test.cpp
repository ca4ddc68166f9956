#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"

#include <gtest/gtest.h>

#include <clocale>

namespace schedscope::tui {
namespace {

class Drawn : public ::testing::Test {
protected:
    void SetUp() override {
        std::setlocale(LC_CTYPE, "C.UTF-8");
        set_unicode(true);
    }
};

TEST_F(Drawn, ACellHoldsACharacterWithItsMarks) {
    Cells cells(1, 6);
    cells.text(0, 0, "e\u0301a", {});
    cells.text(0, 3, "n\u0303", {});
    EXPECT_EQ(lines_text(cells.lines()), "e\u0301a n\u0303\n");
    cells.put(0, 0, U'x', {});
    EXPECT_EQ(lines_text(cells.lines()), "xa n\u0303\n") << "with the character its marks go";
}

TEST_F(Drawn, HalfAWideCharacterIsBlank) {
    Cells cells(1, 6);
    cells.text(0, 0, "世界", {});
    cells.put(0, 1, U'x', {});
    EXPECT_EQ(lines_text(cells.lines()), " x界\n");
    cells.put(0, 2, U'y', {});
    EXPECT_EQ(lines_text(cells.lines()), " xy\n");
    cells.text(0, 1, "世", {});
    EXPECT_EQ(lines_text(cells.lines()), " 世\n");
    cells.put(0, 5, U'世', {});
    EXPECT_EQ(text_width(cells.lines()[0].parts[0].text), 6) << "none that reaches over the edge";
}

} // namespace
} // namespace schedscope::tui
