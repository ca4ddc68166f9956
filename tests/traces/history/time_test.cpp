// Where the time of an evaluation went: figures that sum, whatever overlaps.
#include "traces/history/accounts/time.h"

#include "tests/support/paths.h"
#include "tests/support/random/each_seed.h"
#include "tests/support/traces/sample_run.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace schedscope {
namespace {

using accounts::Activity;
using accounts::TimeAccount;
using accounts::TimeBy;

constexpr TimeBy each_way[] = {TimeBy::role, TimeBy::layer, TimeBy::op, TimeBy::split, TimeBy::device, TimeBy::kernel};

/// An evaluation of which nothing is recorded but that it began; what happened in it is made up.
class MadeUp {
public:
    MadeUp() {
        store_->session(test::session({"Vulkan0", "Vulkan1", "CPU"}));
        store_->set_evaluation(0);
        store_->add(record::EvaluationBegin{});
        history.emplace(store_);
    }
    std::optional<History> history;
    PlanState state;

private:
    std::shared_ptr<LiveStore> store_ = std::make_shared<LiveStore>();
};

/// Nothing: the rows of each device sum to the evaluation, and of what is computed there is as much whatever it is told apart by.
std::string complaint_about_sums(const History& history, const PlanState& state) {
    std::map<BackendId, int64_t> computing;
    for (const TimeBy by : each_way) {
        const TimeAccount account = accounts::time(history, state, by);
        std::map<BackendId, std::array<int64_t, accounts::n_activities>> sums;
        for (const accounts::TimeRow& row : account.rows) {
            sums[row.backend][ordinal(row.activity)] += row.ns.value_or(0);
        }
        for (const accounts::DeviceTime& device : account.devices) {
            int64_t all = 0;
            for (size_t i = 0; i < accounts::n_activities; ++i) {
                all += device.ns[i];
                if (sums[device.backend][i] != device.ns[i]) {
                    return std::string(accounts::time_by_name(by)) + ": rows come to another sum";
                }
            }
            if (all != account.extent.time_ns()) {
                return std::string(accounts::time_by_name(by)) + ": " + std::to_string(all) + " of " +
                       std::to_string(account.extent.time_ns());
            }
            const auto [known, is_new] = computing.try_emplace(device.backend, device.of(Activity::computing));
            if (known->second != device.of(Activity::computing)) {
                return "another time by " + std::string(accounts::time_by_name(by));
            }
        }
    }
    return "";
}

TEST(Time, IsWhatIsSeenNanosecondByNanosecond) {
    MadeUp made;
    test::expect_nothing_wrong(0, 400, [&](uint32_t seed) -> std::string {
        std::mt19937 random(seed);
        const auto pick = [&](int n) { return static_cast<int16_t>(random() % n); };
        PlanState& state = made.state;
        state.executed.clear();
        state.transfers.clear();
        state.waits.clear();
        const int64_t begin = pick(50), length = 20 + pick(300);
        const auto span = [&](auto& r) {
            r.start_ns = begin + pick(static_cast<int>(length));
            r.end_ns = std::min(begin + length, r.start_ns + pick(60));
        };
        for (int i = pick(12); i > 0; --i) {
            record::Execute kernel{};
            kernel.backend = pick(3);
            kernel.last = no_tensor;
            kernel.split = pick(4);
            span(kernel);
            state.executed.push_back(kernel);
        }
        for (int i = pick(6); i > 0; --i) {
            record::Transfer transfer{};
            transfer.to = pick(3);
            span(transfer);
            state.transfers.push_back(transfer);
        }
        for (int i = pick(6); i > 0; --i) {
            record::Wait wait{};
            wait.backend = static_cast<BackendId>(pick(4) - 1);
            span(wait);
            state.waits.push_back(wait);
        }
        const TimeAccount account = accounts::time(*made.history, state, TimeBy::kernel);
        const auto in = [](const auto& r, int64_t at) { return r.start_ns <= at && at < r.end_ns; };
        for (const accounts::DeviceTime& device : account.devices) {
            int64_t seen[accounts::n_activities] = {};
            for (int64_t at = account.extent.begin_ns; at < account.extent.end_ns; ++at) {
                const auto any = [&](const auto& records, auto mine) {
                    return std::any_of(records.begin(), records.end(), [&](const auto& r) { return mine(r) && in(r, at); });
                };
                const bool computes = any(state.executed, [&](const auto& r) { return r.backend == device.backend; });
                const bool copies = any(state.transfers, [&](const auto& r) { return r.to == device.backend; });
                const bool waits = any(state.waits, [&](const auto& r) { return r.backend != device.backend; });
                ++seen[ordinal(computes ? Activity::computing
                               : copies ? Activity::copying
                               : waits  ? Activity::waiting
                                        : Activity::idle)];
            }
            if (!std::equal(std::begin(seen), std::end(seen), std::begin(device.ns))) {
                return "device " + std::to_string(device.backend);
            }
        }
        return complaint_about_sums(*made.history, state);
    });
}

TEST(Time, AWaitForWhatComputesCountsOnce) {
    MadeUp made;
    record::Execute kernel{};
    kernel.backend = 0;
    kernel.start_ns = 100;
    kernel.end_ns = 900;
    record::Wait wait{};
    wait.backend = 0;
    wait.start_ns = 50;
    wait.end_ns = 950;
    made.state.executed = {kernel};
    made.state.waits = {wait};
    const TimeAccount account = accounts::time(*made.history, made.state, TimeBy::device);
    EXPECT_EQ(account.extent.time_ns(), 900);
    EXPECT_EQ(account.devices[0].of(Activity::computing), 800);
    EXPECT_EQ(account.devices[0].of(Activity::waiting), 0) << "no device waits for itself";
    EXPECT_EQ(account.devices[0].of(Activity::idle), 100);
    EXPECT_EQ(account.devices[2].of(Activity::waiting), 900) << "the CPU has nothing to do while the scheduler waits";
    EXPECT_EQ(account.devices[2].of(Activity::idle), 0);
}

/// A wait is told apart from idle time, and so no part of its longest stretch.
TEST(Time, TheLongestGapIsOfIdleTimeAlone) {
    MadeUp made;
    record::Execute kernel{};
    kernel.backend = 0;
    kernel.start_ns = 0;
    kernel.end_ns = 1000;
    record::Wait wait{};
    wait.backend = 0;
    wait.start_ns = 300;
    wait.end_ns = 900;
    made.state.executed = {kernel};
    made.state.waits = {wait};
    const TimeAccount account = accounts::time(*made.history, made.state, TimeBy::device);
    const accounts::DeviceTime& cpu = account.devices[2];
    EXPECT_EQ(cpu.of(Activity::idle), 400);
    EXPECT_EQ(cpu.longest_gap_ns, 300);
    EXPECT_EQ(cpu.gap_start_ns, 0);
}

TEST(Time, CompilingShadersIsSaidAsSuch) {
    MadeUp made;
    made.state.waits = {record::Wait{0, 0, 100, 700, 3}, record::Wait{1, 0, 700, 900, 0}};
    const TimeAccount account = accounts::time(*made.history, made.state, TimeBy::device);
    const auto rows_of = [&](BackendId backend) {
        std::map<std::string, int64_t> said;
        for (const accounts::TimeRow& row : account.rows) {
            if (row.backend == backend && row.ns.value_or(-1) > 0) {
                said[std::string(accounts::activity_name(row.activity)) + " " + row.what] = *row.ns;
            }
        }
        return said;
    };
    using Said = std::map<std::string, int64_t>;
    EXPECT_EQ(rows_of(0), (Said{{"waiting for shaders of Vulkan0 to compile", 600}, {"idle while it is waited for", 200}}));
    EXPECT_EQ(rows_of(1), (Said{{"waiting for shaders of Vulkan0 to compile", 600}, {"waiting for Vulkan0", 200}}));
}

/// What was not timed is so called only where no time stands beside it, and nothing waits for itself.
TEST(Time, SaysOfARecordedProgramWhatIsTrue) {
    History history(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    for (const TimeBy by : {TimeBy::role, TimeBy::layer, TimeBy::op, TimeBy::split, TimeBy::device, TimeBy::kernel}) {
        for (const accounts::TimeRow& row : accounts::time(history, history.plan(history.opening()), by).rows) {
            const std::string said =
                history.backend_name(row.backend) + " " + std::string(accounts::activity_name(row.activity)) + " " + row.what;
            EXPECT_NE(row.what, "not timed") << said;
            EXPECT_NE(row.what, "for " + history.backend_name(row.backend)) << said;
            if (row.activity == Activity::idle && history.backend_name(row.backend) == "Vulkan0") {
                EXPECT_TRUE(row.what.starts_with("or not timed")) << said;
            }
        }
    }
}

TEST(Time, TheOutputIsNoLayerBehindTheLast) {
    History history(std::make_shared<TraceReader>(paths::sample("partial-offload")));
    std::set<std::string> layers;
    for (const accounts::TimeRow& row : accounts::time(history, history.plan(history.opening()), TimeBy::layer).rows) {
        if (row.activity == Activity::computing) {
            layers.insert(row.what);
        }
    }
    EXPECT_EQ(layers, (std::set<std::string>{"before the layers", "layer 0", "layer 1", "layer 2", "layer 3", "output"}));
}

TEST(Time, SumsInTheSamples) {
    for (const char* name :
         {"all-cpu", "partial-offload", "experts-offload", "llava-1.6", "mixed-sampling", "pipeline", "llama-cpp", "profiles"}) {
        History history(std::make_shared<TraceReader>(paths::sample(name)));
        for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
            const PlanState state = history.plan(id);
            EXPECT_EQ(complaint_about_sums(history, state), "") << name << ", evaluation " << id;
            const accounts::TimeExtent of_state = accounts::time_extent(history, state),
                                       of_records = accounts::time_extent(history.source(), history.evaluation(id));
            EXPECT_EQ(of_records.begin_ns, of_state.begin_ns) << name << ", evaluation " << id;
            EXPECT_EQ(of_records.end_ns, of_state.end_ns) << name << ", evaluation " << id;
        }
    }
}

TEST(Time, EndsWithTheEvaluationAndNotWithTheTokenBehindIt) {
    History history(std::make_shared<TraceReader>(paths::sample("partial-offload")));
    for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
        const EvaluationSpan span = history.evaluation(id);
        const Record last = history.record(span.end - 1);
        const Step ended = history.source().previous_of(span.end, fact_bit<record::EvaluationEnd>());
        ASSERT_GT(ended, span.first);
        ASSERT_TRUE(std::holds_alternative<record::NextToken>(last.fact)) << "evaluation " << id;
        ASSERT_LT(*history.record(ended).time_ns, *last.time_ns);
        EXPECT_EQ(accounts::time_extent(history, history.plan(id)).end_ns, *history.record(ended).time_ns);
    }
}

TEST(Time, WhatWasNotTimedNamesWhatTimesIt) {
    History foreign(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    EXPECT_EQ(accounts::untimed_splits(foreign, foreign.plan(foreign.opening())),
              "splits on Vulkan0 were not timed: record with --sync, which times them");
    const auto own = [](KernelTimes times) {
        auto store = std::make_shared<LiveStore>();
        test::SampleRun run(*store, test::session({"Vulkan0", "CPU"}));
        run.kernel_times = times;
        run.evaluate(test::blocks(2, 4, 2));
        History history(store);
        return accounts::untimed_splits(history, history.plan(0));
    };
    EXPECT_EQ(own(KernelTimes::none),
              "splits on Vulkan0, CPU were not timed: record with --kernel-times splits, which times them");
    EXPECT_EQ(own(KernelTimes::splits), "");
}

} // namespace
} // namespace schedscope
