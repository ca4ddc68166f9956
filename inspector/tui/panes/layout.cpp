#include "inspector/tui/panes/layout.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace schedscope::tui {

Layout Layout::of(int rows, int cols, const Wishes& wishes) noexcept {
    Layout l;
    l.fits = rows >= least_rows && cols >= least_cols;
    if (!l.fits) {
        return l;
    }
    const int inner = cols - 2;
    // As it comes, the list is neither so narrow that names are cut nor so wide that lines are hard to follow.
    constexpr int usual_percent = 54, most_percent = 58;
    const int wanted = inner * wishes.list_percent.value_or(usual_percent) / 100, widest = inner - narrowest_pane;
    const int for_names = std::min(wishes.list_width, inner * most_percent / 100);
    const bool alone = !wishes.details || cols < cols_for_both, strip = rows >= rows_for_strip;
    const int list_width = alone                 ? (wishes.details && wishes.in_details ? 0 : inner)
                           : wishes.list_percent ? std::clamp(wanted, narrowest_pane, widest)
                                                 : std::min(std::max({wanted, std::min(42, widest), for_names}), 132);
    l.upper = strip ? 2 : 1;
    l.lower = rows - 4 - wishes.guide_rows;
    l.middle = alone ? -1 : 1 + list_width;
    l.strip = {1, 1, strip ? 1 : 0, inner};
    const int most = std::max(l.lower - 8, 0); // a list of four lines is left
    const int drawn = std::min(wishes.drawing_rows, most);
    l.titles = drawn > 0 ? l.upper + 1 + drawn : l.upper;
    l.drawing = {l.upper + 1, 1, drawn, inner};
    l.list_head = {l.titles + 1, 1, 1, list_width};
    l.list = {l.titles + 2, 1, l.lower - l.titles - 2, list_width};
    l.detail = {l.titles + 1, list_width + 2, l.lower - l.titles - 1, inner - list_width - 1};
    if (alone) {
        l.detail.col = 1;
        l.detail.width = inner - list_width;
    }
    l.tabs = {l.lower, 1, 1, cols - 3};
    l.guide = {l.lower + 1, 1, wishes.guide_rows, inner};
    l.status = {rows - 3, 1, 1, inner};
    l.keys = {rows - 2, 1, 1, inner};
    return l;
}

namespace {

struct StripItem {
    Pass pass;
    const char* head; ///< words before the item that belong to several
    const char *longest, *shorter, *shortest;
};
constexpr std::array<StripItem, 11> strip_items{{{Pass::place, "", "1 place", "1 place", "1"},
                                                 {Pass::gpu_down, " 2 expand ", "gpu↓", "gpu↓", "2a"},
                                                 {Pass::gpu_up, "", "gpu↑", "gpu↑", "2b"},
                                                 {Pass::rest_down, "", "rest↓", "rest↓", "2c"},
                                                 {Pass::rest_up, "", "rest↑", "rest↑", "2d"},
                                                 {Pass::refine, "", "3 refine", "3 refine", "3"},
                                                 {Pass::sources, "", "4 sources", "4 sources", "4"},
                                                 {Pass::split, "", "5 split", "5 split", "5"},
                                                 {Pass::optimise, "", "optimise", "opt", "opt"},
                                                 {Pass::allocate, "", "allocate", "alloc", "alloc"},
                                                 {Pass::execute, "", "execute", "exec", "exec"}}};

std::vector<Button<PassPlace>> strip_of(Pass current, int length, bool heads, int gap) {
    std::vector<Button<PassPlace>> buttons;
    int col = 0;
    for (const StripItem& item : strip_items) {
        const bool sweep = item.pass > Pass::gpu_down && item.pass <= Pass::rest_up;
        if (!buttons.empty()) {
            col += sweep ? 0 : gap;
        }
        if (heads && *item.head) {
            buttons.push_back({col, text_width(item.head), item.head, {Pass::rest_up, History::Unit::pass}, false});
            col += text_width(item.head);
        }
        const bool now = item.pass == current;
        const std::string text = std::string(now ? "▸" : " ") + (length == 2   ? item.longest
                                                                 : length == 1 ? item.shorter
                                                                               : item.shortest);
        buttons.push_back({col, text_width(text), text, {item.pass}, now});
        col += text_width(text);
    }
    return buttons;
}

} // namespace

