#include "tests/runtime/backend/ops/check_case.h"

#include "runtime/ops/params.h"
#include "runtime/tensor/convert.h"
#include "tests/runtime/backend/ops/op_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

namespace schedscope::test {

namespace {

constexpr std::byte untouched{0xFF}; // as floats and as scales of blocks: NaN, so that what is read beyond a tensor shows

bool is_integer(Type type) { return type == Type::I8 || type == Type::I16 || type == Type::I32 || type == Type::I64; }
bool is_half(Type type) { return type == Type::F16 || type == Type::BF16; }

Elements filled(const Leafs::Leaf& leaf, std::mt19937& random) {
    Elements e;
    e.ne = leaf.tensor->ne;
    const auto row = static_cast<size_t>(e.ne[0]);
    std::vector<double> shuffled(static_cast<size_t>(leaf.filling.end));
    std::iota(shuffled.begin(), shuffled.end(), 0.0);
    // Numbers from the generator itself: distributions differ between libraries.
    const auto below = [&](int64_t end) { return static_cast<double>(static_cast<int64_t>(random()) % end); };
    for (size_t i = 0; i < static_cast<size_t>(n_elements(*leaf.tensor)); ++i) {
        double value = 0;
        switch (leaf.filling.kind) {
        case Filling::Kind::floats: {
            const auto low = static_cast<double>(leaf.filling.low);
            const auto high = static_cast<double>(leaf.filling.high);
            value = low == high ? low : low + static_cast<double>(random()) / 4294967295.0 * (high - low);
            if (leaf.filling.stray_every > 0 && (i + 1) % static_cast<size_t>(leaf.filling.stray_every) == 0) {
                value = static_cast<double>(leaf.filling.stray);
            }
            break;
        }
        case Filling::Kind::ids: value = below(leaf.filling.end); break;
        case Filling::Kind::distinct_ids:
            if (i % row == 0) {
                for (size_t j = shuffled.size(); j > 1; --j) {
                    std::swap(shuffled[j - 1], shuffled[static_cast<size_t>(below(static_cast<int64_t>(j)))]);
                }
            }
            value = shuffled[i % row];
            break;
        case Filling::Kind::mask: {
            const double kind = i % row == 0 ? 0 : below(4);
            value = kind < 2 ? 0 : kind < 3 ? -below(16) / 4 : -HUGE_VAL;
            break;
        }
        }
        e.values.push_back(value);
    }
    return e;
}

double tolerance_of(const Tensor& node, const Tolerances& t) {
    if (is_integer(node.type)) {
        return 0;
    }
    double tolerance = t.f32;
    const auto widen = [&](Type type) {
        tolerance = std::max(tolerance, traits(type).quantised() ? t.quantised : is_half(type) ? t.half : 0);
    };
    widen(node.type);
    for (const Tensor* source : node.src) {
        if (source != nullptr) {
            widen(source->type);
        }
    }
    return tolerance;
}

/// Marks the bytes that a tensor's elements take.
void mark(const Tensor& t, std::vector<bool>& bytes) {
    const int64_t in_row = t.ne[0] / traits(t.type).block;
    for (int64_t row = 0; row < n_rows(t); ++row) {
        const int64_t i1 = row % t.ne[1], i2 = row / t.ne[1] % t.ne[2], i3 = row / t.ne[1] / t.ne[2];
        const size_t begin =
            t.offset + static_cast<size_t>(i1) * t.nb[1] + static_cast<size_t>(i2) * t.nb[2] + static_cast<size_t>(i3) * t.nb[3];
        for (int64_t i0 = 0; i0 < in_row; ++i0) {
            const size_t first = begin + static_cast<size_t>(i0) * t.nb[0];
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), traits(t.type).bytes, true);
        }
    }
}

} // namespace

PreparedCase::PreparedCase(const OpCase& c) {
    Leafs leafs(graph_);
    graph_.expand(c.build(graph_, leafs));
    size_t size = alignment_;
    std::vector<Tensor*> all(graph_.number().begin(), graph_.number().end());
    for (Tensor* t : all) {
        if (t->view_source == nullptr) {
            t->offset = size;
            size = (size + n_bytes(*t) + 2 * alignment_ - 1) / alignment_ * alignment_; // with a gap behind
        }
    }
    for (Tensor* t : all) {
        if (t->view_source != nullptr) {
            t->offset = t->view_source->offset + t->view_offset;
        }
    }
    before_.assign(size, untouched);
    std::mt19937 random(20240607);
    for (const Leafs::Leaf& leaf : leafs.all()) {
        write_elements(*leaf.tensor, before_, filled(leaf, random));
    }
}

