// Files that are cut short while they are open.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"
#include "runtime/system/descriptor.h"
#include "runtime/system/sanitizers.h"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

namespace schedscope::gguf {
namespace {

using ::testing::EndsWith;

constexpr int64_t n_values = 40'000; // 160,000 bytes: many pages

class Cut : public ::testing::Test {
protected:
    void write(const std::string& path, int part, int parts) const {
        std::vector<float> values(n_values);
        std::iota(values.begin(), values.end(), 1.0F);
        Writer w;
        w.set("split.no", static_cast<uint16_t>(part));
        w.set("split.count", static_cast<uint16_t>(parts));
        w.set("general.name", "cut");
        w.add("tensor." + std::to_string(part), {n_values, 1, 1, 1}, values);
        w.write(path);
    }
    File open() const {
        write(path, 0, 1);
        return File::open(path);
    }
    static float value(const File& file, const char* tensor, int64_t at) {
        return reinterpret_cast<const float*>(file.require_tensor(tensor).data)[at];
    }
    static std::string message(const File& file) {
        try {
            file.check_whole();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            return e.what();
        }
        return "whole";
    }

    files::Folder folder;
    std::string path = folder.file("model.gguf");
};

TEST_F(Cut, ReadsZerosWherePagesAreGoneAndSaysSo) {
    const File file = open();
    EXPECT_EQ(message(file), "whole");
    std::filesystem::resize_file(path, 8192);
    EXPECT_EQ(value(file, "tensor.0", n_values - 1), 0.0F);
    EXPECT_EQ(value(file, "tensor.0", n_values / 2), 0.0F);
    EXPECT_EQ(value(file, "tensor.0", 0), 1.0F);
    EXPECT_EQ(message(file), path + ": was cut short while it was read");
}

TEST_F(Cut, KnowsItWhenItHasGrownAgain) {
    const File file = open();
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, 8192);
    EXPECT_EQ(value(file, "tensor.0", n_values - 1), 0.0F);
    std::filesystem::resize_file(path, size);
    EXPECT_THAT(message(file), EndsWith("was cut short while it was read"));
}

TEST_F(Cut, KnowsItWithoutALostPage) {
    const File file = open();
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_THAT(message(file), EndsWith("was cut short while it was read"));
}

TEST_F(Cut, OnAllThreadsAtOnce) {
    const File file = open();
    std::filesystem::resize_file(path, 4096);
    std::vector<float> sums(4, -1.0F);
    std::vector<std::thread> threads;
    for (float& sum : sums) {
        threads.emplace_back([&] {
            const auto* values = reinterpret_cast<const float*>(file.require_tensor("tensor.0").data);
            sum = std::accumulate(values + 2048, values + n_values, 0.0F);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sums, std::vector<float>(4, 0.0F));
    EXPECT_THAT(message(file), EndsWith("was cut short while it was read"));
}

TEST_F(Cut, APartIsNamed) {
    const auto part = [&](int number) { return folder.file("m-0000" + std::to_string(number + 1) + "-of-00002.gguf"); };
    write(part(0), 0, 2);
    write(part(1), 1, 2);
    const File file = File::open(part(0));
    std::filesystem::resize_file(part(1), 4096);
    EXPECT_EQ(value(file, "tensor.1", n_values - 1), 0.0F);
    EXPECT_EQ(value(file, "tensor.0", n_values - 1), static_cast<float>(n_values));
    EXPECT_EQ(message(file), part(1) + ": was cut short while it was read");
}

TEST_F(Cut, MetadataThatWasLostIsNoDefault) {
    const File file = open();
    std::filesystem::resize_file(path, 0);
    EXPECT_THROW(file.get_u32("split.no"), Error);
    EXPECT_THROW(file.get_string("general.description"), Error);
}

TEST_F(Cut, IsMendedWhereverTheFileHasMoved) {
    std::vector<File> files;
    files.push_back(open());
    File file = std::move(files.front());
    files.clear();
    std::filesystem::resize_file(path, 4096);
    EXPECT_EQ(value(file, "tensor.0", n_values - 1), 0.0F);
    EXPECT_THAT(message(file), EndsWith("was cut short while it was read"));
    files::Folder other;
    write(other.file("b.gguf"), 0, 1);
    file = File::open(other.file("b.gguf"));
    EXPECT_EQ(value(file, "tensor.0", n_values - 1), static_cast<float>(n_values));
    EXPECT_EQ(message(file), "whole");
}

using CutDeathTest = Cut;

/// By the signal, or by a sanitizer, whose handler was there before.
bool ended_by_bus_error(int status) {
    return sanitized ? WIFEXITED(status) && WEXITSTATUS(status) != 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
}

TEST_F(CutDeathTest, OtherFaultsEndTheProcessAsBefore) {
    const File file = open();
    EXPECT_EXIT(std::raise(SIGBUS), ended_by_bus_error, sanitized ? "BUS" : "");
    const std::string other = folder.file("other");
    test::write_file(other, std::vector<std::byte>(20'000));
    const Descriptor descriptor(::open(other.c_str(), O_RDONLY));
    const auto* bytes = static_cast<const volatile char*>(mmap(nullptr, 20'000, PROT_READ, MAP_SHARED, descriptor.get(), 0));
    std::filesystem::resize_file(other, 0);
    EXPECT_EXIT(static_cast<void>(bytes[9000]), ended_by_bus_error, sanitized ? "BUS" : "");
}

} // namespace
} // namespace schedscope::gguf
