#include "runtime/backend/vulkan/vulkan_backend.h"

#include "runtime/backend/order/fusion.h"
#include "runtime/backend/order/node_order.h"
#include "runtime/backend/vulkan/fused.h"
#include "runtime/backend/vulkan/memory.h"

#include <algorithm>

namespace schedscope::vulkan {

namespace {

constexpr size_t most_under_way = 4;

/// A point in a backend's work: all up to a submission's number.
class VulkanEvent final : public Event {
public:
    VulkanBackend* backend = nullptr; ///< null: never recorded
    uint64_t submission = 0;
};

} // namespace

VulkanBackend::VulkanBackend(Device& device, std::shared_ptr<Context> context, const BackendOptions& options)
    : device_(device), context_(std::move(context)), name_(options.name.empty() ? std::string(device.name()) : options.name),
      fusion_(options.fusion) {}

VulkanBackend::~VulkanBackend() { abandon(); }

void VulkanBackend::abandon() noexcept {
    open_.reset();
    under_way_.clear(); // each waits until it runs no more
    n_done_ = n_submitted_;
}

void optimise_split(SplitGraph& split, const DispatchOptions& options) {
    find_groups(split, VulkanFusedKernels(options));
    spread_waits(split);
}

DispatchOptions full_dispatch_options(bool software) noexcept {
    DispatchOptions options;
    options.row_per_invocation = software;
    options.most_sources = n_bindings + n_more_bindings - 2;
    return options;
}

void VulkanBackend::optimise(SplitGraph& split) {
    if (fusion_) {
        optimise_split(split, context_->dispatch_options());
    }
}

void VulkanBackend::collect(const SplitGraph& split, int32_t first, int32_t count) {
    const std::span<Tensor* const> nodes(split.nodes);
    dispatches_.clear();
    pieces_.clear();
    auto group =
        std::find_if(split.groups.begin(), split.groups.end(), [first](const FusionGroup& g) { return g.first >= first; });
    const DispatchOptions options = context_->dispatch_options();
    for (int32_t i = first; i < first + count;) {
        const auto rest = nodes.subspan(i);
        int32_t n = 1;
        std::string_view kernel;
        if (group != split.groups.end() && group->first == i) {
            if (i + group->count <= first + count && group_is_safe(rest.first(group->count))) {
                n = group->count;
                kernel = group->kernel;
            }
            ++group;
        }
        NodeDispatches piece{i, n, dispatches_.size(), 0, kernel};
        if (kernel.empty()) {
            append_dispatches(*rest[0], options, dispatches_);
        } else {
            dispatches_.push_back(fused_dispatch(kernel, rest.first(n), options));
        }
        piece.end = dispatches_.size();
        if (piece.end > piece.first) {
            piece.kernel = kernel.empty() ? dispatches_[piece.first].kernel : kernel;
            pieces_.push_back(piece);
        }
        i += n;
    }
}

Submission& VulkanBackend::open() {
    if (open_ == nullptr) {
        if (!under_way_.empty() && (under_way_.size() >= most_under_way || under_way_.front()->is_done())) {
            finish(n_done_ + 1);
        }
        if (idle_.empty()) {
            idle_.push_back(std::make_unique<Submission>(*context_, name_));
        }
        idle_.back()->begin();
        open_ = std::move(idle_.back());
        idle_.pop_back();
    }
    return *open_;
}

void VulkanBackend::submit_open() {
    if (open_ != nullptr) {
        std::unique_ptr<Submission> submission = std::move(open_); // gone if that fails
        submission->submit();
        under_way_.push_back(std::move(submission));
        ++n_submitted_;
    }
}

void VulkanBackend::finish(uint64_t until) {
    while (n_done_ < until) {
        std::unique_ptr<Submission> oldest = std::move(under_way_.front());
        under_way_.erase(under_way_.begin());
        ++n_done_;
        try {
            oldest->wait();
        } catch (...) {
            oldest.reset();
            abandon();
            throw;
        }
        idle_.push_back(std::move(oldest));
    }
}

void VulkanBackend::prepare(const SplitGraph& split) {
    collect(split, 0, n_of(split.nodes));
    Compilation compilation;
    for (const Dispatch& dispatch : dispatches_) {
        context_->pipeline(dispatch, compilation);
    }
}

void VulkanBackend::compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) {
    collect(split, first, count);
    if (pieces_.empty()) {
        return;
    }
    try {
        const Compilation compilation = open().run(pieces_, dispatches_, log);
        if (log != nullptr) {
            log->compilation = compilation;
        }
    } catch (...) {
        open_.reset(); // half recorded
        throw;
    }
    n_barriers_ = open_->barriers();
    submit_open();
}

void VulkanBackend::synchronize() {
    submit_open();
    finish(n_submitted_);
}

bool VulkanBackend::copy_async(const Tensor& source, const Tensor& target) {
    auto* to = dynamic_cast<VulkanBuffer*>(target.buffer);
    if (to == nullptr || !to->is_of(*context_)) {
        return false;
    }
    try {
        return copy_to(source, *to, target.offset);
    } catch (...) {
        open_.reset(); // half recorded
        throw;
    }
}

bool VulkanBackend::copy_to(const Tensor& source, VulkanBuffer& to, size_t offset) {
    const size_t bytes = n_bytes(source);
    if (auto* from = dynamic_cast<VulkanBuffer*>(source.buffer); from != nullptr && from->is_of(*context_)) {
        open().copy(*from, source.offset, to, offset, bytes);
        return true;
    }
    // Memory that both sides address is written directly in less time than it takes to stage.
    const std::byte* data = host_data(source);
    if (data == nullptr || context_->physical().unified_memory) {
        return false;
    }
    for (size_t done = 0; done < bytes;) {
        if (open().staging_left() == 0) {
            submit_open();
        }
        const size_t piece = std::min(bytes - done, open().staging_left());
        open().stage(data + done, to, offset + done, piece);
        done += piece;
    }
    return true;
}

std::unique_ptr<Event> VulkanBackend::make_event() { return std::make_unique<VulkanEvent>(); }

void VulkanBackend::record(Event& event) {
    submit_open();
    auto& e = static_cast<VulkanEvent&>(event);
    e.backend = this;
    e.submission = n_submitted_;
}

void VulkanBackend::wait(Event& event) {
    const auto& e = static_cast<VulkanEvent&>(event);
    // On one device the queue's order and the barrier that each submission begins with are enough.
    if (e.backend != nullptr && e.backend->context_ != context_) {
        e.backend->finish(e.submission);
    }
}

void VulkanBackend::synchronize(Event& event) {
    if (const auto& e = static_cast<VulkanEvent&>(event); e.backend != nullptr) {
        e.backend->finish(e.submission);
    }
}

} // namespace schedscope::vulkan
