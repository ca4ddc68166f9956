// The query language by example (tests/data/queries.txt), evaluated in C++; and the examples held to the graph itself.
#include "runtime/error.h"
#include "tests/support/traces/made_trace.h"
#include "tests/support/traces/query_cases.h"
#include "traces/format/fields.h"
#include "viz/query/describer.h"
#include "viz/query/known_words.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace schedscope::query {
namespace {

class QueryCases : public ::testing::Test {
protected:
    QueryCases() {
        state = history.plan(0);
        const OwnedGraph& graph = *history.graph_of(state);
        order = state.order;
        order.insert(order.end(), graph.leafs.begin(), graph.leafs.end());
        for (const record::CopyMade& copy : state.copies) {
            order.push_back(copy.copy);
        }
        EXPECT_EQ(order.size(), state.tensors.size());
    }

    Query parse(const std::string& text) const {
        Query query = Query::parse(text);
        KnownWords(history).check(query);
        return query;
    }
    /// In the order of the list of nodes.
    std::vector<TensorId> matching(const std::string& text) {
        const Query query = parse(text);
        Facts facts(query);
        std::vector<TensorId> found;
        for (const TensorId id : order) {
            describer.tensor(state, id, facts);
            if (query.matches(facts)) {
                found.push_back(id);
            }
        }
        return found;
    }
    std::vector<TensorId> those(const std::function<bool(const TensorInfo&)>& fits) const {
        const OwnedGraph& graph = *history.graph_of(state);
        std::vector<TensorId> found;
        std::copy_if(order.begin(), order.end(), std::back_inserter(found),
                     [&](TensorId id) { return is_index(id, graph.tensors) && fits(graph.tensors[static_cast<size_t>(id)]); });
        return found;
    }

    std::shared_ptr<LiveStore> store = test::made_trace(4, 3);
    History history{store};
    Describer describer{history};
    PlanState state;
    std::vector<TensorId> order;
};

TEST_F(QueryCases, OfTensorsFindThem) {
    for (const test::QueryCase& c : test::query_cases("tensors")) {
        const std::vector<TensorId> found = matching(c.query);
        EXPECT_EQ(found.size(), static_cast<size_t>(c.number)) << c.query;
        EXPECT_EQ(found.empty() ? "" : history.tensor_name(state, found.front()), c.what) << c.query;
    }
}

TEST_F(QueryCases, OfRecordsFindTheFirst) {
    for (const test::QueryCase& c : test::query_cases("records")) {
        const Query query = parse(c.query);
        Facts facts(query);
        Step first = no_step;
        std::string_view kind;
        store->for_each(0, store->n_steps(), [&](const Record& record) {
            describer.record(record, facts);
            if (query.matches(facts)) {
                first = record.step;
                kind = fact_name(record.fact);
            }
            return first == no_step;
        });
        EXPECT_EQ(first, c.number) << c.query;
        EXPECT_EQ(kind, c.what) << c.query;
    }
}

TEST_F(QueryCases, OfMistakesAreTold) {
    for (const test::QueryCase& c : test::query_cases("mistakes")) {
        try {
            (void)parse(c.query);
            ADD_FAILURE() << c.query;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << c.query;
            EXPECT_EQ(error.what(), "query: " + c.what) << c.query;
        }
    }
}

/// Operators, types, positions and ids as the graph has them.
TEST_F(QueryCases, AgreeWithTheGraph) {
    const OwnedGraph& graph = *history.graph_of(state);
    for (const Op op : {Op::MUL_MAT, Op::MUL, Op::SOFT_MAX, Op::RMS_NORM}) {
        EXPECT_EQ(matching("op=" + std::string(op_name(op))), those([&](const TensorInfo& t) { return t.op == op; }));
    }
    for (const Type type : {Type::F32, Type::F16, Type::I32}) {
        EXPECT_EQ(matching("kind!=copy type=" + std::string(type_name(type))),
                  those([&](const TensorInfo& t) { return t.type == type; }));
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        EXPECT_EQ(matching("node=" + std::to_string(i)), std::vector{state.order[i]});
    }
    for (size_t id = 0; id < state.tensors.size(); ++id) {
        EXPECT_EQ(matching("id=" + std::to_string(id)), std::vector{static_cast<TensorId>(id)});
    }
    EXPECT_EQ(matching("bytes>=4KiB kind!=copy"), those([](const TensorInfo& t) { return *t.bytes() >= 4096; }));
}

/// What a backend puts elsewhere has its new position from then on, among the tensors and in the records.
TEST(Positions, AreThoseOfTheStep) {
    auto reordered = std::make_shared<LiveStore>();
    test::MadeRun(1).record(*reordered, 1);
    History before(reordered);
    const PlanState state = before.plan(0);
    const TensorId a = state.order[2], b = state.order[3];
    reordered->set_evaluation(0);
    reordered->add(record::Reorder{0, a, 2, 3});
    reordered->add(record::Reorder{0, b, 3, 2});
    reordered->flush();
    History history(reordered);
    Describer describer(history);
    const auto position = [&](const PlanState& at, TensorId id) {
        Facts facts;
        describer.tensor(at, id, facts);
        return facts.number(Field::node);
    };
    const PlanState early = history.state_at(state.step), late = history.state_at(history.n_steps() - 1);
    EXPECT_EQ(position(early, a), 2);
    EXPECT_EQ(position(late, a), 3);
    EXPECT_EQ(position(late, b), 2);
    EXPECT_EQ(late.order[2], b);
    for (const Step step : {state.step, history.n_steps() - 1}) {
        Facts facts;
        Record record = history.record(step);
        record.fact = record::Execute{.first = a, .last = a};
        describer.record(record, facts);
        EXPECT_EQ(facts.number(Field::node), step == state.step ? 2 : 3);
        EXPECT_EQ(facts.number(Field::id), a);
    }
}

} // namespace
} // namespace schedscope::query
