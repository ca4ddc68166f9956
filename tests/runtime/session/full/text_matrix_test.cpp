// One story, whatever carries it: every share of layers, kind of attention, number of stages and list of devices. The text never
// changes; what the scheduler records of it does, as SCHEDULER.md and the models' README say.
#include "tests/support/models/reference.h"
#include "tests/support/traces/plan_record.h"

#include <gmock/gmock.h>

#include <set>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::IsEmpty;

namespace {

struct Way {
    std::string devices;
    int ngl = 0;
    bool flash = false;
    int stages = 1;
};

std::string way_name(const ::testing::TestParamInfo<Way>& info) {
    std::string name = info.param.devices + "_ngl" + std::to_string(info.param.ngl) + (info.param.flash ? "_flash" : "_plain") +
                       "_stages" + std::to_string(info.param.stages);
    std::replace(name.begin(), name.end(), ',', '_');
    return name;
}

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.devices << " -ngl " << way.ngl << (way.flash ? " -fa on" : " -fa off") << " --stages " << way.stages;
}

class Matrix : public ::testing::TestWithParam<Way> {
protected:
    RunOptions options() const {
        RunOptions o = greedy_options(teller.model());
        o.devices = GetParam().devices;
        o.n_gpu_layers = GetParam().ngl;
        o.flash_attention = GetParam().flash ? FlashAttention::on : FlashAttention::off;
        o.stages = GetParam().stages;
        o.n_ubatch = 8; // so that a prompt goes through several stages
        return o;
    }

    /// Goes on from the first n tokens of the story, which are BOS and n − 1 more.
    static void expect_continued(Session& session, const std::vector<int32_t>& story, size_t n, size_t n_more) {
        const auto first = story.begin() + static_cast<std::ptrdiff_t>(n);
        const Generated g = generate_one(session, {story.begin(), first}, static_cast<int32_t>(n_more));
        EXPECT_EQ(g.tokens, std::vector<int32_t>(first, first + static_cast<std::ptrdiff_t>(n_more))) << "after " << n;
    }

    const Storyteller teller;
    Registry registry;
    PlanRecord record;
};

/// Of the plan made last, the operators of its nodes.
std::multiset<std::string> operators(const PlanRecord& record) {
    std::multiset<std::string> ops;
    for (int i = 0; i < record.n_nodes(); ++i) {
        ops.insert(record.node(i).op);
    }
    return ops;
}

std::set<std::string> backends_of_splits(const PlanRecord& record) {
    std::set<std::string> names;
    for (const auto& split : record.splits()) {
        names.insert(split.backend);
    }
    return names;
}

void expect_attention(const PlanRecord& record, bool flash) {
    constexpr size_t n_blocks = 5;
    const std::multiset<std::string> ops = operators(record);
    EXPECT_EQ(ops.count("FLASH_ATTN_EXT"), flash ? n_blocks : 0);
    EXPECT_EQ(ops.count("SOFT_MAX"), flash ? 0 : n_blocks);
    EXPECT_EQ(record.n_nodes(), flash ? 161 : 186);
}

/// The README's table: a single token, or fewer than 32.
void expect_splits(const PlanRecord& record, const Way& way) {
    const auto n_splits = record.splits().size();
    const int n_inputs = record.n_split_inputs();
    if (way.devices == "vulkan0,cpu") {
        EXPECT_EQ(n_splits, way.ngl == 0 ? 1U : 2U);
        EXPECT_EQ(n_inputs, way.ngl == 0 ? 0 : way.ngl == 1 ? 2 : way.ngl < 6 ? 7 : 6);
    } else if (way.devices == "vulkan0,vulkan0,cpu") {
        // As if there were two of it: each holds half of the layers in memory of its own.
        const auto names = backends_of_splits(record);
        EXPECT_EQ(names.contains("Vulkan0"), way.ngl > 0);
        EXPECT_EQ(names.contains("Vulkan0.1"), way.ngl > 0);
        EXPECT_EQ(n_splits, way.ngl == 0 ? 1U : 3U);
    } else { // in the host's memory nothing is copied
        EXPECT_EQ(n_inputs, 0);
    }
}

void expect_stages(const PlanRecord& record, int n_stages) {
    std::vector<int32_t> stages;
    for (const auto& begin : record.all<record::PlanBegin>()) {
        EXPECT_EQ(begin.n_stages, n_stages);
        stages.push_back(*begin.current_stage);
    }
    ASSERT_GE(stages.size(), 8U);
    for (size_t i = 0; i < stages.size(); ++i) {
        EXPECT_EQ(stages[i], static_cast<int32_t>(i) % n_stages) << "plan " << i;
    }
    if (n_stages == 1) {
        EXPECT_THAT(record.all<record::GraphInput>(), IsEmpty());
        return;
    }
    // Of each plan: inputs are listed, every stage has as many copies, and the stage in use is among what is read.
    int n_inputs = 0, n_plans = 0;
    std::map<int, int> copies; // by stage
    for (const Record& r : record.records) {
        if (std::holds_alternative<record::PlanBegin>(r.fact)) {
            n_inputs = 0;
            copies.clear();
        } else if (std::holds_alternative<record::GraphInput>(r.fact)) {
            ++n_inputs;
        } else if (const auto* copy = std::get_if<record::CopyMade>(&r.fact)) {
            ++copies[*copy->stage];
        } else if (std::holds_alternative<record::PlanEnd>(r.fact)) {
            EXPECT_GE(n_inputs, 4); // tokens, positions, mask, cells
            // The original is the copy of the stage in use, of inputs on their own backend.
            const int32_t present = stages[static_cast<size_t>(n_plans)];
            for (int stage = 0; stage < n_stages; ++stage) {
                EXPECT_EQ(copies[stage] + (stage == present ? n_inputs : 0), copies[present] + n_inputs) << "stage " << stage;
            }
            ++n_plans;
        }
    }
}

TEST_P(Matrix, TheTextIsTheSameAndTheRecordsAreNot) {
    NEEDS_DEVICES(registry, GetParam().devices);
    const std::vector<int32_t> story = beginning_of(teller, 201);
    ASSERT_EQ(story.size(), 201U);
    Session session(registry, options(), &record);
    expect_continued(session, story, 41, 60); // ubatches of 8 and 1, then one token after the other
    for (const size_t n : {20, 13, 6}) {      // other lengths: other graphs, planned in the next stages
        expect_continued(session, story, n, 2);
    }
    expect_attention(record, GetParam().flash);
    expect_splits(record, GetParam());
    expect_stages(record, GetParam().stages);
}

std::vector<Way> all_ways() {
    std::vector<Way> ways;
    for (const char* devices : {"cpu", "blas,cpu", "vulkan0,cpu", "vulkan0,vulkan0,cpu"}) {
        for (const int ngl : {0, 1, 2, 3, 4, 5, 6, 99}) {
            if (std::string_view(devices).starts_with("vulkan0,vulkan0") && ngl != 0 && ngl != 3 && ngl != 99) {
                continue;
            }
            for (const bool flash : {false, true}) {
                for (const int stages : {1, 4}) {
                    ways.push_back({devices, ngl, flash, stages});
                }
            }
        }
    }
    return ways;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Matrix, ::testing::ValuesIn(all_ways()), way_name);

} // namespace
