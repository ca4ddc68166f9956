#include "inspector/tui/background/background_task.h"

#include "runtime/error.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope::tui {

Bell::Bell() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) {
        throw Error(ErrorKind::device, "inspector: the system has no event descriptor left");
    }
}

Bell::~Bell() { close(descriptor_); }

void Bell::ring() noexcept { eventfd_write(descriptor_, 1); }

void Bell::seen() noexcept {
    eventfd_t count = 0;
    eventfd_read(descriptor_, &count);
}

} // namespace schedscope::tui
