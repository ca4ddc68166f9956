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

// The same of llama.cpp's own library; by the days on which it got them.
constexpr Arrival llama_arrivals[] = {{"llama_params_fit", 7400, 7420}, {"llama_get_sampled_token_ith", 7620, 7650}};

/// The first build that it may be, and the last; 0: there is no such bound.
struct Builds {
    int first, last;
};

template <size_t n> Builds builds_of(void* handle, const Arrival (&all)[n]) {
    Builds builds = {0, 0};
    for (const Arrival& a : all) {
        if (find_in(handle, a.name) != nullptr) {
            builds = {a.after + 1, 0}; // of those before it: a fork may leave things out
        } else if (builds.last == 0) {
            builds.last = a.by - 1;
        }
    }
    return builds;
}

/// The llama.cpp that calls this ggml; null: none does by that name.
void* llama_with(const void* sched_new) {
    struct Named {
        const char* at[32];
        int n;
    } named = {};
    for_each_object(
        [](const char* path, uintptr_t begin, uintptr_t /*end*/, void* data) {
            Named& all = *static_cast<Named*>(data);
            if (strstr(path, "llama") != nullptr && all.n < 32) {
                all.at[all.n++] =
                    reinterpret_cast<const char*>(begin); // NOLINT(performance-no-int-to-ptr): as the loader says it
            }
        },
        &named);
    for (int i = 0; i < named.n; ++i) {
        void* const handle = object_of(named.at[i]).handle;
        if (handle != nullptr && find_in(handle, "llama_model_default_params") != nullptr &&
            find_in(handle, "ggml_backend_sched_new") == sched_new) {
            return handle;
        }
    }
    return nullptr;
}

/// "b3890..b4109"; a bound that is not there is left out.
void build_span(void* ggml, void* llama, char* text, size_t bytes) {
    Builds builds = builds_of(ggml, arrivals);
    if (llama != nullptr) {
        const Builds also = builds_of(llama, llama_arrivals);
        const int first = also.first > builds.first ? also.first : builds.first;
        const int last = builds.last == 0 || (also.last != 0 && also.last < builds.last) ? also.last : builds.last;
        builds = last == 0 || first <= last ? Builds{first, last} : builds; // else one is of a fork
    }
    char first[16] = "", last[16] = "";
    if (builds.first != 0) {
        snprintf(first, sizeof first, "b%d", builds.first);
    }
    if (builds.last != 0) {
        snprintf(last, sizeof last, "b%d", builds.last);
    }
    snprintf(text, bytes, "%s..%s", first, last);
}

void look_at(GgmlCopy& ggml, const void* sched_new) {
    const Object object = object_of(sched_new);
    snprintf(ggml.path, sizeof ggml.path, "%s", object.path[0] != 0 ? object.path : "/proc/self/exe");
    build_id_of(sched_new, ggml.build_id, sizeof ggml.build_id);
    build_span(object.handle, llama_with(sched_new), ggml.builds, sizeof ggml.builds);
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
