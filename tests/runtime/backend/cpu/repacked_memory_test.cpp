// Weights that are laid out as they are written: they are read as they were, and products of them are those of the rows.
#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/error.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/tensor/convert.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

namespace schedscope::test {
namespace {

constexpr Type types[] = {Type::Q4_0, Type::Q4_1, Type::Q8_0, Type::IQ4_NL, Type::Q4_K,
                          Type::Q5_K, Type::Q6_K, Type::F32,  Type::F16,    Type::BF16};
/// Of floats only long rows are laid out; these are no multiple of what is multiplied at once.
constexpr int64_t row_of(Type type) { return is_float(type) ? longest_row_as_it_is + 75 : 512; }

/// Lays a tensor out in the memory that is returned, in which nothing is written yet.
std::unique_ptr<Buffer> lay_out(Tensor& t) {
    std::unique_ptr<Buffer> memory = cpu_repack_buffer_type().allocate(n_bytes(t));
    t.buffer = memory.get();
    t.offset = 0;
    memory->hold(t);
    return memory;
}

/// What a graph of weights and columns comes to; with weights that are laid out where they can be, or all as they lie.
std::vector<float> computed(bool laid_out, const std::vector<Type>& weight_types, const Shape& ne, int64_t n_columns,
                            const std::function<Tensor*(Graph&, const std::vector<Tensor*>&, Tensor*)>& build,
                            const std::map<size_t, float>& strays = {}) {
    SmallGraph small;
    std::vector<Tensor*> weights;
    for (const Type type : weight_types) {
        weights.push_back(small.graph.input(type, ne));
    }
    Tensor* const columns = small.graph.input(Type::F32, {ne[0], n_columns, 1, 1});
    Tensor* const result = build(small.graph, weights, columns);
    const std::unique_ptr<Device> device = make_cpu_device();
    SplitGraph split = small.place(*device, result);
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (Tensor* const t : weights) {
        if (laid_out && can_be_repacked(t->type, t->ne)) {
            buffers.push_back(lay_out(*t));
        }
        const auto values = some_floats(static_cast<size_t>(n_elements(*t)));
        std::vector<std::byte> rows(n_bytes(*t));
        for (int64_t r = 0; r < ne[1]; ++r) {
            row_from_float(t->type, &values[static_cast<size_t>(r * ne[0])], &rows[static_cast<size_t>(r) * t->nb[1]], ne[0]);
        }
        tensor_write(*t, rows.data(), 0, rows.size());
    }
    std::vector<float> values = some_floats(static_cast<size_t>(n_elements(*columns)));
    for (const auto& [at, value] : strays) {
        values[at] = value;
    }
    set_floats(*columns, values);
    const std::unique_ptr<Backend> backend = device->make_backend({3, true, {}});
    backend->optimise(split);
    backend->compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
    backend->synchronize();
    return floats_of(*result);
}

/// Whole numbers are multiplied exactly: what differs is the order in which their sums are scaled and added.
void expect_near(const std::vector<float>& found, const std::vector<float>& wanted, int64_t k) {
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], wanted[i], 4e-6 * std::sqrt(static_cast<double>(k)) * std::max(1.0F, std::abs(wanted[i]))) << i;
    }
}

TEST(RepackedMemory, IsReadAsItWasWritten) {
    for (const Type type : types) {
        SCOPED_TRACE(type_name(type));
        Graph g;
        Tensor* t = g.input(type, {row_of(type), is_float(type) ? 192 : 48, 1, 1});
        const auto buffer = cpu_repack_buffer_type().allocate(n_bytes(*t) + 64);
        t->buffer = buffer.get();
        t->offset = 64;
        buffer->hold(*t);
        std::vector<std::byte> bytes(n_bytes(*t));
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
        }
        const size_t middle = bytes.size() / 2 + 13; // in pieces that end in the middle of a row
        tensor_write(*t, &bytes[middle], middle, bytes.size() - middle);
        tensor_write(*t, bytes.data(), 0, middle);
        std::vector<std::byte> back(bytes.size());
        tensor_read(*t, back.data(), 0, back.size());
        EXPECT_EQ(back, bytes);
        EXPECT_NE(std::memcmp(repacked_data(*t), bytes.data(), bytes.size()), 0) << "it is laid out";
        std::vector<std::byte> some(100);
        tensor_read(*t, some.data(), middle, some.size());
        EXPECT_EQ(std::memcmp(some.data(), &bytes[middle], some.size()), 0);
    }
}

