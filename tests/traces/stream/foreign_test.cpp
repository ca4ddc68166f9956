// Operators and types that this program has never heard of are kept with their names, and shown so everywhere.

#include "tests/support/files.h"
#include "tests/support/traces/plan_rows.h"
#include "tests/traces/stream/streamed.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/describe.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/replay.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"
#include "viz/query/known_words.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

struct Described {
    int64_t ne[4], nb[4];
    uint32_t name, op, type;
    int32_t leaf, node, src;
};

/// x, a leaf of a type of its program's own, and y, what its operator makes of it.
ImportedStream made_up(uint32_t (*op)(SmallBlock&),
                       const char* words = "tensor ne:i64*4 nb:i64*4 name:text op:text type:text leaf:i32 node:i32 src:i32") {
    StreamInFile file;
    SmallProgram p(file.stream);
    const uint32_t tensor = sscp_kind(&file.stream, words);
    SmallBlock block(file.stream, 0);
    block.put(p.graph, 0, 2);
    const Described x{
        {256, 8, 1, 1}, {22, 176, 1408, 1408}, block.text("x"), block.text("NONE"), block.text("q5_toast"), 0, -1, -1};
    sscp_put(&block.block, tensor, &x, sizeof x);
    const Described y{{256, 8, 1, 1}, {4, 1024, 8192, 8192}, block.text("y"), op(block), block.text("f32"), -1, 0, 0};
    sscp_put(&block.block, tensor, &y, sizeof y);
    p.plan(block, 0);
    block.put(p.kernel, 1, 1, 10, 20).put(p.end).commit();
    sscp_close(&file.stream);
    return ImportedStream::file(file.path());
}
uint32_t spline(SmallBlock& block) { return block.text("SPLINE_GATE"); }

void expect_shown(const std::shared_ptr<const RecordSource>& source) {
    History history(source);
    const PlanState& state = history.plan(0);
    const TensorInfo &x = history.tensor(state, 0), &y = history.tensor(state, 1);
    EXPECT_EQ(operator_text(y), "SPLINE_GATE");
    EXPECT_EQ(shape_text(y), "[256, 8]");
    EXPECT_EQ(type_text(x), "q5_toast");
    EXPECT_EQ(n_bytes(x), 1408U); // by its strides
    const auto rows = test::assignment_rows(history, state);
    EXPECT_EQ(rows[1].op, "SPLINE_GATE");
    EXPECT_EQ(rows[0].type, "q5_toast");
    const query::KnownWords words(history); // queries may name both
    for (const char* query : {"op=SPLINE_GATE", "type=q5_toast"}) {
        EXPECT_NO_THROW(words.check(query::Query::parse(query)));
    }
    EXPECT_THROW(words.check(query::Query::parse("op=SPLINE_GOAT")), Error);
    const accounts::Summary summary = accounts::summary(history);
    ASSERT_EQ(summary.operators.size(), 1U);
    EXPECT_EQ(summary.operators[0].op, "SPLINE_GATE");
}

TEST(ForeignOperator, IsKeptWithItsNameAndShape) {
    const ImportedStream imported = made_up(spline);
    ASSERT_EQ(imported.error, "");
    expect_shown(imported.store);
}

TEST(ForeignOperator, IsInTheTrace) {
    const ImportedStream imported = made_up(spline);
    const files::Folder folder;
    TraceWriter writer(folder / "t.trace");
    writer.session(imported.store->session());
    writer.graph(0, imported.store->graph(0).view(), imported.store->answers(0));
    for (const Record& r : imported.records()) {
        writer.keep(r);
    }
    writer.close();
    expect_shown(std::make_shared<TraceReader>(folder / "t.trace"));
}

TEST(ForeignProgram, ThatTellsNoFusionIsNotSaidToFuseNothing) {
    const ImportedStream imported = made_up(spline);
    ASSERT_EQ(imported.error, "");
    EXPECT_FALSE(imported.store->session().knows.has(Topic::fusion));
    EXPECT_TRUE(imported.store->session().knows.has(Topic::runs));
}

TEST(ForeignOperator, IsAQuestionMarkWhereItsProgramDoesNotSay) {
    const ImportedStream imported = made_up([](SmallBlock&) { return 0U; });
    ASSERT_EQ(imported.error, "");
    History history(imported.store);
    EXPECT_EQ(operator_text(history.tensor(history.plan(0), 1)), "?");
    EXPECT_EQ(operator_text(history.tensor(history.plan(0), 0)), "NONE"); // a leaf
}

TEST(ForeignOperator, IsAWordAndNoSentence) {
    for (const char* word : {"A\nB", "\x1b[31m", "0123456789012345678901234567890123456789012345678901234567890123"}) {
        static const char* op;
        op = word;
        const ImportedStream imported = made_up([](SmallBlock& block) { return block.text(op); });
        EXPECT_THAT(imported.error, ::testing::HasSubstr("a tensor's operator is '"));
        EXPECT_THAT(imported.error, ::testing::Not(::testing::HasSubstr("\n")));
    }
}

