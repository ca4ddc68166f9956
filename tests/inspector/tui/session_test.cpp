#include "inspector/tui/state/inspector_session.h"

#include "inspector/tui/background/comparison_sums.h"
#include "inspector/tui/background/folded_differences.h"
#include "inspector/tui/views/drawings/memory_map.h"
#include "inspector/tui/views/view.h"
#include "runtime/backend/described_device.h"
#include "runtime/scheduler/optimised_order.h"
#include "runtime/system/joined.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/traces/made_trace.h"
#include "traces/history/live_gate.h"
#include "traces/history/words/words.h"
#include "traces/store/reading/copy_records.h"

#include <gmock/gmock.h>

#include <thread>

#include <poll.h>

namespace schedscope::tui {
namespace {

using Unit = InspectorSession::Unit;

class ATrace : public ::testing::Test {
protected:
    std::shared_ptr<const RecordSource> source = schedscope::test::made_trace(4, 3);
    InspectorSession session{source, nullptr};

    TensorId id_of(std::string_view name) {
        const auto& tensors = session.graph()->tensors;
        for (size_t i = 0; i < tensors.size(); ++i)
            if (tensors[i].name == name)
                return static_cast<TensorId>(i);
        return no_tensor;
    }
    std::string scan(std::string_view query, bool forward) {
        session.change_breakpoints([&](Breakpoints& breakpoints) {
            breakpoints.clear();
            breakpoints.add(Query::parse(query));
        });
        session.start_scan(forward);
        while (true)
            if (auto over = session.scan_slice())
                return *over;
    }
};

TEST_F(ATrace, OpensAtTheEndOfTheLastPlan) {
    EXPECT_EQ(session.state().evaluation, 0);
    EXPECT_TRUE(session.state().planned);
    EXPECT_EQ(session.step(), source->evaluation(0).end - 1);
}

/// Of a projection, its reshape and its rope, which have one name.
TEST(ASelection, InAnotherGraphIsInTheSamePlaceAmongThoseOfItsName) {
    InspectorSession session(schedscope::test::sample("partial-offload"), nullptr);
    const auto selected = [&] { return session.graph()->tensors[session.selected()]; };
    session.go_evaluation(0);
    const OwnedGraph* const prompt = session.graph();
    session.select(90);
    ASSERT_EQ(selected().op, Op::ROPE);
    session.go_evaluation(3);
    ASSERT_NE(session.graph(), prompt);
    EXPECT_EQ(selected().name, "Qcur-1");
    EXPECT_EQ(selected().op, Op::ROPE);
}

TEST_F(ATrace, StepsThereAndBackAreTheSame) {
    session.move(Unit::pass, false);
    const Step step = session.step();
    session.move(Unit::record, true);
    EXPECT_EQ(session.step(), step + 1);
    session.move(Unit::record, false);
    EXPECT_EQ(session.step(), step);
}

TEST_F(ATrace, WhereAnEvaluationBeginsHasWhatItIsGoingToPlan) {
    session.select(id_of("attn_norm-2"));
    session.go(0);
    ASSERT_TRUE(std::holds_alternative<record::EvaluationBegin>(session.record().fact));
    ASSERT_NE(session.graph(), nullptr);
    EXPECT_EQ(session.name(session.selected()), "attn_norm-2");
    EXPECT_EQ(session.state().tensors[session.selected()].backend, no_backend);
    EXPECT_EQ(session.step(), 0);
}

TEST(ATraceWithoutTokens, IsSteppedByTokenFromOneThatRunsToTheNext) {
    InspectorSession session(schedscope::test::sample("llama-cpp"), nullptr); // 26 reserves, a prompt, two tokens
    session.go(0);
    session.move(Unit::token, true);
    EXPECT_EQ(session.state().evaluation, 26);
    EXPECT_NE(session.graph(), nullptr);
    session.move(Unit::token, true);
    EXPECT_EQ(session.state().evaluation, 27);
    session.move(Unit::token, false);
    EXPECT_EQ(session.state().evaluation, 26);
    EXPECT_EQ(session.move(Unit::token, false), "no evaluation of tokens comes before this one");
}

TEST_F(ATrace, SaysWhyThereIsNothingFurther) {
    session.go(0);
    EXPECT_EQ(session.move(Unit::record, false), "this is the first step of the trace");
    EXPECT_EQ(session.move(Unit::evaluation, false), "no evaluation comes before this one");
    session.go(session.last_step());
    EXPECT_EQ(session.move(Unit::record, true), "this is the last step of the trace");
    EXPECT_EQ(session.step(), session.last_step());
    EXPECT_EQ(session.go(1'000'000'000),
              "there is no step 1,000,000,000: they go from 0 to " + words::count(session.last_step()));
}

/// Of a state: the backend and the rule of each tensor.
std::vector<std::tuple<BackendId, Cause, int>> assignments(const PlanState& state) {
    std::vector<std::tuple<BackendId, Cause, int>> all;
    for (const TensorState& t : state.tensors)
        all.emplace_back(t.backend, *t.cause, t.source);
    return all;
}

TEST_F(ATrace, APassIsItsEndWithWhatItChangedWhicheverWayLedThere) {
    constexpr Pass all[] = {Pass::place,   Pass::gpu_down, Pass::gpu_up,   Pass::rest_down, Pass::rest_up, Pass::refine,
                            Pass::sources, Pass::split,    Pass::optimise, Pass::allocate,  Pass::execute};
    std::vector<std::tuple<BackendId, Cause, int>> before;
    for (const Pass pass : all) {
        session.go(0);
        const std::string told = session.go_pass(pass);
        EXPECT_EQ(std::get<record::PassEnd>(session.record().fact).pass, pass);
        EXPECT_EQ(session.state().pass, pass);
        const auto now = assignments(session.state());
        before.resize(now.size(), {no_backend, Cause::none, -1});
        for (TensorId id = 0; id < static_cast<TensorId>(now.size()); ++id) {
            const auto at = static_cast<size_t>(id);
            EXPECT_EQ(session.changed().contains(id), now[at] != before[at]) << pass_name(pass) << ' ' << session.name(id);
            EXPECT_EQ(session.was(id), session.changed().contains(id) ? std::get<0>(before[at]) : std::get<0>(now[at]));
        }
        const auto changed = session.changed();
        session.go(session.last_step());
        EXPECT_EQ(session.go_pass(pass), told); // back to it
        EXPECT_EQ(session.changed(), changed);
        session.go(session.step() - 1);
        EXPECT_EQ(session.move(Unit::record, true), told);
        EXPECT_EQ(session.changed(), changed);
        before = now;
    }
}

TEST_F(ATrace, Pass2AsAWholeIsWhatItsSweepsChangedTogether) {
    accounts::ChangedTensors together;
    for (const Pass pass : {Pass::gpu_down, Pass::gpu_up, Pass::rest_down, Pass::rest_up}) {
        session.go_pass(pass);
        for (const TensorId id : session.changed().ids()) {
            together.add(id, *session.changed().before(id)); // what was first stays
        }
    }
    ASSERT_FALSE(together.ids().empty());
    const auto expect_changed = [&](const accounts::ChangedTensors& wanted) {
        EXPECT_EQ(session.changed().ids().size(), wanted.ids().size());
        for (const TensorId id : wanted.ids()) {
            EXPECT_EQ(session.changed().before(id), wanted.before(id));
        }
    };
    session.go_pass(Pass::place);
    const std::string told = session.move(Unit::pass, true);
    EXPECT_EQ(told,
              "pass 2 (expand) ends: " + words::counted(static_cast<int64_t>(together.ids().size()), "tensor") + " assigned");
    expect_changed(together);
    session.move(Unit::pass, true);
    EXPECT_EQ(session.state().pass, Pass::refine);
    EXPECT_EQ(session.move(Unit::pass, false), told);
    expect_changed(together);
    EXPECT_EQ(session.go_pass(Pass::rest_up, Unit::pass), told);
    session.go_evaluation(1);
    session.go_evaluation(0); // the same place: of the same pass
    expect_changed(together);
}

TEST(AFailedPlan, EndsWithThePassThatFailed) {
    auto store = std::make_shared<LiveStore>();
    schedscope::test::record_failing_plan(*store);
    InspectorSession session(store, nullptr);
    session.go(0);
    Step failed = no_step;
    for (Step last = no_step; session.step() != last && failed == no_step;) {
        last = session.step();
        session.move(Unit::pass, true);
        failed = std::holds_alternative<record::PlanEnd>(session.record().fact) ? session.step() : no_step;
    }
    ASSERT_NE(failed, no_step);
    const Pass pass = session.state().pass;
    EXPECT_NE(pass, Pass::none);
    EXPECT_FALSE(session.state().error.empty());
    session.go(0);
    EXPECT_NE(session.go_pass(pass).find(session.state().error), std::string::npos);
    EXPECT_EQ(session.step(), failed);
}

TEST_F(ATrace, APassOfAReusedPlanIsWhereItWasMade) {
    session.go_evaluation(2);
    EXPECT_EQ(session.state().evaluation, 2);
    session.go_pass(Pass::execute);
    EXPECT_EQ(session.state().evaluation, 2);
    session.go_pass(Pass::place);
    EXPECT_EQ(session.state().evaluation, 0);
}

TEST_F(ATrace, ChangesOfOneTensorAreVisitedInOrder) {
    session.go(0);
    session.go_pass(Pass::place);
    session.select(id_of("kq-3"));
    std::vector<Step> seen;
    for (int i = 0; i < 100; ++i) {
        const Step before = session.step();
        session.change_of_selected(true);
        if (session.step() == before)
            break;
        EXPECT_EQ(session.selected(), id_of("kq-3"));
        seen.push_back(session.step());
    }
    ASSERT_GE(seen.size(), 3u); // assigned, placed, run in each of the evaluations
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    for (auto back = seen.rbegin() + 1; back != seen.rend(); ++back) {
        session.change_of_selected(false);
        EXPECT_EQ(session.step(), *back);
    }
}

TEST_F(ATrace, SingleStepsSelectWhatChangesUnlessToldNotTo) {
    session.go(0);
    scan("kind=assign name=attn_norm-1", true);
    const Step step = session.step();
    session.select(id_of("logits"));
    session.follow = false;
    session.go(step - 1);
    session.go(step);
    EXPECT_EQ(session.selected(), id_of("logits"));
    session.follow = true;
    session.go(step - 1);
    session.go(step);
    EXPECT_EQ(session.selected(), id_of("attn_norm-1"));
}

TEST_F(ATrace, ABreakpointIsReachedForwardAndBackward) {
    session.go(0);
    const std::string told = scan("kind=assign backend=GPU0 op=RMS_NORM cause=2.sup", true);
    EXPECT_TRUE(told.starts_with("breakpoint: ")) << told;
    const Step first = session.step();
    const auto& assign = std::get<record::Assign>(session.record().fact);
    EXPECT_EQ(assign.cause, Cause::supported);
    scan("kind=assign backend=GPU0 op=RMS_NORM cause=2.sup", true);
    EXPECT_GT(session.step(), first);
    scan("kind=assign backend=GPU0 op=RMS_NORM cause=2.sup", false);
    EXPECT_EQ(session.step(), first);
    EXPECT_EQ(scan("kind=assign backend=GPU0 op=RMS_NORM cause=2.sup", false),
              "no record before this step matches kind=assign backend=GPU0 op=RMS_NORM cause=2.sup");
    EXPECT_EQ(session.step(), first);
}

TEST_F(ATrace, RecordsAreFoundByWhatTheySay) {
    session.go(0);
    scan("kind=query why=type name=kq_soft_max-3", true);
    EXPECT_EQ(std::get<record::BackendQuery>(session.record().fact).reason, Refusal::type);
    scan("kind=copy_made name~GPU0# backend=GPU0", true);
    EXPECT_TRUE(std::holds_alternative<record::CopyMade>(session.record().fact));
    scan("kind=transfer from=CPU bytes>1K", true);
    EXPECT_GT(std::get<record::Transfer>(session.record().fact).bytes, 1024);
    scan("kind=execute kernel=MUL_MAT time>=40us eval=1", true);
    EXPECT_EQ(session.state().evaluation, 1);
    scan("kind=token eval=2", true);
    EXPECT_EQ(session.state().evaluation, 2);
}

TEST_F(ATrace, WhatFactsSayStaysWhereItIs) {
    const auto first_of = [&](std::string_view backend) {
        session.go(0);
        scan("kind=assign backend=" + std::string(backend), true);
        return session.record();
    };
    const Record on_first = first_of(session.backend_name(0)), on_second = first_of(session.backend_name(1));
    Describer describer(session.history());
    Facts first, second;
    describer.record(on_first, first);
    const char* const where = first.text(Field::backend).data();
    describer.record(on_second, second);
    describer.record(on_first, second);
    EXPECT_EQ(second.text(Field::backend).data(), where);
    EXPECT_EQ(first.text(Field::backend), session.backend_name(0));
}

TEST_F(ATrace, AMapHasRoomForPlacesThatCanNotBe) {
    std::vector<record::Placement> placements = session.state().placements;
    ASSERT_GE(placements.size(), 2u);
    MemoryMap::DrawnBuffer buffer{placements[0].buffer_type, 0, {.bytes = 1 << 20}, {}};
    placements.resize(2);
    placements[0].first_use = -1'000'000;
    placements[0].last_use = -5;
    placements[1].offset = -4096;
    buffer.rows = {0, 1};
    MemoryMap map;
    map.set(placements, {buffer});
    EXPECT_EQ(map.draw(session, 0, 12, 60).size(), 12u);
}

/// A row that a folded range shares with a tensor says how large the range is where the tensor is not, and in one piece.
TEST_F(ATrace, AMapTellsOfAFoldedRangeWhereNothingElseIsWritten) {
    std::vector<record::Placement> placements = session.state().placements;
    ASSERT_GE(placements.size(), 3u);
    MemoryMap::DrawnBuffer buffer{placements[0].buffer_type, 0, {.bytes = 40 << 20}, {0, 1, 2}};
    placements.resize(3);
    const auto place = [&](int row, int64_t offset, int64_t size, int32_t first, int32_t last) {
        placements[row].offset = offset;
        placements[row].size = size;
        placements[row].first_use = first;
        placements[row].last_use = last;
    };
    place(0, 0, 4096, 0, 30); // above it nothing lies; it ends before the middle of the map
    place(1, 20 << 20, 4096, 0, 30);
    place(2, 30 << 20, 4096, 60, 99);
    MemoryMap map;
    map.set(placements, {buffer});
    int n_told = 0;
    for (int height = 6; height < 40; ++height) {
        for (const Line& line : map.draw(session, -1, height, 120)) {
            const std::string text = joined(line.parts, "", &Text::text);
            if (text.find(" lies ") != std::string::npos) {
                ++n_told;
                EXPECT_THAT(text, ::testing::ContainsRegex(" [0-9.]+ MiB in which nothing lies ")) << "height " << height;
            }
        }
    }
    EXPECT_GT(n_told, 0);
}

/// What lies below a folded range all the time makes room for it, and no two rows are labelled alike.
TEST_F(ATrace, AMapTellsOfAFoldedRangeAboveWhatIsNeededAllTheTime) {
    std::vector<record::Placement> placements = session.state().placements;
    ASSERT_GE(placements.size(), 4u);
    placements.resize(4);
    int row = 0;
    for (const auto& [offset, size] :
         {std::pair{0, 32 << 10}, {(16 << 20) + 2048, 8}, {(16 << 20) + 12288, 512}, {(20 << 20) + 14336, 32 << 10}}) {
        placements[row].offset = offset;
        placements[row].size = size;
        placements[row].first_use = 0;
        placements[row].last_use = row % 3 == 0 ? 99 : 20;
        ++row;
    }
    MemoryMap map;
    map.set(placements, {{placements[0].buffer_type, 0, {.bytes = 36 << 20}, {0, 1, 2, 3}}});
    std::vector<std::string> labels;
    std::string all;
    for (const Line& line : map.draw(session, -1, 9, 78)) {
        const std::string text = joined(line.parts, "", &Text::text);
        all += text + "\n";
        if (const std::string label = text.substr(0, 9); label.find("iB") != std::string::npos) {
            EXPECT_THAT(labels, ::testing::Not(::testing::Contains(label))) << all;
            labels.push_back(label);
        }
    }
    EXPECT_THAT(all, ::testing::ContainsRegex("16.0 MiB in which nothing lies (.|\n)*16.0 MiB in which nothing lies ")) << all;
}

TEST_F(ATrace, AMapOfOneOfSeveralBuffersSaysWhich) {
    std::vector<record::Placement> placements = session.state().placements;
    ASSERT_GE(placements.size(), 2u);
    placements.resize(2);
    MemoryMap map;
    map.set(placements,
            {{placements[0].buffer_type, 0, {.bytes = 1 << 20}, {0}}, {placements[0].buffer_type, 1, {.bytes = 1 << 20}, {1}}});
    const auto heading = [&](int selected, int height) { return map.draw(session, selected, height, 100)[0].parts[0].text; };
    EXPECT_THAT(heading(0, 8), ::testing::StartsWith("1/2 "));
    EXPECT_THAT(heading(1, 8), ::testing::StartsWith("2/2 "));
    EXPECT_THAT(heading(0, 24), ::testing::Not(::testing::StartsWith("1/2 "))) << "both are drawn";
}

TEST_F(ATrace, EveryTensorHasItsRow) {
    EXPECT_EQ(session.tensors().size(), session.graph()->tensors.size() + session.state().copies.size());
    for (size_t row = 0; row < session.tensors().size(); ++row)
        EXPECT_EQ(session.row_of(session.tensors()[row]), static_cast<int>(row));
    EXPECT_EQ(session.row_of(no_tensor), -1);
    EXPECT_EQ(session.row_of(1'000'000), -1);
}

TEST_F(ATrace, ReadersOfATensorAreTheNodesThatHaveItAsSource) {
    const TensorId norm = id_of("attn_norm-2");
    std::vector<TensorId> expected;
    for (const TensorId node : session.graph()->nodes) {
        const auto& src = session.graph()->tensors[static_cast<size_t>(node)].src;
        expected.insert(expected.end(), static_cast<size_t>(std::count(src.begin(), src.end(), norm)), node);
    }
    const auto users = session.users_of(norm);
    EXPECT_EQ(std::vector<TensorId>(users.begin(), users.end()), expected);
    EXPECT_FALSE(expected.empty());
}

/// Every view can be asked everything at every step: what it shows depends on the state alone, and no state is too early.
TEST_F(ATrace, EveryViewHoldsAtEveryStep) {
    for (const ViewEntry& entry : views()) {
        const auto view = entry.make(session);
        for (Step step = 0; step < session.last_step(); step += 37) {
            session.go(step);
            view->update(session);
            EXPECT_FALSE(view->title(session).empty());
            EXPECT_FALSE(view->empty_text(session).empty());
            Facts facts;
            for (int row = 0; row < view->n_rows(); row += std::max(view->n_rows() / 5, 1)) {
                for (size_t column = 0; column < view->table().columns().size(); ++column) {
                    view->table().cell(row, column);
                }
                EXPECT_FALSE(view->detail_title(session, row).empty());
                (void)view->detail(session, row, 40);
                view->facts(session, row, facts);
                (void)view->open(session, row);
                (void)view->changed(session, row);
                if (const TensorId id = view->tensor_of(session, row); id != no_tensor) {
                    EXPECT_GE(view->row_of(session, id), 0) << entry.name << " " << row;
                }
            }
        }
    }
}

/// A program under a gate, as `inspect -m` runs it.
class ALiveRun : public ::testing::Test {
protected:
    using MadeRun = schedscope::test::MadeRun;
    explicit ALiveRun(MadeRun::Size size = {}, int n_evaluations = 2)
        : thread([=, this] { MadeRun(2, size).record(gate, n_evaluations); }) {
        wait_until_held();
    }
    ~ALiveRun() override {
        gate.set_breakpoint({});
        gate.run();
        thread.join();
    }
    /// Until the gate has told of being held, and `session` (if any) takes it so.
    void wait_until_held(const InspectorSession* session = nullptr) {
        while (session ? session->running() : gate.held_at() == no_step) {
            pollfd fd{gate.descriptor(), POLLIN, 0};
            ASSERT_EQ(poll(&fd, 1, 20'000), 1);
            gate.acknowledge();
        }
    }

    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    LiveGate gate{*store};
    InspectorSession early{store, &gate}; ///< opened before anything is recorded
    std::thread thread;
};

TEST_F(ALiveRun, TheNewestStepLetsTheProgramGoOn) {
    InspectorSession session(store, &gate);
    EXPECT_EQ(session.step(), 0);
    EXPECT_EQ(session.move(Unit::record, true), "running to the next step");
    wait_until_held(&session);
    session.refresh();
    EXPECT_EQ(session.step(), 1);
    session.move(Unit::pass, true);
    wait_until_held(&session);
    session.refresh();
    EXPECT_EQ(std::get<record::PassEnd>(session.record().fact).pass, Pass::place); // it ran to the end of the pass
    EXPECT_GT(session.n_changed(), 0);
    EXPECT_TRUE(session.changed_now(session.selected())) << "one of those that the pass changed";
    EXPECT_TRUE(session.at_newest());
}

class ALiveRunThatReserves : public ALiveRun {
protected:
    ALiveRunThatReserves() : ALiveRun({.plan_every = 1, .n_reserves = 2, .says_tokens = false}, 4) {}
};

TEST_F(ALiveRunThatReserves, GoesToTheFirstPromptWhereItsTokensAreNotKnown) {
    InspectorSession session(store, &gate);
    session.move(Unit::token, true);
    while (session.state().pass != Pass::place) {
        wait_until_held(&session);
        session.refresh();
    }
    EXPECT_EQ(session.state().evaluation, 2);
    EXPECT_FALSE(session.running());
}

TEST_F(ALiveRunThatReserves, GoesThereFromTheStartAlsoWhereItWasOpenedBeforeAnythingWasRecorded) {
    early.refresh();
    ASSERT_EQ(early.step(), 0);
    early.move(Unit::token, true);
    while (early.state().pass != Pass::place && !HasFatalFailure()) {
        wait_until_held(&early);
        early.refresh();
    }
    EXPECT_EQ(early.state().evaluation, 2);
    EXPECT_FALSE(early.running());
}

TEST_F(ALiveRun, NamesOfCopiesStayWhereTheyAreWhileMoreAreMade) {
    InspectorSession session(store, &gate);
    gate.set_breakpoint([](const Record& record) { return std::holds_alternative<record::CopyMade>(record.fact); });
    Describer describer(session.history());
    std::vector<std::pair<TensorId, std::string_view>> seen;
    while (seen.size() < 2) {
        session.let_run();
        wait_until_held(&session);
        session.refresh();
        const TensorId copy = std::get<record::CopyMade>(session.record().fact).copy;
        seen.emplace_back(copy, describer.name(session.state().evaluation, copy));
        EXPECT_EQ(seen.back().second, session.name(copy));
    }
    EXPECT_EQ(describer.name(session.state().evaluation, seen[0].first).data(), seen[0].second.data());
}

TEST_F(ALiveRun, StepsTypedAheadAreTakenOneByOne) {
    InspectorSession session(store, &gate);
    for (int i = 0; i < 3; ++i)
        session.move(Unit::record, true);
    while (session.step() < 3) {
        wait_until_held(&session);
        session.refresh();
    }
    wait_until_held(&session);
    session.refresh();
    EXPECT_EQ(session.step(), 3);
    EXPECT_FALSE(session.running());
}

TEST_F(ALiveRun, WhatLiesBehindIsSteppedWithoutTheProgram) {
    InspectorSession session(store, &gate);
    for (int i = 0; i < 3; ++i) {
        session.move(Unit::record, true);
        wait_until_held(&session);
        session.refresh();
    }
    session.move(Unit::record, false);
    EXPECT_EQ(session.step(), 2);
    session.move(Unit::record, true);
    EXPECT_EQ(session.step(), 3);
    EXPECT_EQ(store->n_steps(), 4);
}

/// Of evaluations that only one of two traces has there is one row.
TEST(DifferencesOfTwoTraces, TellEvaluationsThatOnlyOneHasTogether) {
    const auto made = [](int n) {
        const auto store = std::make_shared<LiveStore>();
        schedscope::test::MadeRun(2).record(*store, n);
        return std::make_unique<History>(store);
    };
    const auto few = made(3), many = made(7);
    for (const bool first_has_more : {false, true}) {
        History& a = first_has_more ? *many : *few;
        const std::vector<Comparison::Row> rows = folded_differences(diff::compare(a, first_has_more ? *few : *many), a);
        const auto is_evaluation = [](const Comparison::Row& row) { return row.what == "evaluation"; };
        ASSERT_EQ(std::count_if(rows.begin(), rows.end(), is_evaluation), 1);
        const Comparison::Row& row = *std::find_if(rows.begin(), rows.end(), is_evaluation);
        EXPECT_EQ(row.name, "evaluation 3 … evaluation 6");
        EXPECT_EQ(row.n, 4);
        EXPECT_EQ(first_has_more ? row.left : row.right, "decode of 1 token");
        EXPECT_EQ(first_has_more ? row.right : row.left, "");
    }
}

/// A program that is held within its third plan: those before can be made differently.
TEST(ASessionHeldWithinAPlan, IsAskedWhatIfOfThePlansThatAreComplete) {
    LiveStore whole;
    schedscope::test::MadeRun(2, {.plan_every = 1}).record(whole, 3);
    const auto held_at = [&](Step step, const auto& look) {
        const auto part = std::make_shared<LiveStore>();
        copy_records(whole, step, *part, [] { return true; });
        LiveGate gate{*part};
        InspectorSession session{part, &gate};
        look(session);
    };
    held_at(whole.next_of(whole.evaluation(2).first, fact_bit<record::PassEnd>()) + 1, [](InspectorSession& session) {
        session.start_what_if("refuse=GPU0:MUL_MAT");
        pollfd done{session.comparison().descriptor(), POLLIN, 0};
        ASSERT_EQ(poll(&done, 1, 60'000), 1);
        EXPECT_THAT(session.finish_comparison(),
                    ::testing::EndsWith("; evaluation 2 is left out: its plan is not complete; the newest one that is: "
                                        "evaluation 1"));
        EXPECT_GT(session.comparison().result()->n_differences, 0);
        EXPECT_EQ(session.comparison().result()->plans.size(), 2U);
        session.go(session.last_step());
        EXPECT_THAT(ComparisonSums().title(session), ::testing::StartsWith("evaluation 1,"))
            << "the newest, in the place of its own";
    });
    held_at(whole.next_of(0, fact_bit<record::PassEnd>()) + 1,
            [](InspectorSession& session) { EXPECT_THROW(session.start_what_if("refuse=GPU0:MUL_MAT"), Error); });
}

/// As `replay --set` knows them: who opens the inspector knows the backends.
TEST(AWhatIf, KnowsDevicesThatAreOnlyDescribed) {
    const auto store = std::make_shared<LiveStore>();
    schedscope::test::MadeRun(2, {.plan_every = 1}).record(*store, 1);
    InspectorSession session{store, nullptr};
    constexpr const char* settings = "device-order=g=vulkan:1GiB,cpu";
    EXPECT_THROW(session.start_what_if(settings), Error);
    session.plan_again_with({optimised_nodes, profile_of_vulkan});
    session.start_what_if(settings);
    pollfd done{session.comparison().descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&done, 1, 60'000), 1);
    session.finish_comparison();
    EXPECT_EQ(session.comparison().error(), "");
    EXPECT_EQ(session.comparison().result()->plans.size(), 1U);
}

} // namespace
} // namespace schedscope::tui
