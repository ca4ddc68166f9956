#pragma once

#include "runtime/session/generate.h"
#include "tests/support/files.h"
#include "traces/replay/what_if.h"
#include "traces/store/live_store.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

/// Runs with all the settings that a what-if can change, and what a trace of one answers about another.
namespace schedscope::test {

const Registry& registry();

struct Planned {
    std::string model = "tiny"; ///< of llama's presets, "tied", "stretched" (all layers read one weight), "wide" (F16, rows that
                                ///< are laid out), "storyteller-TYPE", or "ARCHITECTURE/PRESET"
    std::string devices = "vulkan0,cpu";
    int32_t n_gpu_layers = 99;
    int n_prompt = 40;
    FlashAttention flash = FlashAttention::automatic;
    std::vector<std::string> overrides = {};
    std::vector<float> tensor_split = {};
    bool cache_on_host = false;
    bool runs = false; ///< else the plans are made from the header alone
    bool op_offload = true;
    int64_t offload_min_batch = 32;
    int stages = 1;
    bool sample_in_graph = false;
    bool fusion = true;
    bool mmap = true, mlock = false, repack = true;
    bool image = false;       ///< in front of the prompt
    std::string watched = {}; ///< begin of the names of the nodes whose values are recorded; empty: none are
};

std::unique_ptr<LiveStore> recorded(const Planned& settings);

/// A trace as it is, to be changed in a part.
class ForwardedSource : public RecordSource {
public:
    explicit ForwardedSource(const RecordSource& source) : source_(source) {}

    SessionInfo session() const override { return source_.session(); }
    Step n_steps() const override { return source_.n_steps(); }
    int n_evaluations() const override { return source_.n_evaluations(); }
    EvaluationSpan evaluation(EvaluationId id) const override { return source_.evaluation(id); }
    void read(Step first, Step end, std::vector<Record>& out) const override { source_.read(first, end, out); }
    int n_graphs() const override { return source_.n_graphs(); }
    const OwnedGraph& graph(GraphId id) const override {
        const auto [at, is_new] = graphs_.try_emplace(id);
        if (is_new) {
            at->second = OwnedGraph::copy_of(source_.graph(id).view());
            change(at->second);
        }
        return at->second;
    }
    const CapabilityTable& answers(GraphId id) const override { return source_.answers(id); }
    std::string_view text(StringId id) const override { return source_.text(id); }
    const KernelList& kernels(KernelListId id) const override { return source_.kernels(id); }

protected:
    virtual void change(OwnedGraph& graph) const = 0;

private:
    const RecordSource& source_;
    mutable std::map<GraphId, OwnedGraph> graphs_;
};

struct ModelOnDevices {
    std::string model, devices;
    friend std::ostream& operator<<(std::ostream& out, const ModelOnDevices& c) { return out << c.model << " on " << c.devices; }
};
/// All of them, or those of one model or of one list of devices.
std::vector<ModelOnDevices> each_on_each(const std::vector<std::string>& models, const std::vector<std::string>& devices);
std::string name_of(const ::testing::TestParamInfo<ModelOnDevices>& info);

/// Where a device is missing, there is nothing to test.
class OnDevices : public ::testing::TestWithParam<ModelOnDevices> {
protected:
    void SetUp() override;
    static Planned planned(int32_t n_gpu_layers = 99, int n_prompt = 40);
};

/// A plan of a source's with these settings of a what-if. Compared with `expected`, or with what was recorded.
ReplayResult answer(const RecordSource& from, const std::vector<std::string>& settings, const RecordSource* expected = nullptr);

/// Of the first plan.
const OwnedGraph& first_graph(const RecordSource& source);

/// Every decision that a run with `after` makes is what the trace of one with `before` answers to the settings.
void expect_equal(const RecordSource& before, const std::vector<std::string>& settings, const RecordSource& after);
void expect_equal(const Planned& before, const std::vector<std::string>& settings, const Planned& after);

} // namespace schedscope::test