std::vector<Button<PassPlace>> pass_strip(Pass current, int width) {
    struct Try {
        int length;
        bool heads;
        int gap;
    };
    std::vector<Button<PassPlace>> buttons;
    for (const Try& t :
         {Try{2, true, 2}, Try{2, true, 1}, Try{2, false, 1}, Try{1, true, 0}, Try{1, false, 0}, Try{0, false, 0}}) {
        buttons = strip_of(current, t.length, t.heads, t.gap);
        if (buttons.back().col + buttons.back().width <= width) {
            break;
        }
    }
    return buttons;
}

std::vector<Button<Action>> footer(const KeyMap& keys, KeyContext context, int width, const std::function<bool(Action)>& works) {
    struct Item {
        const char* group;
        int rank;
        std::vector<const Binding*> bindings;
        int width = 0;
        bool shown = false;
    };
    std::vector<Item> items;
    for (const Binding& binding : keys.bindings()) {
        if ((binding.contexts & context) == 0 || !binding.group || binding.keys.front() == key_none || !works(binding.action)) {
            continue;
        }
        if (!items.empty() && std::string_view(items.back().group) == binding.group) {
            items.back().bindings.push_back(&binding);
        } else {
            items.push_back({binding.group, binding.rank, {&binding}});
        }
    }
    for (Item& item : items) {
        for (const Binding* binding : item.bindings) {
            item.width += text_width(first_key_text(*binding)) + 1;
        }
        item.width += text_width(item.group);
    }
    // By rank, each takes its room if there is some left.
    std::vector<Item*> by_rank;
    by_rank.reserve(items.size());
    for (Item& item : items) {
        by_rank.push_back(&item);
    }
    std::stable_sort(by_rank.begin(), by_rank.end(), [](const Item* x, const Item* y) { return x->rank < y->rank; });
    int used = -2;
    for (Item* item : by_rank) {
        item->shown = used + item->width + 2 <= width;
        used += item->shown ? item->width + 2 : 0;
    }

    std::vector<Button<Action>> buttons;
    int col = 0;
    for (const Item& item : items) {
        if (!item.shown) {
            continue;
        }
        for (size_t i = 0; i < item.bindings.size(); ++i) {
            const bool last = i + 1 == item.bindings.size();
            const std::string text = joined({first_key_text(*item.bindings[i]), last ? " " : "/", last ? item.group : ""});
            buttons.push_back({col, text_width(text), text, item.bindings[i]->action, false});
            col += text_width(text);
        }
        col += 2;
    }
    return buttons;
}

std::vector<Button<ViewId>> view_tabs(ViewId current, int width) {
    const std::span<const ViewEntry> all = views();
    std::vector<bool> named(all.size(), true);
    const auto in_form = [&](std::string_view gap, bool brief) {
        std::vector<Button<ViewId>> buttons;
        int col = 0;
        for (size_t i = 0; i < all.size(); ++i) {
            const bool now = all[i].id == current;
            const std::string text = joined({now ? "▸" : " ", std::string(1, all[i].key()), named[i] ? gap : "",
                                             !named[i] ? ""
                                             : brief   ? all[i].brief
                                                       : all[i].name});
            buttons.push_back({col, text_width(text), text, all[i].id, now});
            col += text_width(text);
        }
        return buttons;
    };
    const auto fits = [&](const std::vector<Button<ViewId>>& buttons) {
        return buttons.back().col + buttons.back().width <= width;
    };
    for (const auto& [gap, brief] : {std::pair{" ", false}, {"", false}, {"", true}}) {
        if (std::vector<Button<ViewId>> buttons = in_form(gap, brief); fits(buttons)) {
            return buttons;
        }
    }
    const int at = entry_of(current).number();
    std::vector<size_t> farthest_first(all.size());
    std::iota(farthest_first.begin(), farthest_first.end(), 0);
    std::stable_sort(farthest_first.begin(), farthest_first.end(),
                     [&](size_t x, size_t y) { return std::abs(all[x].number() - at) > std::abs(all[y].number() - at); });
    for (const size_t view : farthest_first) {
        named[view] = false;
        if (std::vector<Button<ViewId>> buttons = in_form("", true); fits(buttons)) {
            return buttons;
        }
    }
    return in_form("", true);
}

