#include "inspector/tui/terminal/key_decoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace schedscope::tui {
namespace {

constexpr char escape = 0x1b, bell = 0x07;
constexpr size_t longest_sequence = 64; // what is longer is none

Key key_of_character(wchar_t c) {
    return c == L'\r' ? key_enter : c == 0x7f || c == 0x08 ? Key{key_backspace} : static_cast<Key>(c);
}

constexpr std::pair<std::string_view, Key> usual[] = {
    {"\x1b[A", key_up},        {"\x1b[B", key_down},     {"\x1b[C", key_right},      {"\x1b[D", key_left},
    {"\x1bOA", key_up},        {"\x1bOB", key_down},     {"\x1bOC", key_right},      {"\x1bOD", key_left},
    {"\x1b[H", key_home},      {"\x1b[F", key_end},      {"\x1bOH", key_home},       {"\x1bOF", key_end},
    {"\x1b[1~", key_home},     {"\x1b[4~", key_end},     {"\x1b[7~", key_home},      {"\x1b[8~", key_end},
    {"\x1b[3~", key_delete},   {"\x1b[5~", key_page_up}, {"\x1b[6~", key_page_down}, {"\x1b[Z", key_back_tab},
    {"\x1bOM", key_enter},     {"\x1bOP", key_f1},       {"\x1bOQ", key_f1 + 1},     {"\x1bOR", key_f1 + 2},
    {"\x1bOS", key_f1 + 3},    {"\x1b[11~", key_f1},     {"\x1b[12~", key_f1 + 1},   {"\x1b[13~", key_f1 + 2},
    {"\x1b[14~", key_f1 + 3},  {"\x1b[15~", key_f1 + 4}, {"\x1b[17~", key_f1 + 5},   {"\x1b[18~", key_f1 + 6},
    {"\x1b[19~", key_f1 + 7},  {"\x1b[20~", key_f1 + 8}, {"\x1b[21~", key_f1 + 9},   {"\x1b[23~", key_f1 + 10},
    {"\x1b[24~", key_f1 + 11},
};

/// `button`: as terminals count: the button in the two lowest bits, 32 for a move, 64 for the wheel; others for keys that were
/// held with it.
Input mouse_event(int button, int row, int col, bool released) {
    constexpr int moved = 32, wheel = 64, which = 3;
    const bool of_wheel = (button & wheel) != 0;
    Input::Kind kind = Input::Kind::none;
    if ((button & moved) == 0 && of_wheel && !released) {
        kind = (button & which) == 0 ? Input::Kind::wheel_up : (button & which) == 1 ? Input::Kind::wheel_down : kind;
    } else if ((button & moved) == 0 && !of_wheel && (button & which) == 0) {
        kind = released ? Input::Kind::release : Input::Kind::click;
    }
    return {kind, key_none, row, col};
}

/// "0;12;7" to three numbers.
bool three_numbers(std::string_view text, std::array<int, 3>& numbers) {
    for (int& number : numbers) {
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec != std::errc()) {
            return false;
        }
        text.remove_prefix(read.ptr - text.data());
        text.remove_prefix(text.starts_with(';') ? 1 : 0);
    }
    return text.empty();
}

} // namespace

void KeyDecoder::learn(std::string_view sequence, Key key) {
    if (sequence.size() > 1 && sequence.front() == escape && key != key_none) {
        known_.insert_or_assign(std::string(sequence), key);
    }
}

Input KeyDecoder::next() {
    while (true) {
        Input input;
        if (!ready_.empty()) {
            input = ready_.front();
            ready_.pop_front();
            return input;
        }
        if (bytes_.empty()) {
            return {};
        }
        if (bytes_.front() != escape) {
            if (character(input)) {
                return input;
            }
            continue;
        }
        character_ = {}; // its rest does not come behind a key
        within_character_ = false;
        const SequenceFound found = sequence(input);
        if (found == SequenceFound::more) {
            return {};
        }
        if (found == SequenceFound::key && input.kind != Input::Kind::none) {
            return input;
        }
    }
}

KeyDecoder::Rest KeyDecoder::waits_for() const noexcept {
    return bytes_.empty() ? Rest::nothing : bytes_.size() == 1 ? Rest::escape : Rest::sequence;
}

void KeyDecoder::give_up() {
    if (bytes_.size() == 1) { // the Escape key
        ready_.push_back({Input::Kind::key, key_escape, 0, 0});
    } else if (bytes_.size() == 2) { // with Alt, terminals send "ESC [": two keys
        ready_.push_back({Input::Kind::key, key_escape, 0, 0});
        ready_.push_back({Input::Kind::key, key_of_character(bytes_[1]), 0, 0});
    }
    bytes_.clear();
}

KeyDecoder::SequenceFound KeyDecoder::drop(size_t n, SequenceFound found) {
    bytes_.erase(0, n);
    return found;
}

