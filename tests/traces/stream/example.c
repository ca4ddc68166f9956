/* A made-up runtime that writes a trace of itself: a graph of three nodes on two backends, how it was placed, split and run.
 * Its operator SPLINE_GATE and its type q5_toast are its own; the NPU does not run the one. What it leaves out is not known.
 *
 *     cc -I. tests/traces/stream/example.c -o example && ./example run.stream && schedscope import run.stream -o run.trace */
#include "traces/format/schedscope_stream.h"

#include <fcntl.h>

enum { NPU, CPU };                                            /* backends by priority, and their buffer types */
enum { X, W0, W1, H, GATE, Y, X_ON_NPU, H_ON_CPU, GATE_ON_NPU }; /* tensors, then the copies that splits need */

/* Records, each laid out as its words say below. */
struct meta { uint32_t key, value; };
struct backend { uint32_t name, kind; int32_t default_buffer_type; };
struct buffer_type { uint32_t name; int32_t is_host; };
struct backend_buffer_type { int32_t backend, buffer_type; };
struct graph { int32_t id, n_tensors; };
struct tensor { int64_t ne[2]; uint32_t name, op, type, usage; int32_t flags, buffer_type, leaf, node, src[2]; };
struct evaluation_begin { uint32_t kind; int32_t n_tokens; };
struct plan_begin { int32_t graph; };
struct assign { uint32_t pass, cause; int32_t source, after, tensor, by; };
struct query { uint32_t pass, question, reason, detail; int32_t yes, backend, tensor; };
struct split_begin { uint32_t why; int32_t backend, first_node, node; };
struct split_end { int32_t end_node; };
struct split_input { int64_t bytes; int32_t tensor, node, source_backend; };
struct copy_made { int64_t bytes; int32_t copy, original, backend, stage; };
struct rewired { int32_t node, source, original, copy; };
struct execute { int64_t start_ns, end_ns; int32_t split, backend, first, last; uint32_t kernel; };

#define KIND(name, fields) const uint32_t name = sscp_kind(&stream, #name fields)
#define T(text) sscp_text(&block, text)
#define PUT(name, ...) do { const struct name r = {__VA_ARGS__}; sscp_put(&block, name, &r, sizeof r); } while (0)

