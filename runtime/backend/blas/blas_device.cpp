#include "runtime/backend/blas/blas_device.h"

#include "runtime/backend/blas/blas_library.h"
#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope {

namespace {

constexpr int64_t smallest = 32; ///< ggml's: below this in any direction the CPU is as fast

class BlasBackend;

/// An operator on BLAS: which nodes it takes, and how it runs them.
struct BlasOperator {
    Op op;
    std::string_view name; ///< in records
    Answer (*supports)(const Tensor& node);
    void (BlasBackend::*run)(const Tensor& node);
};
const BlasOperator* find_operator(Op op) noexcept;

class BlasBackend final : public Backend {
public:
    BlasBackend(Device& device, const BackendOptions& options, const BlasLibrary& library)
        : device_(device), name_(options.name.empty() ? std::string(device.name()) : options.name), library_(library),
          pool_(threads_of(options)) {}

    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    void expect(int64_t n_tokens) override { pool_->expect_batch(n_tokens > 1); }
    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override {
        // The threads are ours, and the library's stay asleep: it would keep them busy for some time behind each product, beside
        // those that compute the next node.
        library_.set_threads(1);
        const BoundThread bound(pool_->processors());
        for (int32_t i = first; i < first + count; ++i) {
            const Tensor& node = *split.nodes[i];
            if (!is_computed(node.op)) {
                continue;
            }
            const BlasOperator* entry = find_operator(node.op);
            if (entry == nullptr) {
                throw Error(ErrorKind::device, name_ + ": there is no kernel for " + std::string(op_name(node.op)));
            }
            const bool timed = log != nullptr && log->timed;
            const int64_t start = timed ? now_ns() : 0;
            (this->*entry->run)(node);
            if (log != nullptr) {
                log->kernels.push_back({i, 1, entry->name, start, timed ? now_ns() : 0});
            }
        }
    }

    void multiply(const Tensor& node) {
        const Tensor& weights = *node.src[0];
        if (weights.type != Type::F32) {
            expanded_.resize(weights.ne[0] * weights.ne[1]);
        }
        const int64_t rows = weights.ne[1];
        const int n = int_of(std::min<int64_t>(pool_->n_active(), rows / smallest)); // the CPU's threads, each with some rows
        pool_->run(n, [&](int part) { multiply(node, rows * part / n, rows * (part + 1) / n); });
    }

private:
    /// With rows [first, end) of the weights.
    void multiply(const Tensor& node, int64_t first, int64_t end) {
        const Tensor& weights = *node.src[0];
        const Tensor& b = *node.src[1];
        const auto k = int_of(weights.ne[0]);
        const int64_t repeat_2 = node.ne[2] / weights.ne[2];
        const int64_t repeat_3 = node.ne[3] / weights.ne[3];
        const std::byte* expanded_from = nullptr;
        for (int64_t i3 = 0; i3 < node.ne[3]; ++i3) {
            for (int64_t i2 = 0; i2 < node.ne[2]; ++i2) {
                const std::byte* matrix = host_data(weights) + (i2 / repeat_2) * weights.nb[2] + (i3 / repeat_3) * weights.nb[3];
                const auto* a = reinterpret_cast<const float*>(matrix);
                if (weights.type != Type::F32) {
                    for (int64_t row = first; matrix != expanded_from && row < end; ++row) { // heads may share a matrix
                        cpu::read_row(weights, matrix + row * weights.nb[1], expanded_.data() + row * k, vector_);
                    }
                    expanded_from = matrix;
                    a = expanded_.data();
                }
                const auto* x = reinterpret_cast<const float*>(host_data(b) + i2 * b.nb[2] + i3 * b.nb[3]);
                auto* y = reinterpret_cast<float*>(host_data(node) + i2 * node.nb[2] + i3 * node.nb[3]);
                library_.multiply(int_of(node.ne[1]), int_of(end - first), k, x, k, a + first * k, k, y + first,
                                  int_of(node.ne[0]));
            }
        }
    }

    Device& device_;
    std::string name_;
    const BlasLibrary& library_;
    std::shared_ptr<ThreadPool> pool_;
    const VectorOps& vector_ = best_vector_ops();
    std::vector<float> expanded_; ///< one matrix of weights
};

Answer product(const Tensor& node) {
    const Tensor& a = *node.src[0];
    const Tensor& b = *node.src[1];
    if (!is_contiguous(a) || !is_contiguous(b)) {
        return Answer::no(Refusal::layout, "a source is not contiguous");
    }
    if (b.type != Type::F32) {
        return Answer::no(Refusal::type, "source 1 is not f32");
    }
    if (a.type != Type::F32 && !can_expand(a.type)) {
        return Answer::no(Refusal::type, "source 0 can't be expanded to f32");
    }
    if (node.ne[0] < smallest || node.ne[1] < smallest || b.ne[0] < smallest) {
        return Answer::no(Refusal::shape, "rows, columns or inner size are less than 32");
    }
    constexpr int64_t largest = std::numeric_limits<int>::max(); // the library counts in int
    if (node.ne[0] > largest || node.ne[1] > largest || b.ne[0] > largest) {
        return Answer::no(Refusal::size_limit, "rows, columns or inner size are beyond 2^31");
    }
    return {};
}

constexpr BlasOperator entries[] = {{Op::MUL_MAT, "sgemm", product, &BlasBackend::multiply}};

const BlasOperator* find_operator(Op op) noexcept {
    const auto* found = std::find_if(std::begin(entries), std::end(entries), [op](const BlasOperator& e) { return e.op == op; });
    return found != std::end(entries) ? found : nullptr;
}

class BlasDevice final : public Device {
public:
    explicit BlasDevice(const BlasLibrary& library) : library_(library) {}

    std::string_view name() const noexcept override { return "BLAS"; }
    DeviceKind kind() const noexcept override { return DeviceKind::blas; }
    std::string description() const override { return library_.description(); }
    std::string caveat() const override {
        const std::string_view ours = best_vector_ops().name;
        const std::optional<int> theirs = vector_bits_of_core(library_.core());
        if (!ours.starts_with("avx512") || !theirs || *theirs >= 512) {
            return {};
        }
        return "BLAS: OpenBLAS takes its kernels for " + library_.core() + ", with vectors of " + std::to_string(*theirs) +
               " bits; the CPU's own have 512 (" + std::string(ours) +
               ") and are faster: --device cpu; OPENBLAS_CORETYPE=SkylakeX takes OpenBLAS's of 512";
    }
    size_t memory_bytes() const override { return 0; }
    std::vector<std::string> features() const override { return {"sgemm"}; }
    const BufferType& buffer_type() const override { return cpu_buffer_type(); }
    Answer supports_op(const Tensor& node) const override {
        if (!is_computed(node.op)) {
            return {};
        }
        const BlasOperator* entry = find_operator(node.op);
        return entry != nullptr ? entry->supports(node) : Answer::no(Refusal::op, "BLAS has products only");
    }
    bool supports_buffer_type(const BufferType& type) const override { return type.is_host(); }
    bool wants_offload(const Tensor&, int64_t) const override { return false; }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<BlasBackend>(*this, options, library_);
    }

private:
    const BlasLibrary& library_;
};

} // namespace

std::unique_ptr<Device> make_blas_device(std::string& missing) {
    const BlasLibrary* library = BlasLibrary::load(missing);
    return library != nullptr ? std::make_unique<BlasDevice>(*library) : nullptr;
}

} // namespace schedscope
