#include "inspector/cli/show/show.h"

#include "inspector/cli/output/lines.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/lifetimes.h"
#include "viz/tables/copies.h"
#include "viz/tables/groups.h"
#include "viz/tables/memory.h"
#include "viz/tables/nodes.h"
#include "viz/tables/passes.h"
#include "viz/tables/splits.h"
#include "viz/tables/table_json.h"
#include "viz/tables/text_table.h"
#include "viz/tables/timeline.h"
#include "viz/tables/tokens.h"
#include "viz/tables/values.h"
#include "viz/tables/verdicts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>

namespace schedscope::show {

namespace {

using accounts::TimeBy;
using nlohmann::json;
using tables::json_of;
using tables::print_table;

template <typename Table> Table table_of(History& history, const PlanState& state) {
    Table table(history);
    if constexpr (requires { table.update(state); }) {
        table.update(state);
    }
    return table;
}
template <> tables::NodesTable table_of<tables::NodesTable>(History& history, const PlanState& state) {
    tables::NodesTable table(history);
    table.update(state, state.step == no_step ? accounts::ChangedTensors() : accounts::work_of_pass(history, state.step).changed);
    return table;
}
template <> tables::TimelineTable table_of<tables::TimelineTable>(History& history, const PlanState& state) {
    tables::TimelineTable table(history, tables::TimelineTable::Shows::kernels);
    table.update(state);
    return table;
}
template <> tables::EvaluationsTable table_of<tables::EvaluationsTable>(History& history, const PlanState&) {
    tables::EvaluationsTable table(history);
    table.update_to_end(); // whatever was asked for
    return table;
}

template <typename Table> void print_one(History& history, const PlanState& state, std::ostream& out, bool all) {
    const Table table = table_of<Table>(history, state);
    print_table(table, out, {.all = all});
    if constexpr (requires { table.summary(); }) {
        if (const std::string summary = table.n_rows() > 0 ? table.summary() : ""; !summary.empty()) {
            out << summary << '\n';
        }
    }
}
/// An empty list alone would say that there is nothing.
void add_what_is_unknown(const tables::Table& table, json& object) {
    if (table.n_rows() == 0 && table.empty_is_unknown()) {
        object["unknown"] = table.when_empty();
    }
}
template <typename Table> json json_of_one(History& history, const PlanState& state) {
    const Table table = table_of<Table>(history, state);
    json object{{std::string(table.key()), json_of(table)}};
    add_what_is_unknown(table, object);
    return object;
}
template <typename Table> constexpr ShownTopic topic(std::string_view what, bool of_all = false) {
    return {what, print_one<Table>, json_of_one<Table>, of_all};
}

/// What was fused, what was not and the new orders are lists of their own.
json fusion_json(History& history, const PlanState& state) {
    json lists{{"fusion", json::array()}, {"not_fused", json::array()}, {"moved", json::array()}};
    const auto groups = table_of<tables::GroupsTable>(history, state);
    for (int row = 0; row < groups.n_rows(); ++row) {
        constexpr const char* names[] = {"fusion", "not_fused", "moved"};
        lists[names[groups.rows()[row].index()]].push_back(json_of(groups, row));
    }
    tables::OrdersTable orders;
    orders.update(state);
    lists["reorders"] = json_of(orders);
    add_what_is_unknown(groups, lists);
    if (const std::string unknown = groups.summary(); groups.n_rows() > 0 && !unknown.empty()) {
        lists["unknown"] = unknown;
    }
    return lists;
}

struct Memory {
    tables::BuffersTable buffers;
    tables::ResidentTable resident;
    tables::ReservesTable reserves;
    tables::PlacesTable places;
};
Memory memory_of(History& history, const PlanState& state, bool each_reserve) {
    accounts::MemoryAccount table = accounts::memory(history, state);
    if (!each_reserve) {
        table.reserves = accounts::told_once(std::move(table.reserves));
    }
    Memory memory{tables::BuffersTable(history), tables::ResidentTable(history), tables::ReservesTable(std::move(table.reserves)),
                  tables::PlacesTable(history)};
    memory.buffers.update(state, std::move(table.memory));
    memory.resident.update(state, std::move(table.resident));
    memory.places.update(state);
    return memory;
}
void print_memory(History& history, const PlanState& state, std::ostream& out, bool all) {
    constexpr int most_holders = 5;
    const Memory memory = memory_of(history, state, all);
    print_table(memory.buffers, out, {.all = all, .most_inner = most_holders});
    if (memory.places.n_rows() > 0) {
        OutputLine(out) << places_count;
    }
    for (const auto& [what, sizes] : accounts::logged_memory(history.session())) {
        OutputLine(out) << what << ": " << sizes;
    }
    for (const tables::Table* more :
         {static_cast<const tables::Table*>(&memory.resident), static_cast<const tables::Table*>(&memory.reserves),
          static_cast<const tables::Table*>(&memory.places)}) {
        if (more->n_rows() > 0) {
            print_table(*more, out << '\n', {.all = all});
        }
    }
}
json memory_json(History& history, const PlanState& state) {
    const Memory memory = memory_of(history, state, true);
    return {{"memory", json_of(memory.buffers)},
            {"resident", json_of(memory.resident)},
            {"reserves", json_of(memory.reserves)},
            {"tensors", json_of(memory.places)}};
}

/// Below the tokens, what was said of their samplers again and again.
void print_tokens(History& history, const PlanState& /*state*/, std::ostream& out, bool all) {
    const tables::TokensTable tokens(history);
    print_table(tokens, out, {.all = all});
    if (const tables::SamplerPlacesTable places(history, tokens.rows()); places.n_rows() > 0) {
        print_table(places, out << '\n', {.all = all});
    }
}

tables::DifferencesTable differences_of(History& history, const PlanState& state) {
    tables::DifferencesTable table(history, tables::DifferencesTable::Shows::differences);
    table.update(state);
    return table;
}
void print_differences(History& history, const PlanState& state, std::ostream& out, bool all) {
    const tables::DifferencesTable table = differences_of(history, state);
    print_table(table, out, {.all = all});
    if (table.n_rows() > 0) {
        out << table.summary() << '\n';
    }
}
json differences_json(History& history, const PlanState& state) {
    return {{"differences", json_of(differences_of(history, state))}};
}

void print_verdicts(History& history, const PlanState& /*state*/, std::ostream& out, bool all) {
    const tables::VerdictsTable table(history);
    print_table(table, out, {.all = all});
    if (table.n_rows() > 0) {
        out << text_of(sum_of(table.rows())) << '\n' << verdict_counts << '\n';
    }
}
json verdicts_json(History& history, const PlanState& /*state*/) {
    const std::vector<VerdictRow> rows = verdicts_of(history.source(), history.n_steps());
    json list = json::array();
    for (const VerdictRow& row : rows) {
        const record::Verdict& v = row.verdict;
        const json memory =
            v.placements ? json{{"placements", *v.placements}, {"identical", v.placements_identical.value_or(0)}} : json(nullptr);
        list.push_back({{"eval", row.eval},
                        {"kind", row.kind ? json(kind_text(row.kind)) : json(nullptr)},
                        {"nodes", row.nodes},
                        {"splits", row.splits},
                        {"decisions", v.decisions},
                        {"identical", v.identical},
                        {"first", row.first.empty() ? json(nullptr) : json(row.first)},
                        {"memory", memory},
                        {"causes", {{"printed", v.causes}, {"identical", v.causes_identical}}},
                        {"rules", row.rules}});
    }
    const VerdictSum sum = sum_of(rows);
    return {{"verdicts", list}, {"plans", sum.plans}, {"reproduced", sum.reproduced}};
}

tables::TimeTable time_of(History& history, const PlanState& state, TimeBy by) {
    tables::TimeTable table(history, by);
    table.update(state);
    return table;
}
template <TimeBy by> void print_time(History& history, const PlanState& state, std::ostream& out, bool all) {
    const tables::TimeTable table = time_of(history, state, by);
    print_table(table, out, {.all = all});
    if (table.n_rows() > 0) {
        out << table.summary() << '\n';
    }
}
template <TimeBy by> json time_json(History& history, const PlanState& state) {
    const tables::TimeTable table = time_of(history, state, by);
    const accounts::TimeAccount& account = table.account();
    json devices = json::array();
    for (const accounts::DeviceTime& device : account.devices) {
        json line{{"backend", history.backend_name(device.backend)}, {"busy_ns", device.busy()}, {"not_timed", device.untimed}};
        for (size_t i = 0; i < accounts::n_activities; ++i) {
            const auto activity = static_cast<accounts::Activity>(i);
            line[std::string(accounts::activity_name(activity)) + "_ns"] = device.of(activity);
        }
        devices.push_back(std::move(line));
    }
    return {{"time", json_of(table)},
            {"by", accounts::time_by_name(by)},
            {"begin_ns", account.extent.begin_ns},
            {"time_ns", account.extent.time_ns()},
            {"devices", std::move(devices)}};
}
template <TimeBy by> ShownTopic time_topic() { return {accounts::time_by_name(by), print_time<by>, time_json<by>}; }

const std::array times = {time_topic<TimeBy::role>(),  time_topic<TimeBy::layer>(),  time_topic<TimeBy::op>(),
                          time_topic<TimeBy::split>(), time_topic<TimeBy::device>(), time_topic<TimeBy::kernel>()};

constexpr std::array topics = {
    topic<tables::PassesTable>("passes"),
    topic<tables::NodesTable>("assignments"),
    topic<tables::SplitsTable>("splits"),
    topic<tables::CopiesTable>("copies"),
    ShownTopic{"fusion", print_one<tables::GroupsTable>, fusion_json},
    ShownTopic{"memory", print_memory, memory_json},
    topic<tables::TimelineTable>("kernels"),
    ShownTopic{"time", print_time<TimeBy::device>, time_json<TimeBy::device>},
    ShownTopic{"tokens", print_tokens, json_of_one<tables::TokensTable>},
    topic<tables::EvaluationsTable>("reuse"),
    topic<tables::ValuesTable>("values", true),
    ShownTopic{"differences", print_differences, differences_json, true},
    ShownTopic{"verdicts", print_verdicts, verdicts_json, true},
};

} // namespace

const ShownTopic* find_topic(std::string_view what) {
    const auto* found = std::find_if(topics.begin(), topics.end(), [&](const ShownTopic& topic) { return topic.what == what; });
    return found == topics.end() ? nullptr : found;
}

const ShownTopic* find_time(std::string_view by) {
    const auto* found = std::find_if(times.begin(), times.end(), [&](const ShownTopic& topic) { return topic.what == by; });
    return found == times.end() ? nullptr : found;
}
std::string time_names() { return joined(times, "|", &ShownTopic::what); }

std::string topic_names() { return joined(topics, "|", &ShownTopic::what); }

namespace {

std::string meant(std::span<const ShownTopic> known, std::string_view typed) {
    std::vector<std::string_view> names;
    std::transform(known.begin(), known.end(), std::back_inserter(names), [](const ShownTopic& topic) { return topic.what; });
    return did_you_mean(names, typed);
}

} // namespace

std::string meant_topic(std::string_view what) {
    return what == "evaluations" ? "; they are listed by --what reuse" : meant(topics, what);
}
std::string meant_time(std::string_view by) { return meant(times, by); }

} // namespace schedscope::show
