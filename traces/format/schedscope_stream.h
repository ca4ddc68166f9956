/* schedscope_stream.h: with which any program writes a trace. Plain C (C99, also C++) on Linux, libc alone; copy this file
 * beside your sources.
 *
 * SCHEMA.md, "As a stream", says what a stream is made of; tests/traces/stream/example.c writes a whole one in a hundred
 * lines. In short:
 *
 *     sscp_stream stream;
 *     sscp_open_fd(&stream, fd);          a file or a pipe; or sscp_open_ring: shared memory, for which no thread ever waits
 *     uint32_t assign = sscp_kind(&stream, "assign tensor:i32 after:i32 cause:text");
 *     struct { int32_t tensor, after; uint32_t cause; } a;                    laid out as those words say
 *
 *     sscp_block block;                                a block is kept whole, or dropped whole and counted
 *     sscp_begin(&block, memory, sizeof memory, 0, now);                      records of evaluation 0
 *     a.tensor = 7; a.after = 0; a.cause = sscp_text(&block, "1.wgt");
 *     sscp_put(&block, assign, &a, sizeof a);
 *     sscp_commit(&stream, &block);
 *
 *     sscp_close(&stream);
 *
 * Nothing here allocates memory, throws, prints or takes a lock. What is left out of a kind's words, or has the value
 * SSCP_UNKNOWN…, is not known.
 *
 * Units: sizes are bytes; times are nanoseconds of one steady clock (CLOCK_MONOTONIC).
 * Ownership: descriptors, shared memory and the memory of blocks are the caller's. They stay as long as the stream or block
 * is in use; sscp_close closes no descriptor.
 * Errors: what can fail gives 0 and leaves the program as it was: a block that did not go into the stream is counted, and
 * the trace says how many were dropped. After an error of write(2) `failed` is its errno, and nothing more is written. A
 * pipe without a reader raises SIGPIPE, unless the program ignores that. */
#ifndef SCHEDSCOPE_STREAM_H
#define SCHEDSCOPE_STREAM_H

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a stream's numbers have their low byte first"
#endif

/* NOLINTBEGIN(modernize-use-nullptr): C has no other */
#define SSCP_UNKNOWN_8 ((int8_t)-128)
#define SSCP_UNKNOWN_16 ((int16_t)-32768)
#define SSCP_UNKNOWN_32 ((int32_t)-2147483647 - 1)
#define SSCP_UNKNOWN_64 ((int64_t)-9223372036854775807 - 1)
#define SSCP_UNKNOWN_U8 255u /* also of an answer: the backend was not asked */

/* Keys of facts. Of llama.cpp the builds that the program may be: "b8180..", "b3890..b4109". */
#define SSCP_FACT_BUILDS "build"
/* A sentence that names libraries which were loaded for devices that the program does not use. */
#define SSCP_FACT_IDLE_LIBRARIES "no_device"
/* Compute buffers were made before anybody watched: what is recorded of their sizes is the least that they have.
   "older_buffers.2" says it of the scheduler 2 (plan_backend) alone. */
#define SSCP_FACT_OLDER_BUFFERS "older_buffers"
/* The file of the ggml that a program was watched in, from outside: its splits are recorded as a whole. */
#define SSCP_FACT_GGML_LIBRARY "ggml_library"
/* Of a variable that ggml reads: from how many rows on its devices take work over. */
#define SSCP_FACT_OFFLOAD_MIN_BATCH "GGML_OP_OFFLOAD_MIN_BATCH"

