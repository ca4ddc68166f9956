#pragma once

#include "traces/history/history.h"
#include "viz/query/query.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::query {

/// What the fields can be that are one of a few words: operators, types, rules, passes and kinds of the program, backends of a
/// trace. A query for something that is not among them can match nothing, now or later: that is told at once.
class KnownWords {
public:
    /// The program's. Backends are not known yet: any can be asked for.
    KnownWords();
    /// And the backends of a trace.
    explicit KnownWords(const History& history);

    void add(Field field, std::string_view word);
    void add_backend(std::string_view name);
    /// May be asked for, and is none of those that are offered: "Vulkan0 by 1.dst".
    void accept(Field field, std::string_view word);
    /// Anything can be asked for again: more may come.
    void forget(Field field) { words_[ordinal(field)].clear(); }

    /// In the order in which people read them; none: anything can be.
    std::span<const std::string> of(Field field) const noexcept { return words_[ordinal(field)]; }

    /// Throws Error(usage) with what was meant, or with what there is: "query: 'MUL_MATT' is no operator; did you mean MUL_MAT?",
    /// "query: 'Vulkan7' is no backend; there are CPU Vulkan0".
    void check(const Query& query) const;
    static constexpr size_t seen_at_once = 12; ///< so many words are listed whatever was meant
    /// Of more words than these, those are listed that begin like what was typed.
    static constexpr size_t most_listed = 32, nearest_listed = 8;

private:
    std::array<std::vector<std::string>, n_text_fields> words_, accepted_;
};

/// Why no record of another program, which is watched from outside, is what the query asks for, and what to ask for instead.
/// Nothing: one may be.
std::optional<std::string> why_never_of_a_program(const Query& query);

} // namespace schedscope::query
