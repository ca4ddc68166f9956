#include "tests/fuzz/strict_html.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace schedscope::fuzz {

namespace {

constexpr std::array<std::string_view, 4> without_end{"meta", "input", "link", "br"};
constexpr std::array<std::string_view, 4> holding_text{"script", "style", "title", "noscript"}; ///< up to their own end tag

bool is_one_of(std::string_view name, const std::array<std::string_view, 4>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// In tags, names and entities letters are compared in small ones.
char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

class Parser {
public:
    explicit Parser(std::string_view page) : page_(page) {}

    std::vector<Element> run() {
        constexpr std::string_view type = "<!doctype html>\n";
        if (!page_.starts_with(type)) {
            fail("no document type");
        }
        at_ = type.size();
        while (at_ < page_.size()) {
            if (page_[at_] != '<') {
                character();
            } else if (at_ + 1 < page_.size() && page_[at_ + 1] == '/') {
                end_tag();
            } else {
                start_tag();
            }
        }
        if (!open_.empty()) {
            fail("the page ends within " + elements_[open_.back()].name);
        }
        return std::move(elements_);
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error(why + " at " + std::to_string(at_) + ": " + std::string(page_.substr(at_, 40)));
    }
    char next() {
        if (at_ == page_.size()) {
            fail("the page ends in a tag");
        }
        return page_[at_++];
    }

    void character() {
        const char c = page_[at_];
        if (c == '\0' || c == '\r') {
            fail("a character that browsers change");
        }
        if (c == '&') {
            const std::string_view rest = page_.substr(at_);
            const auto known = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
            if (std::none_of(known.begin(), known.end(), [&](std::string_view k) { return rest.starts_with(k); })) {
                fail("a bare &");
            }
        }
        if (open_.empty()) {
            if (!is_space(c)) {
                fail("text outside of everything");
            }
        } else {
            elements_[open_.back()].text += c;
        }
        ++at_;
    }

    std::string name() {
        std::string name;
        while (at_ < page_.size() && (std::isalnum(static_cast<unsigned char>(page_[at_])) != 0 || page_[at_] == '-')) {
            name += small(page_[at_++]);
        }
        if (name.empty()) {
            fail("no name of a tag or an attribute");
        }
        return name;
    }

    void start_tag() {
        ++at_;
        Element e;
        e.name = name();
        e.depth = static_cast<int>(open_.size());
        while (true) {
            const char c = next();
            if (c == '>') {
                break;
            }
            if (!is_space(c)) {
                fail("no space before an attribute");
            }
            while (at_ < page_.size() && is_space(page_[at_])) { // the tag goes on in the next line
                ++at_;
            }
            attribute(e);
        }
        elements_.push_back(std::move(e));
        if (is_one_of(elements_.back().name, without_end)) {
            return;
        }
        open_.push_back(elements_.size() - 1);
        if (is_one_of(elements_.back().name, holding_text)) {
            raw_text();
        }
    }

    void attribute(Element& e) {
        const std::string key = name();
        for (const auto& [known, value] : e.attributes) {
            if (known == key) {
                fail("an attribute twice");
            }
        }
        std::string value;
        if (at_ < page_.size() && page_[at_] == '=') {
            ++at_;
            if (next() != '"') {
                fail("a value without quotes");
            }
            for (char c = next(); c != '"'; c = next()) {
                value += c;
            }
        }
        e.attributes.emplace_back(key, value);
    }

    /// Up to the element's own end tag, whatever stands before. What would change how a script is read is refused.
    void raw_text() {
        Element& e = elements_[open_.back()];
        while (at_ < page_.size()) {
            const std::string_view rest = page_.substr(at_);
            if (rest.starts_with("<!--")) {
                fail("a comment begins in " + e.name);
            }
            if (rest[0] == '<' && rest.size() > 1 && (rest[1] == '/' || std::isalpha(static_cast<unsigned char>(rest[1])) != 0)) {
                const bool ends = rest[1] == '/';
                const std::string_view after = rest.substr(ends ? 2 : 1);
                const bool own =
                    after.size() > e.name.size() &&
                    std::equal(e.name.begin(), e.name.end(), after.begin(), [](char a, char b) { return a == small(b); }) &&
                    std::isalnum(static_cast<unsigned char>(after[e.name.size()])) == 0;
                if (own && ends) {
                    end_tag();
                    return;
                }
                if (own) {
                    fail("a tag of its own begins in " + e.name);
                }
            }
            e.text += page_[at_++];
        }
        fail("the page ends in " + e.name);
    }

    void end_tag() {
        at_ += 2;
        const std::string closed = name();
        if (next() != '>' || open_.empty() || elements_[open_.back()].name != closed) {
            fail("an end tag where none belongs");
        }
        open_.pop_back();
    }

    std::string_view page_;
    size_t at_ = 0;
    std::vector<Element> elements_;
    std::vector<size_t> open_;
};

} // namespace

std::vector<Element> parse_strictly(std::string_view page) { return Parser(page).run(); }

} // namespace schedscope::fuzz
