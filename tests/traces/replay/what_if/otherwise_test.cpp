// What would put a tensor elsewhere: what is said does it, and nothing smaller of its kind does. Against trying every number of
// layers, and the other settings one by one.
#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/system/joined.h"
#include "tests/support/paths.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/namesakes.h"
#include "traces/replay/levers.h"
#include "traces/store/reading/copy_records.h"
#include "traces/store/reading/reader.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

namespace schedscope {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Where each tensor is that a change moves, in the first plan.
std::map<TensorId, std::string> moved_by(const RecordSource& source, const std::vector<std::string>& settings) {
    std::map<TensorId, std::string> moved;
    const ReplayResult result = answer(source, settings);
    for (const TensorChange& change : result.comparisons.front().changes) {
        if (change.tensor != no_tensor && !change.now_backend.empty() && change.now_backend != change.recorded_backend) {
            moved.emplace(change.tensor, change.now_backend);
        }
    }
    return moved;
}

class Otherwise : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, Otherwise, ::testing::ValuesIn(each_on_each({"tiny", "tiny-moe"}, {"vulkan0,cpu"})), name_of);

TEST_P(Otherwise, IsTheSmallestChangeOfEachKind) {
    for (const int n_gpu_layers : {0, 2, 99}) {
        const auto source = recorded(planned(n_gpu_layers, 40));
        const int32_t all = source->session().settings->n_layers + 1, now = std::min(n_gpu_layers, all);
        std::vector<std::map<TensorId, std::string>> with_layers;
        for (int32_t n = 0; n <= all; ++n) {
            with_layers.push_back(moved_by(*source, {"ngl=" + std::to_string(n)}));
        }
        const EvaluationId evaluation = 0;
        const OwnedGraph& graph = first_graph(*source);
        for (TensorId id = 0; id < n_of(graph.tensors); id += 7) {
            SCOPED_TRACE(std::string(graph.tensors[id].name) + ", -ngl " + std::to_string(n_gpu_layers));
            int32_t nearest = -1; // more layers first, as they are tried
            for (int32_t n = all; n > now; --n) {
                nearest = with_layers[n].contains(id) ? n : nearest;
            }
            for (int32_t n = 0; n < now && !with_layers[all].contains(id); ++n) {
                nearest = with_layers[n].contains(id) ? n : nearest;
            }
            const FoundLevers levers = levers_of(*source, evaluation, id);
            int32_t found = -1;
            for (const Lever& lever : levers.found) {
                const auto moved = moved_by(*source, lever.settings);
                ASSERT_TRUE(moved.contains(id)) << lever.words;
                EXPECT_EQ(moved.at(id), lever.backend) << lever.words;
                EXPECT_EQ(std::ssize(moved), lever.n_moved) << lever.words;
                if (lever.settings.size() == 1 && lever.settings[0].starts_with("ngl=")) {
                    found = std::stoi(lever.settings[0].substr(4));
                }
            }
            EXPECT_EQ(found, nearest);
            EXPECT_EQ(levers.found.empty(), !levers.why_none.empty());
            EXPECT_TRUE(std::is_sorted(levers.found.begin(), levers.found.end(),
                                       [](const Lever& a, const Lever& b) { return a.n_moved < b.n_moved; }));
        }
    }
}

/// "-ngl 5 or more", "-ngl 21 to 41": each of these numbers does it.
TEST(LeversOfSeveralDevices, EachNumberOfARangeDoesIt) {
    int n_ranges = 0;
    for (const int n_gpu_layers : {0, 2, 4, 99}) {
        Planned s;
        s.devices = "a=vulkan:1GiB,b=vulkan:1GiB,cpu";
        s.n_gpu_layers = n_gpu_layers;
        const auto source = recorded(s);
        const int32_t all = source->session().settings->n_layers + 1;
        std::vector<std::map<TensorId, std::string>> with_layers;
        for (int32_t n = 0; n <= all; ++n) {
            with_layers.push_back(moved_by(*source, {"ngl=" + std::to_string(n)}));
        }
        const OwnedGraph& graph = first_graph(*source);
        for (TensorId id = 0; id < n_of(graph.tensors); id += 3) {
            for (const Lever& lever : levers_of(*source, 0, id).found) {
                std::istringstream words(lever.words);
                std::string option, word;
                int32_t first = -1, last = -1;
                if (lever.settings.size() != 1 || !(words >> option >> first) || option != "-ngl") {
                    continue;
                }
                const bool is_range = static_cast<bool>(words >> word);
                last = !is_range ? first : word == "to" ? -1 : lever.words.ends_with("more") ? all : 0;
                words >> std::ws;
                if (last < 0) {
                    words >> last;
                }
                n_ranges += is_range ? 1 : 0;
                for (int32_t n = std::min(first, last); n <= std::max(first, last); ++n) {
                    ASSERT_EQ(with_layers[n][id], lever.backend)
                        << graph.tensors[id].name << ", recorded with " << n_gpu_layers << ": " << lever.words;
                }
            }
        }
    }
    EXPECT_GT(n_ranges, 10);
}

