// Where a model's tensors belong, asked of a trace with -ngl, -ot, -ts, -nkvo and -fa in all pairs of runs: each answer is what
// the other run decides.
#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/error.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/system/joined.h"

#include <gmock/gmock.h>
#include <ostream>

namespace schedscope {
namespace {

using namespace test;
using ::testing::HasSubstr;

/// What has to be asked of `before` so that `after` is the answer.
std::vector<std::string> settings_between(const Planned& before, const Planned& after) {
    std::vector<std::string> settings;
    if (before.n_gpu_layers != after.n_gpu_layers) {
        settings.push_back("ngl=" + std::to_string(after.n_gpu_layers));
    }
    if (before.tensor_split != after.tensor_split) { // shares of nothing are no shares
        settings.push_back("ts=" + (after.tensor_split.empty() ? "0" : shares_text(after.tensor_split)));
    }
    if (before.overrides != after.overrides) {
        for (const std::string& text : after.overrides) {
            settings.push_back("ot=" + text);
        }
    }
    if (before.cache_on_host != after.cache_on_host) {
        settings.emplace_back(after.cache_on_host ? "nkvo=on" : "nkvo=off");
    }
    if (before.flash != after.flash && after.flash != FlashAttention::automatic) {
        settings.emplace_back(after.flash == FlashAttention::on ? "fa=on" : "fa=off");
    }
    return settings;
}

/// Without overrides, which can't be taken away.
std::vector<Planned> without_overrides() {
    std::vector<Planned> all;
    for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
        for (const bool cache_on_host : {false, true}) {
            for (const int32_t n_gpu_layers : {99, 3}) {
                Planned s;
                s.flash = flash;
                s.cache_on_host = cache_on_host;
                s.n_gpu_layers = n_gpu_layers;
                all.push_back(s);
            }
        }
    }
    return all;
}

/// With them; the last ones on a second device if there is one.
std::vector<Planned> with_overrides(const std::string& first, const std::string& second) {
    std::vector<Planned> all;
    const auto add = [&](int32_t n_gpu_layers, std::vector<std::string> overrides, bool cache_on_host = false,
                         std::vector<float> tensor_split = {}) {
        Planned s;
        s.n_gpu_layers = n_gpu_layers;
        s.overrides = std::move(overrides);
        s.cache_on_host = cache_on_host;
        s.tensor_split = std::move(tensor_split);
        all.push_back(s);
    };
    add(99, {"ffn_.*=cpu"}); // experts too
    add(2, {"blk\\.[01]\\.=" + first}, true);
    add(0, {"token_embd=" + first, "output=" + first});
    add(99, {"attn_(q|k|v|qkv)=cpu", "norm=" + second, "blk=" + second}, false, {1});
    add(3, {"blk\\.3\\..*norm=cpu", "blk\\.0.*=" + second, "token_embd=CPU"}, true);
    return all;
}

const std::vector<std::string> lever_models{"tiny",        "tiny-moe",   "tied",          "stretched",  "storyteller-q8_0",
                                            "qwen2/tiny",  "qwen3/tiny", "qwen3moe/tiny", "gemma/tiny", "gemma2/tiny",
                                            "gemma3/tiny", "phi3/tiny",  "falcon/tiny"};
const std::vector<std::string> lever_devices{"vulkan0,cpu", "vulkan0,vulkan0,cpu", "vulkan0,blas,cpu", "blas,cpu"};

class Levers : public OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        const std::string& devices = GetParam().devices;
        first_ = devices.substr(0, devices.find(','));
        second_ = devices == "vulkan0,vulkan0,cpu" ? "Vulkan0.1" : devices == "vulkan0,blas,cpu" ? "blas" : first_;
    }
    void expect_all_pairs(std::vector<Planned> from, std::vector<Planned> to) const {
        std::vector<std::unique_ptr<LiveStore>> before, after;
        for (auto [list, runs] : {std::pair{&from, &before}, {&to, &after}}) {
            for (Planned& s : *list) {
                s.model = GetParam().model;
                s.devices = GetParam().devices;
                runs->push_back(recorded(s));
            }
        }
        for (size_t a = 0; a < from.size(); ++a) {
            for (size_t b = 0; b < to.size(); ++b) {
                const std::vector<std::string> settings = settings_between(from[a], to[b]);
                SCOPED_TRACE("-ngl " + std::to_string(from[a].n_gpu_layers) + (from[a].cache_on_host ? " -nkvo" : "") + " -ot " +
                             joined(from[a].overrides, " ") + ": " + joined(settings, " "));
                expect_equal(*before[a], settings, *after[b]);
            }
        }
    }
    std::string first_, second_;
};