KeyDecoder::SequenceFound KeyDecoder::sequence(Input& input) {
    const auto is = [&](std::string_view known, Key key) {
        input = {Input::Kind::key, key, 0, 0};
        return drop(known.size(), SequenceFound::key);
    };
    const std::string_view bytes = bytes_;
    bool may_become = bytes.size() == 1;
    for (const auto& [known, key] : known_) {
        if (bytes.starts_with(known)) {
            return is(known, key);
        }
        may_become = may_become || known.starts_with(bytes);
    }
    for (const auto& [known, key] : usual) {
        if (bytes.starts_with(known)) {
            return is(known, key);
        }
    }
    if (may_become) {
        return SequenceFound::more;
    }
    switch (bytes[1]) {
    case '[': return control_sequence(input);
    case 'O': {
        if (bytes.size() == 2) {
            return SequenceFound::more;
        }
        const unsigned char last = bytes[2];
        return drop(last >= 0x20 && last < 0x7f ? 3 : 2, SequenceFound::nothing);
    }
    case ']':
        if (asked_) {
            return answer_sequence(input);
        }
        [[fallthrough]];
    default: input = {Input::Kind::key, key_escape, 0, 0}; return drop(1, SequenceFound::key);
    }
}

/// ESC [ parameters letter. What can't be part of it ends it.
KeyDecoder::SequenceFound KeyDecoder::control_sequence(Input& input) {
    if (bytes_.starts_with("\x1b[M")) { // a mouse event as old terminals tell it: button, column, row, each with 32 added
        if (bytes_.size() < 6) {
            return SequenceFound::more;
        }
        const auto value = [&](size_t at) { return static_cast<unsigned char>(bytes_[at]) - 32; };
        const bool released = (value(3) & (3 | 64)) == 3; // which button, it doesn't tell
        input = mouse_event(released ? value(3) & ~3 : value(3), value(5) - 1, value(4) - 1, released);
        return drop(6, SequenceFound::key);
    }
    size_t at = 2;
    while (at < bytes_.size() && bytes_[at] >= 0x20 && bytes_[at] < 0x40) {
        ++at;
    }
    if (at == bytes_.size()) {
        return at < longest_sequence ? SequenceFound::more : drop(at, SequenceFound::nothing);
    }
    if (bytes_[at] < 0x40 || bytes_[at] == 0x7f) {
        return drop(at, SequenceFound::nothing);
    }
    if (std::array<int, 3> numbers{}; bytes_[2] == '<' && (bytes_[at] == 'M' || bytes_[at] == 'm') &&
                                      three_numbers(std::string_view(bytes_).substr(3, at - 3), numbers)) {
        input = mouse_event(numbers[0], numbers[2] - 1, numbers[1] - 1, bytes_[at] == 'm');
        return drop(at + 1, SequenceFound::key);
    }
    return drop(at + 1, SequenceFound::nothing);
}

KeyDecoder::SequenceFound KeyDecoder::answer_sequence(Input& input) {
    constexpr std::string_view begin = "\x1b]11;rgb:";
    for (size_t at = 2; at < bytes_.size(); ++at) {
        const char c = bytes_[at];
        const bool with_backslash = c == escape && at + 1 < bytes_.size();
        if (c == escape && !with_backslash) {
            return SequenceFound::more;
        }
        if (c == bell || c == escape) {
            asked_ = false;
            answer_ = at > 5 ? bytes_.substr(5, at - 5) : std::string();
            input = {Input::Kind::answer, key_none, 0, 0};
            return drop(at + (with_backslash && bytes_[at + 1] == '\\' ? 2 : 1), SequenceFound::key);
        }
        const bool fits = at < begin.size() ? c == begin[at]
                                            : at < longest_sequence &&
                                                  std::string_view("0123456789abcdefABCDEF/").find(c) != std::string_view::npos;
        if (!fits) { // that was typed
            return drop(at, SequenceFound::nothing);
        }
    }
    return SequenceFound::more;
}

/// Takes a byte of a character in the locale's encoding. True: it is complete. A byte that is none is passed over, and so is a
/// beginning that it does not continue; it is then looked at once more, as a beginning.
bool KeyDecoder::character(Input& input) {
    const char byte = bytes_.front();
    bytes_.erase(0, 1);
    constexpr size_t invalid = -1, incomplete = -2;
    wchar_t c = 0;
    size_t taken = std::mbrtowc(&c, &byte, 1, &character_);
    if (taken == invalid && within_character_) {
        character_ = {};
        taken = std::mbrtowc(&c, &byte, 1, &character_);
    }
    if (taken == invalid) {
        character_ = {};
    }
    within_character_ = taken == incomplete;
    if (taken == invalid || taken == incomplete) {
        return false;
    }
    input = {Input::Kind::key, key_of_character(c), 0, 0};
    return true;
}

} // namespace schedscope::tui
