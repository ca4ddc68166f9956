// What a running program was asked, and what it tells.
#include "inspector/tui/background/live_program.h"
#include "tests/support/traces/made_trace.h"
#include "traces/store/live_store.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include <poll.h>

namespace schedscope::tui {
namespace {

using State = LiveProgram::State;
using HowStopped = LiveProgram::HowStopped;
using Unit = LiveProgram::Unit;

class ALiveProgram : public ::testing::Test {
protected:
    ALiveProgram() : thread([this] { schedscope::test::MadeRun(2).record(gate, 2); }) {}
    ~ALiveProgram() override {
        gate.set_breakpoint({});
        gate.run();
        thread.join();
    }
    /// The next thing that it tells; none: it has told nothing for long.
    HowStopped next() {
        for (pollfd fd{program.descriptor(), POLLIN, 0}; poll(&fd, 1, 20'000) == 1;) {
            if (const HowStopped event = program.look(false); event != HowStopped::none) {
                return event;
            }
        }
        return HowStopped::none;
    }

    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    LiveGate gate{*store};
    LiveProgram program{gate, STDIN_FILENO};
    std::thread thread;
};

TEST_F(ALiveProgram, IsHeldAtItsFirstRecordAndTellsOnceOfAStop) {
    EXPECT_EQ(next(), HowStopped::held);
    EXPECT_EQ(program.state(), State::held);
    EXPECT_EQ(program.look(false), HowStopped::none);
    program.step(Unit::record);
    EXPECT_EQ(next(), HowStopped::held);
    EXPECT_EQ(program.look(false), HowStopped::none);
    EXPECT_EQ(store->n_steps(), 2);
}

TEST_F(ALiveProgram, StepsUntilItIsHeldAndTakesTheStepsThatWereToCome) {
    ASSERT_EQ(next(), HowStopped::held);
    program.step(Unit::pass);
    program.step_later(Unit::record);
    program.step_later(Unit::split);
    ASSERT_EQ(next(), HowStopped::held);
    EXPECT_EQ(program.next_step(), Unit::record);
    EXPECT_EQ(program.next_step(), Unit::split);
    EXPECT_EQ(program.next_step(), std::nullopt);
}

TEST_F(ALiveProgram, AtABreakpointNoStepsAreToCome) {
    ASSERT_EQ(next(), HowStopped::held);
    program.set_breakpoint([](const Record& record) { return std::holds_alternative<record::PassBegin>(record.fact); });
    program.step(Unit::token);
    program.step_later(Unit::record);
    EXPECT_EQ(next(), HowStopped::breakpoint);
    EXPECT_EQ(program.next_step(), std::nullopt);
}

TEST_F(ALiveProgram, RunsUntilItIsAskedToHold) {
    ASSERT_EQ(next(), HowStopped::held);
    std::promise<void> asked;
    program.set_breakpoint([wait = asked.get_future().share()](const Record&) { // its thread goes no further before
        wait.wait();
        return false;
    });
    program.run();
    EXPECT_EQ(program.state(), State::running);
    EXPECT_TRUE(program.goes());
    program.hold();
    asked.set_value();
    EXPECT_EQ(next(), HowStopped::interrupted);
    program.step(Unit::record);
    EXPECT_EQ(next(), HowStopped::held) << "it was interrupted once";
}

TEST_F(ALiveProgram, HasEndedForGood) {
    ASSERT_EQ(next(), HowStopped::held);
    EXPECT_EQ(program.ended_descriptor(), STDIN_FILENO);
    EXPECT_EQ(program.look(true), HowStopped::ended);
    EXPECT_EQ(program.state(), State::ended);
    EXPECT_EQ(program.ended_descriptor(), -1);
    EXPECT_EQ(program.look(false), HowStopped::none);
    EXPECT_FALSE(program.goes());
}

} // namespace
} // namespace schedscope::tui