void PreparedCase::expect() {
    if (!expected_.empty()) {
        return;
    }
    expected_ = before_;
    for (const Tensor* node : graph_.nodes()) {
        evaluate(*node, expected_);
    }
}

bool PreparedCase::run_in_place_of(size_t source) {
    Tensor& node = *graph_.nodes().back();
    const Tensor* s = node.src[source];
    if (s == nullptr || s->op != Op::NONE || node.view_source != nullptr || s->type != node.type || s->ne != node.ne ||
        s->nb != node.nb) {
        return false;
    }
    run_in_place_of(*s);
    return true;
}

void PreparedCase::run_in_place_of(const Tensor& leaf) { graph_.nodes().back()->offset = leaf.offset; }

void PreparedCase::load(const BufferType& type) {
    for (Tensor* t : graph_.tensors()) {
        t->buffer = nullptr;
    }
    if (alignment_ % type.alignment() != 0) {
        throw std::logic_error("a buffer type wants a larger alignment than the cases have");
    }
    buffer_ = type.allocate(before_.size());
    buffer_->write(0, before_.data(), before_.size());
    for (Tensor* t : graph_.tensors()) {
        t->buffer = buffer_.get();
    }
}

std::string PreparedCase::compare_node(const Tensor& node, std::span<const std::byte> found, const Tolerances& tolerances) const {
    Elements result = read_elements(node, found);
    Elements wanted = read_elements(node, expected_);
    const double limit = tolerance_of(node, tolerances);
    double error = 0;
    double size = 0;
    size_t worst = 0;
    double worst_error = -1;
    for (size_t i = 0; i < wanted.values.size(); ++i) {
        const double r = result.values[i];
        const double w = wanted.values[i];
        double difference = r - w;
        if (!std::isfinite(r) || !std::isfinite(w)) {
            difference = r == w || (std::isnan(r) && std::isnan(w)) ? 0 : HUGE_VAL;
        } else {
            size += w * w;
        }
        error += difference * difference;
        if (std::abs(difference) > worst_error) {
            worst_error = std::abs(difference);
            worst = i;
        }
    }
    if (error <= limit * size) {
        return {};
    }
    std::ostringstream line;
    line << op_description(node.op, node.params) << " " << type_name(node.type) << " " << shape_text(node.ne) << ": error "
         << (size > 0 ? error / size : error) << " is more than " << limit << "; element " << worst << " is "
         << result.values[worst] << " instead of " << wanted.values[worst] << "\n";
    return line.str();
}

std::string PreparedCase::compare(const Tolerances& tolerances) { return compare_from(0, tolerances); }

std::string PreparedCase::compare_last(const Tolerances& tolerances) {
    return compare_from(graph_.nodes().size() - 1, tolerances);
}

std::string PreparedCase::compare_from(size_t first, const Tolerances& tolerances) {
    expect();
    std::vector<std::byte> found(before_.size());
    buffer_->read(0, found.data(), found.size());
    std::string differences;
    std::vector<bool> result_bytes(found.size());
    for (const Tensor* node : graph_.nodes().subspan(first)) {
        if (!is_view_op(node->op)) {
            differences += compare_node(*node, found, tolerances);
            mark(*node, result_bytes);
        }
    }
    for (size_t i = 0; i < found.size(); ++i) {
        if (!result_bytes[i] && found[i] != before_[i]) {
            return differences + "byte " + std::to_string(i) + ", outside of every result, was changed\n";
        }
    }
    return differences;
}

Outcome check_case(Backend& backend, PreparedCase& prepared, const Tolerances& tolerances) {
    SplitGraph split;
    for (Tensor* node : prepared.graph().nodes()) {
        const Answer answer = backend.device().supports_op(*node);
        if (!answer.yes) {
            return {Verdict::refused, std::string(op_name(node->op)) + ": " + std::string(refusal_name(answer.reason)) + ": " +
                                          std::string(answer.detail)};
        }
        split.nodes.push_back(node);
    }
    prepared.load(backend.device().buffer_type());
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
    backend.synchronize();
    const std::string differences = prepared.compare(tolerances);
    return {differences.empty() ? Verdict::right : Verdict::wrong, differences};
}

Outcome check_case(Backend& backend, const OpCase& c, const Tolerances& tolerances) {
    PreparedCase prepared(c);
    return check_case(backend, prepared, tolerances);
}

} // namespace schedscope::test
