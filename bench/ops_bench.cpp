// Kernels of the CPU and BLAS backends against what the machine can do, measured in the same run; of both the fastest repeat
// counts. share_of_peak: the least time that the multiply-adds take, by the time taken: products of weights that are multiplied
// in whole numbers or in BF16 at the peak of those, all else at that of F32; share_of_read: of the speed at which memory is read
// (caches can give more). SCHEDSCOPE_CPU=portable|avx2|avxvnni|avx512|avx512vnni|avx512bf16|neon|… chooses the instruction set.
#include "runtime/backend/cpu/kernels/product_rows.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/backend/machine_limits.h"
#include "runtime/backend/op_cost.h"
#include "runtime/backend/processors.h"
#include "runtime/backend/registry.h"
#include "runtime/clock.h"
#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

using namespace schedscope;

namespace {

const Registry& registry() { return Registry::kept(); }

constexpr int64_t n_experts = 8;

struct How {
    bool fusion = true;
    bool repacked = false; ///< weights are laid out as they are when a model is loaded
};

/// A graph in one buffer of the device, every leaf filled with numbers between −1 and 1 (ids: a few small ones).
class Bench {
public:
    Bench(Device& device, int n_threads, const std::function<Tensor*(Graph&)>& build, How how)
        : backend_(device.make_backend({n_threads, how.fusion, {}})) {
        graph_.expand(build(graph_));
        size_t size = 0;
        const auto tensors = graph_.number();
        for (Tensor* t : tensors) {
            if (t->view_source == nullptr) {
                t->offset = size;
                size += (n_bytes(*t) + 63) / 64 * 64;
            }
        }
        buffer_ = device.buffer_type().allocate(size);
        for (Tensor* t : tensors) {
            const BufferType* const laid_out =
                how.repacked && is_weight(*t) ? device.repack_buffer_type(t->type, t->ne) : nullptr;
            if (laid_out != nullptr) {
                repacked_.push_back(laid_out->allocate(n_bytes(*t)));
                t->buffer = repacked_.back().get();
                t->offset = 0;
                t->buffer->hold(*t);
                continue;
            }
            t->buffer = buffer_.get();
            if (t->view_source != nullptr) {
                t->offset = t->view_source->offset + t->view_offset;
            }
        }
        for (const Tensor* leaf : graph_.leafs()) {
            fill(*leaf);
        }
        split_.nodes.assign(graph_.nodes().begin(), graph_.nodes().end());
        backend_->optimise(split_);
    }

    void run() {
        backend_->compute(split_, 0, static_cast<int32_t>(split_.nodes.size()), nullptr);
        backend_->synchronize();
    }
    double flops() const {
        double sum = 0;
        for (const Tensor* node : split_.nodes) {
            sum += static_cast<double>(op_flops(*node));
        }
        return sum;
    }
    /// Seconds that the multiply-adds take at least.
    double seconds_at_peak(const MachineLimits& machine) const {
        double sum = 0;
        for (const Tensor* node : split_.nodes) {
            sum += static_cast<double>(op_flops(*node)) / peak(*node, machine);
        }
        return sum;
    }
    double bytes() const { return static_cast<double>(op_bytes(split_.nodes)); }

private:
    bool is_weight(const Tensor& t) const {
        return std::ranges::any_of(graph_.nodes(),
                                   [&](const Tensor* node) { return node->op == Op::MUL_MAT && node->src[0] == &t; });
    }
    static double peak(const Tensor& node, const MachineLimits& machine) {
        if (node.op != Op::MUL_MAT && node.op != Op::MUL_MAT_ID) {
            return machine.flops;
        }
        const Type weights = node.src[0]->type;
        if (cpu::in_whole_numbers(Products::int8, best_vector_ops(), weights)) {
            return machine.int8_ops;
        }
        const bool in_bf16 = cpu::in_bf16(Products::int8, best_vector_ops(), weights, cpu::most_columns(node));
        return in_bf16 ? machine.bf16_flops : machine.flops;
    }
    void fill(const Tensor& t) {
        constexpr int64_t different = 64; // further rows repeat these
        std::mt19937 random(1);
        std::vector<float> row(static_cast<size_t>(t.ne[0]));
        const size_t of_row = row_bytes(t.type, t.ne[0]);
        std::vector<std::byte> bytes(of_row * static_cast<size_t>(std::min(different, n_rows(t))));
        for (size_t at = 0; at < bytes.size(); at += of_row) {
            for (float& x : row) {
                x = static_cast<float>(random()) / 2147483648.0F - 1.0F;
            }
            if (t.type == Type::I32) { // a row of rows, or tokens' experts, of which all are used
                for (size_t i = 0; i < row.size(); ++i) {
                    const auto id =
                        static_cast<int32_t>((at / of_row * row.size() + i) % std::max<size_t>(row.size(), n_experts));
                    std::memcpy(&bytes[at + i * sizeof id], &id, sizeof id);
                }
            } else if (!row_from_float(t.type, row.data(), &bytes[at], t.ne[0])) {
                std::generate_n(&bytes[at], of_row, [&] { return static_cast<std::byte>(random()); });
                set_scales(t.type, 0.01F, &bytes[at], t.ne[0]);
            }
        }
        for (size_t at = 0; at < n_bytes(t); at += bytes.size()) {
            tensor_write(t, bytes.data(), at, std::min(bytes.size(), n_bytes(t) - at));
        }
    }

