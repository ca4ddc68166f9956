#include "inspector/cli/run/recording_bounds.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/system/number_words.h"
#include "runtime/system/read_number.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "viz/query/describer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace schedscope {

namespace {

/// A number above 0 and its unit, in lower case; nothing: something else.
std::optional<std::pair<int64_t, std::string>> amount(const std::string& text) {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<int64_t> n = read_number<int64_t>(std::string_view(text).substr(0, end));
    return n && *n > 0 ? std::optional(std::pair(*n, lower(text.substr(end)))) : std::nullopt;
}

/// So many of a unit; nothing: there is no such unit, or they are too many.
template <size_t n>
std::optional<int64_t> in_units(const std::string& text, const std::array<std::pair<const char*, int64_t>, n>& units) {
    const auto of = amount(text);
    if (!of) {
        return std::nullopt;
    }
    const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& u) { return of->second == u.first; });
    constexpr int64_t most = int64_t{1} << 60;
    return unit == units.end() || of->first > most / unit->second ? std::nullopt : std::optional(of->first * unit->second);
}

constexpr int64_t kibi = 1024, second = 1'000'000'000;
constexpr std::array<std::pair<const char*, int64_t>, 4> sizes{
    {{"b", 1}, {"kib", kibi}, {"mib", kibi* kibi}, {"gib", kibi* kibi* kibi}}};
constexpr std::array<std::pair<const char*, int64_t>, 4> times{
    {{"ms", second / 1000}, {"s", second}, {"m", 60 * second}, {"h", 3600 * second}}};

/// Does a tensor or a record of the evaluation match, as in the inspector's searches?
bool matches(const query::Query& query, EvaluationId number, const std::function<void(Recorder&)>& write) {
    const auto store = std::make_shared<LiveStore>();
    write(*store);
    History history(store);
    query::Describer describer(history);
    query::Facts facts(query);
    const EvaluationId last = history.n_evaluations() - 1;
    const EvaluationSpan span = history.evaluation(last);
    bool found = false;
    // What a backend was asked happened to no tensor: "backend=CPU op=MUL_MAT" would match each plan.
    const bool with_questions = query.asks(query::Field::kind) || query.asks(query::Field::why);
    history.source().for_each(span.first, span.end, [&](const Record& r) {
        if (!with_questions && std::holds_alternative<record::BackendQuery>(r.fact)) {
            return true;
        }
        facts.clear();
        describer.record(r, facts);
        facts.set(query::Field::evaluation, number);
        found = query.matches(facts);
        return !found;
    });
    const PlanState& state = history.plan(last);
    for (TensorId id = 0; id < n_of(state.tensors) && !found; ++id) {
        facts.clear();
        describer.tensor(state, id, facts);
        facts.set(query::Field::evaluation, number);
        found = query.matches(facts);
    }
    return found;
}

} // namespace

void add_bound_options(CommandOptions& app, BoundArguments& bounds, const std::string& from) {
    const char* group = "How much is recorded";
    app.add_option("--last", bounds.last, "The last N evaluations, or those that a file of this SIZE has room for: 500, 100MiB")
        .group(group);
    app.add_option("--for", bounds.duration, "No longer than this TIME " + from + ": 30s, 5m, 1h").group(group);
    app.add_option("--when", bounds.when,
                   "Evaluations in which something matches the QUERY, as in searches; what backends are asked: kind=query")
        .group(group);
}

RecordingBounds parse_bounds(const BoundArguments& arguments) {
    RecordingBounds bounds;
    if (!arguments.last.empty()) {
        const auto plain = amount(arguments.last);
        constexpr int64_t least = int64_t{1} << 20;
        if (plain && plain->second.empty()) {
            bounds.last_evaluations = plain->first;
        } else if (bounds.last_bytes = in_units(arguments.last, sizes); !bounds.last_bytes) {
            throw Error(ErrorKind::usage, "--last " + arguments.last +
                                              ": a number of evaluations or a size is wanted: 500, 100MiB (B, KiB, MiB, GiB)");
        } else if (*bounds.last_bytes < least) {
            throw Error(ErrorKind::usage, "--last " + arguments.last + ": a trace needs 1MiB at least");
        }
    }
    if (!arguments.duration.empty()) {
        bounds.for_ns = in_units(arguments.duration, times);
        if (!bounds.for_ns) {
            throw Error(ErrorKind::usage, "--for " + arguments.duration + ": a time is wanted: 30s, 5m, 1h (ms, s, m, h)");
        }
    }
    if (!arguments.when.empty()) {
        bounds.when = [query = query::Query::parse(arguments.when)](EvaluationId number,
                                                                    const std::function<void(Recorder&)>& write) {
            return matches(query, number, write);
        };
    }
    return bounds;
}

std::string kept_by(const RecordingBounds& bounds, int64_t n_evaluations, const BoundedRecorder& recorder) {
    const int64_t n_wanted = recorder.n_wanted(), n_needed = n_evaluations - n_wanted, n_left_out = recorder.n_left_out();
    std::string kept;
    if (n_needed > 0) {
        const std::string last = n_wanted == 1 ? "the last one" : "the last " + words::count(n_wanted);
        const std::string wanted = n_wanted == 0 ? "none" : bounds.last() ? last : words::count(n_wanted);
        const std::string match = !bounds.when ? "" : n_wanted > 1 ? " that match" : " that matches";
        kept = ": " + wanted + match + ", and " + words::count(n_needed) + " that plans and memory depend on";
    } else if (bounds.when) {
        kept = n_evaluations == 1 ? " that matches" : " that match";
    }
    return kept + (n_left_out > 0 ? " (" + words::count(n_left_out) + " more were seen)" : "");
}

} // namespace schedscope
