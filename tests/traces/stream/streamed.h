#pragma once

#include "runtime/error.h"
#include "tests/support/files.h"
#include "traces/format/schedscope_stream.h"
#include "traces/import/import_log.h"
#include "traces/store/live_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace schedscope::test {

/// A stream in a file, as long as it lives.
class StreamInFile {
public:
    StreamInFile() : path_(folder_ / "a.stream"), fd_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        sscp_open_fd(&stream, fd_);
    }
    ~StreamInFile() { close(fd_); }
    StreamInFile(const StreamInFile&) = delete;
    StreamInFile& operator=(const StreamInFile&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::string bytes() const { return files::read_bytes(path_); }
    sscp_stream stream{};

private:
    files::Folder folder_;
    std::string path_;
    int fd_;
};

/// A block of a few records.
class SmallBlock {
public:
    explicit SmallBlock(sscp_stream& stream, int64_t evaluation = SSCP_UNKNOWN_64) : stream_(stream) {
        sscp_begin(&block, memory_, sizeof memory_, evaluation, SSCP_UNKNOWN_64);
    }
    uint32_t text(const char* text) { return sscp_text(&block, text); }
    /// Fields of four bytes each.
    template <typename... Values> SmallBlock& put(uint32_t kind, Values... values) {
        const std::vector<int32_t> fields{static_cast<int32_t>(values)...};
        sscp_put(&block, kind, fields.data(), 4 * fields.size());
        return *this;
    }
    int commit() { return sscp_commit(&stream_, &block); }
    sscp_block block{};

private:
    sscp_stream& stream_;
    uint64_t memory_[2048];
};

/// A stream's bytes, imported into memory.
struct ImportedStream {
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    ImportResult result;
    std::string error; ///< the line; empty: there was none

    static ImportedStream file(const std::string& path, const ImportLimits& limits = {}) {
        ImportedStream i;
        try {
            i.result = import_file(path, *i.store, nullptr, limits);
        } catch (const Error& error) {
            i.error = error.kind() == ErrorKind::input ? error.what() : "another kind of error: " + std::string(error.what());
        }
        return i;
    }
    static ImportedStream bytes(std::string_view bytes) { // in a file that has no place on a disk: tests make thousands
        static const int memory = memfd_create("stream", MFD_CLOEXEC);
        EXPECT_EQ(ftruncate(memory, 0), 0);
        EXPECT_EQ(pwrite(memory, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
        return file("/proc/self/fd/" + std::to_string(memory));
    }
    std::vector<Record> records() const {
        std::vector<Record> all;
        store->read(0, store->n_steps(), all);
        return all;
    }
    template <typename T> std::vector<T> facts() const {
        std::vector<T> found;
        for (const Record& r : records()) {
            if (const T* fact = std::get_if<T>(&r.fact)) {
                found.push_back(*fact);
            }
        }
        return found;
    }
};

/// The kinds of a small program: one backend, graphs of two tensors.
struct SmallProgram {
    explicit SmallProgram(sscp_stream& stream) : stream(stream) {
        SmallBlock block(stream);
        const uint32_t backend = sscp_kind(&stream, "backend name:text");
        block.put(backend, block.text("CPU"));
        block.commit();
    }
    void describe(int32_t number) {
        SmallBlock block(stream);
        block.put(graph, number, 2);
        block.put(tensor, block.text("x"), block.text("NONE"), 0, -1, -1);
        block.put(tensor, block.text("y"), block.text("SQR"), -1, 0, 0);
        block.commit();
    }
    void plan(SmallBlock& block, int32_t graph_number) {
        block.put(plan_begin, graph_number).put(assign, 1, 0, -1).put(plan_end);
    }
    sscp_stream& stream;
    uint32_t graph = sscp_kind(&stream, "graph id:i32 n_tensors:i32"),
             tensor = sscp_kind(&stream, "tensor name:text op:text leaf:i32 node:i32 src:i32"),
             begin = sscp_kind(&stream, "evaluation_begin planned_in:i32"), end = sscp_kind(&stream, "evaluation_end"),
             plan_begin = sscp_kind(&stream, "plan_begin graph:i32"), plan_end = sscp_kind(&stream, "plan_end"),
             assign = sscp_kind(&stream, "assign tensor:i32 after:i32 by:i32"),
             token = sscp_kind(&stream, "token token:i32 -:i32"),
             kernel = sscp_kind(&stream, "execute first:i32 last:i32 start_ns:i32 end_ns:i32");
};

} // namespace schedscope::test