/// Which of three devices each layer goes to with shares that are numbers of layers, and what else moves then.
struct Shared {
    std::string shares;
    std::vector<int> homes;
    std::map<TensorId, std::string> moved;
};

std::vector<Shared> all_shares_of_three(const RecordSource& source, int n_layers) {
    std::vector<Shared> all;
    for (int first = 0; first <= n_layers; ++first) {
        for (int second = 0; first + second <= n_layers; ++second) {
            Shared s;
            s.shares =
                joined(std::vector{first, second, n_layers - first - second}, ",", [](int n) { return std::to_string(n); });
            for (int layer = 0; layer < n_layers; ++layer) {
                s.homes.push_back(layer < first ? 0 : layer < first + second ? 1 : 2);
            }
            s.moved = moved_by(source, {"ts=" + s.shares});
            all.push_back(std::move(s));
        }
    }
    return all;
}

/// Of each weight that lies on a device by the devices' shares: for each other device, the shares that move the fewest layers.
TEST(LeversOfSeveralDevices, SharesAreTheNearestThatMoveTheLayer) {
    for (const auto& [split, n_gpu_layers] :
         std::vector<std::pair<std::vector<float>, int>>{{{}, 99}, {{3, 0, 2}, 99}, {{}, 3}}) {
        Planned s;
        s.devices = "a=vulkan:1GiB,b=vulkan:1GiB,c=vulkan:1GiB,cpu";
        s.n_gpu_layers = n_gpu_layers;
        s.tensor_split = split;
        const auto source = recorded(s);
        const int all = source->session().settings->n_layers + 1, n_layers = std::min(n_gpu_layers, all);
        const std::vector<Shared> each = all_shares_of_three(*source, n_layers);
        const auto now = std::find_if(each.begin(), each.end(), [](const Shared& e) { return e.moved.empty(); });
        ASSERT_NE(now, each.end());
        const auto n_moved = [&](const Shared& e) {
            int n = 0;
            for (int layer = 0; layer < n_layers; ++layer) {
                n += e.homes[layer] != now->homes[layer] ? 1 : 0;
            }
            return n;
        };
        const OwnedGraph& graph = first_graph(*source);
        for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
            const int layer = graph.tensors[id].layer - (all - n_layers);
            if (graph.tensors[id].usage != BufferUsage::weights || graph.tensors[id].layer < 0) {
                continue;
            }
            std::map<std::string, int> nearest, found; // layers, by device
            for (const Shared& e : each) {
                if (layer >= 0 && e.moved.contains(id)) {
                    const auto at = nearest.try_emplace(e.moved.at(id), n_moved(e)).first;
                    at->second = std::min(at->second, n_moved(e));
                }
            }
            for (const Lever& lever : levers_of(*source, 0, id).found) {
                if (lever.settings.front().starts_with("ts=")) {
                    const auto by = std::find_if(each.begin(), each.end(),
                                                 [&](const Shared& e) { return "ts=" + e.shares == lever.settings.front(); });
                    ASSERT_NE(by, each.end()) << lever.words;
                    found.emplace(lever.backend, n_moved(*by));
                    EXPECT_EQ(lever.words, joined({"-ts ", by->shares, " (", now->shares, " now)"}));
                }
            }
            EXPECT_EQ(found, nearest) << graph.tensors[id].name;
            EXPECT_EQ(found.size(), layer < 0 ? 0U : 2U) << graph.tensors[id].name;
        }
    }
}

TEST_P(Otherwise, IsSaidOfWhatAThresholdKeepsFromADevice) {
    const auto source = recorded(planned(0, 8)); // fewer tokens than the 32 that offload takes
    const OwnedGraph& graph = first_graph(*source);
    const TensorId product = graph.nodes.back();
    ASSERT_EQ(graph.tensors[product].op, Op::MUL_MAT);
    EXPECT_THAT(levers_of(*source, 0, product).found, Contains(Field(&Lever::settings, ElementsAre(StartsWith("ngl=")))));
    bool is_said = false;
    for (const TensorId node : graph.nodes) {
        for (const Lever& lever : levers_of(*source, 0, node).found) {
            is_said |= lever.settings == std::vector<std::string>{"offload-min-batch=8"} &&
                       lever.words == "--offload-min-batch 8" && lever.backend == "Vulkan0";
        }
    }
    EXPECT_TRUE(is_said);
}