namespace {

/// A list of two panes on 80 columns. So wide, it has its usual columns, for which names may be cut; a narrower one leaves out
/// some of them, too.
constexpr int usual_list = 40;

} // namespace

int column_gap(std::span<const tables::Column> columns, size_t column, int width) {
    constexpr int roomy = 84;
    const auto of_words = [](const tables::Column& c) { return c.title.find(' ') != std::string_view::npos; };
    for (size_t at = column; at-- > 0;) {
        const tables::Column &before = columns[at], &here = columns[column];
        if (before.from_width <= width) {
            return width >= roomy && is_number(before.unit) && !is_number(here.unit) && (of_words(before) || of_words(here)) ? 2
                                                                                                                             : 1;
        }
    }
    return 0;
}

std::vector<int> column_widths(std::span<const tables::Column> columns, int width, int shown) {
    shown = shown < 0 ? width : shown;
    constexpr int plenty = 26; // cells that a name seldom needs more of
    std::vector<int> widths(columns.size(), 0);
    int used = 0, growing = -1;
    for (size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].from_width > shown) {
            continue;
        }
        widths[i] = columns[i].width;
        used += columns[i].width + column_gap(columns, i, shown);
        if (columns[i].width == 0) {
            growing = int_of(i);
        }
    }
    constexpr int least = 4;
    // Where there is less room than the columns need, the widest are cut first.
    for (int needed = used + (growing < 0 ? 0 : least); needed > width;) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= least) {
            break;
        }
        --*widest;
        --used;
        --needed;
    }
    if (growing < 0) {
        return widths;
    }
    int left = width - used;
    constexpr int enough = 16; // cells of a name for which others that may be cut give way
    for (size_t i = 0; i < columns.size(); ++i) {
        const bool gives = widths[i] > columns[i].least && columns[i].least > 0;
        const int given = gives ? std::clamp(enough - left, 0, widths[i] - columns[i].least) : 0;
        widths[i] -= given;
        left += given;
    }
    int wishes = 0; // of columns that want to be wider
    for (size_t i = 0; i < columns.size(); ++i) {
        wishes += widths[i] > 0 && columns[i].most > widths[i] ? 1 : 0;
    }
    for (size_t i = 0; i < columns.size() && left > plenty && wishes > 0; ++i) {
        if (widths[i] == 0 || columns[i].most <= widths[i]) {
            continue;
        }
        const int more = std::min(columns[i].most - widths[i], (left - plenty) / wishes);
        widths[i] += more;
        left -= more;
        --wishes;
    }
    widths[growing] = std::max(left, least);
    return widths;
}

int width_without_cut_names(std::span<const tables::Column> columns, int width, int name) {
    const auto growing = std::find_if(columns.begin(), columns.end(), [](const tables::Column& c) { return c.width == 0; });
    if (growing == columns.end()) {
        return width;
    }
    for (int shown = width;;) {
        int widest = 0; // that a column needs which is shown, and need not be
        for (const tables::Column& column : columns) {
            widest = column.from_width <= shown ? std::max(widest, column.from_width) : widest;
        }
        if (widest <= usual_list || column_widths(columns, width, shown)[growing - columns.begin()] >= name) {
            return shown;
        }
        shown = widest - 1;
    }
}

int width_with_names(std::span<const tables::Column> columns, int name) {
    int width = name;
    for (size_t i = 0; i < columns.size(); ++i) {
        width += columns[i].from_width <= usual_list ? columns[i].width + column_gap(columns, i, usual_list) : 0;
    }
    return width;
}

} // namespace schedscope::tui
