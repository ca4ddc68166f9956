// What fields.h says of each record kind, read from a stream.

#include "traces/import/stream/stream_fact.h"

#include "traces/format/schema.h"
#include "traces/import/stream/stream_kernels.h"
#include "traces/store/reading/trace_rows.h"

#include <limits>
#include <vector>

namespace schedscope::import {

namespace {

struct Reading {
    const StreamFields& fields;
    const std::function<StringId(std::string_view)>& intern;
    UnknownWords& unknown;
    StreamFact& out;
};

/// Can its number be counted from the records before it?
template <typename T> bool is_counted(Meaning meaning, std::string_view name) noexcept {
    if constexpr (std::is_same_v<T, record::PlanBegin>) {
        return name == "n_nodes" || name == "n_leafs";
    } else if constexpr (std::is_same_v<T, record::PlanEnd> || std::is_same_v<T, record::SplitEnd>) {
        return meaning == Meaning::count || meaning == Meaning::split;
    } else {
        constexpr bool of_split = std::is_same_v<T, record::SplitBegin> || std::is_same_v<T, record::SplitInput>;
        return of_split && meaning == Meaning::split;
    }
}

/// What a field is where it is left out: not known, or what stands for that where a record of ours always knows it.
template <typename T, typename F> typename F::Member left_out(const F& field) {
    using Value = typename F::Value;
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        if (is_counted<T>(field.meaning, field.name)) {
            return static_cast<Value>(to_be_counted);
        }
    }
    if constexpr (F::may_be_unknown) {
        return std::nullopt;
    } else if constexpr (std::is_floating_point_v<Value>) {
        return std::numeric_limits<Value>::quiet_NaN();
    } else if constexpr (std::is_same_v<T, record::Execute> && std::is_same_v<Value, int64_t>) {
        return field.meaning == Meaning::plain ? unknown_time : 0;
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        return field.meaning == Meaning::index || field.meaning == Meaning::split ? Value{-1} : T{}.*field.member;
    } else {
        return T{}.*field.member;
    }
}

template <typename T, typename F> typename F::Member value_of(const F& field, Reading& r) {
    using Value = typename F::Value;
    using Member = typename F::Member;
    if constexpr (std::is_floating_point_v<Value>) {
        const auto real = r.fields.real(field.name);
        return real ? Member(static_cast<Value>(*real)) : left_out<T>(field);
    } else if constexpr (std::is_enum_v<Value>) {
        const auto number_of = [](std::string_view word) { // no pass, no cause have no word in the file
            return schema::number_of(word_kind<Value>(), word == "none" ? std::string_view() : word);
        };
        const std::optional<int64_t> number = r.fields.named(field.name, number_of, r.unknown);
        return number ? Member(static_cast<Value>(*number)) : left_out<T>(field);
    } else if constexpr (std::is_same_v<Value, bool>) {
        const auto number = r.fields.number(field.name, 0, 1);
        return number ? Member(*number != 0) : left_out<T>(field);
    } else if (field.meaning == Meaning::kernels) {
        return Value{0}; // they are records of their own
    } else if (field.meaning == Meaning::text) {
        const auto text = r.fields.text(field.name);
        return text ? Member(static_cast<Value>(r.intern(*text))) : F::may_be_unknown ? left_out<T>(field) : Member(Value{0});
    } else if (field.meaning == Meaning::graph || field.meaning == Meaning::evaluation) {
        r.out.named = r.fields.number(field.name, 0, std::numeric_limits<int64_t>::max());
        return left_out<T>(field);
    } else {
        const auto [least, most] = range_of(field);
        const auto number = r.fields.number(field.name, least, most);
        return number ? Member(static_cast<Value>(*number)) : left_out<T>(field);
    }
}

template <typename T> void read(Reading& r) {
    T fact;
    for_each_field<T>([&](const auto& f) { fact.*f.member = value_of<T>(f, r); });
    r.out.fact = fact;
}

} // namespace

std::optional<size_t> fact_kind(std::string_view name) {
    std::optional<size_t> found;
    for_each_kind([&]<typename T>(size_t kind) { found = fact_name(T{}) == name ? std::optional(kind) : found; });
    return found;
}

StreamFact read_fact(size_t kind, const StreamFields& f, const std::function<StringId(std::string_view)>& intern,
                     UnknownWords& unknown) {
    using Read = void (*)(Reading&);
    static const std::vector<Read> readers = [] {
        std::vector<Read> all;
        for_each_kind([&]<typename T>(size_t) { all.push_back(read<T>); });
        return all;
    }();
    StreamFact out;
    out.time_ns = f.number("time_ns", -farthest_number, farthest_number);
    Reading reading{f, intern, unknown, out};
    readers[kind](reading);
    return out;
}

} // namespace schedscope::import