/// What a device took over stays where it is from a batch on that is one larger than its own.
TEST(OtherwiseOfWhatWasTakenOver, TellsTheLeastBatchThatLeavesItThere) {
    const TraceReader source(paths::sample("partial-offload")); // 40 tokens
    const OwnedGraph& graph = first_graph(source);
    for (const TensorId node : graph.nodes) {
        if (graph.tensors[node].name == "attn_norm-0") {
            EXPECT_THAT(levers_of(source, 0, node).found, Contains(Field(&Lever::settings, ElementsAre("offload-min-batch=41"))));
            EXPECT_TRUE(moved_by(source, {"offload-min-batch=41"}).contains(node));
            EXPECT_FALSE(moved_by(source, {"offload-min-batch=40"}).contains(node));
        }
    }
}

/// A plan that is recorded in part goes on as it was recorded, or with a change: the same changes put a tensor elsewhere.
TEST(LeversOfAPlanInPart, AreThoseOfTheWholePlan) {
    Planned s;
    s.devices = "a=vulkan:1GiB,b=vulkan:1GiB,cpu";
    s.n_gpu_layers = 3;
    const std::shared_ptr<LiveStore> whole = recorded(s);
    const auto what = [](const FoundLevers& levers) {
        std::vector<std::pair<std::string, std::vector<std::string>>> all;
        for (const Lever& lever : levers.found) {
            all.emplace_back(lever.backend, lever.settings);
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    History history(whole);
    const PlanState plan = history.plan(0);
    int n_found = 0;
    Step at = 0;
    for (const Pass pass : {Pass::place, Pass::gpu_down, Pass::rest_up, Pass::split}) {
        at = accounts::end_of_pass(history, 0, pass);
        ASSERT_NE(at, no_step);
        const auto part = std::make_shared<LiveStore>();
        copy_records(*whole, at + 1, *part, [] { return true; });
        for (TensorId id = 0; id < n_of(first_graph(*whole).tensors); id += 9) {
            SCOPED_TRACE(joined({first_graph(*whole).tensors[id].name, " in pass ", pass_name(pass)}));
            const FoundLevers levers = levers_of(*part, 0, id), expected = levers_of(*whole, 0, id);
            EXPECT_EQ(what(levers), what(expected));
            EXPECT_EQ(levers.why_none, expected.why_none);
            EXPECT_EQ(expected.goes_to, "");
            const std::string there = history.backend_name(plan.tensors[id].backend);
            if (!levers.goes_to.empty()) {
                EXPECT_EQ(levers.goes_to, there);
                EXPECT_EQ(levers_in_words(levers).front(), "the plan is not complete here: it goes on to " + there);
            }
            n_found += levers.goes_to.empty() ? 0 : n_of(levers.found);
        }
    }
    EXPECT_GT(n_found, 0);
}

/// With a large batch a device takes over what reads weights of the host: fewer layers alone leave a product where it is.
TEST_P(Otherwise, TriesTwoSettingsTogetherWhereNoneAloneDoes) {
    const auto source = recorded(planned(99, 40));
    const OwnedGraph& graph = first_graph(*source);
    int n_pairs = 0;
    for (const TensorId node : graph.nodes) {
        if (graph.tensors[node].op != Op::MUL_MAT || graph.tensors[graph.tensors[node].src[0]].usage != BufferUsage::weights) {
            continue;
        }
        const FoundLevers levers = levers_of(*source, 0, node);
        ASSERT_FALSE(levers.found.empty()) << graph.tensors[node].name << ": " << levers.why_none;
        for (const Lever& lever : levers.found) {
            ASSERT_TRUE(moved_by(*source, lever.settings).contains(node)) << lever.words;
        }
        if (levers.found.front().settings.size() == 2) {
            ++n_pairs;
            EXPECT_THAT(levers.found, Contains(Field(&Lever::settings, ElementsAre(StartsWith("ot="), "op-offload=off"))));
            EXPECT_THAT(levers.found.front().words, ::testing::HasSubstr(" together with --no-op-offload"));
            for (const std::string& setting : levers.found.front().settings) {
                EXPECT_FALSE(moved_by(*source, {setting}).contains(node)) << setting;
            }
        }
    }
    EXPECT_GT(n_pairs, 0);
}

TEST(Levers, WhereThereIsNoneTheReasonIsSaid) {
    Planned one;
    one.devices = "cpu";
    EXPECT_THAT(levers_in_words(levers_of(*recorded(one), 0, 0)), ElementsAre("no setting: there is no device but the CPU"));
}

/// A library for devices that found none is a reason, too.
TEST(Levers, WhereADeviceIsMissingTheLibraryIsNamedThatWasLoadedForIt) {
    Planned one;
    one.devices = "cpu";
    const std::string loaded = "libggml-vulkan.so was loaded, but the program uses no device of it";
    const auto source = recorded(one);
    SessionInfo session = source->session();
    session.facts.emplace_back("no_device", loaded);
    static_cast<Recorder&>(*source).session(session);
    EXPECT_THAT(levers_in_words(levers_of(*source, 0, 0)), ElementsAre("no setting: there is no device but the CPU: " + loaded));
}

TEST_P(Otherwise, OfAnInputIsNothing) {
    const auto source = recorded(planned(2, 40));
    const OwnedGraph& graph = first_graph(*source);
    int n_inputs = 0;
    for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
        if ((graph.tensors[id].flags & flag_input) != 0) {
            ++n_inputs;
            EXPECT_THAT(levers_in_words(levers_of(*source, 0, id)),
                        ElementsAre("no setting: inputs of the graph lie on the CPU"));
        }
    }
    EXPECT_GT(n_inputs, 0);
}

TEST(Levers, AreSaidOncePerBackend) {
    FoundLevers levers;
    levers.found.push_back({{"ngl=5"}, "-ngl 5 or more", "Vulkan0", 1});
    levers.found.push_back({{"nkvo=on"}, "-nkvo", "CPU", 2});
    levers.found.push_back({{"ngl=6", "nkvo=off"}, "no -nkvo", "Vulkan0", 2});
    levers.found.push_back({{"op-offload=on"}, "no --no-op-offload", "Vulkan1", 2});
    levers.found.push_back({{"offload-min-batch=1"}, "--offload-min-batch 1", "Vulkan0", 3});
    EXPECT_THAT(levers_in_words(levers), ElementsAre("on Vulkan0 with -ngl 5 or more, or without -nkvo, or --offload-min-batch 1",
                                                     "on CPU with -nkvo", "on Vulkan1 without --no-op-offload"));
}

/// A trace of a first device with so much memory.
class WithMemory final : public ForwardedSource {
public:
    WithMemory(const RecordSource& source, int64_t bytes) : ForwardedSource(source), bytes_(bytes) {}
    SessionInfo session() const override {
        SessionInfo session = ForwardedSource::session();
        session.backends[0].memory_bytes = bytes_;
        return session;
    }

private:
    const int64_t bytes_;
    void change(OwnedGraph&) const override {}
};

TEST(Otherwise, SaysByHowMuchItDoesNotFitTheDevicesMemory) {
    const auto sample = std::make_shared<TraceReader>(paths::sample("partial-offload"));
    History history(sample);
    const EvaluationId decode = sample->evaluation(3).begin.planned_in;
    const TensorId tensor = find_namesakes(history, history.plan(decode), "ffn_up-1").told;
    const auto with = [&](int64_t bytes) { return levers_of(WithMemory(*sample, bytes), decode, tensor); };

    const FoundLevers roomy = with(int64_t{1} << 30U);
    EXPECT_THAT(joined(levers_in_words(roomy), "\n"), Not(HasSubstr("fit")));
    const auto layers =
        std::find_if(roomy.found.begin(), roomy.found.end(), [](const Lever& lever) { return lever.words == "-ngl 4 or more"; });
    ASSERT_NE(layers, roomy.found.end()) << joined(levers_in_words(roomy), "\n");
    ASSERT_EQ(layers->memory.front().backend, "Vulkan0");
    const int64_t needed = layers->memory.front().now;
    const ReplayResult changed = answer(*sample, {"ngl=4"});
    EXPECT_EQ(memory_fits(changed.comparisons.back(), sample->session()).front().now, needed) << "the prompt's buffers stay";

    EXPECT_THAT(joined(levers_in_words(with(needed)), "\n"),
                HasSubstr("-ngl 4 or more (with -ngl 5 or more it does not fit into Vulkan0: "));
    EXPECT_THAT(joined(levers_in_words(with(needed - 1024)), "\n"),
                HasSubstr("-ngl 4 or more (does not fit into Vulkan0: 1.0 KiB too much)"));
}

} // namespace
} // namespace schedscope
