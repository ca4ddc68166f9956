#include "tests/support/traces/sample_run.h"
#include "traces/history/describe.h"
#include "traces/history/live_gate.h"
#include "traces/store/live_store.h"
#include "traces/store/tee.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <thread>

namespace schedscope {
namespace {

using namespace test;
using Unit = History::Unit;

TEST(LiveGate, SaysWhetherItMayHoldWhatIsToComeWheneverThatChanges) {
    LiveStore store;
    LiveGate gate(store);
    std::vector<bool> said;
    gate.on_asked([&] { said.push_back(gate.may_hold()); });
    EXPECT_TRUE(gate.may_hold()); // the very first record
    gate.run();
    gate.set_breakpoint([](const Record&) { return false; });
    gate.set_breakpoint({});
    gate.step(Unit::split);
    gate.run();
    gate.interrupt();
    gate.cancel();
    gate.run(); // after that nothing is asked any more
    EXPECT_THAT(said, ::testing::ElementsAre(false, true, false, true, false, true, false));
}

TEST(LiveGate, TellsOfProgress) {
    LiveStore store;
    LiveGate gate(store, false);
    pollfd waiting{gate.descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 0), 0);
    gate.tell_progress();
    EXPECT_EQ(poll(&waiting, 1, 0), 1);
    gate.acknowledge();
    EXPECT_EQ(poll(&waiting, 1, 0), 0);
}

/// A runtime's thread behind a gate, and the user's side of it.
class Live {
public:
    LiveStore store;
    LiveGate gate{store};
    bool cancelled = false, finished = false;

