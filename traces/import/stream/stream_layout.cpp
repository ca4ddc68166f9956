#include "traces/import/stream/stream_layout.h"

#include "runtime/numbers.h"
#include "runtime/system/read_number.h"
#include "runtime/system/visible_text.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace schedscope::import {

namespace {

using Type = StreamLayout::Type;

constexpr size_t most_fields = 64, most_values = 64, longest_words = 4096, longest_name = 63, alignment = 8;

struct TypeWord {
    std::string_view word;
    size_t bytes;
};
constexpr TypeWord types[] = {{"i8", 1}, {"u8", 1}, {"i16", 2}, {"u16", 2}, {"i32", 4}, {"i64", 8}, {"f64", 8}, {"text", 4}};

size_t bytes_of(Type type) noexcept { return types[ordinal(type)].bytes; }
size_t rounded_up(size_t n, size_t to) noexcept { return (n + to - 1) / to * to; }

bool is_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

/// "NAME:TYPE", "NAME:TYPE*N", "NAME:TYPE[]". Nothing: it is none of these.
std::optional<StreamLayout::Field> field_of(std::string_view word) {
    StreamLayout::Field field;
    const size_t colon = std::min(word.find(':'), word.size());
    field.name = word.substr(0, colon);
    std::string_view type = word.substr(std::min(colon + 1, word.size()));
    const size_t star = type.find('*');
    if (type.ends_with("[]")) {
        field.list = true;
        field.count = 0;
        type.remove_suffix(2);
    } else if (star != std::string_view::npos) {
        field.count = read_number<uint32_t>(type.substr(star + 1)).value_or(0);
        type = type.substr(0, star);
    }
    const auto* const known = std::find_if(std::begin(types), std::end(types), [&](const TypeWord& t) { return t.word == type; });
    if (!is_name(field.name) || known == std::end(types) || (!field.list && field.count == 0) || field.count > most_values) {
        return std::nullopt;
    }
    field.type = static_cast<Type>(known - std::begin(types));
    return field;
}

} // namespace

StreamLayout::StreamLayout(std::string_view words) {
    std::string_view rest = words;
    const auto next = [&] {
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(word.size());
        return word;
    };
    const auto refuse_if = [&](bool wrong, const std::string& why) {
        if (wrong) {
            throw Damage("a kind of records is said to be '" + visible_name(words) + "': " + why);
        }
    };
    refuse_if(words.size() > longest_words, "that is too long");
    kind_ = next();
    refuse_if(!is_name(kind_), "it has no name");
    for (std::string_view word = next(); !word.empty(); word = next()) {
        std::optional<Field> field = field_of(word);
        refuse_if(!field, "'" + visible_name(word) + "' is no field");
        refuse_if(fields_.size() == most_fields, "it has too many fields");
        refuse_if(!fields_.empty() && fields_.back().list, "something stands behind its list");
        refuse_if(field->name != "-" && find(field->name) != nullptr, "'" + field->name + "' is there twice");
        const size_t bytes = bytes_of(field->type);
        field->offset = rounded_up(least_, bytes);
        least_ = field->offset + bytes * field->count;
        fields_.push_back(std::move(*field));
    }
    for (Field& field : fields_) {
        field.asked = field.name == "-";
    }
}

const StreamLayout::Field* StreamLayout::find(std::string_view name) noexcept {
    for (size_t i = 0; i < fields_.size(); ++i, found_ = (found_ + 1) % fields_.size()) {
        if (fields_[found_].name == name) {
            fields_[found_].asked = true;
            return &fields_[found_];
        }
    }
    return nullptr;
}

bool StreamLayout::fits(size_t bytes) const noexcept {
    const bool has_list = !fields_.empty() && fields_.back().list;
    return bytes >= least_ && (has_list || bytes <= rounded_up(least_, alignment));
}

void note_unknown(UnknownWords& words, const std::string& word) {
    constexpr size_t most = 1000; // more is not read
    if (words.size() < most || words.contains(word)) {
        ++words[word];
    }
}

void StreamFields::note_word(std::string_view field, std::string_view word, UnknownWords& unknown) const {
    note_unknown(unknown, std::string(field) + " '" + visible_name(word) + "' of '" + kind() + "'");
}