INSTANTIATE_TEST_SUITE_P(WhatIf, Levers, ::testing::ValuesIn(each_on_each(lever_models, lever_devices)), name_of);

TEST_P(Levers, OfLayersTheCacheAndFlashAttention) { expect_all_pairs(without_overrides(), without_overrides()); }

TEST_P(Levers, OfOverrides) {
    std::vector<Planned> from = with_overrides(first_, second_);
    const std::vector<Planned> none = without_overrides();
    from.insert(from.end(), none.begin(), none.begin() + 3);
    expect_all_pairs(from, with_overrides(first_, second_));
}

class SharesAsLevers : public Levers {};
INSTANTIATE_TEST_SUITE_P(WhatIf, SharesAsLevers, ::testing::ValuesIn(each_on_each(lever_models, {"vulkan0,vulkan0,cpu"})),
                         name_of);

TEST_P(SharesAsLevers, InAllPairs) {
    std::vector<Planned> all;
    for (const std::vector<float>& shares : {std::vector<float>{}, {1, 3}, {0, 1}, {2.5F}}) {
        for (const int32_t n_gpu_layers : {99, 3}) {
            Planned s;
            s.n_gpu_layers = n_gpu_layers;
            s.n_prompt = 8; // few tokens: norms are pinned
            s.tensor_split = shares;
            s.sample_in_graph = true;
            all.push_back(s);
        }
    }
    expect_all_pairs(all, all);
}

TEST_P(Levers, OfWhatSamplersReadWhichLiesWithTheOutput) {
    Planned before = planned();
    before.sample_in_graph = true;
    before.n_prompt = 8;
    Planned after = before;
    after.overrides = {"output=cpu", "token_embd=cpu"};
    if (GetParam().model == "tied" || GetParam().model.starts_with("gemma")) {
        after.overrides = {"token_embd=cpu"};
    }
    expect_equal(before, settings_between(before, after), after);
    after.n_gpu_layers = before.n_gpu_layers = 0;
    expect_equal(before, settings_between(before, after), after);
}

TEST_P(Levers, OfFusionWithAndWithoutAnother) {
    Planned before = planned();
    Planned after = before;
    after.fusion = false;
    expect_equal(before, {"fusion=off"}, after);
    expect_equal(after, {"fusion=on"}, before);
    after.n_gpu_layers = 2;
    expect_equal(before, {"fusion=off", "ngl=2"}, after);
    expect_equal(after, {"fusion=on", "ngl=99"}, before);
}

TEST_P(Levers, OfFusionSayHowManyGroupsThereAre) {
    const Planned with = planned();
    Planned without = with;
    without.fusion = false;
    const auto fused = recorded(with), plain = recorded(without);
    const auto off = answer(*fused, {"fusion=off"}).comparisons, on = answer(*plain, {"fusion=on"}).comparisons;
    ASSERT_EQ(off.size(), on.size());
    for (size_t i = 0; i < off.size(); ++i) {
        SCOPED_TRACE(i);
        ASSERT_TRUE(off[i].recorded.fused_groups);
        EXPECT_GT(off[i].recorded.fused_groups, 0);
        EXPECT_EQ(off[i].now.fused_groups, 0);
        EXPECT_EQ(on[i].recorded.fused_groups, 0);
        EXPECT_EQ(on[i].now.fused_groups, off[i].recorded.fused_groups) << "as the run with fusion has them";
        EXPECT_EQ(on[i].reordered, off[i].reordered);
        EXPECT_EQ(on[i].otherwise, off[i].otherwise);
    }
}

TEST_P(Levers, TogetherWithOtherDevicesAndStages) {
    Planned before = planned();
    before.stages = 4;
    before.overrides = {"ffn_.*=" + second_};
    Planned after = before;
    after.devices = GetParam().devices.starts_with("vulkan0") ? "vulkan0,cpu" : "cpu";
    after.stages = 1;
    after.n_gpu_layers = 4;
    after.cache_on_host = true;
    after.op_offload = false;
    after.overrides = {"attn=cpu", "blk\\.[23]=" + after.devices.substr(0, after.devices.find(','))};
    std::vector<std::string> settings = settings_between(before, after);
    settings.insert(settings.end(), {"device-order=" + after.devices, "stages=1", "op-offload=off"});
    expect_equal(before, settings, after);
}

class LeversOfRealRuns : public Levers {};
INSTANTIATE_TEST_SUITE_P(WhatIf, LeversOfRealRuns, ::testing::ValuesIn(each_on_each({"tiny-moe"}, lever_devices)), name_of);