TEST(ForeignTensor, WithoutShapeIsUnknown) {
    const ImportedStream imported =
        made_up(spline, "tensor -:i64*4 -:i64*4 name:text op:text type:text leaf:i32 node:i32 src:i32");
    ASSERT_EQ(imported.error, "");
    History history(imported.store);
    const TensorInfo& y = history.tensor(history.plan(0), 1);
    EXPECT_EQ(operator_text(y), "SPLINE_GATE");
    EXPECT_EQ(shape_text(y), "?");
}

TEST(ForeignTensor, WithoutStridesLiesClose) {
    const ImportedStream imported =
        made_up(spline, "tensor ne:i64*4 -:i64*4 name:text op:text type:text leaf:i32 node:i32 src:i32");
    ASSERT_EQ(imported.error, "");
    History history(imported.store);
    const TensorInfo& y = history.tensor(history.plan(0), 1);
    EXPECT_EQ(y.nb, (Strides{4, 1024, 8192, 8192}));
}

/// A plan that needs a backend's answer which was never asked for.
TEST(ForeignAnswers, ReplayNamesTheOneThatIsMissing) {
    StreamInFile file;
    SmallProgram p(file.stream);
    const uint32_t backend = sscp_kind(&file.stream, "backend id:i32 default_buffer_type:i32"),
                   type = sscp_kind(&file.stream, "buffer_type is_host:i32"),
                   capability = sscp_kind(&file.stream, "capability backend:i32 answers:u8[]"),
                   tensor = sscp_kind(&file.stream, "tensor ne:i32*4 name:text op:text type:text leaf:i32 node:i32 src:i32");
    SmallBlock session(file.stream);
    session.put(type, 1).put(backend, 0, 0).commit();
    SmallBlock block(file.stream, 0);
    block.put(p.graph, 0, 2);
    block.put(tensor, 4, 1, 1, 1, block.text("x"), block.text("NONE"), block.text("f32"), 0, -1, -1);
    block.put(tensor, 4, 1, 1, 1, block.text("y"), block.text("SQR"), block.text("f32"), -1, 0, 0);
    const int32_t of = 0;
    const uint8_t answers[] = {1, SSCP_UNKNOWN_U8};
    sscp_put_list(&block.block, capability, &of, sizeof of, answers, sizeof answers);
    p.plan(block, 0);
    block.put(p.end).commit();
    const ImportedStream imported = ImportedStream::file(file.path());
    ASSERT_EQ(imported.error, "");
    const CapabilityTable& table = imported.store->answers(0);
    ASSERT_EQ(table.op_answers.size(), 2U);
    EXPECT_TRUE(table.op_answers[0].yes);
    EXPECT_EQ(table.op_answers[1].reason, Refusal::not_asked);
    try {
        replay(*imported.store, {});
        FAIL() << "it was planned without the answer";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "it can't be planned again: whether CPU runs 'y' (SQR) is not recorded");
    }
}

/// A trace numbers different answers in two bytes.
TEST(ForeignAnswers, MoreDifferentOnesThanATraceHoldsLoseTheirDetails) {
    StreamInFile file;
    SmallProgram p(file.stream);
    const uint32_t answer = sscp_kind(&file.stream, "answer backend:i32 tensor:i32 reason:text detail:text");
    for (int g = 0; g < 700; ++g) {
        std::vector<uint64_t> memory(1 << 12);
        sscp_block block;
        sscp_begin(&block, memory.data(), 8 * memory.size(), SSCP_UNKNOWN_64, 0);
        const std::vector<int32_t> size{g, 100};
        sscp_put(&block, p.graph, size.data(), 8);
        for (int t = 0; t < 100; ++t) {
            const int32_t tensor[] = {0, 0, -1, -1, -1};
            sscp_put(&block, p.tensor, tensor, sizeof tensor);
        }
        for (int t = 0; t < 100; ++t) {
            const uint32_t why = sscp_text(&block, ("reason " + std::to_string(100 * g + t)).c_str());
            const uint32_t fields[] = {0, static_cast<uint32_t>(t), sscp_text(&block, "shape"), why};
            sscp_put(&block, answer, fields, sizeof fields);
        }
        ASSERT_EQ(sscp_commit(&file.stream, &block), 1);
    }
    sscp_close(&file.stream);
    const files::Folder folder;
    TraceWriter writer(folder / "t.trace");
    import_file(file.path(), writer);
    writer.close();
    const TraceReader reader(folder / "t.trace");
    EXPECT_EQ(reader.answers(0).op_answers[7].detail, "reason 7");
    EXPECT_EQ(reader.answers(699).op_answers[99].reason, Refusal::shape);
    EXPECT_EQ(reader.answers(699).op_answers[99].detail, "");
}

} // namespace
} // namespace schedscope::test
