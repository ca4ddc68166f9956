#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// How a kind's records are laid out, by its words: "assign tensor:i32 cause:text".
class StreamLayout {
public:
    enum class Type : uint8_t { i8, u8, i16, u16, i32, i64, f64, text };
    struct Field {
        std::string name;
        Type type = Type::i32;
        size_t count = 1; ///< of a list: 0
        size_t offset = 0;
        bool list = false;  ///< it takes the rest of the record
        bool asked = false; ///< somebody wanted to know it
    };

    /// Throws Damage for words that say nothing.
    explicit StreamLayout(std::string_view words);

    const std::string& kind() const noexcept { return kind_; }
    const std::vector<Field>& fields() const noexcept { return fields_; }
    const Field* find(std::string_view name) noexcept; ///< null: it has none. Quick for fields in their order
    bool fits(size_t bytes) const noexcept;            ///< a record of so many

private:
    std::string kind_;
    std::vector<Field> fields_;
    size_t found_ = 0; ///< the last one
    size_t least_ = 0; ///< bytes of a record
};

/// What of a stream is not known here, and how often it came, for the user: "cause '9.magic' of 'assign'".
using UnknownWords = std::map<std::string, int64_t>;
void note_unknown(UnknownWords& words, const std::string& word);

/// Texts of a block, from 1 on.
using StreamTexts = std::vector<std::string_view>;

/// The fields of one record, by name. Nothing: it is left out, or not known. Each function throws Damage, "tensor is 12", where
/// the field is of another sort or beyond its bounds. `at`: which of several.
class StreamFields {
public:
    /// Throws Damage where the record has not as many bytes as its kind.
    StreamFields(StreamLayout& layout, std::span<const std::byte> bytes, const StreamTexts& texts);

    const std::string& kind() const noexcept { return layout_.kind(); }
    size_t count(std::string_view name) const noexcept; ///< values that it has here
    std::optional<int64_t> number(std::string_view name, int64_t least, int64_t most, size_t at = 0) const;
    /// All values of a field at once, as many as there is room for; `otherwise` for those that are not known.
    void numbers(std::string_view name, int64_t least, int64_t most, std::span<int64_t> values, int64_t otherwise) const;
    int64_t needed(std::string_view name, int64_t least, int64_t most) const; ///< Damage: it is left out
    std::optional<double> real(std::string_view name) const;
    std::optional<std::string_view> text(std::string_view name) const;
    /// What a text stands for, by a function that knows those which stand for something; any other is noted.
    template <typename F> auto named(std::string_view name, F&& from_name, UnknownWords& unknown) const {
        const std::optional<std::string_view> word = text(name);
        const auto known = word ? from_name(*word) : std::nullopt;
        if (word && !known) {
            note_word(name, *word, unknown);
        }
        return known;
    }

private:
    const StreamLayout::Field* find(std::string_view name, size_t at) const noexcept;
    std::optional<int64_t> integer(const StreamLayout::Field& field, size_t at) const;
    std::optional<int64_t> integer(const StreamLayout::Field& field, int64_t least, int64_t most, size_t at) const;
    template <typename T> T value(const StreamLayout::Field& field, size_t at) const noexcept;
    size_t count(const StreamLayout::Field& field) const noexcept;
    void note_word(std::string_view field, std::string_view word, UnknownWords& unknown) const;

    StreamLayout& layout_;
    std::span<const std::byte> bytes_;
    const StreamTexts& texts_;
};

} // namespace schedscope::import
