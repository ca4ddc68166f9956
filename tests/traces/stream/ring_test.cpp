// A program writes into shared memory and another one reads: writers never wait, and whenever one dies all that was complete
// is read.

#include "tests/traces/stream/streamed.h"
#include "traces/import/stream/stream_reader.h"
#include "traces/import/stream/stream_ring.h"
#include "traces/store/reading/trace_rows.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

namespace schedscope::test {
namespace {

using import::StreamBlock;
using import::StreamReader;
using import::StreamRing;
using ::testing::HasSubstr;

/// Memory that a child shares.
class SharedMemory {
public:
    explicit SharedMemory(size_t bytes)
        : bytes(bytes),
          at(static_cast<unsigned char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~SharedMemory() { munmap(at, bytes); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    sscp_ring& ring() const { return *reinterpret_cast<sscp_ring*>(at); }

    const size_t bytes;
    unsigned char* const at;
};

constexpr uint32_t payload_kind = 77; ///< these tests look at blocks, which may hold anything

/// A block of n numbers that tell whether it is whole: the writer, its number there, and n − 2 that follow from these.
void fill(sscp_block& block, uint64_t* memory, size_t bytes, uint64_t writer, uint64_t number, size_t n) {
    std::vector<uint64_t> values(n);
    std::iota(values.begin(), values.end(), writer * 1000003 + number);
    values[0] = writer;
    values[1] = number;
    sscp_begin(&block, memory, bytes, static_cast<int64_t>(writer), static_cast<int64_t>(number));
    sscp_put(&block, payload_kind, values.data(), 8 * n);
}

struct Payload {
    uint64_t writer, number;
};
/// Of a block that is as it was written; what is not fails the test.
Payload payload(const StreamBlock& block) {
    std::vector<uint64_t> words(block.records.size() / 8);
    std::memcpy(words.data(), block.records.data(), block.records.size());
    EXPECT_EQ(words[0], block.records.size() | uint64_t{payload_kind} << 32);
    for (size_t i = 3; i < words.size(); ++i) {
        EXPECT_EQ(words[i], words[1] * 1000003 + words[2] + i - 1);
    }
    EXPECT_EQ(block.evaluation, static_cast<int64_t>(words[1]));
    return {words[1], words[2]};
}

size_t block_size(uint64_t number) { return 2 + number * 7 % 40; }

TEST(StreamRing, HasTheBytesOfAFile) {
    SharedMemory memory(4096);
    StreamInFile file;
    sscp_stream ring;
    ASSERT_EQ(sscp_open_ring(&ring, memory.at, memory.bytes, -1), 1);
    for (sscp_stream* stream : {&ring, &file.stream}) {
        SmallProgram p(*stream);
        p.describe(0);
        sscp_close(stream);
    }
    const std::string bytes = file.bytes();
    ASSERT_EQ(memory.ring().reserved, bytes.size());
    EXPECT_EQ(std::memcmp(memory.at + SSCP_RING_HEADER, bytes.data(), bytes.size()), 0);
    // And what is read of it is stored as the file is.
    StreamRing reading(memory.at, memory.bytes);
    LiveStore store;
    StreamReader reader(store, {});
    while (const auto block = reading.next()) {
        reader.take(*block);
    }
    EXPECT_TRUE(reader.ended());
    EXPECT_TRUE(reader.finish().notes.empty());
    EXPECT_EQ(store.n_graphs(), 1);
}

TEST(StreamRing, ManyThreadsWriteAtOnceAndNoneWaits) {
    constexpr uint64_t n_writers = 4, n_blocks = 20000;
    SharedMemory memory(SSCP_RING_HEADER + 8192);
    sscp_stream stream;
    ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, -1), 1);
    std::atomic<uint64_t> n_kept = 0, n_done = 0;
    std::vector<std::thread> writers;
    for (uint64_t w = 0; w < n_writers; ++w) {
        writers.emplace_back([&, w] {
            std::vector<uint64_t> room(64);
            for (uint64_t i = 0; i < n_blocks; ++i) {
                sscp_block block;
                fill(block, room.data(), 8 * room.size(), w, i, block_size(i));
                n_kept += static_cast<uint64_t>(sscp_commit(&stream, &block));
            }
            ++n_done;
        });
    }
    StreamRing ring(memory.at, memory.bytes);
    std::vector<uint64_t> next(n_writers, 0);
    uint64_t n_read = 0;
    ASSERT_TRUE(ring.next()); // hello
    for (bool last = false; !last;) {
        last = n_done == n_writers;
        while (const auto block = ring.next()) {
            const Payload p = payload(*block);
            ASSERT_LT(p.writer, n_writers);
            EXPECT_GE(p.number, next[p.writer]); // in the writer's order
            next[p.writer] = p.number + 1;
            ++n_read;
        }
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
    EXPECT_EQ(n_read, n_kept);
    EXPECT_EQ(ring.dropped(), n_writers * n_blocks - n_kept);
    EXPECT_EQ(ring.lost(), 0);
}

TEST(StreamRing, AReaderWhoKeepsUpSeesTheSameMemoryAgain) {
    SharedMemory memory(16 << 20);
    sscp_stream stream;
    ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, -1), 1);
    StreamRing ring(memory.at, memory.bytes);
    ASSERT_TRUE(ring.next()); // what a stream begins with
    std::vector<uint64_t> bytes(1 << 17);
    sscp_block block;
    const auto send = [&](uint64_t number, size_t n) {
        fill(block, bytes.data(), 8 * bytes.size(), 1, number, n);
        return sscp_commit(&stream, &block);
    };
    const auto expect = [&](uint64_t number) {
        const std::optional<StreamBlock> next = ring.next();
        ASSERT_TRUE(next);
        EXPECT_EQ(payload(*next).number, number);
    };
    uint64_t number = 0;
    for (; number < 400; ++number) { // several times the ring
        ASSERT_EQ(send(number, 20000), 1);
        expect(number);
        EXPECT_FALSE(ring.next());
    }
    const uint64_t near = SSCP_RING_NEAR + SSCP_RING_HEADER + 8 * 20100;
    for (uint64_t at = near; at < memory.bytes; ++at) {
        ASSERT_EQ(memory.at[at], 0) << at;
    }
    EXPECT_GT(memory.ring().reserved, 3 * memory.bytes); // the rest was passed over
    // Who does not keep up has all of it.
    const uint64_t first = number;
    while (send(number, 20000) == 1) {
        ++number;
    }
    EXPECT_GT(number - first, 14U << 20 >> 18);
    for (uint64_t n = first; n < number; ++n) {
        expect(n);
    }
    EXPECT_FALSE(ring.next());
    EXPECT_EQ(ring.lost(), 0);
}

TEST(StreamRing, WithoutAReaderBlocksAreDroppedAndCounted) {
    SharedMemory memory(SSCP_RING_HEADER + 1024);
    sscp_stream stream;
    ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, -1), 1);
    uint64_t room[64], kept = 0;
    for (uint64_t i = 0; i < 100; ++i) {
        sscp_block block;
        fill(block, room, sizeof room, 1, i, 10);
        kept += static_cast<uint64_t>(sscp_commit(&stream, &block));
    }
    EXPECT_EQ(kept, (1024U - 56) / 128);
    StreamRing ring(memory.at, memory.bytes);
    EXPECT_EQ(ring.dropped(), 100 - kept);
}