int main(int argc, char** argv) {
    static uint64_t memory[2048]; /* for one block at a time */
    static const uint8_t runs[2][6] = {{1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 1, 1}}; /* tensors, by backend */
    static const struct { const char* why; int32_t backend, node, reads, from, copy, slot; } splits[3] = {
        {"first", NPU, H, X, CPU, X_ON_NPU, 1},
        {"backend", CPU, GATE, H, NPU, H_ON_CPU, 0},
        {"backend", NPU, Y, GATE, CPU, GATE_ON_NPU, 1}};
    sscp_stream stream;
    sscp_block block;
    if (!sscp_open_fd(&stream, argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666) : 1)) {
        return 4;
    }
    KIND(meta, " key:text value:text");
    KIND(backend, " name:text kind:text default_buffer_type:i32");
    KIND(buffer_type, " name:text is_host:i32");
    KIND(backend_buffer_type, " backend:i32 buffer_type:i32");
    KIND(graph, " id:i32 n_tensors:i32");
    KIND(tensor, " ne:i64*2 name:text op:text type:text usage:text flags:i32 buffer_type:i32 leaf:i32 node:i32 src:i32*2");
    KIND(capability, " backend:i32 answers:u8[]");
    KIND(evaluation_begin, " kind:text n_tokens:i32");
    KIND(plan_begin, " graph:i32");
    KIND(assign, " pass:text cause:text source:i32 after:i32 tensor:i32 by:i32");
    KIND(query, " pass:text question:text reason:text detail:text yes:i32 backend:i32 tensor:i32");
    KIND(split_begin, " why:text backend:i32 first_node:i32 node:i32");
    KIND(split_end, " end_node:i32");
    KIND(split_input, " bytes:i64 tensor:i32 node:i32 source_backend:i32");
    KIND(copy_made, " bytes:i64 copy:i32 original:i32 backend:i32 stage:i32");
    KIND(rewired, " node:i32 source:i32 original:i32 copy:i32");
    KIND(plan_end, "");
    KIND(execute, " start_ns:i64 end_ns:i64 split:i32 backend:i32 first:i32 last:i32 kernel:text");
    KIND(evaluation_end, "");

    sscp_begin(&block, memory, sizeof memory, 0, 1000); /* of evaluation 0, at 1000 ns: what the trace is about */
    PUT(meta, T("program"), T("toaster 0.1"));
    PUT(backend, T("NPU"), T("gpu"), NPU);
    PUT(backend, T("CPU"), T("cpu"), CPU);
    PUT(buffer_type, T("NPU"), 0);
    PUT(buffer_type, T("CPU"), 1);
    PUT(backend_buffer_type, NPU, NPU);
    PUT(backend_buffer_type, CPU, CPU);
    PUT(graph, 0, 6); /* a graph, and who runs what */
    PUT(tensor, {64, 4}, T("x"), T("NONE"), T("f32"), 0, 1, -1, 0, -1, {-1, -1});
    PUT(tensor, {64, 32}, T("w0"), T("NONE"), T("q5_toast"), T("weights"), 0, NPU, 1, -1, {-1, -1});
    PUT(tensor, {32, 16}, T("w1"), T("NONE"), T("f32"), T("weights"), 0, NPU, 2, -1, {-1, -1});
    PUT(tensor, {32, 4}, T("h"), T("MUL_MAT"), T("f32"), 0, 0, -1, -1, 0, {W0, X});
    PUT(tensor, {32, 4}, T("gate"), T("SPLINE_GATE"), T("f32"), 0, 0, -1, -1, 1, {H, -1});
    PUT(tensor, {16, 4}, T("y"), T("MUL_MAT"), T("f32"), 0, 2, -1, -1, 2, {W1, GATE});
    for (int32_t of = NPU; of <= CPU; ++of) {
        sscp_put_list(&block, capability, &of, sizeof of, runs[of], sizeof runs[of]);
    }
    PUT(evaluation_begin, T("prefill"), 4);
    PUT(plan_begin, 0); /* where each tensor goes, and by which rule */
    PUT(assign, T("1"), T("1.inp"), -1, CPU, X, -1);
    PUT(assign, T("1"), T("1.dst"), -1, NPU, W0, -1);
    PUT(assign, T("1"), T("1.dst"), -1, NPU, W1, -1);
    PUT(assign, T("1"), T("1.wgt"), 0, NPU, H, W0);
    PUT(assign, T("1"), T("1.wgt"), 0, NPU, Y, W1);
    PUT(query, T("3"), T("op"), T("op"), T("no spline unit"), 0, NPU, GATE);
    PUT(assign, T("3"), T("3.best"), -1, CPU, GATE, -1);
    for (int32_t i = 0; i < 3; ++i) {
        const int64_t bytes = (i == 0 ? 64 : 32) * 4 * 4;
        PUT(split_begin, T(splits[i].why), splits[i].backend, i, splits[i].node);
        PUT(split_input, bytes, splits[i].reads, splits[i].node, splits[i].from);
        PUT(copy_made, bytes, splits[i].copy, splits[i].reads, splits[i].backend, 0);
        PUT(rewired, splits[i].node, splits[i].slot, splits[i].reads, splits[i].copy);
        PUT(split_end, i + 1);
    }
    sscp_put(&block, plan_end, NULL, 0);
    sscp_commit(&stream, &block);

    sscp_begin(&block, memory, sizeof memory, 0, 9000); /* what ran, in a block of its own */
    PUT(execute, 2000, 5000, 0, NPU, H, H, T("toast_matmul"));
    PUT(execute, 5200, 6000, 1, CPU, GATE, GATE, T("spline_gate"));
    PUT(execute, 6100, 8000, 2, NPU, Y, Y, T("toast_matmul"));
    sscp_put(&block, evaluation_end, NULL, 0);
    sscp_commit(&stream, &block);
    return sscp_close(&stream) && stream.dropped == 0 ? 0 : 4;
}
