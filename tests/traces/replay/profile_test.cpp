// A recorded device's answers: as recorded, inferred from another size, or unknown.
#include "runtime/error.h"
#include "runtime/ops/params.h"
#include "tests/support/traces/sample_run.h"
#include "traces/replay/profile/recorded_profile.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::HasSubstr;

const std::string device_refuses = "rows are longer than this device's limit";

/// A node with its sources, in a graph of its own.
class AskedGraph {
public:
    TensorId leaf(Type type, const Shape& ne, BufferUsage usage = BufferUsage::any, BufferTypeId home = no_buffer_type) {
        const TensorId id = add(Op::NONE, type, ne, {});
        graph.tensors[id].usage = usage;
        graph.tensors[id].buffer_type = home;
        graph.leafs.push_back(id);
        return id;
    }
    TensorId node(Op op, Type type, const Shape& ne, const std::vector<TensorId>& sources) {
        const TensorId id = add(op, type, ne, sources);
        graph.nodes.push_back(id);
        return id;
    }
    TensorInfo& operator[](TensorId id) { return graph.tensors[id]; }
    OwnedGraph graph;

private:
    TensorId add(Op op, Type type, const Shape& ne, const std::vector<TensorId>& sources) {
        TensorInfo t;
        t.op = op;
        t.type = type;
        t.ne = ne;
        t.nb = contiguous_strides(type, ne);
        std::copy(sources.begin(), sources.end(), t.src.begin());
        t.name = "t";
        graph.tensors.push_back(t);
        return n_of(graph.tensors) - 1;
    }
};

/// A product of a weight in host memory and `batch` rows.
AskedGraph product(Type weights, int64_t rows, int64_t batch) {
    AskedGraph g;
    const TensorId w = g.leaf(weights, {64, rows, 1, 1}, BufferUsage::weights, 1), x = g.leaf(Type::F32, {64, batch, 1, 1});
    g.node(Op::MUL_MAT, Type::F32, {rows, batch, 1, 1}, {w, x});
    return g;
}

AskedGraph gate(GluOp function, int64_t rows) {
    AskedGraph g;
    const TensorId a = g.leaf(Type::F32, {64, rows, 1, 1}), b = g.leaf(Type::F32, {64, rows, 1, 1});
    const TensorId id = g.node(Op::GLU, Type::F32, {64, rows, 1, 1}, {a, b});
    g[id].params = packed<Op::GLU>({function, 0});
    return g;
}

template <typename... Graphs> std::vector<AskedGraph> all(Graphs... graphs) {
    std::vector<AskedGraph> list;
    (list.push_back(std::move(graphs)), ...);
    return list;
}

/// A recording of these graphs on Vulkan0 and the CPU. Vulkan0 refuses results of more than 1,000 rows, and takes work over from
/// 32 rows on.
std::shared_ptr<LiveStore> recorded(std::vector<AskedGraph> graphs) {
    auto store = std::make_shared<LiveStore>();
    SessionInfo info = session({"Vulkan0", "CPU"});
    info.settings.emplace();
    info.models = std::make_shared<const std::vector<ModelHeader>>();
    store->session(info);
    GraphId id = 0;
    for (AskedGraph& g : graphs) {
        CapabilityTable answers;
        answers.n_tensors = n_of(g.graph.tensors);
        answers.op_answers.resize(2 * g.graph.tensors.size());
        answers.offload_answers.resize(2 * g.graph.tensors.size());
        for (TensorId t = 0; t < answers.n_tensors; ++t) {
            const Shape ne = *g.graph.tensors[t].ne;
            if (g.graph.tensors[t].op != Op::NONE && ne[0] > 1000) {
                answers.refuse(0, t, Answer::no(Refusal::size_limit, device_refuses));
            }
            answers.set_offload(0, t, g.graph.tensors[t].op != Op::NONE && ne[1] >= 32);
        }
        store->graph(id++, g.graph.view(), answers);
    }
    return store;
}