/// A thread dies after it copied so many bytes of its block, and another one commits a block behind it.
TEST(StreamRing, AWriterMayDieAtAnyByteOfItsBlock) {
    uint64_t room[64];
    sscp_block block;
    fill(block, room, sizeof room, 1, 0, 12);
    for (const size_t before : {size_t{0}, size_t{900}}) { // it may lie around the end of the memory
        for (size_t n = 0; n < block.used; ++n) {
            SharedMemory memory(SSCP_RING_HEADER + 1024);
            sscp_stream stream;
            ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, -1), 1);
            StreamRing ring(memory.at, memory.bytes);
            ASSERT_TRUE(ring.next());
            while (memory.ring().reserved < before) {
                sscp_block other;
                uint64_t more[64];
                fill(other, more, sizeof more, 2, 0, 8);
                ASSERT_EQ(sscp_commit(&stream, &other), 1);
                ASSERT_TRUE(ring.next());
            }
            // What sscp_commit_to_ring does up to there.
            sscp_block dying;
            fill(dying, room, sizeof room, 1, 0, 12);
            const auto bytes = static_cast<uint32_t>(dying.used);
            std::memcpy(dying.bytes + 8, &bytes, sizeof bytes);
            const uint64_t place = memory.ring().reserved;
            memory.ring().reserved += dying.used;
            sscp_copy_into_ring(&stream, place + 8, dying.bytes + 8, std::min(n, dying.used - 8));
            sscp_block after;
            uint64_t more[64];
            fill(after, more, sizeof more, 3, 5, 9);
            ASSERT_EQ(sscp_commit(&stream, &after), 1);

            EXPECT_FALSE(ring.next()) << "an incomplete block was read";
            ring.writer_is_gone();
            const auto read = ring.next();
            ASSERT_TRUE(read) << n;
            EXPECT_EQ(payload(*read).number, 5U);
            EXPECT_EQ(ring.lost(), 1);
            EXPECT_FALSE(ring.next());
        }
    }
}

/// Sleeps until blocks come, and ends when the writer is gone.
struct Drained {
    std::vector<uint64_t> next = std::vector<uint64_t>(8, 0);
    uint64_t n_read = 0;
    bool has_gap = false;
};
void drain(StreamRing& ring, Drained& drained) {
    while (const auto block = ring.next()) {
        if (block->place == 0) {
            continue;
        }
        const Payload p = payload(*block);
        drained.has_gap = drained.has_gap || p.number != drained.next.at(p.writer);
        drained.next.at(p.writer) = p.number + 1;
        ++drained.n_read;
    }
}

/// A process of this test, which does not outlive it.
class Child {
public:
    explicit Child(pid_t pid) : pid_(pid) {}
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    void kill_it() const { ::kill(pid_, SIGKILL); }
    void end() {
        if (pid_ > 0) {
            kill_it();
            waitpid(std::exchange(pid_, -1), nullptr, 0);
        }
    }

private:
    pid_t pid_;
};