StreamFields::StreamFields(StreamLayout& layout, std::span<const std::byte> bytes, const StreamTexts& texts)
    : layout_(layout), bytes_(bytes), texts_(texts) {
    if (!layout.fits(bytes.size())) {
        throw Damage("a record of " + std::to_string(bytes.size()) + " bytes does not have its fields");
    }
}

size_t StreamFields::count(const StreamLayout::Field& field) const noexcept {
    return field.list ? (bytes_.size() - field.offset) / bytes_of(field.type) : field.count;
}
size_t StreamFields::count(std::string_view name) const noexcept {
    const StreamLayout::Field* const field = layout_.find(name);
    return field == nullptr ? 0 : count(*field);
}

/// Null: there is no such value.
const StreamLayout::Field* StreamFields::find(std::string_view name, size_t at) const noexcept {
    const StreamLayout::Field* const field = layout_.find(name);
    return field != nullptr && at < count(*field) ? field : nullptr;
}

template <typename T> T StreamFields::value(const StreamLayout::Field& field, size_t at) const noexcept {
    T number;
    std::memcpy(&number, bytes_.data() + field.offset + at * sizeof number, sizeof number);
    return number;
}

std::optional<int64_t> StreamFields::integer(const StreamLayout::Field& field, size_t at) const {
    const auto known = [](auto number) -> std::optional<int64_t> {
        using T = decltype(number);
        constexpr T unknown = std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
        return number == unknown ? std::nullopt : std::optional<int64_t>(number);
    };
    switch (field.type) {
    case Type::i8: return known(value<int8_t>(field, at));
    case Type::u8: return known(value<uint8_t>(field, at));
    case Type::i16: return known(value<int16_t>(field, at));
    case Type::u16: return known(value<uint16_t>(field, at));
    case Type::i32: return known(value<int32_t>(field, at));
    case Type::i64: return known(value<int64_t>(field, at));
    case Type::f64:
    case Type::text: break;
    }
    throw Damage(field.name + " is no whole number");
}

std::optional<int64_t> StreamFields::integer(const StreamLayout::Field& field, int64_t least, int64_t most, size_t at) const {
    const std::optional<int64_t> number = integer(field, at);
    if (number && (*number < least || *number > most)) {
        throw Damage(field.name + " is " + std::to_string(*number));
    }
    return number;
}

std::optional<int64_t> StreamFields::number(std::string_view name, int64_t least, int64_t most, size_t at) const {
    const StreamLayout::Field* const field = find(name, at);
    return field == nullptr ? std::nullopt : integer(*field, least, most, at);
}

void StreamFields::numbers(std::string_view name, int64_t least, int64_t most, std::span<int64_t> values,
                           int64_t otherwise) const {
    const StreamLayout::Field* const field = layout_.find(name);
    const size_t n = field == nullptr ? 0 : std::min(count(*field), values.size());
    for (size_t i = 0; i < n; ++i) {
        values[i] = integer(*field, least, most, i).value_or(otherwise);
    }
    std::fill(values.begin() + static_cast<ptrdiff_t>(n), values.end(), otherwise);
}

int64_t StreamFields::needed(std::string_view name, int64_t least, int64_t most) const {
    const std::optional<int64_t> known = number(name, least, most);
    return known ? *known : throw Damage(std::string(name) + " is left out");
}

std::optional<double> StreamFields::real(std::string_view name) const {
    const StreamLayout::Field* const field = find(name, 0);
    if (field == nullptr) {
        return std::nullopt;
    }
    if (field->type != Type::f64) {
        const std::optional<int64_t> whole = integer(*field, 0);
        return whole ? std::optional(to_double(*whole)) : std::nullopt;
    }
    const auto number = value<double>(*field, 0);
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

std::optional<std::string_view> StreamFields::text(std::string_view name) const {
    const StreamLayout::Field* const field = find(name, 0);
    if (field == nullptr) {
        return std::nullopt;
    }
    if (field->type != Type::text) {
        throw Damage(field->name + " is no text");
    }
    const auto number = value<uint32_t>(*field, 0);
    if (number > texts_.size()) {
        throw Damage(field->name + " is text " + std::to_string(number) + " of " + std::to_string(texts_.size()));
    }
    return number == 0 ? std::nullopt : std::optional(texts_[number - 1]);
}

} // namespace schedscope::import
