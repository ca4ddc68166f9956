#include "runtime/vision/decoders/escape.h"

#include "runtime/vision/decoders/decoder.h"

#include <cstdio>
#include <new>

namespace schedscope::vision {

bool Escape::reaches_end(void (*work)(void*), void* data) {
    if (setjmp(back_) != 0) { // NOLINT: see the class
        return false;
    }
    work(data);
    return true;
}

void Escape::leave(Reason reason, const char* why) noexcept {
    reason_ = reason;
    std::snprintf(why_, sizeof(why_), "%s", why);
    std::longjmp(back_, 1); // NOLINT
}

void Escape::raise() const {
    switch (reason_) {
    case Reason::damaged: damaged(format_, continued(why_));
    case Reason::unreadable: unreadable(format_, continued(why_));
    case Reason::too_much_memory: takes_too_much_memory();
    case Reason::no_memory: break;
    }
    throw std::bad_alloc();
}

} // namespace schedscope::vision
