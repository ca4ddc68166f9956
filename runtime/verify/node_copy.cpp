#include "runtime/verify/node_copy.h"

#include <algorithm>

namespace schedscope {

namespace {

const Tensor* root_of(const Tensor& t) noexcept { return t.view_source != nullptr ? t.view_source : &t; }

/// Does the node write into memory that this source shows, too? As a row that is set in a cache does, and a cast into itself.
bool is_written(const Tensor& node, const Tensor& source) noexcept {
    return &source == &node || (node.view_source != nullptr && root_of(source) == node.view_source);
}

} // namespace

bool NodeCopy::run(const Tensor& node) {
    describe(node);
    refusal_ = device_.supports_op(node_);
    if (!refusal_.yes) {
        return false;
    }
    used_ = 0;
    uploads_.clear();
    in_scratch_.clear();
    place_result(node);
    for (size_t i = 0; i < node.src.size(); ++i) {
        if (node.src[i] != nullptr && !is_written(node, *node.src[i])) {
            place_source(*node.src[i], sources_[i]);
        }
    }
    fill();
    SplitGraph graph;
    graph.nodes = {&node_};
    backend_.compute(graph, 0, 1, nullptr);
    backend_.synchronize();
    return true;
}

void NodeCopy::describe(const Tensor& node) {
    node_ = node;
    node_.view_source = nullptr; // the copy's memory is its own
    node_.view_offset = 0;
    for (size_t i = 0; i < node.src.size(); ++i) {
        if (node.src[i] == &node) {
            node_.src[i] = &node_;
        } else if (node.src[i] != nullptr) {
            sources_[i] = *node.src[i];
            sources_[i].src = {};
            sources_[i].view_source = nullptr;
            sources_[i].view_offset = 0;
            node_.src[i] = &sources_[i];
        }
    }
}

size_t NodeCopy::reserve(size_t bytes) {
    const size_t alignment = device_.buffer_type().alignment();
    const size_t at = (used_ + alignment - 1) / alignment * alignment;
    used_ = at + bytes;
    return at;
}

void NodeCopy::place_result(const Tensor& node) {
    in_scratch_.push_back(&node_);
    if (node.view_source == nullptr) {
        node_.offset = reserve(n_bytes(node));
        return;
    }
    size_t begin = node.offset, end = node.offset + n_bytes(node);
    for (const Tensor* source : node.src) {
        if (source != nullptr && is_written(node, *source)) {
            begin = std::min(begin, source->offset);
            end = std::max(end, source->offset + n_bytes(*source));
        }
    }
    const size_t alignment = device_.buffer_type().alignment();
    begin = begin / alignment * alignment;
    const size_t at = reserve(end - begin);
    uploads_.push_back({node.buffer, begin, end - begin, at});
    node_.offset = at + node.offset - begin;
    for (size_t i = 0; i < node.src.size(); ++i) {
        if (node.src[i] != nullptr && node.src[i] != &node && is_written(node, *node.src[i])) {
            sources_[i].offset = at + node.src[i]->offset - begin;
            in_scratch_.push_back(&sources_[i]);
        }
    }
}

void NodeCopy::place_source(const Tensor& original, Tensor& copy) {
    if (original.buffer->usage == BufferUsage::weights) {
        use_weight(original, copy);
        return;
    }
    const size_t bytes = n_bytes(original);
    copy.offset = reserve(bytes);
    in_scratch_.push_back(&copy);
    uploads_.push_back({original.buffer, original.offset, bytes, copy.offset});
}

/// A weight is read where it lies if the device can, else copied when it is first met.
void NodeCopy::use_weight(const Tensor& original, Tensor& copy) {
    if (device_.supports_buffer_type(original.buffer->type())) {
        return;
    }
    const size_t bytes = n_bytes(original);
    std::unique_ptr<Buffer>& mine = weights_[{original.buffer, original.offset, bytes}];
    copy.offset = 0;
    if (mine == nullptr) {
        mine = device_.buffer_type().allocate(bytes);
        mine->usage = BufferUsage::weights;
        copy.buffer = mine.get();
        tensor_copy(original, copy);
    }
    copy.buffer = mine.get();
}

void NodeCopy::fill() {
    if (scratch_ == nullptr || scratch_->size() < used_) {
        scratch_.reset();
        scratch_ = device_.buffer_type().allocate(used_);
    }
    for (Tensor* t : in_scratch_) {
        t->buffer = scratch_.get();
    }
    // What the kernel leaves out is NaN, or a number that can't be right.
    between_.assign(n_bytes(node_), std::byte{0xFF});
    scratch_->write(node_.offset, between_.data(), between_.size());
    for (const Upload& upload : uploads_) {
        between_.resize(upload.bytes);
        upload.from->read(upload.begin, between_.data(), upload.bytes);
        scratch_->write(upload.to, between_.data(), upload.bytes);
    }
}

} // namespace schedscope
