#include "tests/support/random/plain_run.h"

#include "runtime/backend/cpu/cpu_device.h"

namespace schedscope::test {

PlainRun::PlainRun(uint32_t model_seed) : device_(make_cpu_device()), model_(model_seed, any_steps()) {
    model_.give_memory([this]() -> const BufferType& { return memory_; });
    BackendOptions options;
    options.n_threads = 1;
    options.fusion = false;
    backend_ = device_->make_backend(options);
}

void PlainRun::run(const RandomShape& shape, uint32_t inputs_seed) {
    graph_ = std::make_unique<Graph>();
    build(*graph_, model_, shape);
    give_memory();
    again(inputs_seed);
}

void PlainRun::again(uint32_t inputs_seed) {
    fill_inputs(*graph_, inputs_seed);
    SplitGraph all;
    all.nodes.assign(graph_->nodes().begin(), graph_->nodes().end());
    backend_->compute(all, 0, static_cast<int32_t>(all.nodes.size()), nullptr);
}

void PlainRun::give_memory() {
    buffers_.clear();
    for (Tensor* t : graph_->number()) {
        if (t->view_source == nullptr && t->buffer == nullptr) {
            buffers_.push_back(memory_.allocate(n_bytes(*t)));
            t->buffer = buffers_.back().get();
        }
    }
    for (Tensor* t : graph_->tensors()) {
        if (t->view_source != nullptr) {
            t->buffer = t->view_source->buffer;
            t->offset = t->view_source->offset + t->view_offset;
        }
    }
}

} // namespace schedscope::test
