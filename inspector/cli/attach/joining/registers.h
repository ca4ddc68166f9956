#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <sys/syscall.h>
#include <sys/user.h>

/// What of a stopped thread depends on the machine: its registers, how it calls the system and a function, what comes of a call
/// that was interrupted. One section a machine.
namespace schedscope::machine {

using Arguments = std::array<uint64_t, 6>;
inline constexpr int no_call = -1;

#if defined(__x86_64__)

using Registers = user_regs_struct;
inline constexpr std::array<int, 1> vector_states = {0x202}; ///< NT_X86_XSTATE

inline uintptr_t place(const Registers& r) { return r.rip; }
inline uintptr_t stack(const Registers& r) { return r.rsp; }
inline uint64_t result(const Registers& r) { return r.rax; }

/// Of the system, behind which the thread stands.
inline constexpr std::array system_call = {std::byte{0x0f}, std::byte{0x05}};
/// `call *%rax; mov %rax,%rbx; mov $186,%eax; syscall`: the call of the system at its end (gettid) says that the function is
/// done. With a call and a return of their own, shadow stacks are as they should be.
inline constexpr std::array stub = {std::byte{0xff}, std::byte{0xd0}, std::byte{0x48}, std::byte{0x89},
                                    std::byte{0xc3}, std::byte{0xb8}, std::byte{0xba}, std::byte{0},
                                    std::byte{0},    std::byte{0},    std::byte{0x0f}, std::byte{0x05}};
inline uint64_t function_result(const Registers& r) { return r.rbx; }
/// `mov $15,%rax; syscall`: to where handlers of signals return. The frame behind it has the interrupted place.
inline constexpr std::array end_of_handler = {std::byte{0x48}, std::byte{0xc7}, std::byte{0xc0}, std::byte{0x0f}, std::byte{0},
                                              std::byte{0},    std::byte{0},    std::byte{0x0f}, std::byte{0x05}};
inline constexpr size_t interrupted_place =
    8 + 40 + 16 * 8; ///< from the address of end_of_handler on: it, flags, stack, 16 registers

/// The call of the system that it waits in; no_call: none.
inline int called(const Registers& r, uint32_t /*code*/) { return static_cast<int>(static_cast<int64_t>(r.orig_rax)); }
inline Arguments arguments(const Registers& r) { return {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}; }

inline void call_system(Registers& r, uintptr_t at, long number, const Arguments& a) {
    r.rip = at;
    r.rax = static_cast<uint64_t>(number);
    r.orig_rax = ~uint64_t{0}; // nothing is begun again
    r.rdi = a[0], r.rsi = a[1], r.rdx = a[2], r.r10 = a[3], r.r8 = a[4], r.r9 = a[5];
}
inline void call_function(Registers& r, uintptr_t stub_at, uintptr_t function, uintptr_t stack_end, const Arguments& a) {
    constexpr uint64_t direction_and_trap = 0x500;
    r.rip = stub_at;
    r.rax = function;
    r.orig_rax = ~uint64_t{0};
    r.rsp = stack_end & ~uint64_t{63};
    r.rbp = 0;
    r.eflags &= ~direction_and_trap;
    r.rdi = a[0], r.rsi = a[1], r.rdx = a[2], r.rcx = a[3], r.r8 = a[4], r.r9 = a[5];
}
/// A call that ended because we interrupted it (EINTR) is made once more; most are begun again by the kernel.
inline constexpr bool can_call_again = true;
inline void call_again(Registers& r) {
    r.rax = r.orig_rax;
    r.orig_rax = ~uint64_t{0};
    r.rip -= system_call.size();
}

#elif defined(__aarch64__)

using Registers = user_regs_struct;
inline constexpr std::array<int, 2> vector_states = {2, 0x405}; ///< NT_PRFPREG, NT_ARM_SVE

inline uintptr_t place(const Registers& r) { return r.pc; }
inline uintptr_t stack(const Registers& r) { return r.sp; }
inline uint64_t result(const Registers& r) { return r.regs[0]; }

/// `svc #0`
inline constexpr std::array system_call = {std::byte{0x01}, std::byte{0}, std::byte{0}, std::byte{0xd4}};
/// `blr x16; mov x19, x0; mov x8, #178; svc #0`: the call of the system at its end (gettid) says that the function is done.
inline constexpr std::array stub = {std::byte{0},    std::byte{0x02}, std::byte{0x3f}, std::byte{0xd6},
                                    std::byte{0xf3}, std::byte{0x03}, std::byte{0},    std::byte{0xaa},
                                    std::byte{0x48}, std::byte{0x16}, std::byte{0x80}, std::byte{0xd2},
                                    std::byte{0x01}, std::byte{0},    std::byte{0},    std::byte{0xd4}};
inline uint64_t function_result(const Registers& r) { return r.regs[19]; }
/// `mov x8, #139; svc #0`, in the vDSO: to where handlers of signals return.
inline constexpr std::array end_of_handler = {std::byte{0x68}, std::byte{0x11}, std::byte{0x80}, std::byte{0xd2},
                                              std::byte{0x01}, std::byte{0},    std::byte{0},    std::byte{0xd4}};
inline constexpr size_t interrupted_place = 0; ///< not at a known distance from where the handler keeps that address

/// The kernel has put the thread in front of a call that it begins again. `code`: what stands at its place.
inline int called(const Registers& r, uint32_t code) {
    uint32_t svc = 0;
    std::memcpy(&svc, system_call.data(), sizeof svc);
    return code == svc ? static_cast<int>(r.regs[8]) : no_call;
}
inline Arguments arguments(const Registers& r) { return {r.regs[0], r.regs[1], r.regs[2], r.regs[3], r.regs[4], r.regs[5]}; }

inline void call_system(Registers& r, uintptr_t at, long number, const Arguments& a) {
    r.pc = at;
    r.regs[8] = static_cast<uint64_t>(number);
    for (size_t i = 0; i < a.size(); ++i) {
        r.regs[i] = a[i];
    }
}
inline void call_function(Registers& r, uintptr_t stub_at, uintptr_t function, uintptr_t stack_end, const Arguments& a) {
    constexpr uint64_t branch_type = 0xc00;
    r.pc = stub_at;
    r.regs[16] = function;
    r.regs[29] = 0;
    r.sp = stack_end & ~uint64_t{63};
    r.pstate &= ~branch_type;
    for (size_t i = 0; i < a.size(); ++i) {
        r.regs[i] = a[i];
    }
}
inline constexpr bool can_call_again = false; ///< the first argument is where the result is now
inline void call_again(Registers& /*r*/) {}

#else
#error "the registers of this machine are not known"
#endif

} // namespace schedscope::machine