    Graph graph_;
    std::unique_ptr<Buffer> buffer_;
    std::vector<std::unique_ptr<Buffer>> repacked_;
    std::unique_ptr<Backend> backend_;
    SplitGraph split_;
};

void measure(benchmark::State& state, Device* device, int n_threads, const std::function<Tensor*(Graph&)>& build, How how) {
    if (device == nullptr) {
        state.SkipWithError("the device is not here");
        return;
    }
    Bench bench(*device, n_threads, build, how);
    bench.run();
    double best_s = 1e30;
    for (auto _ : state) {
        const int64_t start = now_ns();
        bench.run();
        best_s = std::min(best_s, static_cast<double>(now_ns() - start) * 1e-9);
    }
    const auto& machine = machine_limits(n_threads);
    state.counters["GFLOP/s"] = bench.flops() / best_s * 1e-9;
    state.counters["GB/s"] = bench.bytes() / best_s * 1e-9;
    state.counters["share_of_peak"] = bench.seconds_at_peak(machine) / best_s;
    state.counters["share_of_read"] = bench.bytes() / best_s / machine.read_bytes_per_s;
}

Shape matrix(int64_t ne0, int64_t ne1) { return {ne0, ne1, 1, 1}; }

std::function<Tensor*(Graph&)> product(Type type, int64_t m, int64_t n, int64_t k) {
    return [=](Graph& g) { return ops::mul_mat(g, g.input(type, matrix(k, m)), g.input(Type::F32, matrix(k, n))); };
}

std::function<Tensor*(Graph&)> expert_product(Type type, int64_t m, int64_t n, int64_t k) {
    return [=](Graph& g) {
        return ops::mul_mat_id(g, g.input(type, {k, m, n_experts, 1}), g.input(Type::F32, {k, 1, n, 1}),
                               g.input(Type::I32, matrix(2, n)));
    };
}

/// Queries [d, tokens, heads] with keys and values of `kv` tokens that lie as in a cache: all heads of a token side by side.
std::function<Tensor*(Graph&)> attention(Type type, int64_t tokens, int64_t kv, int64_t d = 128, int64_t heads = 32,
                                         int64_t kv_heads = 8) {
    return [=](Graph& g) {
        const auto cached = [&] { return ops::permute(g, g.input(type, {d, kv_heads, kv, 1}), 0, 2, 1, 3); };
        Tensor* keys = cached();
        return ops::flash_attn(g, g.input(Type::F32, {d, tokens, heads, 1}), keys, cached(), nullptr, 0.088F, 0.0F, 0.0F);
    };
}

/// Keys or values of so many tokens into a cache.
std::function<Tensor*(Graph&)> store(Type type, int64_t n, int64_t tokens) {
    return [=](Graph& g) {
        return ops::set_rows(g, g.input(type, matrix(n, 2 * tokens)), g.input(Type::F32, matrix(n, tokens)),
                             g.input(Type::I32, matrix(tokens, 1)));
    };
}

std::function<Tensor*(Graph&)> norm_and_weight(int64_t n, int64_t rows) {
    return [=](Graph& g) {
        return ops::mul(g, ops::rms_norm(g, g.input(Type::F32, matrix(n, rows)), 1e-5F), g.input(Type::F32, matrix(n, 1)));
    };
}

std::function<Tensor*(Graph&)> norm_weight_and_bias(int64_t n, int64_t rows) {
    return [=](Graph& g) { return ops::add(g, norm_and_weight(n, rows)(g), g.input(Type::F32, matrix(n, 1))); };
}

std::function<Tensor*(Graph&)> gated_products(Type type, int64_t m, int64_t n, int64_t k) {
    return [=](Graph& g) {
        Tensor* x = g.input(Type::F32, matrix(k, n));
        Tensor* up = ops::mul_mat(g, g.input(type, matrix(k, m)), x);
        return ops::glu(g, ops::mul_mat(g, g.input(type, matrix(k, m)), x), up, GluOp::SWIGLU);
    };
}

std::function<Tensor*(Graph&)> product_with_bias(Type type, int64_t m, int64_t n, int64_t k) {
    return [=](Graph& g) {
        return ops::unary(g, ops::add(g, product(type, m, n, k)(g), g.input(Type::F32, matrix(m, 1))), UnaryOp::SILU);
    };
}

std::function<Tensor*(Graph&)> sums(int64_t n, int64_t rows) {
    return [=](Graph& g) {
        Tensor* sum = g.input(Type::F32, matrix(n, rows));
        for (int i = 0; i < 4; ++i) {
            sum = ops::add(g, sum, g.input(Type::F32, matrix(n, rows)));
        }
        return sum;
    };
}

void machine(benchmark::State& state, int n_threads) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(machine_limits(n_threads));
    }
    state.counters["GFLOP/s"] = machine_limits(n_threads).flops * 1e-9;
    state.counters["GFLOP/s of bf16"] = machine_limits(n_threads).bf16_flops * 1e-9;
    state.counters["Gop/s of int8"] = machine_limits(n_threads).int8_ops * 1e-9;
    state.counters["GB/s"] = machine_limits(n_threads).read_bytes_per_s * 1e-9;
}

