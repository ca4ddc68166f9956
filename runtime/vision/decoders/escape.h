#pragma once

#include <csetjmp>
#include <cstdint>

namespace schedscope::vision {

/// How a C library that decodes is left in the middle. Its callbacks must not throw through it, and nothing that is jumped over
/// may have a destructor: so the work that calls it is a function on plain data.
class Escape {
public:
    enum class Reason : uint8_t { damaged, unreadable, too_much_memory, no_memory };

    explicit Escape(const char* format) : format_(format) {}

    /// Does `work(data)`. Throws Undecodable, or std::bad_alloc, when it was left.
    template <typename Data> void run(void (*work)(Data&), Data& data) {
        struct Call {
            void (*work)(Data&);
            Data* data;
        } call{work, &data};
        if (!reaches_end([](void* c) { static_cast<Call*>(c)->work(*static_cast<Call*>(c)->data); }, &call)) {
            raise();
        }
    }

    /// For callbacks: back to `run`. The sentence is copied.
    [[noreturn]] void leave(Reason reason, const char* why) noexcept;

private:
    bool reaches_end(void (*work)(void*), void* data);
    [[noreturn]] void raise() const;

    const char* format_;
    std::jmp_buf back_{};
    Reason reason_ = Reason::damaged;
    char why_[256] = "";
};

} // namespace schedscope::vision