TEST(RepackedMemory, IsReadAsItWasCleared) {
    for (const Type type : types) {
        SCOPED_TRACE(type_name(type));
        Graph g;
        Tensor* t = g.input(type, {row_of(type), is_float(type) ? 192 : 48, 1, 1});
        const auto memory = lay_out(*t);
        memory->clear(7);
        std::vector<std::byte> back(n_bytes(*t));
        tensor_read(*t, back.data(), 0, back.size());
        EXPECT_EQ(back, std::vector<std::byte>(back.size(), std::byte{7}));
    }
}

/// Computes a product of weights that are laid out.
void multiply_laid_out(Type type, Products products, const VectorOps& vector) {
    SmallGraph small;
    Tensor* const weights = small.graph.input(type, {row_of(type), 64, 1, 1});
    Tensor* const product = ops::mul_mat(small.graph, weights, small.graph.input(Type::F32, {row_of(type), 1, 1, 1}));
    const std::unique_ptr<Device> device = make_cpu_device();
    const SplitGraph split = small.place(*device, product);
    const auto memory = lay_out(*weights);
    memory->clear(0);
    BackendOptions options;
    options.products = products;
    cpu::CpuBackend(*device, options, vector).compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
}

TEST(RepackedMemory, IsRefusedByOtherProductsThanItWasLaidOutFor) {
    EXPECT_NO_THROW(multiply_laid_out(Type::Q4_0, Products::int8, best_vector_ops()));
    EXPECT_NO_THROW(multiply_laid_out(Type::F16, Products::floats, best_vector_ops())) << "floats lie alike for all";
    std::vector<std::pair<Products, const VectorOps*>> others{{Products::floats, &best_vector_ops()}};
    for (const VectorOps* vector : usable_vector_ops()) {
        if (vector != &best_vector_ops()) {
            others.emplace_back(Products::int8, vector);
        }
    }
    for (const auto& [products, vector] : others) {
        try {
            multiply_laid_out(Type::Q4_0, products, *vector);
            FAIL() << products_name(products) << " products by " << vector->name;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
        }
    }
    BackendOptions options;
    EXPECT_TRUE(may_lay_out(options));
    options.products = Products::floats;
    EXPECT_FALSE(may_lay_out(options));
}

TEST(RepackedMemory, IsRefusedByOperatorsThatReadRows) {
    SmallGraph small;
    Graph& g = small.graph;
    Tensor* const weights = g.input(Type::Q8_0, {64, 64, 1, 1});
    Tensor* const columns = g.input(Type::F32, {64, 1, 1, 1});
    const std::unique_ptr<Device> device = make_cpu_device();
    const std::unique_ptr<Backend> backend = device->make_backend({1, true, {}});
    for (Tensor* const node : {ops::get_rows(g, weights, g.input(Type::I32, {1, 1, 1, 1})), ops::cast(g, weights, Type::F32),
                               ops::mul_mat(g, ops::view_2d(g, weights, 64, 32, weights->nb[1], 32 * weights->nb[1]), columns)}) {
        SplitGraph split = small.place(*device, node);
        const auto memory = lay_out(*weights);
        memory->clear(0);
        for (Tensor* const view : g.nodes()) {
            view->buffer = view->view_source == weights ? memory.get() : view->buffer;
        }
        split.nodes = {node};
        EXPECT_THROW(compute_all(*backend, split), Error) << op_name(node->op);
    }
}