void add(const std::string& name, const char* device, const std::function<Tensor*(Graph&)>& build, How how = {}) {
    std::vector<int> thread_counts = {1};
    if (physical_cores() > 1) {
        thread_counts.push_back(physical_cores());
    }
    for (const int n : thread_counts) {
        benchmark::RegisterBenchmark((std::string(device) + "/" + name + "/threads:" + std::to_string(n)).c_str(),
                                     [=](benchmark::State& state) { measure(state, registry().find(device), n, build, how); })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
    }
}

/// Those of weights of the type: of prompts, small batches and one token; laid out, where they can be, and as they lie.
void add_products(Type type) {
    const std::string product_of = "mul_mat " + std::string(type_name(type));
    for (const bool repacked : {true, false}) {
        const auto add_product = [&](int64_t m, int64_t n, int64_t k) {
            if (repacked && registry().find("CPU")->repack_buffer_type(type, matrix(k, m)) == nullptr) {
                return;
            }
            const std::string size = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
            add(product_of + (repacked ? " repacked " : " as it lies ") + size, "CPU", product(type, m, n, k),
                {.repacked = repacked});
        };
        for (const int64_t n : {512, 64, 48, 32, 24, 16, 8, 4, 2}) {
            add_product(4096, n, 4096);
        }
        add_product(4096, 512, 8192); // floats are laid out where rows are long
        add_product(4096, 16, 8192);
        add_product(32768, 4, 2048); // columns that drive what is fetched from the first cache
        add_product(16384, 1, 8192);
        add_product(131072, 1, 768); // short rows
        add_product(512, 1, 1024);   // in the cache
    }
    for (const int64_t n : {1, 512}) {
        add("mul_mat_id " + std::string(type_name(type)) + " 8 experts 1024x" + std::to_string(n) + "x4096", "CPU",
            expert_product(type, 1024, n, 4096));
    }
}

