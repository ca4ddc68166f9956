#include "inspector/cli/commands/commands.h"
#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/run/demo_report.h"
#include "inspector/tui/inspector.h"
#include "runtime/backend/registry.h"
#include "runtime/model/synth/synth.h"
#include "runtime/session/generate.h"
#include "runtime/session/session.h"
#include "traces/store/live_store.h"
#include "traces/store/output.h"
#include "traces/store/reading/reader.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"
#include "viz/pictures/picture.h"

#include <iostream>

#include <unistd.h>

namespace schedscope {

namespace {

constexpr const char* trace_file = "schedscope-demo.trace";
constexpr const char* dot_file = "schedscope-demo-splits.dot";
constexpr const char* svg_file = "schedscope-demo-splits.svg";

/// Half of the layers on a device, half on the host: enough splits, copies and refusals to look at. Without a GPU the software
/// driver takes its part.
RunOptions demo_options(const Registry& registry) {
    RunOptions options;
    options.model = "built-in tiny llama";
    options.n_gpu_layers = 3;
    options.seed = 1;
    options.sampling.temperature = 0.0F;
    options.n_ctx = 512;
    options.kernel_times = KernelTimes::kernels;
    options.facts = {{"command", "schedscope demo"}};
    bool any_gpu = false;
    for (const auto& device : registry.devices()) {
        any_gpu = any_gpu || device->kind() == DeviceKind::gpu;
    }
    if (!any_gpu) {
        options.devices = registry.find("vulkan0") != nullptr ? "vulkan0,cpu"
                          : registry.find("blas") != nullptr  ? "blas,cpu"
                                                              : "cpu";
    }
    return options;
}

/// A prompt long enough that host weights are worth offloading (32 tokens), then some tokens one by one.
void run_demo(const Registry& registry, Recorder& recorder) {
    auto model =
        std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "tiny"), Type::F16, 1, "built-in"));
    Session session(registry, std::move(model), demo_options(registry), &recorder);
    GenerateRequest request;
    request.n_predict = 8;
    request.warm_up = true;
    request.prompts.push_back(
        {0, session.tokenizer().encode("Why does this operator run on the CPU, and not on the GPU?", true, false)});
    generate(session, request);
}

int demo_in_terminal(const Registry& registry) {
    const auto store = std::make_shared<LiveStore>();
    run_demo(registry, *store);
    InspectorOptions options;
    options.title = "demo";
    options.guided = true;
    options.backends = backend_knowledge();
    return run_inspector(store, options);
}

int demo_to_files(const Registry& registry) {
    check_output(trace_file, false);
    const auto store = std::make_shared<LiveStore>();
    TraceWriter writer(trace_file);
    TeeRecorder both{store.get(), &writer};
    run_demo(registry, both);
    writer.close();

    History history(store);
    print_demo_report(history, std::cout);
    PictureOptions picture;
    picture.view = PictureView::splits;
    picture.eval = 0;
    write_picture(history, picture, PictureFormat::dot, dot_file);
    write_picture(history, picture, PictureFormat::svg, svg_file);
    std::cout << "\nwritten: " << trace_file << ", " << dot_file << ", " << svg_file << "\nlook inside: schedscope inspect "
              << trace_file << '\n';
    return 0;
}

} // namespace

CommandAction add_demo(CommandOptions& /*options*/) {
    return [] {
        const Registry registry;
        const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
        return terminal ? demo_in_terminal(registry) : demo_to_files(registry);
    };
}

} // namespace schedscope
