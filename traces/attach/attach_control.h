#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/// What the recorder and the library that it puts into a program say to each other: the first page of the memory that they share,
/// in front of the stream (sscp_ring). The library finds it by the value of an environment variable,
/// "/proc/PID/fd/N:ROOT:OPTIONS": a path to open, the process that is to be recorded, and letters of `options`.
namespace schedscope::attach {

constexpr const char* environment_name = "SCHEDSCOPE_ATTACH";
constexpr const char* library_name = "libschedscope_attach.so";
constexpr char option_sync = 's';     ///< wait for each split's end, so that its time is exact
constexpr char option_children = 'c'; ///< be handed on to children; the first process with a scheduler is recorded

constexpr uint64_t control_mark = 0x31686374'61637373; ///< "ssctach1"
constexpr size_t control_bytes = 4096;                 ///< the ring begins behind it
constexpr size_t reason_bytes = 512;

/// What is watched (--watch): nodes that fulfil all terms of a pattern. A recorder writes it down before the program starts.
enum class WatchedField : uint8_t { name, op, type, kind, backend, bytes, split, node, id };
enum class WatchedRelation : uint8_t { equal, unequal, contains, lacks, less, at_most, more, at_least };
struct WatchTerm {
    uint8_t pattern; ///< that it is of: the terms of one stand together
    WatchedField field;
    WatchedRelation relation;
    uint8_t n_texts;     ///< any of them
    uint32_t first_text; ///< in `texts`: each ends with a zero, in lower case
    double number;
};
constexpr int most_watch_terms = 48, most_watch_patterns = 32;
constexpr size_t watch_text_bytes = 1536;
struct Watch {
    uint32_t n_terms;
    uint32_t found; ///< the program: bit i: a node fulfilled pattern i
    WatchTerm terms[most_watch_terms];
    char texts[watch_text_bytes];
};

/// How long the program waits where it is held, when the recorder does not say that it still wants that.
constexpr int64_t hold_limit_ns = 5'000'000'000;

/// Memory, laid out as that of the first process, for another one that schedules (--children): the recorder's descriptor, and in
/// the upper half the process that has it. Who writes its number there while it is 0 has it; 0: nothing is offered.
using Offer = uint64_t;
constexpr int most_offers = 8, owner_shift = 32;

struct Control {
    uint64_t mark;             ///< the recorder wrote all that is its own
    uint32_t loaded;           ///< processes that loaded the library
    uint32_t owner;            ///< the process whose stream it is; 0: none yet
    uint32_t schedulers;       ///< that were seen
    uint32_t refused;          ///< processes that had schedulers when the stream was taken
    char reason[reason_bytes]; ///< why nothing is recorded of what was seen; empty: nothing is wrong
    pthread_mutex_t recorder;  ///< robust, and locked while somebody reads: the kernel marks its first word when the reader dies
    uint32_t adopted;          ///< schedulers that were there before the library was
    uint32_t unverified;       ///< of these: plans whose memory nothing is known of, because the allocator had planned it before
    uint32_t unplanned;        ///< of these: computations by plans that were made before
    Offer offers[most_offers];
    // Stepping. The program comes to a stop (before a plan, before a split, behind a watched node), sends what it recorded
    // until there, counts it, and waits until it is granted, `hold` is taken back, or the recorder is silent for too long.
    uint32_t hold;    ///< the recorder: 1: stops are held
    uint32_t stops;   ///< the program: how many it has come to; a futex
    uint32_t granted; ///< the recorder: how many of them are over; a futex
    Watch watch;
    int64_t renewed_ns; ///< the recorder: when it last wanted that (CLOCK_MONOTONIC)
};
static_assert(sizeof(Control) <= control_bytes);

/// With which the library begins where it is put into a process that runs already. In that process's memory.
struct Join {
    int32_t file; ///< a descriptor of the shared memory, which the library closes
    uint32_t sync;
    uint32_t busy;          ///< the library: 1: it does not record, because of a computation that will end
    int32_t calls;          ///< the library: how many calls of ggml lead to it now
    char why[reason_bytes]; ///< the library: why it does not record
};
/// `int (Join*)`: 0: it records. `int ()`: 0: nothing leads to it any more; 1: a thread is still within it, and ends what it
/// does. Threads are stopped at a place where the loader may be called.
constexpr const char* join_name = "schedscope_join";
constexpr const char* leave_name = "schedscope_leave";

} // namespace schedscope::attach
