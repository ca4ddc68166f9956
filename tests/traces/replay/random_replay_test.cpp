// Random graphs for random machines, recorded: the same each time, planned again alike, and a what-if is what a run with that
// setting decides.
#include "tests/support/random/recording.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/fields.h"
#include "traces/replay/decisions.h"
#include "traces/replay/what_if.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace schedscope {
namespace {

constexpr size_t no_limit = 1000000;

std::unique_ptr<LiveStore> recorded(uint32_t seed, const test::RecordingSettings& settings = {}) {
    auto store = std::make_unique<LiveStore>();
    test::record_randomly(seed, settings, *store);
    return store;
}

std::vector<Record> all_records(const RecordSource& source) {
    std::vector<Record> records;
    source.read(0, source.n_steps(), records);
    return records;
}

/// All that is in a record but the time.
std::string told(const Record& r, const RecordSource& source) {
    std::string text = std::to_string(r.step) + " " + std::to_string(r.evaluation) + " " + std::string(fact_name(r.fact));
    std::visit(
        [&]<typename T>(const T& fact) {
            std::apply(
                [&](const auto&... field) {
                    const auto add = [&](const auto& f) {
                        const auto* value = known(fact.*f.member);
                        text += std::string(" ") + f.name + "=";
                        if (value == nullptr) {
                            text += "?";
                        } else if (f.meaning == Meaning::text) {
                            text += source.text(static_cast<StringId>(*value));
                        } else {
                            text += std::to_string(static_cast<double>(*value));
                        }
                    };
                    (add(field), ...);
                },
                Kind<T>::fields);
        },
        r.fact);
    return text;
}

/// The decisions of each planned evaluation.
std::vector<std::vector<Record>> decisions_of(const RecordSource& source) {
    std::vector<std::vector<Record>> plans;
    for (const Record& r : all_records(source)) {
        if (std::holds_alternative<record::PlanBegin>(r.fact)) {
            plans.emplace_back();
        } else if (is_decision(r.fact)) {
            plans.back().push_back(r);
        }
    }
    return plans;
}

/// How two recordings of the same graphs differ.
ReplayResult difference(const RecordSource& a, const RecordSource& b) {
    ReplayResult result;
    const auto plans_a = decisions_of(a), plans_b = decisions_of(b);
    const SessionInfo session_a = a.session(), session_b = b.session();
    for (size_t i = 0; i < plans_a.size(); ++i) {
        const auto id = static_cast<GraphId>(i);
        const PlanText text_a{session_a, a.graph(id), plans_a[i], [&](StringId s) { return a.text(s); }};
        const PlanText text_b{session_b, b.graph(id), plans_b[i], [&](StringId s) { return b.text(s); }};
        compare_decisions(static_cast<EvaluationId>(i), text_a, text_b, no_limit, result);
    }
    return result;
}

/// Sorted: what has no name of its own comes in the order of numbers, which a new order of devices changes.
std::vector<std::string> lines_of(const ReplayResult& result) {
    std::vector<std::string> lines;
    for (const ReplayDifference& d : result.differences) {
        lines.push_back(std::to_string(d.evaluation) + " " + d.name + " " + d.what + ": " + d.recorded + " -> " + d.now);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::vector<std::string> missing_in(const std::vector<std::string>& these, const std::vector<std::string>& those) {
    std::vector<std::string> missing;
    std::set_difference(those.begin(), those.end(), these.begin(), these.end(), std::back_inserter(missing));
    return missing;
}

/// One setting, as `--set` takes it and as a run is started with it.
struct Change {
    std::string set;
    test::RecordingSettings settings;
};

Change random_change(uint32_t seed) {
    std::mt19937 random(seed * 7 + 1);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    test::MachineNames names = test::names_of_machine(seed);
    Change change;
    switch (below(5)) {
    case 0: {
        names.backends.pop_back();
        std::shuffle(names.backends.begin(), names.backends.end(), random);
        names.backends.resize(names.backends.size() - below(names.backends.size() / 2 + 1));
        change.settings.devices = names.backends;
        change.set = "device-order=";
        for (const std::string& name : names.backends) {
            change.set += name + ",";
        }
        change.set += "cpu";
        break;
    }
    case 1: {
        constexpr Op ops[] = {Op::MUL_MAT,  Op::ADD,     Op::MUL,  Op::RMS_NORM, Op::ROPE,
                              Op::GET_ROWS, Op::RESHAPE, Op::CONT, Op::CPY};
        names.devices.pop_back();
        const std::string device = names.devices.empty() ? "CPU" : names.devices[below(names.devices.size())];
        const Op op = ops[below(std::size(ops))];
        change.settings.refuse = {device, op};
        change.set = "refuse=" + device + ":" + std::string(op_name(op));
        break;
    }
    case 2: {
        change.settings.stages = below(2) == 0 ? 1 : 4;
        change.set = "stages=" + std::to_string(*change.settings.stages);
        break;
    }
    case 3: {
        change.settings.op_offload = below(2) == 0;
        change.set = std::string("op-offload=") + (*change.settings.op_offload ? "on" : "off");
        break;
    }
    default:
        change.settings.min_batch = 1 + static_cast<int64_t>(below(12));
        change.set = "offload-min-batch=" + std::to_string(*change.settings.min_batch);
    }
    return change;
}

TEST(RandomReplay, TheSameSeedWritesTheSameRecords) {
    for (uint32_t seed = 0; seed < 60; ++seed) {
        const auto once = recorded(seed), again = recorded(seed);
        const std::vector<Record> a = all_records(*once), b = all_records(*again);
        ASSERT_EQ(a.size(), b.size()) << "seed " << seed;
        for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(told(a[i], *once), told(b[i], *again)) << "seed " << seed;
        }
    }
}

TEST(RandomReplay, AFileIsPlannedAgainAlike) {
    const test::Folder folder;
    for (uint32_t seed = 0; seed < 20; ++seed) {
        const std::string path = folder.file(std::to_string(seed) + ".trace");
        {
            TraceWriter writer(path);
            test::record_randomly(seed, {}, writer);
            writer.close();
        }
        const TraceReader reader(path);
        const ReplayResult result = replay(reader);
        EXPECT_GT(result.compared, 0);
        EXPECT_EQ(result.n_differences, 0) << "seed " << seed << ": " << ::testing::PrintToString(lines_of(result));
    }
}

TEST(RandomReplay, PlansAgainAlike) {
    for (uint32_t seed = 1000; seed < 1300; ++seed) {
        const ReplayResult result = replay(*recorded(seed));
        EXPECT_EQ(result.n_differences, 0) << "seed " << seed << ": " << ::testing::PrintToString(lines_of(result));
    }
}

TEST(RandomReplay, AWhatIfIsWhatARunWithThatSettingDecides) {
    int n_changed = 0, n_wrong = 0;
    constexpr uint32_t first = 2000, end = 2400;
    for (uint32_t seed = first; seed < end; ++seed) {
        const Change change = random_change(seed);
        const auto as_recorded = recorded(seed), really_set = recorded(seed, change.settings);
        WhatIf what_if;
        what_if.set(change.set);
        ReplayOptions options = options_for(what_if, *as_recorded);
        options.max_differences = no_limit;
        const std::vector<std::string> asked = lines_of(replay(*as_recorded, options));
        const std::vector<std::string> real = lines_of(difference(*as_recorded, *really_set));
        n_changed += real.empty() ? 0 : 1;
        constexpr int enough = 5;
        if (asked != real && ++n_wrong <= enough) {
            ADD_FAILURE() << "seed " << seed << ", " << change.set << ": answered only "
                          << ::testing::PrintToString(missing_in(real, asked)) << ", really only "
                          << ::testing::PrintToString(missing_in(asked, real));
        }
    }
    EXPECT_EQ(n_wrong, 0);
    EXPECT_GT(n_changed, static_cast<int>(end - first) / 4);
}

} // namespace
} // namespace schedscope
