// What is in memory of a file: pages are read ahead and let go; what is read past the mapping is what is mapped.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <numeric>
#include <thread>

namespace schedscope::gguf {
namespace {

using ::testing::EndsWith;

constexpr int64_t n_floats = 2 << 20; // of 4 bytes: 8 MiB
constexpr size_t tensor_bytes = 4 * n_floats, megabyte = size_t{1} << 20;

class Pages : public ::testing::Test {
protected:
    File open(int parts = 1) const {
        std::vector<float> values(n_floats);
        for (int part = parts - 1; part >= 0; --part) {
            std::iota(values.begin(), values.end(), static_cast<float>(part));
            Writer w;
            w.set("split.no", static_cast<uint16_t>(part));
            w.set("split.count", static_cast<uint16_t>(parts));
            w.add("tensor." + std::to_string(part), {n_floats, 1, 1, 1}, values);
            w.write(path(part));
        }
        return File::open(path(0));
    }
    std::string path(int part) const { return folder.file("m-0000" + std::to_string(part + 1) + "-of-00002.gguf"); }
    /// Bytes of files that are in this process's memory.
    static size_t in_memory() {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("RssFile:")) {
                return 1024 * std::stoull(line.substr(8));
            }
        }
        ADD_FAILURE() << "Linux tells nothing of it";
        return 0;
    }
    static std::string refusal(const File& file, const FileTensor& tensor, size_t offset, std::span<std::byte> into) {
        try {
            file.read(tensor, offset, into);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            return e.what();
        }
        return "";
    }
    static void one_by_one(int n, const std::function<void(int)>& work) {
        for (int i = 0; i < n; ++i) {
            work(i);
        }
    }
    const files::Folder folder;
};

TEST_F(Pages, AreReadAheadAndLetGo) {
    const File file = open();
    const FileTensor& tensor = file.require_tensor("tensor.0");
    const size_t before = in_memory();
    file.read_ahead(tensor, 0, tensor_bytes / 2);
    const size_t with_half = in_memory();
    EXPECT_GE(with_half, before + 3 * megabyte);
    file.read_ahead(tensor, tensor_bytes / 2, tensor_bytes / 2);
    EXPECT_GE(in_memory(), before + 7 * megabyte);
    file.let_go(tensor);
    EXPECT_LE(in_memory(), before + megabyte);
    const auto* values = reinterpret_cast<const float*>(tensor.data);
    EXPECT_EQ(values[0], 0.0F);
    EXPECT_EQ(values[n_floats - 1], static_cast<float>(n_floats - 1));
    file.check_whole();
}

TEST_F(Pages, AreNotTouchedByWhatIsReadFromTheFileItself) {
    for (const int parts : {1, 2}) {
        const File file = open(parts);
        for (const FileTensor& tensor : file.tensors()) {
            const size_t before = in_memory();
            std::vector<std::byte> found(tensor_bytes);
            file.read(tensor, 0, found);
            EXPECT_LE(in_memory(), before + megabyte);
            EXPECT_EQ(std::memcmp(found.data(), tensor.data, tensor_bytes), 0) << tensor.name;
            file.read(tensor, tensor_bytes - 8, std::span(found).first(8));
            EXPECT_EQ(std::memcmp(found.data(), tensor.data + tensor_bytes - 8, 8), 0) << tensor.name;
        }
    }
}

TEST_F(Pages, OfBytesInMemoryAreThereAnyway) {
    Writer w;
    w.add("t", {4, 1, 1, 1}, std::vector<float>{1, 2, 3, 4});
    const File file = File::from_bytes(w.to_bytes());
    const FileTensor& tensor = file.require_tensor("t");
    file.read_ahead(tensor, 0, 16);
    file.let_go(tensor);
    std::vector<float> found(2);
    file.read(tensor, 8, std::as_writable_bytes(std::span(found)));
    EXPECT_THAT(found, ::testing::ElementsAre(3, 4));
}

