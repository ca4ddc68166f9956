// A part of a recording is a whole trace: what is left out leaves nothing behind that leads nowhere.
#include "tests/support/traces/faces.h"
#include "tests/support/traces/sample_run.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/history.h"
#include "traces/replay/replay.h"
#include "traces/store/bounded/bounded_recorder.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope {
namespace {

using namespace test;
using ::testing::ElementsAre;

/// A prompt, decodes that run one plan, a longer prompt, decodes again.
void run_on(Recorder& recorder, int n_decodes) {
    SampleRun run(recorder, session({"Vulkan0", "CPU"}));
    for (const int n_tokens : {40, 80}) {
        run.evaluate(blocks(3, n_tokens, 2));
        run.evaluate(blocks(3, 1, 2), GraphKind::decode);
        for (int i = 0; i < n_decodes; ++i) {
            run.evaluate_again();
        }
    }
}

struct Bounded {
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    int64_t n_left_out = 0, n_wanted = 0;

    explicit Bounded(RecordingBounds bounds, int n_decodes = 5) {
        BoundedRecorder recorder(*store, std::move(bounds));
        run_on(recorder, n_decodes);
        recorder.finish();
        n_left_out = recorder.n_left_out();
        n_wanted = recorder.n_wanted();
    }
    std::vector<EvaluationId> planned_in() const {
        std::vector<EvaluationId> ids;
        for (EvaluationId id = 0; id < store->n_evaluations(); ++id) {
            ids.push_back(store->evaluation(id).begin.planned_in);
        }
        return ids;
    }
    void expect_whole() const {
        for (Step step = 0; step < store->n_steps(); ++step) {
            std::vector<Record> record;
            store->read(step, step + 1, record);
            ASSERT_EQ(record.at(0).step, step);
        }
        const ReplayResult again = replay(*store);
        EXPECT_EQ(again.identical, again.compared);
        EXPECT_GT(again.compared, 0);
        for (const Face& face : trace_faces()) {
            EXPECT_NO_THROW(try_it([&] { face.look(store); })) << face.name;
        }
    }
};

TEST(BoundedRecording, WithoutLimitsIsTheRecording) {
    const Bounded all({.last_evaluations = 1000});
    LiveStore plain;
    run_on(plain, 5);
    EXPECT_EQ(all.store->n_steps(), plain.n_steps());
    EXPECT_EQ(all.store->n_graphs(), plain.n_graphs());
    EXPECT_EQ(all.n_left_out, 0);
    EXPECT_EQ(all.n_wanted, all.store->n_evaluations());
    all.expect_whole();
}

TEST(BoundedRecording, KeepsTheLastAndWhatTheyNeed) {
    const Bounded last({.last_evaluations = 2});
    // Both prompts and their first decodes, whose memory was planned; the last two.
    EXPECT_THAT(last.planned_in(), ElementsAre(0, 1, 2, 3, 3, 3));
    EXPECT_EQ(last.n_left_out, 8);
    EXPECT_EQ(last.n_wanted, 2);
    History history(last.store);
    EXPECT_EQ(history.plan(5).splits.size(), history.plan(3).splits.size());
    EXPECT_FALSE(accounts::memory(history, history.plan(5)).memory.empty()) << "the buffers' sizes are known";
    last.expect_whole();
}

TEST(BoundedRecording, FitsIntoTheSize) {
    constexpr int64_t most = 2 << 20;
    const files::Folder folder;
    const auto size_of = [&](RecordingBounds bounds) {
        TraceWriter writer(folder / "t.trace");
        BoundedRecorder recorder(writer, std::move(bounds));
        run_on(recorder, 4000);
        recorder.finish();
        writer.close();
        return static_cast<int64_t>(std::filesystem::file_size(folder / "t.trace"));
    };
    EXPECT_GT(size_of({.last_evaluations = 1 << 20}), 2 * most);
    const int64_t size = size_of({.last_bytes = most});
    EXPECT_LE(size, most);
    EXPECT_GT(size, most / 4) << "as many as there is room for";
    const auto read = std::make_shared<TraceReader>(folder / "t.trace");
    const EvaluationSpan last = read->evaluation(read->n_evaluations() - 1);
    EXPECT_TRUE(last.complete);
    EXPECT_TRUE(last.begin.reused);
    const ReplayResult again = replay(*read);
    EXPECT_EQ(again.identical, again.compared);
}

TEST(BoundedRecording, EndsWithTheTime) {
    LiveStore plain;
    run_on(plain, 5);
    std::vector<int64_t> begins;
    plain.for_each_of(fact_bit<record::EvaluationBegin>(), 0, plain.n_steps(),
                      [&](const Record& r) { begins.push_back(r.time_ns.value_or(0)); });
    // The same records, with their times, through the bound.
    auto store = std::make_shared<LiveStore>();
    BoundedRecorder recorder(*store, {.for_ns = begins[3] - begins[0]});
    recorder.session(plain.session());
    for (GraphId g = 0; g < plain.n_graphs(); ++g) {
        recorder.graph(g, plain.graph(g).view(), plain.answers(g));
    }
    plain.for_each(0, plain.n_steps(), [&](Record r) {
        r.fact = std::holds_alternative<record::EvaluationBegin>(r.fact) || std::holds_alternative<record::EvaluationEnd>(r.fact)
                     ? r.fact
                     : Fact(record::Wait{});
        recorder.keep(r);
    });
    recorder.finish();
    EXPECT_EQ(store->n_evaluations(), 3);
    EXPECT_EQ(recorder.n_left_out(), 11);
    EXPECT_EQ(recorder.n_wanted(), 3);
}

TEST(BoundedRecording, KeepsWhatIsAskedForInTheOrderInWhichItCame) {
    std::vector<int> looked;
    int n = 0;
    const Bounded some({.when = [&](EvaluationId, const std::function<void(Recorder&)>& write) {
        const auto store = std::make_shared<LiveStore>();
        write(*store);
        History history(store);
        const EvaluationId last = store->n_evaluations() - 1;
        EXPECT_GE(history.plan(last).graph, 0) << "the plan is there";
        bool tokens = false;
        store->for_each(0, store->n_steps(), [&](const Record& r) {
            if (const auto* token = std::get_if<record::NextToken>(&r.fact)) {
                tokens |= token->text && !store->text(*token->text).empty();
            }
        });
        EXPECT_TRUE(tokens) << "texts are";
        return n++ == 5;
    }});
    EXPECT_EQ(n, 14);
    EXPECT_THAT(some.planned_in(), ElementsAre(0, 1, 1, 3, 4)) << "those whose memory was planned, and the sixth";
    EXPECT_EQ(some.n_wanted, 1);
    some.expect_whole();
}

} // namespace
} // namespace schedscope