    Live() : thread_([this] { work(); }) {}
    ~Live() {
        gate.set_breakpoint({});
        gate.run();
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    /// Waits on the descriptor, as a screen's loop does, until the runtime is held.
    void until_held() {
        while (gate.held_at() == no_step) {
            pollfd waiting{gate.descriptor(), POLLIN, 0};
            constexpr int only_when_broken_ms = 60000;
            ASSERT_EQ(poll(&waiting, 1, only_when_broken_ms), 1);
            gate.acknowledge();
        }
    }
    /// Lets it go and waits until it is held again.
    template <typename F> void let_go(F&& call) {
        const Step before = gate.held_at();
        call();
        while (gate.held_at() == before || gate.held_at() == no_step) {
            pollfd waiting{gate.descriptor(), POLLIN, 0};
            constexpr int only_when_broken_ms = 60000;
            ASSERT_EQ(poll(&waiting, 1, only_when_broken_ms), 1);
            gate.acknowledge();
        }
    }
    Record held_record() {
        std::vector<Record> records;
        store.read(gate.held_at(), gate.held_at() + 1, records);
        return records.at(0);
    }
    /// Up to where it is held: records that a run without a gate does not have.
    int64_t n_holds_noted() {
        std::vector<Record> records;
        store.read(0, gate.held_at(), records);
        return std::count_if(records.begin(), records.end(), [](const Record& r) {
            const auto* const wait = std::get_if<record::Wait>(&r.fact);
            return wait != nullptr && wait->held;
        });
    }
    void join() { thread_.join(); }

private:
    void work() {
        try {
            SampleRun run(gate, session({"Vulkan0", "CPU"}));
            run.evaluate(blocks(2, 4, 2));
            run.evaluate_again();
            run.evaluate(blocks(3, 4, 2));
            finished = true;
        } catch (const Cancelled&) {
            cancelled = true;
        }
    }
    std::thread thread_;
};

TEST(LiveGate, TheFirstRecordIsHeldAndIsInTheStore) {
    Live live;
    live.until_held();
    EXPECT_EQ(live.gate.held_at(), 0);
    EXPECT_EQ(live.store.n_steps(), 1);
    EXPECT_FALSE(live.gate.at_breakpoint());
}

TEST(LiveGate, SteppingByRecordsShowsEachOne) {
    Live live;
    live.until_held();
    for (Step s = 1; s < 200; ++s) {
        live.let_go([&] { live.gate.step(Unit::record); });
        ASSERT_EQ(live.gate.held_at(), s);
        ASSERT_EQ(live.store.n_steps(), s + 1);
    }
}

TEST(LiveGate, SteppingByAUnitStopsWhereTheHistoryFindsIt) {
    for (const Unit unit : {Unit::sweep, Unit::pass, Unit::split, Unit::evaluation, Unit::token}) {
        std::vector<Step> stops;
        auto all = std::make_shared<LiveStore>();
        SampleRun(*all, session({"Vulkan0", "CPU"})).evaluate(blocks(2, 4, 2));
        History history(all); // the same run without a gate
        Live live;
        live.until_held();
        Step expected = 0;
        while ((expected = history.next(expected, unit)) != no_step) {
            live.let_go([&] { live.gate.step(unit); });
            ASSERT_EQ(live.gate.held_at() - live.n_holds_noted(), expected) << static_cast<int>(unit);
        }
    }
}

/// What of an evaluation's time was the user's own is told with it.
TEST(LiveGate, NotesWhereARunWasHeldWhenTheEvaluationHasRun) {
    Live live;
    live.until_held();
    const int64_t begun_ns = *live.held_record().time_ns;
    live.let_go([&] { live.gate.step(Unit::pass); });
    EXPECT_EQ(live.n_holds_noted(), 0);
    live.let_go([&] { live.gate.step(Unit::evaluation); });
    EXPECT_EQ(live.n_holds_noted(), 2);
    std::vector<Record> records;
    live.store.read(0, live.gate.held_at(), records);
    int64_t held_until_ns = begun_ns;
    for (const Record& r : records) {
        if (const auto* wait = std::get_if<record::Wait>(&r.fact); wait != nullptr && wait->held) {
            EXPECT_GE(wait->start_ns, held_until_ns);
            EXPECT_LE(wait->start_ns, wait->end_ns);
            EXPECT_LE(wait->end_ns, *r.time_ns);
            EXPECT_EQ(r.evaluation, 0);
            held_until_ns = wait->end_ns;
        }
    }
}

TEST(LiveGate, ABreakpointHoldsARunningProgram) {
    Live live;
    live.until_held();
    live.gate.set_breakpoint([](const Record& r) { return std::holds_alternative<record::NextToken>(r.fact); });
    live.let_go([&] { live.gate.run(); });
    EXPECT_TRUE(std::holds_alternative<record::NextToken>(live.held_record().fact));
    EXPECT_TRUE(live.gate.at_breakpoint());
    live.let_go([&] { live.gate.run(); });
    EXPECT_TRUE(std::holds_alternative<record::NextToken>(live.held_record().fact));
    EXPECT_EQ(live.held_record().evaluation, 1);
}

TEST(LiveGate, AnInterruptDoesNotTakeBackTheReleaseBeforeIt) {
    Live live;
    live.until_held();
    // Holds at each record, too, should the runtime wake up between the two calls.
    live.gate.set_breakpoint([](const Record&) { return true; });
    for (Step s = 1; s < 200; ++s) {
        live.let_go([&] {
            live.gate.run();
            live.gate.interrupt();
        });
        ASSERT_EQ(live.gate.held_at(), s);
    }
}

TEST(LiveGate, ABreakpointMayLookAtWhatIsRecorded) {
    Live live;
    live.until_held();
    live.gate.set_breakpoint(
        [&live](const Record& r) { return live.store.n_evaluations() == 2 && live.store.n_steps() == r.step + 1; });
    live.let_go([&] { live.gate.run(); });
    EXPECT_EQ(live.held_record().evaluation, 1);
}

TEST(LiveGate, WithoutItsBreakpointItRunsToItsEnd) {
    Live live;
    live.until_held();
    live.gate.set_breakpoint([](const Record&) { return true; });
    live.gate.set_breakpoint({});
    live.gate.run();
    live.join();
    EXPECT_TRUE(live.finished);
    EXPECT_EQ(live.gate.held_at(), no_step);
    live.gate.interrupt(); // too late to matter
    EXPECT_EQ(live.store.n_evaluations(), 3);
}

TEST(LiveGate, CancelledWhileHeldTheRuntimeGetsTheException) {
    Live live;
    live.until_held();
    live.gate.cancel();
    live.join();
    EXPECT_TRUE(live.cancelled);
    EXPECT_FALSE(live.finished);
    EXPECT_EQ(live.store.n_steps(), 1);
}

TEST(LiveGate, CancelledWhileItRunsItEndsAtTheNextRecord) {
    LiveStore store;
    LiveGate gate(store);
    gate.run();
    gate.add(record::PassBegin{});
    gate.cancel();
    EXPECT_THROW(gate.add(record::PassBegin{}), Cancelled);
    EXPECT_NO_THROW(gate.add(record::PassBegin{})); // what it says on its way out is not stopped
    EXPECT_EQ(store.n_steps(), 3);
}

TEST(LiveGate, AnInterruptHoldsARunningProgram) {
    LiveStore store;
    LiveGate gate(store, false);
    std::atomic<bool> stop = false;
    std::thread runtime([&] {
        while (!stop) {
            gate.add(record::PassBegin{});
        }
    });
    gate.interrupt();
    while (gate.held_at() == no_step) {
        pollfd waiting{gate.descriptor(), POLLIN, 0};
        ASSERT_EQ(poll(&waiting, 1, 60000), 1);
        gate.acknowledge();
    }
    EXPECT_EQ(gate.held_at(), store.n_steps() - 1);
    stop = true;
    gate.run();
    runtime.join();
    EXPECT_EQ(gate.held_at(), no_step);
}

TEST(LiveGate, TheDescriptorTellsOfEachChangeOnce) {
    Live live;
    live.until_held();
    live.gate.acknowledge();
    pollfd waiting{live.gate.descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 0), 0);
    live.gate.step(Unit::record);
    EXPECT_EQ(poll(&waiting, 1, 60000), 1);
}

TEST(LiveGate, TheExecutorStopsAsFinelyAsTheUserSteps) {
    LiveStore store;
    LiveGate gate(store, false);
    EXPECT_EQ(gate.grain(), Recorder::Grain::graph);
    gate.step(Unit::record);
    EXPECT_EQ(gate.grain(), Recorder::Grain::node);
    gate.step(Unit::split);
    EXPECT_EQ(gate.grain(), Recorder::Grain::split);
    gate.step(Unit::evaluation);
    EXPECT_EQ(gate.grain(), Recorder::Grain::graph);
    gate.set_breakpoint([](const Record&) { return false; });
    EXPECT_EQ(gate.grain(), Recorder::Grain::node);
    gate.set_breakpoint({});
    gate.run();
    EXPECT_EQ(gate.grain(), Recorder::Grain::graph);
}

TEST(LiveStore, OneThreadReadsWhatAnotherWrites) {
    LiveStore store;
    std::atomic<bool> done = false;
    std::thread runtime([&] {
        SampleRun run(store, session({"Vulkan0", "CPU"}));
        for (int i = 0; i < 20; ++i) {
            run.evaluate(blocks(3, 4, 2));
            run.evaluate_again();
        }
        done = true;
    });
    auto view = std::shared_ptr<const RecordSource>(std::shared_ptr<const RecordSource>(), &store);
    History history(view);
    Step seen = 0;
    bool last = false;
    while (!last) {
        last = done;
        const Step n = history.n_steps();
        ASSERT_GE(n, seen);
        if (n > 0) {
            const PlanState& state = history.state_at(n - 1);
            ASSERT_EQ(state.step, n - 1);
            ASSERT_FALSE(describe(history, history.record(n - 1)).empty());
        }
        std::vector<Record> records;
        store.read(seen, n, records);
        for (const Record& r : records) {
            ASSERT_EQ(r.step, seen++);
        }
    }
    runtime.join();
    EXPECT_EQ(store.n_evaluations(), 40);
    EXPECT_TRUE(store.evaluation(39).complete);
}

/// Adds a fact of its own while it takes one, as a writer that had to wait does.
class Interjecting final : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return texts.intern(text); }
    void keep(const Record& record) override {
        steps.push_back(record.step);
        if (record.step == 1) {
            root->add(record::Wait{});
        }
    }
    void attach_to(Recorder& r) override { root = &r; }
    Recorder* root = this;
    Interner texts;
    std::vector<Step> steps;
};