TEST(RepackedMemory, HoldsWhatItWasToldOf) {
    Graph g;
    Tensor* t = g.input(Type::Q8_0, {64, 8, 1, 1}); // half a panel of the widest
    const auto buffer = cpu_repack_buffer_type().allocate(n_bytes(*t));
    std::byte b{};
    EXPECT_THROW(buffer->hold(*t), Error);
    EXPECT_THROW(buffer->write(0, &b, 1), Error);
    EXPECT_FALSE(can_be_repacked(Type::F16, {longest_row_as_it_is, 64, 1, 1}));
    EXPECT_FALSE(can_be_repacked(Type::F16, {longest_row_as_it_is + 1, 80, 1, 1}));
    EXPECT_TRUE(can_be_repacked(Type::F16, {longest_row_as_it_is + 1, 64, 1, 1}));
    EXPECT_FALSE(can_be_repacked(Type::Q8_0, {64, 32, 4, 1})) << "experts";
    EXPECT_TRUE(can_be_repacked(Type::Q8_0, {64, 32, 1, 1}));
}

TEST(RepackedMemory, ProductsAreThoseOfTheRows) {
    const auto product = [](Graph& g, const std::vector<Tensor*>& weights, Tensor* columns) {
        return ops::mul_mat(g, weights[0], columns);
    };
    for (const Type type : types) {
        for (const int64_t n : {1, 2, 5, 8, 9, 16, 17, 70, 129, 515}) {
            SCOPED_TRACE(std::string(type_name(type)) + ", " + std::to_string(n) + " columns");
            const Shape ne{row_of(type), is_float(type) ? 192 : 208, 1, 1}; // stretches of 64 rows, and one of 16
            expect_near(computed(true, {type}, ne, n, product), computed(false, {type}, ne, n, product), ne[0]);
        }
    }
}

TEST(RepackedMemory, ProductsOfWhatIsNoNumberAreNone) {
    const auto product = [](Graph& g, const std::vector<Tensor*>& weights, Tensor* columns) {
        return ops::mul_mat(g, weights[0], columns);
    };
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const Type type : types) {
        const Shape ne{row_of(type), 64, 1, 1};
        for (const int64_t n : {1, 5, 20}) {
            SCOPED_TRACE(std::string(type_name(type)) + ", " + std::to_string(n) + " columns");
            const auto k = static_cast<size_t>(ne[0]);
            for (const float stray : {nan, infinity, -infinity}) {
                const auto found = computed(true, {type}, ne, n, product, {{3, stray}, {k - 1, -stray}, {k / 2, stray}});
                const auto usual = computed(true, {type}, ne, n, product);
                for (size_t i = 0; i < 64; ++i) {
                    EXPECT_FALSE(std::isfinite(found[i])) << i;
                }
                EXPECT_TRUE(std::equal(found.begin() + 64, found.end(), usual.begin() + 64)) << "another column changed";
            }
        }
    }
}

/// Columns that suit the one matrix may not suit the other.
TEST(RepackedMemory, GatesAreThoseOfTheRowsWhicheverAreLaidOut) {
    const auto gated = [](Graph& g, const std::vector<Tensor*>& weights, Tensor* columns) {
        Tensor* const up = ops::mul_mat(g, weights[1], columns);
        return ops::glu(g, ops::mul_mat(g, weights[0], columns), up, GluOp::SWIGLU);
    };
    for (const auto& [gate, up] : {std::pair{Type::Q8_0, Type::Q8_0},
                                   {Type::Q4_0, Type::Q6_K},
                                   {Type::Q4_K, Type::Q4_0},
                                   {Type::Q6_K, Type::Q5_0},
                                   {Type::Q5_1, Type::Q4_0},
                                   {Type::Q8_0, Type::F16},
                                   {Type::F32, Type::Q5_K},
                                   {Type::F16, Type::F16},
                                   {Type::BF16, Type::Q8_0},
                                   {Type::Q4_K, Type::F32}}) {
        for (const int64_t n : {1, 5, 9, 12, 20, 150}) {
            SCOPED_TRACE(std::string(type_name(gate)) + " and " + std::string(type_name(up)) + ", " + std::to_string(n) +
                         " columns");
            const Shape ne{is_float(gate) || is_float(up) ? longest_row_as_it_is + 256 : 256,
                           is_float(gate) || is_float(up) ? 192 : 112, 1, 1};
            expect_near(computed(true, {gate, up}, ne, n, gated), computed(false, {gate, up}, ne, n, gated), ne[0]);
        }
    }
}

} // namespace
} // namespace schedscope::test