enum {
    SSCP_MAJOR = 1, /* of the stream's version */
    SSCP_MINOR = 1,
    SSCP_BLOCK_HEADER = 40, /* bytes: mark, bytes, 0, evaluation, time_ns, dropped */
    SSCP_RECORD_HEADER = 8, /* bytes: bytes, kind */
    SSCP_RING_HEADER = 256,
    SSCP_HELLO = 1, /* kinds of records that are always there */
    SSCP_KIND = 2,  /* says what the records of a number from SSCP_FIRST_KIND on are made of */
    SSCP_TEXT = 3,  /* the texts of a block are numbered from 1 in their order */
    SSCP_END = 4,
    SSCP_FIRST_KIND = 16
};
#define SSCP_MARK UINT64_C(0x6D72747370637373)      /* "sscpstrm", XOR the place in the stream where the block begins */
#define SSCP_SKIP UINT64_C(0x70696B7370637373)      /* "sscpskip", XOR the place: the rest of the ring is passed over */
#define SSCP_RING_NEAR (UINT64_C(4) << 20)          /* bytes of a ring that a reader who keeps up sees, again and again */
#define SSCP_RING_MARK UINT64_C(0x676E697270637373) /* "sscpring" */

/* The beginning of shared memory: the stream's last bytes, byte n at SSCP_RING_HEADER + n % capacity. All zeros but `mark`
 * and `capacity` at first. */
typedef struct sscp_ring {
    uint64_t mark, capacity; /* bytes behind this header; a multiple of 8 */
    unsigned char line_0[48];
    uint64_t reserved; /* bytes that writers took */
    uint64_t dropped;  /* blocks that found no room */
    unsigned char line_1[48];
    uint64_t taken;   /* bytes that the reader is done with, and left as zeros */
    uint32_t waiting; /* the reader sleeps until somebody wakes it */
    unsigned char line_2[116];
} sscp_ring;

typedef struct sscp_stream {
    int fd;                  /* a file, a pipe, or with a ring the socket that wakes its reader; -1: none */
    sscp_ring* ring;         /* null: none */
    uint64_t capacity;       /* of the ring: not believed to whoever shares it */
    uint64_t place, dropped; /* without a ring: bytes written, blocks dropped */
    uint32_t next_kind;
    int failed; /* errno of what could not be written; nothing more is */
} sscp_stream;

typedef struct sscp_block {
    unsigned char* bytes; /* the caller's, as long as the block is not committed */
    size_t capacity, used;
    uint32_t n_texts;
    int spoilt; /* there was no room for all of it, or a kind was none */
} sscp_block;

static inline void sscp_put_bytes(sscp_block* block, uint32_t kind, const void* a, size_t n_a, const void* b, size_t n_b) {
    static const unsigned char zeros[8] = {0};
    const size_t n = SSCP_RECORD_HEADER + n_a + n_b, rest = (8 - n % 8) % 8;
    uint32_t head[2];
    if (kind == 0 || block->spoilt || n < n_a || n > block->capacity || n + rest > block->capacity - block->used) {
        block->spoilt = 1;
        return;
    }
    head[0] = (uint32_t)n;
    head[1] = kind;
    memcpy(block->bytes + block->used, head, sizeof head);
    if (n_a > 0) {
        memcpy(block->bytes + block->used + SSCP_RECORD_HEADER, a, n_a);
    }
    if (n_b > 0) {
        memcpy(block->bytes + block->used + SSCP_RECORD_HEADER + n_a, b, n_b);
    }
    memcpy(block->bytes + block->used + n, zeros, rest);
    block->used += n + rest;
}

/* A record of a kind that sscp_kind gave: a struct laid out as its words say. */
static inline void sscp_put(sscp_block* block, uint32_t kind, const void* fields, size_t bytes) {
    sscp_put_bytes(block, kind, fields, bytes, NULL, 0);
}
/* The same with the list behind it that the last of its words ("answers:u8[]") announces. */
static inline void sscp_put_list(sscp_block* block, uint32_t kind, const void* fields, size_t bytes, const void* list, size_t n) {
    sscp_put_bytes(block, kind, fields, bytes, list, n);
}

/* The number of a text in this block; 0: the empty one, or none. The same number may be used again within the block, not in
 * another. */
static inline uint32_t sscp_text_n(sscp_block* block, const char* text, size_t n) {
    if (n == 0) {
        return 0;
    }
    sscp_put_bytes(block, SSCP_TEXT, text, n, NULL, 0);
    return ++block->n_texts;
}
static inline uint32_t sscp_text(sscp_block* block, const char* text) {
    return text == NULL ? 0 : sscp_text_n(block, text, strlen(text));
}

