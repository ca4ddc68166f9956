#pragma once

#include "inspector/cli/attach/started_program.h"
#include "runtime/system/descriptor.h"
#include "traces/attach/attach_control.h"

#include <string>
#include <vector>

namespace schedscope {

/// What is asked of the library in the program.
struct AttachOptions {
    bool sync = false, children = false;
};

/// The memory that a recorded program writes to. It has no name: the program opens it through this process, and nothing of it is
/// left when both are gone. Throws Error(device).
class SharedPages {
public:
    SharedPages();
    explicit SharedPages(Descriptor file); ///< an empty one, which the program has open already
    ~SharedPages();                        ///< the program sees that it is read no more
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;

    attach::Control& control() const { return *static_cast<attach::Control*>(at_); }
    void* ring() const { return static_cast<char*>(at_) + attach::control_bytes; }
    static size_t ring_bytes();
    int number() const noexcept { return file_.get(); } ///< of the descriptor
    /// With which a program starts that is to be recorded: it brings the library into it.
    std::vector<StartedProgram::Variable> environment(const AttachOptions& options) const;
    static std::string library_path(); ///< throws Error(device) where it is not there

private:
    Descriptor file_;
    void* at_ = nullptr;
};

} // namespace schedscope