std::shared_ptr<const DeviceProfile> profile_of(std::vector<AskedGraph> graphs) {
    return recorded_profile(recorded(std::move(graphs)), {"v=from:t/Vulkan0", "v", "t", "vulkan0", 0});
}

struct Asking {
    AskedGraph asked;
    OpQuestion question() const {
        return OpQuestion::about(asked.graph.view(), asked.graph.nodes.back(), session({"Vulkan0", "CPU"}).buffer_types);
    }
};
Answer ask(const DeviceProfile& profile, AskedGraph graph) { return profile.supports_op(Asking{std::move(graph)}.question()); }
bool offload(const DeviceProfile& profile, AskedGraph graph, int64_t least = 32) {
    return profile.wants_offload(Asking{std::move(graph)}.question(), least);
}

void expect_counts(const DeviceProfile& profile, int64_t exact, int64_t inferred, int64_t unknown) {
    const ProfileCounts n = profile.counts();
    EXPECT_EQ(std::tuple(n.exact, n.inferred, n.unknown), std::tuple(exact, inferred, unknown)) << n.text();
}

TEST(RecordedProfile, AnswersWhatItWasAsked) {
    const auto profile = profile_of(all(product(Type::Q4_0, 100, 8), product(Type::F16, 2000, 8)));
    EXPECT_TRUE(ask(*profile, product(Type::Q4_0, 100, 8)).yes);
    const Answer no = ask(*profile, product(Type::F16, 2000, 8));
    EXPECT_FALSE(no.yes);
    EXPECT_EQ(no.reason, Refusal::size_limit);
    EXPECT_EQ(no.detail, device_refuses);
    ask(*profile, product(Type::F16, 2000, 8)); // the same question once more
    expect_counts(*profile, 2, 0, 0);
}

TEST(RecordedProfile, APrecisionIsTheSameHoweverAProgramNumbersIt) {
    const auto with_precision = [](int32_t precision) {
        AskedGraph g = product(Type::F16, 100, 8);
        g[g.graph.nodes.back()].params = packed<Op::MUL_MAT>({.precision = precision});
        return g;
    };
    const auto profile = profile_of(all(with_precision(1)));
    EXPECT_TRUE(ask(*profile, with_precision(10)).yes);
    expect_counts(*profile, 1, 0, 0);
    EXPECT_FALSE(ask(*profile, with_precision(0)).yes);
    expect_counts(*profile, 1, 0, 1);
}

TEST(RecordedProfile, InfersFromTheNearestSize) {
    const auto profile = profile_of(all(product(Type::F16, 100, 8), product(Type::F16, 2000, 8)));
    const Answer yes = ask(*profile, product(Type::F16, 200, 8)), no = ask(*profile, product(Type::F16, 4000, 8));
    EXPECT_TRUE(yes.yes);
    EXPECT_EQ(yes.detail, "inferred from another size");
    EXPECT_FALSE(no.yes);
    EXPECT_EQ(no.reason, Refusal::size_limit);
    EXPECT_EQ(no.detail, device_refuses + " (inferred from another size)");
    expect_counts(*profile, 0, 2, 0);
}

TEST(RecordedProfile, AnotherTypeKindLayoutOrNumberOfSourcesIsUnknown) {
    const auto profile = profile_of(all(product(Type::F16, 100, 8), gate(GluOp::SWIGLU, 8)));
    const Answer type = ask(*profile, product(Type::Q4_0, 100, 8));
    EXPECT_FALSE(type.yes);
    EXPECT_EQ(type.reason, Refusal::none) << "the planner goes on, unlike with answers that a plan lacks";
    EXPECT_EQ(type.detail, "unknown: the recorded device was not asked about MUL_MAT of q4_0, f32");
    EXPECT_TRUE(ask(*profile, gate(GluOp::SWIGLU, 16)).yes);
    EXPECT_FALSE(ask(*profile, gate(GluOp::GEGLU, 8)).yes);
    AskedGraph turned = product(Type::F16, 100, 8); // its rows lie beside one another
    std::swap((*turned[1].nb)[0], (*turned[1].nb)[1]);
    EXPECT_FALSE(ask(*profile, std::move(turned)).yes);
    AskedGraph gaps = product(Type::F16, 100, 8);
    (*gaps[1].nb)[1] *= 2;
    EXPECT_FALSE(ask(*profile, std::move(gaps)).yes);
    AskedGraph three = product(Type::F16, 100, 8);
    three[2].src[2] = 0;
    EXPECT_FALSE(ask(*profile, std::move(three)).yes);
    expect_counts(*profile, 0, 1, 5);
}