TEST_P(LeversOfRealRuns, AllTogether) {
    Planned before = planned();
    before.runs = true;
    Planned after = before;
    after.cache_on_host = true;
    after.n_gpu_layers = 3;
    after.tensor_split = {2};
    after.overrides = {"ffn_.*_exps=cpu", "attn_q=" + second_};
    expect_equal(before, settings_between(before, after), after);
    expect_equal(after, {"nkvo=off", "ngl=99", "ts=0", "ot=no_longer|.*_norm=cpu"}, [&] {
        before.overrides = {"no_longer|.*_norm=cpu"};
        return before;
    }());
}

TEST(LeversWithImages, EncoderAndModelAreBothAnswered) {
    if (registry().find("vulkan0") == nullptr) {
        GTEST_SKIP() << "no Vulkan device";
    }
    Planned before;
    before.image = true;
    for (const int32_t n_gpu_layers : {0, 3}) {
        Planned after = before;
        after.n_gpu_layers = n_gpu_layers;
        after.cache_on_host = true;
        after.overrides = {"v\\.blk\\.1\\.=cpu", "blk\\.2\\.ffn=cpu", "mm\\.=vulkan0"};
        expect_equal(before, settings_between(before, after), after);
    }
}

/// Why a setting is refused.
std::string refusal(const RecordSource& source, const std::vector<std::string>& settings) {
    try {
        answer(source, settings);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "understood";
}

TEST(LeversThatAreNotUnderstood, AreSaidInALine) {
    Planned s;
    s.devices = "big=vulkan:1GiB,small=vulkan:1GiB,cpu";
    const auto store = recorded(s);
    EXPECT_EQ(refusal(*store, {"ot=ffn"}), "ot=ffn: expected PATTERN=DEVICE");
    EXPECT_EQ(refusal(*store, {"ot==cpu"}), "ot==cpu: expected PATTERN=DEVICE");
    EXPECT_EQ(refusal(*store, {"ot=ffn=cuda0"}), "ot=ffn=cuda0: there is no device 'cuda0' (big, small, CPU)");
    EXPECT_THAT(refusal(*store, {"ot=(=cpu"}), HasSubstr("ot=(=cpu: not a regular expression: "));
    EXPECT_EQ(refusal(*store, {"ot=ffn=cpu", "ot=fnn=big"}), "ot=fnn=big: the pattern matches no weight of the trace");
    EXPECT_EQ(refusal(*store, {"ot=" + std::string(1001, 'x') + "=cpu"}).substr(1004),
              "=cpu: a pattern has at most 1000 characters");
    EXPECT_EQ(refusal(*store, {"ot=ffn=small", "device-order=big"}), "ot=ffn=small: there is no device 'small' (big, CPU)");
    EXPECT_EQ(refusal(*store, {"c=8192"}),
              "c=8192: graphs stay as they were recorded: record --dry-run -c 8192 -o OTHER.trace plans "
              "those that it makes, and `diff` compares");
    EXPECT_THAT(refusal(*store, {"cache_type_k=q8_0"}), HasSubstr("record --dry-run --ctk q8_0 "));
    EXPECT_EQ(refusal(*store, {"ts=1,2,3"}), "ts=1,2,3: 3 shares for 2 devices that can hold layers");
    EXPECT_EQ(refusal(*store, {"ts=1,,3"}), "ts=1,,3: shares with commas between them are wanted");
    for (const char* share : {"-1", "much", "inf", "nan", "1e99"}) {
        const std::string setting = std::string("ts=1,") + share;
        EXPECT_EQ(refusal(*store, {setting}), setting + ": a share must be a number that is not negative");
    }
    EXPECT_EQ(refusal(*store, {"nkvo=yes"}), "nkvo=yes: on or off is wanted");

    Planned shared = s;
    shared.tensor_split = {1, 2};
    EXPECT_EQ(refusal(*recorded(shared), {"device-order=big"}),
              "device-order: the recorded -ts: 2 shares for 1 device that can hold layers");
}

/// A pattern that takes other programs' time without end is answered, or refused, at once.
TEST(LeversThatAreNotUnderstood, DoNotTakeForEver) {
    Planned s;
    s.devices = "cpu";
    EXPECT_EQ(refusal(*recorded(s), {"ot=((((.*)*)*)*)*weight0=cpu"}),
              "ot=((((.*)*)*)*)*weight0=CPU: the pattern matches no weight of the trace");
}

} // namespace
} // namespace schedscope