TEST_F(Pages, AreMovedToLargePagesWhereTheyLie) {
    for (const int parts : {1, 2}) {
        const File file = open(parts);
        std::vector<const FileTensor*> tensors;
        for (const FileTensor& tensor : file.tensors()) {
            file.read_ahead(tensor, 0, tensor_bytes);
            tensors.push_back(&tensor);
        }
        const size_t before = in_memory();
        int n_pieces = 0;
        const auto each = [&](int n, const std::function<void(int)>& work) {
            n_pieces += n;
            std::vector<std::jthread> threads;
            for (int i = 0; i < n; ++i) {
                threads.emplace_back(work, i);
            }
        };
        file.move_to_large_pages(tensors, each);
        EXPECT_GT(n_pieces, parts);
        EXPECT_LE(in_memory(), before - static_cast<size_t>(parts) * 7 * megabyte);
        for (int part = 0; part < parts; ++part) { // what the file becomes is not seen any more
            std::fstream(path(part), std::ios::in | std::ios::out | std::ios::binary).seekp(megabyte) << "something else";
        }
        for (int round = 0; round < 2; ++round) {
            for (const FileTensor& tensor : file.tensors()) {
                std::vector<float> wanted(n_floats);
                std::iota(wanted.begin(), wanted.end(), tensor.name == "tensor.0" ? 0.0F : 1.0F);
                EXPECT_EQ(std::memcmp(tensor.data, wanted.data(), tensor_bytes), 0) << tensor.name;
                file.let_go(tensor); // it is not the file's to let go
            }
            file.move_to_large_pages(tensors, each);
        }
        file.check_whole();
    }
}

TEST_F(Pages, ThatAreMovedAreThoseOfTheTensorsAlone) {
    std::vector<float> values(n_floats);
    std::iota(values.begin(), values.end(), 0.0F);
    Writer w;
    for (int i = 0; i < 3; ++i) {
        w.add("tensor." + std::to_string(i), {n_floats, 1, 1, 1}, values);
    }
    w.write(path(0));
    const File file = File::open(path(0));
    for (const FileTensor& tensor : file.tensors()) {
        file.read_ahead(tensor, 0, tensor_bytes);
    }
    const size_t before = in_memory();
    file.move_to_large_pages({}, one_by_one);
    file.move_to_large_pages({&file.require_tensor("tensor.2"), &file.require_tensor("tensor.0")}, one_by_one);
    EXPECT_LE(in_memory(), before - 15 * megabyte);
    EXPECT_GE(in_memory(), before - 17 * megabyte);
    for (const FileTensor& tensor : file.tensors()) {
        EXPECT_EQ(std::memcmp(tensor.data, values.data(), tensor_bytes), 0) << tensor.name;
        file.let_go(tensor);
        EXPECT_EQ(std::memcmp(tensor.data, values.data(), tensor_bytes), 0) << tensor.name;
    }
}

TEST_F(Pages, OfAFileThatWasCutShortAreMovedAndItIsSaid) {
    const File file = open();
    std::filesystem::resize_file(path(0), megabyte);
    file.move_to_large_pages({&file.require_tensor("tensor.0")}, one_by_one);
    EXPECT_THROW(file.check_whole(), Error);
}

TEST_F(Pages, ThatTheFileHasLostAreNoReasonToFail) {
    const File file = open();
    const FileTensor& tensor = file.require_tensor("tensor.0");
    std::filesystem::resize_file(path(0), megabyte);
    file.read_ahead(tensor, 0, tensor_bytes);
    file.let_go(tensor);
    std::vector<std::byte> found(tensor_bytes);
    EXPECT_THAT(refusal(file, tensor, 0, found), EndsWith("-00001-of-00002.gguf: was cut short while it was read"));
    EXPECT_THAT(refusal(file, tensor, tensor_bytes - 16, std::span(found).first(16)),
                EndsWith("was cut short while it was read"));
    EXPECT_EQ(refusal(file, tensor, 0, std::span(found).first(4096)), "");
    EXPECT_THROW(file.check_whole(), Error);
}

} // namespace
} // namespace schedscope::gguf