TEST(StreamRing, AProgramMayBeKilledAtAnyMoment) {
    constexpr int n_threads = 2;
    for (int round = 0; round < 40; ++round) {
        SharedMemory memory(SSCP_RING_HEADER + 65536), committed(4096);
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            sscp_stream stream;
            sscp_open_ring(&stream, memory.at, memory.bytes, ends[1]);
            auto* const done = reinterpret_cast<std::atomic<uint64_t>*>(committed.at);
            const auto write_on = [&](uint64_t w) {
                std::vector<uint64_t> room(64);
                for (uint64_t i = 0;;) {
                    sscp_block block;
                    fill(block, room.data(), 8 * room.size(), w, i, block_size(i));
                    if (sscp_commit(&stream, &block) != 0) { // else once more, so that nothing is missing
                        done[w] = ++i;
                    }
                }
            };
            std::thread other(write_on, 1);
            write_on(0);
        }
        Child child(pid);
        close(ends[1]);
        StreamRing ring(memory.at, memory.bytes);
        Drained drained;
        const uint64_t until = 50 + 137 * static_cast<uint64_t>(round);
        auto woken = StreamRing::Woken::looks;
        while (drained.n_read < until && woken == StreamRing::Woken::looks) {
            drain(ring, drained);
            woken = ring.wait(ends[0], -1);
        }
        ASSERT_EQ(woken, StreamRing::Woken::looks);
        child.kill_it();
        while (ring.wait(ends[0], -1) != StreamRing::Woken::gone) { // says so as soon as it is
            drain(ring, drained);
        }
        child.end();
        ring.writer_is_gone();
        drain(ring, drained);
        const auto* const done = reinterpret_cast<const std::atomic<uint64_t>*>(committed.at);
        for (size_t w = 0; w < n_threads; ++w) { // the last one may have been committed and not yet said
            EXPECT_GE(drained.next[w], done[w]);
            EXPECT_LE(drained.next[w], done[w] + 1);
        }
        EXPECT_FALSE(drained.has_gap);
        EXPECT_LE(ring.lost(), n_threads);
        close(ends[0]);
    }
}

TEST(StreamRing, AReaderMayBeKilledAtAnyMomentAndNoWriterWaits) {
    constexpr uint64_t n_blocks = 3000;
    for (uint64_t round = 0; round < 20; ++round) {
        SharedMemory memory(SSCP_RING_HEADER + 8192);
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[1]);
            for (StreamRing ring(memory.at, memory.bytes);; ring.wait(ends[0], -1)) {
                while (ring.next()) {}
            }
        }
        Child reader(pid);
        close(ends[0]);
        sscp_stream stream;
        ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, ends[1]), 1);
        uint64_t room[64], n_kept = 0;
        for (uint64_t i = 0; i < n_blocks; ++i) {
            sscp_block block;
            fill(block, room, sizeof room, 1, i, block_size(i));
            n_kept += static_cast<uint64_t>(sscp_commit(&stream, &block));
            if (i == 100 + 97 * round) {
                reader.end();
            }
        }
        EXPECT_EQ(n_kept + memory.ring().dropped, n_blocks);
        EXPECT_GT(memory.ring().dropped, 0U);
        close(ends[1]);
    }
}

TEST(StreamRing, WhatSomebodyWritesIntoItDoesNoHarm) {
    uint32_t random = 12345;
    const auto next = [&random] { return random = random * 1664525U + 1013904223U; };
    int n_refused = 0;
    for (int round = 0; round < 3000; ++round) {
        SharedMemory memory(SSCP_RING_HEADER + 1024);
        sscp_stream stream;
        ASSERT_EQ(sscp_open_ring(&stream, memory.at, memory.bytes, -1), 1);
        uint64_t room[64];
        sscp_block block;
        fill(block, room, sizeof room, 1, 0, 20);
        sscp_commit(&stream, &block);
        for (uint32_t i = 0; i < 1 + round % 4U; ++i) {
            const uint32_t at = (next() >> 8) % (round % 2 == 0 ? 160 : 512);
            memory.at[at] = static_cast<unsigned char>(next() >> 24);
        }
        StreamRing ring(memory.at, memory.bytes);
        ring.writer_is_gone();
        try {
            while (ring.next()) {}
        } catch (const Damage& damage) {
            ++n_refused;
            EXPECT_THAT(damage.what(), ::testing::Not(HasSubstr("\n")));
        }
        sscp_commit(&stream, &block); // nor to the writer
    }
    EXPECT_GT(n_refused, 500);
}

TEST(StreamRing, IsNotMadeOfTooLittleMemory) {
    SharedMemory memory(4096);
    sscp_stream stream;
    EXPECT_EQ(sscp_open_ring(&stream, memory.at, SSCP_RING_HEADER + 1000, -1), 0);
    EXPECT_THROW(StreamRing(memory.at, 100), Error);
}

} // namespace
} // namespace schedscope::test