/// What stands between the products of a prompt of 512 tokens, of choosing a token, and of an image: memory decides.
void add_operators_between() {
    const auto x = [](Graph& g) { return g.input(Type::F32, matrix(4096, 512)); };
    const auto add_one = [](const std::string& name, const std::function<Tensor*(Graph&)>& build) { add(name, "CPU", build); };
    add_one("add 4096x512", [=](Graph& g) { return ops::add(g, x(g), x(g)); });
    add_one("add of a row 4096x512", [=](Graph& g) { return ops::add(g, x(g), g.input(Type::F32, matrix(4096, 1))); });
    add_one("mul 4096x512", [=](Graph& g) { return ops::mul(g, x(g), x(g)); });
    add_one("scale 4096x512", [=](Graph& g) { return ops::scale(g, x(g), 0.5F); });
    for (const UnaryOp f : {UnaryOp::SILU, UnaryOp::GELU, UnaryOp::GELU_QUICK, UnaryOp::RELU, UnaryOp::TANH, UnaryOp::SIGMOID}) {
        add_one(std::string(unary_name(f)) + " 4096x512", [=](Graph& g) { return ops::unary(g, x(g), f); });
    }
    for (const GluOp f : {GluOp::SWIGLU, GluOp::GEGLU}) {
        add_one(std::string(glu_name(f)) + " 4096x512", [=](Graph& g) { return ops::glu(g, x(g), x(g), f); });
    }
    add_one("norm 4096x512", [=](Graph& g) { return ops::norm(g, x(g), 1e-5F); });
    add_one("rms_norm 4096x512", [=](Graph& g) { return ops::rms_norm(g, x(g), 1e-5F); });
    add_one("l2_norm 4096x512", [=](Graph& g) { return ops::l2_norm(g, x(g), 1e-5F); });
    add_one("soft_max 512x512x32", [](Graph& g) {
        return ops::soft_max(g, g.input(Type::F32, {512, 512, 32, 1}), g.input(Type::F32, matrix(512, 512)), 0.1F, 0.0F);
    });
    for (const int mode : {0, 2}) {
        add_one(std::string("rope ") + (mode == 0 ? "of neighbours" : "of halves") + " 128x32x512", [=](Graph& g) {
            RopeParams rope;
            rope.n_dims = 128;
            rope.mode = mode;
            return ops::rope(g, g.input(Type::F32, {128, 32, 512, 1}), g.input(Type::I32, matrix(512, 1)), nullptr, rope);
        });
    }
    add_one("cast to f16 4096x512", [=](Graph& g) { return ops::cast(g, x(g), Type::F16); });
    add_one("cont of a permuted 128x32x512", [](Graph& g) {
        return ops::cont(g, ops::permute(g, g.input(Type::F32, {128, 32, 512, 1}), 0, 2, 1, 3));
    });
    add_one("cont of a transposed 4096x512", [=](Graph& g) { return ops::cont(g, ops::transpose(g, x(g))); });
    add_one("concat 4096x512", [=](Graph& g) { return ops::concat(g, x(g), x(g), 1); });
    add_one("repeat 4096x512", [](Graph& g) { return ops::repeat(g, g.input(Type::F32, matrix(4096, 1)), matrix(4096, 512)); });
    for (const Type type : {Type::F16, Type::Q8_0, Type::Q4_K}) {
        add_one("get_rows " + std::string(type_name(type)) + " 4096x512", [=](Graph& g) {
            return ops::get_rows(g, g.input(type, matrix(4096, 32000)), g.input(Type::I32, matrix(512, 1)));
        });
    }
    add_one("sum_rows 4096x512", [=](Graph& g) { return ops::sum_rows(g, x(g)); });
    add_one("argmax 32000x8", [](Graph& g) { return ops::argmax(g, g.input(Type::F32, matrix(32000, 8))); });
    add_one("argsort 32000x1", [](Graph& g) { return ops::argsort(g, g.input(Type::F32, matrix(32000, 1)), true); });
    add_one("top_k 40 of 32000", [](Graph& g) { return ops::top_k(g, g.input(Type::F32, matrix(32000, 1)), 40); });
    add_one("cumsum 32000x1", [](Graph& g) { return ops::cumsum(g, g.input(Type::F32, matrix(32000, 1))); });
    add_one("im2col 14x14 of 336x336x3", [](Graph& g) {
        return ops::im2col(g, g.input(Type::F16, {14, 14, 3, 1024}), g.input(Type::F32, {336, 336, 3, 1}), 14, 14, 0, 0, 1, 1,
                           true, Type::F16);
    });
    add_one("pool_2d 2x2 of 24x24x1024", [](Graph& g) {
        return ops::pool_2d(g, g.input(Type::F32, {24, 24, 1024, 1}), Pool::avg, 2, 2, 2, 2, 0.0F, 0.0F);
    });
}