/* Begins a block in the caller's memory. evaluation: what its records belong to, by a number of the program's own from 0
 * on; SSCP_UNKNOWN_64: none. time_ns: of all its records that have none of their own, by one steady clock. */
static inline void sscp_begin(sscp_block* block, void* memory, size_t bytes, int64_t evaluation, int64_t time_ns) {
    block->bytes = (unsigned char*)memory;
    block->capacity = bytes < UINT32_MAX - 7 ? bytes : UINT32_MAX - 7;
    block->used = SSCP_BLOCK_HEADER;
    block->n_texts = 0;
    block->spoilt = bytes < SSCP_BLOCK_HEADER;
    if (!block->spoilt) {
        memset(block->bytes, 0, SSCP_BLOCK_HEADER);
        memcpy(block->bytes + 16, &evaluation, sizeof evaluation);
        memcpy(block->bytes + 24, &time_ns, sizeof time_ns);
    }
}

static inline void sscp_copy_into_ring(sscp_stream* stream, uint64_t place, const unsigned char* from, size_t n) {
    unsigned char* data = (unsigned char*)stream->ring + SSCP_RING_HEADER;
    const size_t at = (size_t)(place % stream->capacity), room = (size_t)(stream->capacity - at), first = n < room ? n : room;
    memcpy(data + at, from, first);
    memcpy(data, from + first, n - first);
}

static inline uint64_t* sscp_mark_at(sscp_stream* stream, uint64_t place) {
    unsigned char* mark = (unsigned char*)stream->ring + SSCP_RING_HEADER + place % stream->capacity;
    return (uint64_t*)(void*)mark;
}

