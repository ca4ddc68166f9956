#include "inspector/cli/attach/program_hold.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace schedscope {

namespace {

void futex(uint32_t& word, int operation, uint32_t value, const timespec* limit) {
    syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}
void wake(uint32_t& word) { futex(word, FUTEX_WAKE, INT32_MAX, nullptr); }

} // namespace

ProgramHold::ProgramHold(attach::Control& control)
    : control_(control), renewer_([this] {
          constexpr std::chrono::nanoseconds interval(attach::hold_limit_ns / 10);
          std::unique_lock lock(mutex_);
          while (!ended_.wait_for(lock, interval, [this] { return ends_; })) {
              renew();
          }
      }) {}

ProgramHold::~ProgramHold() {
    set(false);
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    ended_.notify_all();
    renewer_.join();
}

void ProgramHold::renew() const {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    __atomic_store_n(&control_.renewed_ns, int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, __ATOMIC_RELEASE);
}

void ProgramHold::set(bool held) {
    renew();
    __atomic_store_n(&control_.hold, held ? 1 : 0, __ATOMIC_RELEASE);
    if (!held) {
        wake(control_.granted);
    }
}

uint32_t ProgramHold::n_stops() const { return __atomic_load_n(&control_.stops, __ATOMIC_SEQ_CST); }

void ProgramHold::pass(uint32_t stops) {
    if (__atomic_exchange_n(&control_.granted, stops, __ATOMIC_SEQ_CST) != stops) {
        wake(control_.granted);
    }
}

void ProgramHold::wait_for_stop(uint32_t behind, int timeout_ms) const {
    const timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
    futex(control_.stops, FUTEX_WAIT, behind, &limit);
}

} // namespace schedscope
