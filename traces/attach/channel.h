#pragma once

#include "traces/attach/memory.h"
#include "traces/format/schedscope_stream.h"

/// The way to the recorder: a stream in memory that is shared with it.
namespace schedscope::attach {

/// What is sent, and the fields of each as SCHEMA.md, "As a stream", says them.
#define SCHEDSCOPE_SENT(F)                                                                                                       \
    F(meta, "key:text value:text")                                                                                               \
    F(buffer_type, "id:i32 name:text is_host:i32 alignment:i64 max_size:i64")                                                    \
    F(backend, "id:i32 name:text device:text kind:text description:text memory_bytes:i64 default_buffer_type:i32 "               \
               "kernel_times:text")                                                                                              \
    F(backend_buffer_type, "backend:i32 buffer_type:i32")                                                                        \
    F(graph, "id:i64 n_tensors:i32")                                                                                             \
    F(tensor, "ne:i64*4 nb:i64*4 view_offset:i64 name:text op:text type:text usage:text flags:i32 buffer_type:i32 "              \
              "user_backend:i32 view_source:i32 leaf:i32 node:i32 src:i32*10 params:i32*16")                                     \
    F(capability, "backend:i32 answers:u8[]")                                                                                    \
    F(evaluation_begin, "planned_in:i64 kind:text reused:i32 observed:i32 n_tokens:i32 n_outputs:i32")                           \
    F(evaluation_end, "failed:i32 error:text")                                                                                   \
    F(plan_begin, "graph:i64 n_stages:i32 op_offload:i32")                                                                       \
    F(plan_backend, "scheduler:i32 place:i32 backend:i32")                                                                       \
    F(plan_end, "error:text")                                                                                                    \
    F(real_assign, "tensor:i32 backend:i32")                                                                                     \
    F(real_split, "index:i32 backend:i32 first_node:i32 end_node:i32")                                                           \
    F(real_input, "split:i32 tensor:i32")                                                                                        \
    F(real_source, "node:i32 source:i32 copy_of:i32 backend:i32 stage:i32")                                                      \
    F(real_order, "place:i32 node:i32")                                                                                          \
    F(real_keep, "node:i32 tensor:i32")                                                                                          \
    F(real_place, "offset:i64 size:i64 tensor:i32 copy_of:i32 backend:i32 stage:i32 buffer_type:i32 chunk:i32")                  \
    F(real_memory, "planned:i32")                                                                                                \
    F(real_buffer, "size:i64 buffer_type:i32 chunk:i32")                                                                         \
    F(split_run, "start_ns:i64 end_ns:i64 time_ns:i64 split:i32 backend:i32")                                                    \
    F(transfer, "bytes:i64 start_ns:i64 end_ns:i64 split:i32 tensor:i32 copy:i32 source_backend:i32 backend:i32 async:i32 "      \
                "experts:i32 experts_total:i32")                                                                                 \
    F(wait, "start_ns:i64 end_ns:i64 split:i32 backend:i32 held:i32")                                                            \
    F(value, "n_elements:i64 n_nan:i64 n_inf:i64 min:f64 max:f64 mean:f64 norm:f64 tensor:i32")                                  \
    F(value_element, "value:f64 tensor:i32 idx:i32")                                                                             \
    F(value_bucket, "count:i64 tensor:i32 idx:i32")

namespace sent {

struct meta {
    uint32_t key, value;
};
struct buffer_type {
    int32_t id;
    uint32_t name;
    int32_t is_host;
    int64_t alignment, max_size;
};
struct backend {
    int32_t id;
    uint32_t name, device, kind, description;
    int64_t memory_bytes;
    int32_t default_buffer_type;
    uint32_t kernel_times;
};
struct backend_buffer_type {
    int32_t backend, buffer_type;
};
struct graph {
    int64_t id;
    int32_t n_tensors;
};
struct tensor {
    int64_t ne[4], nb[4], view_offset;
    uint32_t name, op, type, usage;
    int32_t flags, buffer_type, user_backend, view_source, leaf, node, src[10], params[16];
};
struct capability {
    int32_t backend;
};
struct evaluation_begin {
    int64_t planned_in;
    uint32_t kind;
    int32_t reused, observed, n_tokens, n_outputs;
};
struct evaluation_end {
    int32_t failed;
    uint32_t error;
};
struct plan_begin {
    int64_t graph;
    int32_t n_stages, op_offload;
};
struct plan_backend {
    int32_t scheduler, place, backend;
};
struct plan_end {
    uint32_t error;
};
struct real_assign {
    int32_t tensor, backend;
};
struct real_split {
    int32_t index, backend, first_node, end_node;
};
struct real_input {
    int32_t split, tensor;
};
struct real_source {
    int32_t node, source, copy_of, backend, stage;
};
struct real_order {
    int32_t place, node;
};
struct real_keep {
    int32_t node, tensor;
};
struct real_place {
    int64_t offset, size;
    int32_t tensor, copy_of, backend, stage, buffer_type, chunk;
};
struct real_memory {
    int32_t planned;
};
struct real_buffer {
    int64_t size;
    int32_t buffer_type, chunk;
};
struct split_run {
    int64_t start_ns, end_ns, time_ns;
    int32_t split, backend;
};
struct transfer {
    int64_t bytes, start_ns, end_ns;
    int32_t split, tensor, copy, source_backend, backend, async, experts, experts_total;
};
struct wait {
    int64_t start_ns, end_ns;
    int32_t split, backend, held;
};
struct value {
    int64_t n_elements, n_nan, n_inf;
    double min, max, mean, norm;
    int32_t tensor;
};
struct value_element {
    double value;
    int32_t tensor, idx;
};
struct value_bucket {
    int64_t count;
    int32_t tensor, idx;
};

} // namespace sent

enum class Kind : int {
#define F(name, fields) name,
    SCHEDSCOPE_SENT(F)
#undef F
        count
};

/// Is there somebody to send to? Takes the stream when it is asked for the first time by a process that was meant.
bool open_channel();
/// As it was found then, as long as its reader lives; false in a child after fork.
bool is_open();
/// The stream gets its end, and nothing is recorded from here on. Whoever is at it still is not waited for.
void close_channel();
/// After that: forgets all that was recorded, and lets the shared memory go, where the library joined a process and may join it
/// again. False: a thread is at it still; when it is done, that happens by itself.
bool release_channel();
bool open_channel_again(); ///< after it was released, or for the first time
bool waits_exactly();      ///< the recorder asked for exact times (--sync)
int64_t next_number();     ///< of evaluations and graphs, from 0
void note_scheduler();
void give_reason(const char* why); ///< told by the recorder where nothing was recorded

/// Somebody is at it: what is recorded into stays where it is. Not around what must not wait for it.
class Recording {
public:
    Recording();
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    bool is_open() const { return open_; }

private:
    bool open_;
};

/// What the recorder says about schedulers that were there before.
enum class Count : uint8_t { adopted, unverified, unplanned };
void count(Count what);

/// One block: records of one evaluation, sent whole or not at all.
class Block {
public:
    bool begun() const { return begun_; }
    void begin(int64_t evaluation);
    uint32_t text(const char* text);
    template <typename Fields> void put(Kind kind, const Fields& fields) { put_bytes(kind, &fields, sizeof fields, nullptr, 0); }
    void put_list(Kind kind, const void* fields, size_t n, const void* list, size_t n_list) {
        put_bytes(kind, fields, n, list, n_list);
    }
    bool commit_to(sscp_stream& to);
    bool commit(); ///< false: there was no room, and the stream counted it
    void forget() { begun_ = false; }

private:
    void make_room(size_t bytes);
    void put_bytes(Kind kind, const void* fields, size_t n, const void* list, size_t n_list);
    Bytes bytes_;
    sscp_block block_ = {};
    bool begun_ = false;
};
#define SCHEDSCOPE_PUT(block, name, ...) (block).put(Kind::name, sent::name{__VA_ARGS__})

} // namespace schedscope::attach
