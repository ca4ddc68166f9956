#include "traces/attach/ggml_copy.h"

#include "traces/attach/memory.h"
#include "traces/attach/objects.h"
#include "traces/attach/optimiser_slot.h"

#include <stdio.h>

namespace schedscope::attach {

namespace {

constexpr int most_copies = 8;
GgmlCopy copies[most_copies];
const void* copy_keys[most_copies];
int n_copies = 0;
uint32_t copies_lock = 0;

/// An export that came with a build of llama.cpp after the one and not after the other.
struct Arrival {
    const char* name;
    int after, by;
};
// In order. Most builds before b6000 have no number in them, and what they can be asked for says how old they are: to within a
// change of the planner's rules, where its causes changed and its decisions need not have.
constexpr Arrival arrivals[] = {
    {"ggml_get_type_traits", 3889, 3910}, {"ggml_opt_fit", 3995, 4110}, {"ggml_pad_reflect_1d", 4200, 4291},
    {"ggml_rope_multi", 4291, 4753},      {"ggml_l2_norm", 4753, 5590}, {"ggml_set_rows", 5640, 6301},
    {"ggml_op_can_inplace", 6301, 6845},  {"ggml_fill", 6845, 8179},    {"ggml_clamp_inplace", 8179, 10361},
};

/// "b3890..b4109": the number of the first build that it may be, and of the last; none: there is no such bound.
void build_span(void* handle, char* text, size_t bytes) {
    const Arrival *newest = nullptr, *missing = nullptr;
    for (const Arrival& a : arrivals) {
        if (find_in(handle, a.name) != nullptr) {
            newest = &a;
            missing = nullptr; // of those before it: a fork may leave things out
        } else if (missing == nullptr) {
            missing = &a;
        }
    }
    char first[16] = "", last[16] = "";
    if (newest != nullptr) {
        snprintf(first, sizeof first, "b%d", newest->after + 1);
    }
    if (missing != nullptr) {
        snprintf(last, sizeof last, "b%d", missing->by - 1);
    }
    snprintf(text, bytes, "%s..%s", first, last);
}

void look_at(GgmlCopy& ggml, const void* sched_new) {
    const Object object = object_of(sched_new);
    snprintf(ggml.path, sizeof ggml.path, "%s", object.path[0] != 0 ? object.path : "/proc/self/exe");
    build_id_of(sched_new, ggml.build_id, sizeof ggml.build_id);
    build_span(object.handle, ggml.builds, sizeof ggml.builds);
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name, bool must) {
        void* const found = find_in(object.handle, name);
        memcpy(&function, &found, sizeof found);
        if (found == nullptr && must) {
            missing = name;
        }
    };
#define F(result, name, parameters) find(ggml.call.name, #name, true);
    SCHEDSCOPE_GGML_EXPORTS(F)
#undef F
#define F(result, name, parameters) find(ggml.call.name, #name, false);
    SCHEDSCOPE_GGML_WISHES(F)
#undef F
    if (missing != nullptr) {
        snprintf(ggml.why_not, sizeof ggml.why_not, "this ggml does not export %s", missing);
        return;
    }
    ggml.usable = discover_layout(ggml.call, ggml.at, ggml.why_not, sizeof ggml.why_not);
    ggml.optimiser_slot = ggml.usable ? find_optimiser_slot(ggml.call) : -1;
}

} // namespace

GgmlCopy* copy_of(const void* sched_new) {
    const Lock lock(copies_lock);
    for (int i = 0; i < n_copies; ++i) {
        if (copy_keys[i] == sched_new) {
            return &copies[i];
        }
    }
    if (n_copies == most_copies) {
        return nullptr;
    }
    GgmlCopy& ggml = copies[n_copies];
    ggml.index = n_copies;
    look_at(ggml, sched_new);
    copy_keys[n_copies++] = sched_new;
    return &ggml;
}

} // namespace schedscope::attach
