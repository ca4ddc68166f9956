#include "inspector/manual/manual.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/system/nearest_words.h"

#include <algorithm>

namespace schedscope::manual {

namespace {

#include "topic_texts.h"

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// A text, line by line, into blocks.
class TopicReader {
public:
    TopicReader(std::string_view name, std::string_view text, const TableOf& table_of) : table_of_(table_of) {
        topic_.name = name;
        while (!text.empty()) {
            lines_.push_back(first_line(text));
            text.remove_prefix(std::min(lines_.back().size() + 1, text.size()));
        }
    }

    Topic read() {
        if (lines_.size() < 2 || lines_[0].empty() || !lines_[0].ends_with('.') || !lines_[1].empty()) {
            refuse("the first line is what the topic is about, the second one empty");
        }
        topic_.summary = lines_[0].substr(0, lines_[0].size() - 1);
        for (at_ = 1; at_ < lines_.size();) {
            read_block();
        }
        return std::move(topic_);
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorKind::usage, "manual: " + topic_.name + ":" + std::to_string(at_ + 1) + ": " + what);
    }

    bool more() const { return at_ < lines_.size() && !lines_[at_].empty(); }
    size_t indent() const { return std::min(lines_[at_].find_first_not_of(' '), lines_[at_].size()); }

    /// The lines from here on that are indented by so much, as one.
    std::string joined_lines(size_t by) {
        std::string text;
        for (; more() && indent() == by && lines_[at_].front() != '@' && lines_[at_].front() != '#'; ++at_) {
            text.append(text.empty() ? "" : " ").append(lines_[at_].substr(by));
        }
        if (std::count(text.begin(), text.end(), '`') % 2 != 0) {
            --at_;
            refuse("a backtick has no partner");
        }
        return text;
    }

    void read_block() {
        const std::string_view line = lines_[at_];
        if (line.empty()) {
            ++at_;
        } else if (line.starts_with("# ")) {
            topic_.blocks.push_back({Block::Kind::heading, std::string(line.substr(2))});
            ++at_;
        } else if (line.starts_with("@table ")) {
            for (TableRow& row : table_of_(line.substr(7))) {
                topic_.blocks.push_back({Block::Kind::term, std::move(row.term), std::move(row.meaning)});
            }
            ++at_;
        } else if (line.starts_with("    ")) {
            read_verbatim();
        } else if (line.front() == ' ' || line.front() == '#' || line.front() == '@') {
            refuse("it is no paragraph, heading, term, table or example");
        } else if (at_ + 1 < lines_.size() && lines_[at_ + 1].starts_with("  ") && !lines_[at_ + 1].starts_with("   ")) {
            ++at_;
            topic_.blocks.push_back({Block::Kind::term, std::string(line), joined_lines(2)});
        } else {
            topic_.blocks.push_back({Block::Kind::paragraph, joined_lines(0)});
        }
    }

    void read_verbatim() {
        std::string text;
        for (; more(); ++at_) {
            if (!lines_[at_].starts_with("    ")) {
                refuse("an example ends with an empty line");
            }
            std::string_view line = lines_[at_].substr(4);
            line = line.substr(0, line.find("#!")); // why the tests can't run it is no reader's concern
            while (line.ends_with(' ')) {
                line.remove_suffix(1);
            }
            if (line.starts_with("$ ")) {
                line.remove_prefix(2);
            }
            text.append(text.empty() ? "" : "\n").append(line);
        }
        topic_.blocks.push_back({Block::Kind::verbatim, std::move(text)});
    }

    const TableOf& table_of_;
    std::vector<std::string_view> lines_;
    size_t at_ = 0;
    Topic topic_;
};

const TopicText* text_of(std::string_view name) noexcept {
    const auto all = std::span(topic_texts_of_program);
    const auto found = std::find_if(all.begin(), all.end(), [&](const TopicText& t) { return same_ignoring_case(t.name, name); });
    return found == all.end() ? nullptr : &*found;
}

} // namespace

std::span<const TopicText> topic_texts() noexcept { return topic_texts_of_program; }

Topic read_topic(std::string_view name, std::string_view text, const TableOf& table_of) {
    return TopicReader(name, text, table_of).read();
}

bool is_topic(std::string_view name) noexcept { return text_of(name) != nullptr; }

Topic topic(std::string_view name, const TableOf& table_of, std::span<const std::string_view> also) {
    if (const TopicText* const found = text_of(name)) {
        return read_topic(found->name, found->text, table_of);
    }
    std::vector<std::string_view> names(also.begin(), also.end());
    for (const TopicText& t : topic_texts()) {
        names.push_back(t.name);
    }
    const std::string meant = did_you_mean(names, name);
    throw Error(ErrorKind::usage,
                "help: there is no topic '" + std::string(name) + "'" + (meant.empty() ? "; help alone lists them" : meant));
}

std::vector<TableRow> topic_list() {
    std::vector<TableRow> rows;
    for (const TopicText& t : topic_texts()) {
        std::string_view summary = first_line(t.text);
        summary.remove_suffix(1);
        rows.push_back({std::string(t.name), std::string(summary)});
    }
    return rows;
}

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    for (bool literal = false; !text.empty(); literal = !literal) {
        const size_t end = std::min(text.find('`'), text.size());
        if (end > 0) {
            pieces.push_back({std::string(text.substr(0, end)), literal});
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return pieces;
}

} // namespace schedscope::manual
