#include "runtime/verify/verify.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/scheduler/node_observer.h"
#include "runtime/scheduler/watch.h"
#include "runtime/verify/compare.h"
#include "runtime/verify/node_copy.h"
#include "runtime/verify/tolerance.h"

#include <limits>

namespace schedscope {

namespace {

/// "Vulkan0 does not run it: type, src0 is not F32".
std::string refused_by(std::string_view device, const Answer& no) {
    const std::string why = std::string(device) + " does not run it: " + std::string(refusal_name(no.reason));
    return no.detail.empty() ? why : why + ", " + std::string(no.detail);
}

/// Throws Error(input) when a file of the session was cut short.
void check_files(const Session& session) {
    session.model().file().check_whole();
    if (session.vision() != nullptr) {
        session.vision()->file().check_whole();
    }
}

/// Does a product multiply weights as they are expanded to F32 on both? Processors do where they are asked to.
bool in_floats(const Session& reference, const Device& checked) {
    const auto is_processor = [](const Device& d) { return d.kind() == DeviceKind::cpu || d.kind() == DeviceKind::blas; };
    return reference.options().products == Products::floats && is_processor(reference.backends().front()->device()) &&
           is_processor(checked);
}

class Verifier final : public NodeObserver {
public:
    Verifier(Session& reference, Device& checked, Backend& backend, const std::atomic<bool>* stop)
        : reference_(reference), copy_(checked, backend), checked_(backend), recorder_(reference.recorder()), stop_(stop),
          in_floats_(in_floats(reference, checked)) {}

    void begin_evaluation() override { ++evaluation_; }

    void before(const Tensor& node, BackendId backend) override {
        state_ = State::left_out;
        if (is_view_op(node.op) || n_elements(node) == 0 || (stop_ != nullptr && stop_->load(std::memory_order_relaxed))) {
            return;
        }
        if (backend != 0) {
            state_ = State::skipped;
            why_ = name_of(0) + ", the reference, leaves it to " + name_of(backend);
        } else if (copy_.run(node)) {
            state_ = State::computed;
        } else {
            state_ = State::skipped;
            why_ = refused_by(checked_.name(), copy_.refusal());
        }
    }

    void after(const Tensor& node, BackendId backend) override {
        if (state_ != State::left_out) {
            check_files(reference_); // two backends that read zeros agree, and prove nothing
        }
        if (state_ == State::computed) {
            check(node, backend);
        } else if (state_ == State::skipped) {
            skip(node, backend);
        }
    }

    Verification result;

private:
    enum class State : uint8_t {
        left_out, ///< nothing of it is told
        skipped,  ///< `why_` says why it was not computed
        computed, ///< by the checked backend, too
    };

    void check(const Tensor& node, BackendId backend) {
        const TensorDistance d = compare(copy_.result(), node);
        NodeCheck check{evaluation_,
                        node.id,
                        node.name,
                        std::string(op_description(node.op, node.params)),
                        d.nmse,
                        schedscope::tolerance(node, in_floats_),
                        std::string(d.why),
                        d.max_error,
                        d.element,
                        d.a,
                        d.b,
                        node.ne};
        if (check.beyond()) {
            ++result.n_beyond;
            result.first_beyond = result.first_beyond.value_or(result.checks.size());
        }
        if (recorder_ != nullptr) {
            if ((node.flags & flag_watched) != 0) {
                record_values(copy_.result(), *recorder_, recorder_->intern(checked_.name()));
            }
            record::Difference fact = fact_of(node, backend, check.why);
            fact.beyond = check.beyond();
            fact.element = check.element;
            fact.nmse = check.nmse;
            fact.tolerance = check.tolerance;
            fact.max_error = check.max_error;
            fact.value = check.value;
            fact.expected = check.expected;
            recorder_->add(fact);
        }
        result.checks.push_back(std::move(check));
    }

    void skip(const Tensor& node, BackendId backend) {
        if (recorder_ != nullptr) {
            record::Difference fact = fact_of(node, backend, why_);
            fact.compared = false;
            fact.nmse = fact.tolerance = fact.max_error = std::numeric_limits<double>::quiet_NaN();
            fact.value = fact.expected = fact.nmse;
            recorder_->add(fact);
        }
        result.skipped.push_back(
            {evaluation_, node.id, node.name, std::string(op_description(node.op, node.params)), std::move(why_)});
    }

    record::Difference fact_of(const Tensor& node, BackendId backend, std::string_view why) {
        record::Difference fact;
        fact.tensor = node.id;
        fact.backend = backend;
        fact.device = recorder_->intern(checked_.name());
        fact.why = why.empty() ? 0 : recorder_->intern(why);
        return fact;
    }
    std::string name_of(BackendId backend) const { return std::string(reference_.backends()[backend]->name()); }

    Session& reference_;
    NodeCopy copy_;
    Backend& checked_;
    Recorder* recorder_;
    const std::atomic<bool>* stop_;
    const bool in_floats_;
    int32_t evaluation_ = -1;
    State state_ = State::left_out;
    std::string why_;
};

/// Takes itself away, whatever happens.
class Observing {
public:
    Observing(Scheduler& scheduler, NodeObserver& observer) : scheduler_(scheduler) { scheduler_.set_observer(&observer); }
    ~Observing() { scheduler_.set_observer(nullptr); }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;

private:
    Scheduler& scheduler_;
};

} // namespace

Verification verify(Session& reference, Device& checked, const GenerateRequest& request) {
    BackendOptions options = reference.backend_options();
    options.fusion = false;
    options.name = checked.name();
    const std::unique_ptr<Backend> backend = checked.make_backend(options);
    Verifier verifier(reference, checked, *backend, request.stop);
    reference.add_fact("verify", std::string(backend->name()) + "," + std::string(reference.backends().front()->name()));
    const Observing observing(reference.scheduler(), verifier);
    try {
        generate(reference, request);
    } catch (const Error& error) {
        if (verifier.result.n_beyond == 0) {
            throw;
        }
        check_files(reference); // no answer then
        verifier.result.ended_by = error.what();
    }
    return std::move(verifier.result);
}

} // namespace schedscope