TEST(Tee, APartsOwnFactReachesAllPartsInOrder) {
    for (const bool gated : {false, true}) {
        Interjecting before, after;
        before.steps.clear();
        LiveStore store;
        TeeRecorder tee{&store, &before};
        LiveGate gate(tee, false);
        Recorder& root = gated ? static_cast<Recorder&>(gate) : tee;
        if (!gated) {
            tee.attach_to(tee);
        }
        for (int i = 0; i < 3; ++i) {
            root.add(record::PassBegin{});
        }
        EXPECT_THAT(before.steps, ::testing::ElementsAre(0, 1, 2, 3));
        std::vector<Record> records;
        store.read(0, store.n_steps(), records);
        ASSERT_EQ(records.size(), 4U);
        EXPECT_TRUE(std::holds_alternative<record::Wait>(records[2].fact));
        for (Step s = 0; s < 4; ++s) {
            EXPECT_EQ(records[static_cast<size_t>(s)].step, s);
        }
    }
}

TEST(Tee, AllPartsHaveTheSameTextNumbers) {
    LiveStore a, b;
    TeeRecorder tee{&a, &b};
    const StringId one = tee.intern("one"), two = tee.intern("two");
    EXPECT_EQ(tee.intern("one"), one);
    EXPECT_EQ(a.text(two), "two");
    EXPECT_EQ(b.text(one), "one");
}

} // namespace
} // namespace schedscope
