#include "tests/support/locked_memory.h"

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/error.h"
#include "runtime/system/sanitizers.h"
#include "runtime/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace schedscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HostMemory, IsOneTypeOfHostMemory) {
    EXPECT_EQ(&cpu_buffer_type(), &cpu_buffer_type());
    EXPECT_EQ(cpu_buffer_type().name(), "CPU");
    EXPECT_TRUE(cpu_buffer_type().is_host());
    EXPECT_EQ(cpu_buffer_type().alignment(), 32U);
    EXPECT_EQ(cpu_buffer_type().max_size(), SIZE_MAX);
}

TEST(HostMemory, KeepsWhatIsWritten) {
    const auto buffer = cpu_buffer_type().allocate(100);
    EXPECT_EQ(buffer->size(), 100U);
    EXPECT_EQ(&buffer->type(), &cpu_buffer_type());
    EXPECT_EQ(buffer->usage, BufferUsage::any);
    buffer->clear(7);
    const uint8_t data[] = {1, 2, 3};
    buffer->write(40, data, sizeof data);
    uint8_t found[5];
    buffer->read(39, found, sizeof found);
    EXPECT_THAT(found, ::testing::ElementsAre(7, 1, 2, 3, 7));
    EXPECT_EQ(buffer->host_base()[41], std::byte{2});
}

TEST(HostMemory, IsAlignedForVectors) {
    for (const size_t size : {1U, 31U, 64U, 1000U}) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(cpu_buffer_type().allocate(size)->host_base()) % 64, 0U);
    }
}

TEST(HostMemory, MayBeEmpty) { EXPECT_EQ(cpu_buffer_type().allocate(0)->size(), 0U); }

TEST(HostMemory, WrapsMemoryThatStaysItsOwners) {
    std::vector<uint8_t> mine = {1, 2, 3, 4};
    {
        const auto buffer = wrap_host_memory(mine.data(), mine.size());
        EXPECT_EQ(static_cast<void*>(buffer->host_base()), static_cast<void*>(mine.data()));
        EXPECT_EQ(&buffer->type(), &cpu_buffer_type());
        const uint8_t nine = 9;
        buffer->write(2, &nine, 1);
    }
    EXPECT_THAT(mine, ::testing::ElementsAre(1, 2, 9, 4));
}

TEST(HostMemory, SaysInOneLineWhenThereIsNotEnough) {
    std::vector<size_t> impossible_sizes = {SIZE_MAX, SIZE_MAX - 10};
    if (!sanitized) { // whose allocators end the program instead
        impossible_sizes.push_back(SIZE_MAX / 4);
    }
    for (const size_t impossible : impossible_sizes) {
        try {
            cpu_buffer_type().allocate(impossible);
            FAIL() << impossible << " bytes";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::device);
            EXPECT_THAT(e.what(), HasSubstr("CPU"));
            EXPECT_THAT(e.what(), HasSubstr(std::to_string(impossible)));
            EXPECT_THAT(e.what(), Not(HasSubstr("\n")));
        }
    }
}

/// Of what a process without rights may lock, nothing is left.
void lose_the_right_to_lock() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    syscall(SYS_capset, &header, none);
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_MEMLOCK, &nothing);
}

TEST(HostMemory, SaysWhyItCanNotBeLocked) {
    if (test::mlock_only_pretends()) {
        GTEST_SKIP() << "a sanitizer's mlock locks nothing";
    }
    EXPECT_EXIT(
        {
            lose_the_right_to_lock();
            const auto buffer = cpu_buffer_type().allocate(1 << 20);
            std::fputs(buffer->lock(0, 1 << 20).c_str(), stderr);
            std::exit(0);
        },
        ::testing::ExitedWithCode(0), "Operation not permitted|Cannot allocate memory");
}

/// Memory that the host can't address, like a device's.
class FarBuffer final : public Buffer {
public:
    explicit FarBuffer(size_t size, bool copies) : inner_(cpu_buffer_type().allocate(size)), copies_(copies) {}
    const BufferType& type() const noexcept override { return cpu_buffer_type(); }
    size_t size() const noexcept override { return inner_->size(); }
    std::byte* host_base() noexcept override { return nullptr; }
    void write(size_t offset, const void* source, size_t bytes) override { inner_->write(offset, source, bytes); }
    void read(size_t offset, void* target, size_t bytes) override {
        ++reads;
        inner_->read(offset, target, bytes);
    }
    void clear(uint8_t value) override { inner_->clear(value); }
    bool copy_from(size_t offset, Buffer& source, size_t source_offset, size_t bytes) override {
        if (copies_) {
            std::vector<std::byte> data(bytes);
            static_cast<FarBuffer&>(source).inner_->read(source_offset, data.data(), bytes);
            write(offset, data.data(), bytes);
        }
        return copies_;
    }
    int reads = 0; ///< through the host

private:
    std::unique_ptr<Buffer> inner_;
    bool copies_;
};

Tensor four_floats(Buffer& buffer, size_t offset) {
    Tensor t;
    t.ne = {4, 1, 1, 1};
    t.nb = contiguous_strides(t.type, t.ne);
    t.buffer = &buffer;
    t.offset = offset;
    return t;
}

TEST(TensorCopy, GoesBetweenAllKindsOfMemory) {
    const float values[] = {1, 2, 3, 4};
    const auto near = cpu_buffer_type().allocate(64);
    const auto near_too = cpu_buffer_type().allocate(64);
    FarBuffer far(64, false);
    FarBuffer far_too(64, false);
    const std::pair<Buffer*, Buffer*> pairs[] = {
        {near.get(), near_too.get()}, {near.get(), &far}, {&far, near.get()}, {&far, &far_too}};
    for (const auto& [from, to] : pairs) {
        const Tensor source = four_floats(*from, 16);
        const Tensor target = four_floats(*to, 32);
        tensor_write(source, values, 0, sizeof values);
        to->clear(0);
        tensor_write(source, values, 0, sizeof values);
        tensor_copy(source, target);
        float found[4] = {};
        tensor_read(target, found, 0, sizeof found);
        EXPECT_THAT(found, ::testing::ElementsAre(1, 2, 3, 4));
    }
}

TEST(TensorCopy, LeavesOutTheHostWhereBuffersCan) {
    FarBuffer from(64, true);
    FarBuffer to(64, true);
    const float values[] = {1, 2, 3, 4};
    const Tensor source = four_floats(from, 0);
    const Tensor target = four_floats(to, 16);
    tensor_write(source, values, 0, sizeof values);
    tensor_copy(source, target);
    EXPECT_EQ(from.reads, 0);
    float last = 0;
    tensor_read(target, &last, 12, sizeof last);
    EXPECT_EQ(last, 4);
}

TEST(HostData, IsWhereTheTensorLies) {
    const auto buffer = cpu_buffer_type().allocate(64);
    FarBuffer far(64, false);
    EXPECT_EQ(host_data(four_floats(*buffer, 16)), buffer->host_base() + 16);
    EXPECT_EQ(host_data(four_floats(far, 16)), nullptr);
    EXPECT_EQ(host_data(Tensor{}), nullptr);
}

} // namespace
} // namespace schedscope
