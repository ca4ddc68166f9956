#include "traces/attach/joining/adoption.h"

#include "traces/attach/handing_on.h"
#include "traces/attach/objects.h"
#include "traces/attach/scheduler.h"

#include <errno.h>
#include <stdio.h>

namespace schedscope::attach {

namespace {

/// Schedulers that were met and can't be recorded: it is said once of each.
constexpr int most_refused = 64;
const Sched* refused[most_refused];
int n_refused = 0;

bool is_refused(const Sched* object) {
    const int n = __atomic_load_n(&n_refused, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n && i < most_refused; ++i) {
        if (__atomic_load_n(&refused[i], __ATOMIC_RELAXED) == object) {
            return true;
        }
    }
    return n >= most_refused; // a program that has so many is like the others
}

void refuse_from_now_on(const Sched* object) {
    const int place = __atomic_fetch_add(&n_refused, 1, __ATOMIC_ACQ_REL);
    if (place < most_refused) {
        __atomic_store_n(&refused[place], object, __ATOMIC_RELAXED);
    }
}

/// The buffer types that a scheduler puts its backends' tensors into, by where the tensors of a graph lie. A backend that none
/// of them is on has its own default. False: the graph has no memory, or is not as it should be.
bool types_of(const GgmlCopy& ggml, Sched* object, Graph* graph, int n, BufferType** types) {
    if (graph == nullptr || contradiction(ggml, graph) != nullptr) {
        return false;
    }
    const Layout& at = ggml.at;
    auto* const nodes = read_at<Tensor**>(graph, at.nodes);
    bool any = false;
    for (int i = 0; i < read_at<int32_t>(graph, at.n_nodes); ++i) {
        auto* const buffer = read_at<Buffer*>(nodes[i], at.buffer);
        if (buffer == nullptr || read_at<const Tensor*>(nodes[i], at.view_src) != nullptr) {
            continue;
        }
        any = true;
        const Backend* const backend = ggml.call.ggml_backend_sched_get_tensor_backend(object, nodes[i]);
        for (int b = 0; b < n; ++b) {
            if (types[b] == nullptr && backend == ggml.call.ggml_backend_sched_get_backend(object, b)) {
                types[b] = ggml.call.ggml_backend_buffer_get_type(buffer);
            }
        }
    }
    return any;
}

void adopt(Sched* object, Graph* graph, Sight sight, const void* caller) {
    GgmlCopy* const ggml = copy_of(real_function(Fn::ggml_backend_sched_new, caller));
    if (ggml == nullptr) {
        refuse_from_now_on(object);
        return;
    }
    BufferType* types[most_sched_backends] = {};
    if (ggml->usable) {
        const int n = ggml->call.ggml_backend_sched_get_n_backends(object);
        const auto get_type = ggml->call.ggml_backend_sched_get_buffer_type;
        for (int b = 0; b < n && n <= most_sched_backends && get_type != nullptr; ++b) {
            types[b] = get_type(object, ggml->call.ggml_backend_sched_get_backend(object, b));
        }
        // An older one does not say it: where it plans now, what it plans next is recorded.
        const bool has_choice = n > 1 && n <= most_sched_backends && get_type == nullptr;
        if (has_choice && (sight == Sight::plans || !types_of(*ggml, object, graph, n, types))) {
            return;
        }
        for (int b = 0; b < n && n <= most_sched_backends; ++b) {
            Backend* const backend = ggml->call.ggml_backend_sched_get_backend(object, b);
            types[b] = types[b] != nullptr ? types[b] : ggml->call.ggml_backend_get_default_buffer_type(backend);
        }
    }
    constexpr size_t any_size = INT32_MAX; // it takes a graph that fits, or ends the program itself
    if (Scheduler* const s = add_scheduler(*ggml, object, types, any_size, SSCP_UNKNOWN_32)) {
        s->adopted = s->memory_unseen = true;
        char key[sizeof SSCP_FACT_OLDER_BUFFERS + 12];
        snprintf(key, sizeof key, SSCP_FACT_OLDER_BUFFERS ".%d", s->number);
        Session::fact(key, "compute buffers were made before schedscope joined: as large as plans need, or larger");
        count(Count::adopted);
    } else {
        refuse_from_now_on(object);
    }
}

} // namespace

void forget_refused() { __atomic_store_n(&n_refused, 0, __ATOMIC_RELEASE); }

void meet(Sched* object, Graph* graph, Sight sight, const void* caller) {
    if (!attachment().joined) {
        return;
    }
    const int kept = errno;
    {
        const Recording recording;
        if (recording.is_open() && known_scheduler(object) == nullptr && !is_refused(object)) {
            adopt(object, graph, sight, caller);
        }
        const Scheduler* const s = recording.is_open() && sight == Sight::computes ? known_scheduler(object) : nullptr;
        if (s != nullptr && s->adopted && s->plan.evaluation < 0) {
            count(Count::unplanned);
        }
    }
    if (!is_open()) {
        leave_process();
    }
    errno = kept;
}

} // namespace schedscope::attach