[[maybe_unused]] const bool registered = [] {
    for (const int n : {1, physical_cores()}) {
        benchmark::RegisterBenchmark(("machine/threads:" + std::to_string(n)).c_str(),
                                     [n](benchmark::State& state) { machine(state, n); });
    }
    for (int i = 0; i < ordinal(Type::count); ++i) {
        const auto type = static_cast<Type>(i);
        if (can_expand(type)) {
            add_products(type);
        }
    }
    add("mul_mat f32 4096x512x4096", "BLAS", product(Type::F32, 4096, 512, 4096));
    add("mul_mat f16 4096x512x4096", "BLAS", product(Type::F16, 4096, 512, 4096));
    add("mul_mat f32 64x16x64", "CPU", product(Type::F32, 64, 16, 64)); // what a small model asks for: overhead decides
    for (const Type type :
         {Type::F32, Type::F16, Type::BF16, Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::IQ4_NL, Type::Q5_0, Type::Q5_1}) {
        const std::string name = "flash_attn " + std::string(type_name(type));
        for (const int64_t kv : {1500, 4000}) {
            add(name + " 1 of " + std::to_string(kv), "CPU", attention(type, 1, kv));
            add(name + " 1 of " + std::to_string(kv) + ", 12 heads of 64", "CPU", attention(type, 1, kv, 64, 12, 12));
        }
        add(name + " 512 of 512", "CPU", attention(type, 512, 512));
        add("set_rows " + std::string(type_name(type)) + " 1024x512", "CPU", store(type, 1024, 512));
    }
    for (const int64_t tokens : {2, 4, 8, 16}) { // from where on are tiles of expanded keys the better way?
        add("flash_attn f16 " + std::to_string(tokens) + " of 4000", "CPU", attention(Type::F16, tokens, 4000));
        add("flash_attn q8_0 " + std::to_string(tokens) + " of 4000", "CPU", attention(Type::Q8_0, tokens, 4000));
    }
    add_operators_between();
    add("rms_norm_mul 4096x512", "CPU", norm_and_weight(4096, 512));
    // Groups and the same nodes one after the other: from where on is there nothing to be won?
    for (const Type type : {Type::F32, Type::Q8_0}) {
        for (const int64_t n : {1, 4, 8, 64, 512}) {
            for (const bool fusion : {true, false}) {
                std::string size = std::string(type_name(type)) + " 2816x" + std::to_string(n) + "x1024";
                size += fusion ? " fused" : " apart";
                add("gate_up " + size, "CPU", gated_products(type, 2816, n, 1024), {fusion});
                add("mul_mat_add_act " + size, "CPU", product_with_bias(type, 2816, n, 1024), {fusion});
            }
        }
    }
    for (const bool fusion : {true, false}) {
        const std::string how = fusion ? " fused" : " apart";
        add("gate_up f32 172x1x64" + how, "CPU", gated_products(Type::F32, 172, 1, 64), {fusion});
        add("mul_mat_add_act f32 172x1x64" + how, "CPU", product_with_bias(Type::F32, 172, 1, 64), {fusion});
        add("add_chain 4096x512" + how, "CPU", sums(4096, 512), {fusion});
        add("rms_norm_mul_add 4096x512" + how, "CPU", norm_weight_and_bias(4096, 512), {fusion});
    }
    return true;
}();

} // namespace
