#include "runtime/backend/cpu/kernels/kernel.h"

#include "runtime/tensor/convert.h"

namespace schedscope::cpu {

const float* read_row(const Tensor& t, const std::byte* row, float* room, const VectorOps& vector) {
    const int64_t n = t.ne[0];
    if (has_contiguous_rows(t)) {
        switch (t.type) {
        case Type::F32: return reinterpret_cast<const float*>(row);
        case Type::F16: vector.half_to_floats(reinterpret_cast<const uint16_t*>(row), room, n); return room;
        case Type::I32:
            for (int64_t i = 0; i < n; ++i) {
                room[i] = static_cast<float>(read_as<int32_t>(row + 4 * i));
            }
            return room;
        default:
            if (const BlockOps& blocks = vector.blocks[static_cast<size_t>(t.type)]; blocks.expand != nullptr) {
                blocks.expand(row, room, n);
            } else {
                row_to_float(t.type, row, room, n);
            }
            return room;
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        row_to_float(t.type, row + static_cast<size_t>(i) * t.nb[0], room + i, 1);
    }
    return room;
}

void write_row(const Tensor& t, std::byte* row, const float* values, const VectorOps& vector) {
    const int64_t n = t.ne[0];
    if (reinterpret_cast<const std::byte*>(values) == row && has_contiguous_rows(t)) {
        return;
    }
    if (has_contiguous_rows(t)) {
        switch (t.type) {
        case Type::F32: std::memcpy(row, values, static_cast<size_t>(n) * sizeof(float)); return;
        case Type::F16: vector.floats_to_half(values, reinterpret_cast<uint16_t*>(row), n); return;
        default: row_from_float(t.type, values, row, n); return;
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        row_from_float(t.type, values + i, row + static_cast<size_t>(i) * t.nb[0], 1);
    }
}

namespace {

struct Line {
    Op op;
    KernelEntry entry;
};

// The operators that the CPU runs.
constexpr Line lines[] = {
    {Op::ADD, {"add", run_add}},
    {Op::SUB, {"sub", run_sub}},
    {Op::MUL, {"mul", run_mul}},
    {Op::DIV, {"div", run_div}},
    {Op::ADD_ID, {"add_id", run_add_id}},
    {Op::SCALE, {"scale", run_scale}},
    {Op::CLAMP, {"clamp", run_clamp}},
    {Op::SQR, {"sqr", run_function}},
    {Op::SQRT, {"sqrt", run_function}},
    {Op::LOG, {"log", run_function}},
    {Op::SIN, {"sin", run_function}},
    {Op::COS, {"cos", run_function}},
    {Op::UNARY, {"unary", run_function}},
    {Op::GLU, {"glu", run_glu}},
    {Op::NORM, {"norm", run_norm}},
    {Op::RMS_NORM, {"rms_norm", run_rms_norm}},
    {Op::L2_NORM, {"l2_norm", run_l2_norm}},
    {Op::GROUP_NORM, {"group_norm", run_group_norm}},
    {Op::MUL_MAT, {"mul_mat", run_mul_mat}},
    {Op::MUL_MAT_ID, {"mul_mat_id", run_mul_mat_id}},
    {Op::CPY, {"copy", run_copy}},
    {Op::CONT, {"copy", run_copy}},
    {Op::DUP, {"copy", run_copy}},
    {Op::REPEAT, {"repeat", run_repeat}},
    {Op::CONCAT, {"concat", run_concat}},
    {Op::GET_ROWS, {"get_rows", run_get_rows}},
    {Op::SET_ROWS, {"set_rows", run_set_rows}},
    {Op::PAD, {"pad", run_pad}},
    {Op::FILL, {"fill", run_fill}},
    {Op::ARANGE, {"arange", run_arange}},
    {Op::SOFT_MAX, {"soft_max", run_soft_max}},
    {Op::ROPE, {"rope", run_rope}},
    {Op::FLASH_ATTN_EXT, {"flash_attn", run_flash_attn}},
    {Op::ARGMAX, {"argmax", run_argmax}},
    {Op::ARGSORT, {"argsort", run_argsort}},
    {Op::TOP_K, {"top_k", run_top_k}},
    {Op::SUM_ROWS, {"sum_rows", run_sum_rows}},
    {Op::SUM, {"sum", run_sum}},
    {Op::MEAN, {"mean", run_mean}},
    {Op::CUMSUM, {"cumsum", run_cumsum}},
    {Op::IM2COL, {"im2col", run_im2col}},
    {Op::POOL_2D, {"pool_2d", run_pool_2d}},
};

const KernelEntry* find(Op op) noexcept {
    for (const Line& line : lines) {
        if (line.op == op) {
            return &line.entry;
        }
    }
    return nullptr;
}

/// A product's kernel is known by the type of its weights.
std::string_view product_name(Type type) noexcept {
    switch (type) {
    case Type::F32: return "mul_mat_f32";
    case Type::F16: return "mul_mat_f16";
    case Type::BF16: return "mul_mat_bf16";
    case Type::Q8_0: return "mul_mat_q8_0";
    case Type::Q4_0: return "mul_mat_q4_0";
    default: return "mul_mat_expanded";
    }
}

} // namespace

bool has_kernel(Op op) noexcept { return find(op) != nullptr; }

KernelEntry kernel_of(const Tensor& node) noexcept {
    const KernelEntry* entry = find(node.op);
    if (entry == nullptr) {
        return {};
    }
    return {node.op == Op::MUL_MAT ? product_name(node.src[0]->type) : entry->name, entry->run};
}

} // namespace schedscope::cpu
