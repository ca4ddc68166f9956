#pragma once

#include "traces/attach/scheduler.h"

/// The calls of the program that are being recorded, of each thread. They don't lie in the frames of our functions, because an
/// exception or a longjmp of the program may leave these, and then nothing of ours runs. Such a call is over when its thread
/// calls us from where that frame was, or from above it; or when its scheduler begins another one, or is gone.
namespace schedscope::attach {

template <typename Call> class OpenCall {
public:
    /// Of this thread, as one finds it who is called at `here`. Null: none.
    static Call* innermost(const void* here = __builtin_frame_address(0)) {
        while (last != nullptr && (last->frame <= here || last->number < newest(*last->call.scheduler))) {
            close(*last);
        }
        return last == nullptr ? nullptr : &last->call;
    }

    /// `frame` calls the real function. Nothing is open where `object` is null or not recorded. begins: what the scheduler does
    /// from here on, and not beside what it does.
    OpenCall(const Sched* object, bool begins, const void* frame) {
        Place* const place = object == nullptr ? nullptr : taken();
        if (place == nullptr) {
            return;
        }
        Scheduler* const scheduler = (new (static_cast<void*>(place->used)) UsedScheduler(object))->get();
        place->frame = frame;
        place->outer = last;
        place->call = {};
        place->call.scheduler = scheduler;
        last = place;
        place_ = place;
        number_ = place->number;
        if (scheduler == nullptr) {
            close(*place);
        } else if (begins) {
            __atomic_store_n(&scheduler->newest[Call::sort], number_, __ATOMIC_RELAXED);
        }
    }
    ~OpenCall() {
        if (get() != nullptr) {
            close(*place_);
        }
    }
    OpenCall(const OpenCall&) = delete;
    OpenCall& operator=(const OpenCall&) = delete;
    /// Null: it is over.
    Call* get() const {
        return place_ == nullptr || __atomic_load_n(&place_->number, __ATOMIC_RELAXED) != number_ ? nullptr : &place_->call;
    }

private:
    struct Place {
        uint64_t number; ///< of the call that has it; 0: free
        const void* frame;
        Place* outer;
        Call call;
        alignas(UsedScheduler) char used[sizeof(UsedScheduler)];
    };
    static uint64_t newest(const Scheduler& scheduler) {
        return __atomic_load_n(&scheduler.newest[Call::sort], __ATOMIC_RELAXED);
    }
    static Place* taken() {
        const uint64_t number = __atomic_add_fetch(&n_opened, 1, __ATOMIC_RELAXED);
        for (Place& place : places) {
            uint64_t free = 0;
            if (__atomic_load_n(&place.number, __ATOMIC_RELAXED) == 0 &&
                __atomic_compare_exchange_n(&place.number, &free, number, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                return &place;
            }
        }
        return nullptr;
    }
    /// And those within it.
    static void close(Place& place) {
        for (bool is_it = false; last != nullptr && !is_it;) {
            Place& inner = *last;
            is_it = &inner == &place;
            last = inner.outer;
            reinterpret_cast<UsedScheduler*>(inner.used)->~UsedScheduler();
            __atomic_store_n(&inner.number, 0, __ATOMIC_RELEASE);
        }
    }

    // NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit holds that it is not
    static constinit inline Place places[256] = {}; ///< with more at the same time the others are not recorded
    static inline uint64_t n_opened = 0;
    static inline __thread Place* last = nullptr;
    Place* place_ = nullptr;
    uint64_t number_ = 0;
};

} // namespace schedscope::attach
