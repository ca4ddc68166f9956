#include "traces/import/log_lines.h"

#include "runtime/system/budget.h"
#include "traces/import/logged_text.h"

#include <algorithm>

namespace schedscope::import {

namespace {

constexpr size_t most_held = 8; ///< lines that may pass before a wrapped line is seen to go on

bool is_blank(std::string_view text) noexcept { return text.find_first_not_of(' ') == std::string_view::npos; }

/// `line` without the stamp that a program's log puts in front of each piece of a line, where it begins as another line did: the
/// same but for its digits.
std::string_view without_stamp(std::string_view line, std::string_view stamp) noexcept {
    const bool has_it = line.size() >= stamp.size() && std::equal(stamp.begin(), stamp.end(), line.begin(), [](char a, char b) {
                            return a == b || (is_digit(a) && is_digit(b));
                        });
    return has_it ? line.substr(stamp.size()) : line;
}

/// "sched_reserve: graph nodes": how lines of llama.cpp begin, and no words in their midst.
bool begins_with_function(std::string_view line) noexcept {
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view word = line.substr(0, colon);
    return colon < line.size() && word.find('_') != std::string_view::npos &&
           std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == '~'; });
}

} // namespace

/// How much of a scheduler line is there: the more the better. Sets complete_: nothing needs to follow.
size_t LogLines::progress(std::string_view text, LineKind kind) {
    if (kind == LineKind::split) {
        const bool known = parse_split(text, split_);
        complete_ = known && split_.whole;
        return (known ? 1 : 0) + (known ? split_.inputs.size() : 0);
    }
    const bool known = parse_node(text, node_);
    complete_ = known && node_.whole;
    if (!known) {
        return 0;
    }
    return 1 + (node_.op.empty() ? 0U : 1U) + (node_.has_name ? 1U : 0U) + (node_.tensor.backend.empty() ? 0U : 1U) +
           (node_.uses >= 0 ? 1U : 0U) + 2 * node_.sources.size() + (complete_ ? 1U : 0U);
}

/// Lines that were held turn out not to continue anything.
void LogLines::give_up() {
    for (std::string& text : held_) {
        ready_.push_back({LineKind::other, std::move(text)});
    }
    held_.clear();
    tried_.clear();
}

void LogLines::settle() {
    if (kind_ != LineKind::other) {
        ready_.push_back({kind_, std::move(pending_)});
        pending_.clear();
        kind_ = LineKind::other;
    }
    give_up();
}

void LogLines::take_line(std::string_view line) {
    const LineStart start = find_start(line);
    if (start.kind != LineKind::other) {
        settle();
        kind_ = start.kind;
        stamp_ = line.substr(0, start.at); // what the program's log puts there
        pending_ = line.substr(start.at);
        pending_progress_ = progress(pending_, kind_);
        last_length_ = line.size();
        return;
    }
    if (kind_ == LineKind::other) {
        ready_.push_back({LineKind::other, std::string(line)});
        return;
    }
    const std::string_view piece = without_stamp(line, stamp_);
    if (is_blank(piece) || (kind_ == LineKind::split && complete_)) {
        settle();
        if (!is_blank(line)) {
            ready_.push_back({LineKind::other, std::string(line)});
        }
        return;
    }
    std::string& text = tried_;
    if (held_.empty()) {
        text = pending_;
    }
    if (static_cast<int64_t>(text.size() + piece.size()) > budget::log_line_bytes) {
        settle();
        ready_.push_back({LineKind::other, std::string(line)});
        return;
    }
    if (last_length_ < width_ && !text.ends_with(' ')) {
        text += ' ';
    }
    text += piece;
    last_length_ = line.size();
    held_.emplace_back(line);
    const bool was_complete = complete_;
    const size_t now = progress(text, kind_);
    // A whole node line goes on only with more whole sources: anything may stand below it.
    const bool goes_on = now > pending_progress_ && (!was_complete || complete_);
    if (goes_on) {
        pending_ = std::move(text);
        pending_progress_ = now;
        held_.clear();
        tried_.clear();
        return;
    }
    complete_ = was_complete;
    if (held_.size() >= most_held) {
        settle();
    }
}

/// False: the log has no more lines.
bool LogLines::read_more() {
    if (given_ < ready_.size()) {
        return true;
    }
    ready_.clear();
    given_ = 0;
    std::string_view raw;
    while (ready_.empty()) {
        if (!file_.next(raw)) {
            settle();
            break;
        }
        take_line(raw);
    }
    return !ready_.empty();
}

/// Was a line that is none of the scheduler's broken behind `piece`: at the edge, or at the blank before a word that the edge
/// left no room for? A line that begins as the piece did is the next one of the same program.
bool LogLines::goes_on(std::string_view piece, std::string_view below) const noexcept {
    constexpr size_t least_alike = 8;
    if (below.empty() || begins_with_function(below) ||
        without_stamp(below, piece.substr(0, least_alike)).size() < below.size()) {
        return false;
    }
    const size_t word = std::min(below.find(' '), below.size());
    const bool at_edge = wrapped_ && piece.size() == width_;
    return at_edge || (piece.ends_with(' ') && piece.size() <= width_ && piece.size() + word >= width_);
}

bool LogLines::next(WholeLine& line) {
    if (!read_more()) {
        return false;
    }
    if (ready_[given_].kind != LineKind::other) {
        line = {ready_[given_].kind, ready_[given_].text};
        ++given_;
        return true;
    }
    std::string piece = std::move(ready_[given_++].text);
    whole_ = piece;
    while (read_more() && ready_[given_].kind == LineKind::other && goes_on(piece, ready_[given_].text) &&
           static_cast<int64_t>(whole_.size() + ready_[given_].text.size()) <= budget::log_line_bytes) {
        piece = std::move(ready_[given_++].text);
        whole_ += piece;
    }
    line = {LineKind::other, whole_};
    return true;
}

} // namespace schedscope::import
