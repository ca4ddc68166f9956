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

void look_at(GgmlCopy& ggml, const void* sched_new) {
    const Object object = object_of(sched_new);
    snprintf(ggml.path, sizeof ggml.path, "%s", object.path[0] != 0 ? object.path : "/proc/self/exe");
    build_id_of(sched_new, ggml.build_id, sizeof ggml.build_id);
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
