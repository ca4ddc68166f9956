#pragma once

#include "runtime/system/descriptor.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace schedscope::tui {

/// What a running program writes. Its standard output and error are a file without a name, so that it is never held up by who
/// reads, and goes on writing when nothing reads. The last lines are kept here, the rest is given back.
class ProgramOutput {
public:
    static constexpr size_t most_lines = 10'000, longest_line = 4'096;

    ProgramOutput(); ///< throws Error(device)

    int descriptor_for_program() const noexcept { return written_.get(); } ///< to be its standard output and error
    int descriptor() const noexcept { return watch_.get(); }               ///< readable when it has written since the last look
    /// Takes what it has written. True: something.
    bool look();

    /// The last of them may go on. What only a terminal obeys is left out: colours, and what a line had before it was written
    /// over.
    std::vector<std::string> lines() const;
    bool forgot_some() const noexcept { return forgot_; }  ///< there were lines before these
    uint64_t version() const noexcept { return version_; } ///< another number when it has written

private:
    void take(std::string_view bytes);
    void add_line();
    void give_back();

    Descriptor file_, written_, watch_;
    off_t taken_ = 0, given_back_ = 0;
    std::deque<std::string> lines_;
    std::string last_; ///< that has no end yet, as it was written
    bool forgot_ = false;
    uint64_t version_ = 0;
};

} // namespace schedscope::tui