static inline int sscp_commit_to_ring(sscp_stream* stream, const sscp_block* block) {
    sscp_ring* ring = stream->ring;
    uint64_t place = __atomic_load_n(&ring->reserved, __ATOMIC_RELAXED), skipped;
    do {
        const uint64_t in_use = place - __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
        const uint64_t at = (place & ~UINT64_C(7)) % stream->capacity;
        if (in_use > stream->capacity || block->used > stream->capacity - in_use) {
            __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
            return 0;
        }
        /* Memory that was never used costs more than the copy: an empty ring begins again where pages are there already. */
        skipped = in_use == 0 && at >= SSCP_RING_NEAR && block->used <= at ? stream->capacity - at : 0;
    } while (!__atomic_compare_exchange_n(&ring->reserved, &place, place + skipped + block->used, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    place &= ~UINT64_C(7); /* as it is, unless somebody else wrote to it */
    if (skipped > 0) {
        __atomic_store_n(sscp_mark_at(stream, place), SSCP_SKIP ^ place, __ATOMIC_SEQ_CST);
        place += skipped;
    }
    sscp_copy_into_ring(stream, place + 8, block->bytes + 8, block->used - 8);
    __atomic_store_n(sscp_mark_at(stream, place), SSCP_MARK ^ place, __ATOMIC_SEQ_CST); /* who reads it sees that last */
    if (stream->fd >= 0 && __atomic_load_n(&ring->waiting, __ATOMIC_SEQ_CST) != 0 &&
        __atomic_exchange_n(&ring->waiting, 0, __ATOMIC_SEQ_CST) != 0) {
        const int kept = errno; /* the caller's */
        if (send(stream->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            errno = kept;
        }
    }
    return 1;
}

static inline int sscp_commit_to_fd(sscp_stream* stream, sscp_block* block) {
    const uint64_t mark = SSCP_MARK ^ stream->place;
    size_t done = 0;
    memcpy(block->bytes, &mark, sizeof mark);
    while (done < block->used) {
        const ssize_t n = write(stream->fd, block->bytes + done, block->used - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd pipe;
            if (done == 0) {
                ++stream->dropped;
                return 0;
            }
            pipe.fd = stream->fd; /* what has begun must be ended */
            pipe.events = POLLOUT;
            pipe.revents = 0;
            (void)poll(&pipe, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            stream->failed = n == 0 ? EIO : errno;
            ++stream->dropped;
            return 0;
        }
    }
    stream->place += block->used;
    return 1;
}

/* 1: the block is in the stream; 0: it was dropped whole, and counted. A ring takes blocks of many threads at once and
 * never makes one wait; into a file or a pipe one thread at a time writes, which waits as write(2) does: a pipe that is not
 * to be waited for (O_NONBLOCK) drops what it has no room for. */
static inline int sscp_commit(sscp_stream* stream, sscp_block* block) {
    const uint32_t bytes = (uint32_t)block->used;
    const uint64_t dropped = stream->ring != NULL ? __atomic_load_n(&stream->ring->dropped, __ATOMIC_RELAXED) : stream->dropped;
    if (block->spoilt || stream->failed) {
        if (stream->ring != NULL) {
            __atomic_fetch_add(&stream->ring->dropped, 1, __ATOMIC_RELAXED);
        } else {
            ++stream->dropped;
        }
        return 0;
    }
    memcpy(block->bytes + 8, &bytes, sizeof bytes);
    memcpy(block->bytes + 32, &dropped, sizeof dropped);
    return stream->ring != NULL ? sscp_commit_to_ring(stream, block) : sscp_commit_to_fd(stream, block);
}

static inline int sscp_commit_one(sscp_stream* stream, uint32_t kind, const void* a, size_t n_a, const void* b, size_t n_b) {
    uint64_t memory[128];
    sscp_block block;
    sscp_begin(&block, memory, sizeof memory, SSCP_UNKNOWN_64, SSCP_UNKNOWN_64);
    sscp_put_bytes(&block, kind, a, n_a, b, n_b);
    return sscp_commit(stream, &block);
}

/* Begins a stream: 1, or 0 when its first bytes found no room. */
static inline int sscp_open(sscp_stream* stream, int fd, sscp_ring* ring, uint64_t capacity) {
    const uint32_t version[2] = {SSCP_MAJOR, SSCP_MINOR};
    memset(stream, 0, sizeof *stream);
    stream->fd = fd;
    stream->ring = ring;
    stream->capacity = capacity;
    stream->next_kind = SSCP_FIRST_KIND;
    return sscp_commit_one(stream, SSCP_HELLO, version, sizeof version, NULL, 0);
}
static inline int sscp_open_fd(sscp_stream* stream, int fd) { return sscp_open(stream, fd, NULL, 0); }

/* In memory of `bytes` bytes, all zeros, at a multiple of 8, that is shared with the reader. wake: a connected socket, a
 * byte on which wakes the reader when it sleeps; -1: it looks by itself. A child after fork is not to write into it. */
static inline int sscp_open_ring(sscp_stream* stream, void* memory, size_t bytes, int wake) {
    sscp_ring* ring = (sscp_ring*)memory;
    if (bytes < SSCP_RING_HEADER + 1024) {
        return 0;
    }
    ring->capacity = (bytes - SSCP_RING_HEADER) & ~(uint64_t)7;
    __atomic_store_n(&ring->mark, SSCP_RING_MARK, __ATOMIC_RELEASE);
    return sscp_open(stream, wake, ring, ring->capacity);
}

/* Says what the records of a kind are made of, and gives its number for sscp_put; 0: it found no room. `words`: a
 * kind as SCHEMA.md names it, then its fields and how they are laid out, as a struct has them: "split_end idx:i32
 * end_node:i32". From any thread, before the first such record. */
static inline uint32_t sscp_kind(sscp_stream* stream, const char* words) {
    uint32_t number[2];
    number[0] = __atomic_fetch_add(&stream->next_kind, 1, __ATOMIC_RELAXED);
    number[1] = 0;
    return sscp_commit_one(stream, SSCP_KIND, number, sizeof number, words, strlen(words)) ? number[0] : 0;
}

/* The end, as it should be. A stream without it belongs to a program that was killed, or still runs. 1: all of it arrived
 * but for blocks that were dropped. */
static inline int sscp_close(sscp_stream* stream) { return sscp_commit_one(stream, SSCP_END, NULL, 0, NULL, 0); }
/* NOLINTEND(modernize-use-nullptr) */
#endif