TEST(RecordedProfile, ARowOfOneTokenHasTheLayoutOfMany) {
    const auto attention = [](int64_t tokens) { // [64, tokens, 8] of what lies as [64, 8, tokens]
        AskedGraph g;
        const TensorId q = g.leaf(Type::F32, {64, tokens, 8, 1});
        g[q].nb = Strides{4, 4UL * 64 * 8, 4 * 64, 4UL * 64 * 8 * tokens};
        g.node(Op::CONT, Type::F32, {64, tokens, 8, 1}, {q});
        return g;
    };
    const auto profile = profile_of(all(attention(40)));
    EXPECT_TRUE(ask(*profile, attention(1)).yes);
    expect_counts(*profile, 0, 1, 0);
}

TEST(RecordedProfile, LeafsAreAnsweredAsAnyLeaf) {
    const auto profile = profile_of(all(product(Type::F16, 100, 8)));
    AskedGraph leaf;
    leaf.leaf(Type::IQ4_NL, {64, 7, 3, 1});
    EXPECT_TRUE(profile->supports_op(OpQuestion::about(leaf.graph.view(), 0, {})).yes);
    expect_counts(*profile, 0, 1, 0);
}

TEST(RecordedProfile, TakesWorkOverFromTheBatchOnThatItDid) {
    const auto profile = profile_of(all(product(Type::F16, 100, 8), product(Type::F16, 100, 40)));
    EXPECT_TRUE(offload(*profile, product(Type::F16, 100, 40)));
    EXPECT_FALSE(offload(*profile, product(Type::F16, 100, 8)));
    expect_counts(*profile, 2, 0, 0);
    EXPECT_TRUE(offload(*profile, product(Type::F16, 100, 512)));
    EXPECT_FALSE(offload(*profile, product(Type::F16, 100, 4)));
    EXPECT_TRUE(offload(*profile, product(Type::F16, 100, 33)));
    EXPECT_FALSE(offload(*profile, product(Type::F16, 100, 31)));
    EXPECT_TRUE(offload(*profile, product(Type::F16, 100, 16), 16)) << "the least batch that is asked for";
    expect_counts(*profile, 2, 5, 0);
    EXPECT_FALSE(offload(*profile, product(Type::Q4_0, 100, 512)));
    expect_counts(*profile, 2, 5, 1);
}

TEST(RecordedProfile, RefusesADeviceThatIsNotThere) {
    const auto source = recorded(all(product(Type::F16, 100, 8)));
    const auto refused = [&](const std::string& name, const std::string& device) {
        try {
            recorded_profile(source, {name + "=from:t/" + device, name, "t", device, 0});
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused("v", "CUDA0"), HasSubstr("the trace has no device 'CUDA0'; it has Vulkan0, CPU"));
    EXPECT_THAT(refused("v", "CPU"), HasSubstr("a CPU, and the name of that is cpu"));
    EXPECT_THAT(refused("CPU", "Vulkan0"), HasSubstr("no CPU"));
    EXPECT_EQ(refused("CPU", "cpu"), "");
    try {
        recorded_profile(recorded({}), {"v=from:t/Vulkan0", "v", "t", "Vulkan0", 0});
        ADD_FAILURE() << "there are no answers";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_THAT(error.what(), HasSubstr("no answers of Vulkan0"));
    }
}

} // namespace
} // namespace schedscope
