#pragma once

#include "runtime/system/descriptor.h"

#include <atomic>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace schedscope::import {

std::string input_name(const std::string& path); ///< "standard input" for "-"

/// A file or a pipe that is read from its beginning, with its first bytes, by which its kind is told.
class OpenedInput {
public:
    /// "-": standard input. `stop`: once it is set nothing is waited for any more; may be null. Throws Error(input) when
    /// there is no such file or it can't be read.
    explicit OpenedInput(const std::string& path, const std::atomic<bool>* stop = nullptr);

    const std::string& path() const noexcept { return path_; }
    bool stopped() const noexcept { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
    /// At most so many of its first bytes, as many as it has.
    std::string_view head() const noexcept { return head_; }
    static constexpr size_t head_bytes = 8;
    /// The next bytes. Less of them: it ends there, or somebody asked to stop. Throws Error(input).
    size_t read(void* into, size_t bytes);
    int64_t regular_bytes() const noexcept; ///< of a file that can be read again; −1: it can't be
    void rewind();                          ///< such a file
    void replace(Descriptor copy);          ///< by a file that holds the same
    [[noreturn]] void fail(const std::string& why) const;

private:
    std::string path_;
    const std::atomic<bool>* stop_;
    Descriptor descriptor_;
    std::string head_;
    size_t head_left_ = 0; ///< of it to be read
};

} // namespace schedscope::import
