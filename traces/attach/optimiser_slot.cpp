#include "traces/attach/optimiser_slot.h"

#include "traces/attach/memory.h"
#include "traces/attach/plan.h"

#include <errno.h>

namespace schedscope::attach {

namespace {

/// Its parameters differ between versions: whatever registers hold is passed on.
using Optimise = void*(Backend* backend, Graph* split, void*, void*, void*, void*);

constexpr int most_slots = 64; ///< of a backend's table, with what stands before and behind it
int called_slot = -1;          ///< the lock of the copies is held

template <int slot> void note_slot() { called_slot = slot; }
template <int n> void fill_slots(void (**slots)()) {
    if constexpr (n > 0) {
        slots[n - 1] = note_slot<n - 1>;
        fill_slots<n - 1>(slots);
    }
}

struct Led {
    Backend* backend; ///< null: free
    Optimise** slot;
    Optimise* real; ///< null: this backend has none
};
Led led[64] = {};
uint32_t led_lock = 0;

Optimise* real_of(const Backend* backend) {
    const Lock lock(led_lock);
    for (const Led& l : led) {
        if (l.backend == backend) {
            return l.real;
        }
    }
    return nullptr;
}

void* optimise(Backend* backend, Graph* split, void* c, void* d, void* e, void* f) {
    if (PlanCall* const plan = current_plan_call()) {
        const int kept = errno;
        record_split_view(*plan, split);
        errno = kept;
    }
    Optimise* const real = real_of(backend);
    return real == nullptr ? nullptr : real(backend, split, c, d, e, f);
}

} // namespace

int find_optimiser_slot(const Exports& call) {
    if (call.ggml_backend_event_wait == nullptr || call.ggml_backend_get_device == nullptr) {
        return -1;
    }
    static void (*table[most_slots])();
    fill_slots<most_slots>(table);
    auto* const fake = reinterpret_cast<Backend*>(table);
    called_slot = -1;
    call.ggml_backend_event_wait(fake, nullptr);
    void* const device = call.ggml_backend_get_device(fake);
    const int wait = called_slot;
    for (int i = 0; i < most_slots && wait >= 0; ++i) {
        if (reinterpret_cast<void*>(table[i]) == device) {
            return i == wait + 2 ? (wait + 1) * pointer_bytes : -1;
        }
    }
    return -1;
}

void lead_optimisers_here(const GgmlCopy& ggml, Backend* const* backends, int n) {
    const Lock lock(led_lock);
    for (int i = 0; i < n && ggml.optimiser_slot >= 0; ++i) {
        auto* const slot = reinterpret_cast<Optimise**>(reinterpret_cast<char*>(backends[i]) + ggml.optimiser_slot);
        Optimise* const now = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        Led* place = nullptr;
        for (Led& l : led) { // its own, of an object that was at this address before, or else a free one
            if (l.backend == backends[i] || (place == nullptr && l.backend == nullptr)) {
                place = &l;
            }
        }
        if (now != &optimise && place != nullptr) {
            *place = {backends[i], slot, now};
            __atomic_store_n(slot, &optimise, __ATOMIC_RELEASE);
        }
    }
}

void lead_optimisers_back() {
    const Lock lock(led_lock);
    for (Led& l : led) {
        // Who is on the way to us still finds where it leads.
        if (l.backend != nullptr && __atomic_load_n(l.slot, __ATOMIC_ACQUIRE) == &optimise) {
            __atomic_store_n(l.slot, l.real, __ATOMIC_RELEASE);
        }
    }
}

void forget_optimiser(const Backend* backend) {
    const Lock lock(led_lock);
    for (Led& l : led) {
        if (l.backend == backend) {
            l = {};
        }
    }
}

} // namespace schedscope::attach
