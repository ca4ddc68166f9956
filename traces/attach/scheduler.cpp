#include "traces/attach/scheduler.h"

#include "traces/attach/attach_control.h"
#include "traces/attach/optimiser_slot.h"
#include "traces/attach/watching.h"

#include <stdio.h>
#include <stdlib.h>

namespace schedscope::attach {

namespace {

constexpr int most_schedulers = 256;
Scheduler* schedulers[most_schedulers]; ///< null: free
uint32_t schedulers_lock = 0;
int n_schedulers = 0;
bool told[16] = {}; ///< copies of ggml

void tell_of_copy(const GgmlCopy& ggml) {
    if (ggml.index >= 16 || told[ggml.index]) {
        return;
    }
    told[ggml.index] = true;
    char key[64], suffix[16] = "";
    if (ggml.index > 0) {
        snprintf(suffix, sizeof suffix, " %d", ggml.index + 1);
    }
    const auto fact = [&](const char* what, const char* value) {
        if (value != nullptr && value[0] != 0) {
            snprintf(key, sizeof key, "%s%s", what, suffix);
            Session::fact(key, value);
        }
    };
    fact(SSCP_FACT_GGML_LIBRARY, ggml.path);
    fact(SSCP_FACT_OFFLOAD_MIN_BATCH, ggml.index == 0 ? getenv(SSCP_FACT_OFFLOAD_MIN_BATCH) : nullptr);
    fact("ggml_build_id", ggml.build_id);
    fact(SSCP_FACT_BUILDS, ggml.builds);
    fact("ggml_version", ggml.call.ggml_version == nullptr ? nullptr : ggml.call.ggml_version());
    fact("ggml_commit", ggml.call.ggml_commit == nullptr ? nullptr : ggml.call.ggml_commit());
}

void refuse(const char* why) {
    Session::fact("attach", why);
    give_reason(why);
}

} // namespace

int Scheduler::place_of(const Backend* backend) const {
    for (int i = 0; i < n_backends; ++i) {
        if (backends[i] == backend) {
            return i;
        }
    }
    return -1;
}

Scheduler* add_scheduler(GgmlCopy& ggml, Sched* object, BufferType* const* types, size_t graph_size, int op_offload) {
    note_scheduler();
    tell_of_copy(ggml);
    remove_scheduler(object); // the end of an earlier one there may not have been seen
    if (!ggml.usable) {
        refuse(ggml.why_not);
        return nullptr;
    }
    const int n = ggml.call.ggml_backend_sched_get_n_backends(object);
    if (n < 1 || n > most_sched_backends) {
        refuse("a scheduler has more backends than are recorded");
        return nullptr;
    }
    auto* const s = make_lasting<Scheduler>();
    if (s == nullptr) {
        return nullptr;
    }
    s->object = object;
    s->ggml = &ggml;
    s->graph_size = graph_size;
    s->op_offload = op_offload;
    s->n_backends = n;
    s->evaluation = -1;
    for (int i = 0; i < n; ++i) {
        Backend* const backend = ggml.call.ggml_backend_sched_get_backend(object, i);
        int twin = 0;
        for (int before = 0; before < i; ++before) {
            const char* const name = ggml.call.ggml_backend_name(s->backends[before]);
            twin += strcmp(name, ggml.call.ggml_backend_name(backend)) == 0 ? 1 : 0;
        }
        s->backends[i] = backend;
        s->types[i] = types != nullptr ? types[i] : ggml.call.ggml_backend_get_default_buffer_type(backend);
        s->numbers[i] = Session::backend(ggml, backend, twin, s->types[i]);
        if (s->numbers[i] < 0) {
            refuse("the program has more backends than are recorded");
            return nullptr;
        }
    }
    Session::tell_of_idle_libraries();
    lead_optimisers_here(ggml, s->backends, n);
    const Lock lock(schedulers_lock);
    s->number = n_schedulers++;
    for (Scheduler*& place : schedulers) {
        if (place == nullptr) {
            __atomic_store_n(&place, s, __ATOMIC_RELEASE);
            return s;
        }
    }
    return nullptr;
}

Scheduler* known_scheduler(const Sched* object) {
    for (Scheduler* const& place : schedulers) {
        Scheduler* const s = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
        if (s != nullptr && s->object == object) {
            return s;
        }
    }
    return nullptr;
}

void forget_schedulers() {
    for (Scheduler*& place : schedulers) {
        if (Scheduler* const s = __atomic_exchange_n(&place, static_cast<Scheduler*>(nullptr), __ATOMIC_ACQ_REL)) {
            s->~Scheduler();
        }
    }
    n_schedulers = 0;
    memset(told, 0, sizeof told);
}

UsedScheduler::UsedScheduler(const Sched* object) {
    Scheduler* const s = object == nullptr || !recording_.is_open() ? nullptr : known_scheduler(object);
    if (s == nullptr || s->inert) {
        return;
    }
    __atomic_fetch_add(&s->in_use, 1, __ATOMIC_SEQ_CST);
    if (is_open()) {
        scheduler_ = s;
    } else { // whoever ends the process looks at in_use after that
        __atomic_fetch_sub(&s->in_use, 1, __ATOMIC_SEQ_CST);
    }
}

UsedScheduler::~UsedScheduler() {
    if (scheduler_ != nullptr) {
        __atomic_fetch_sub(&scheduler_->in_use, 1, __ATOMIC_SEQ_CST);
    }
}

void remove_scheduler(const Sched* object) {
    for (Scheduler*& place : schedulers) {
        Scheduler* const s = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
        if (s != nullptr && s->object == object) {
            end_evaluation(*s, 0);
            for (uint64_t& newest : s->newest) { // whatever is open is over
                __atomic_store_n(&newest, UINT64_MAX, __ATOMIC_RELAXED);
            }
            __atomic_store_n(&place, static_cast<Scheduler*>(nullptr), __ATOMIC_RELEASE);
            s->~Scheduler();
        }
    }
}

void end_all_evaluations(void (*send)(Block& block)) {
    for (Scheduler* const& place : schedulers) {
        Scheduler* const s = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
        if (s == nullptr || s->evaluation < 0 || __atomic_load_n(&s->in_use, __ATOMIC_SEQ_CST) != 0) {
            continue;
        }
        if (!s->run.begun()) {
            s->run.begin(s->evaluation);
        }
        SCHEDSCOPE_PUT(s->run, evaluation_end, s->computes ? 1 : 0, 0);
        send(s->run);
        s->evaluation = -1;
    }
}

void give_up(Scheduler& scheduler, const char* why) {
    scheduler.inert = true;
    char words[reason_bytes];
    snprintf(words, sizeof words, "a scheduler is not recorded any more: %s is not as expected", why);
    refuse(words);
}

int32_t is_observed(const Scheduler& s) { return s.own_callback != nullptr || watches() ? 1 : 0; }

void end_evaluation(Scheduler& s, int failed) {
    failed = s.computes ? 1 : failed;
    s.computes = false;
    if (s.evaluation < 0) {
        return;
    }
    if (!s.run.begun()) {
        s.run.begin(s.evaluation);
    }
    SCHEDSCOPE_PUT(s.run, evaluation_end, failed, failed == 0 ? 0 : s.run.text("the program's computation failed"));
    s.run.commit();
    s.evaluation = -1;
}

} // namespace schedscope::attach
