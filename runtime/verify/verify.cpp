#include "runtime/verify/verify.h"

#include "runtime/error.h"
#include "runtime/scheduler/node_observer.h"
#include "runtime/verify/compare.h"
#include "runtime/verify/node_copy.h"
#include "runtime/verify/tolerance.h"

namespace schedscope {

namespace {

class Verifier final : public NodeObserver {
public:
    Verifier(Session& reference, Device& checked, Backend& backend)
        : reference_(reference), copy_(checked, backend), checked_(backend) {}

    void begin_evaluation() override { ++evaluation_; }

    void before(const Tensor& node, BackendId backend) override {
        computed_ = false;
        if (is_view_op(node.op) || n_elements(node) == 0) {
            return;
        }
        if (backend != 0) {
            const auto backends = reference_.backends();
            skip(node, std::string(backends[0]->name()) + ", the reference, leaves it to " +
                           std::string(backends[static_cast<size_t>(backend)]->name()));
            return;
        }
        computed_ = copy_.run(node);
        if (!computed_) {
            const Answer& no = copy_.refusal();
            std::string why = std::string(checked_.name()) + " does not run it: " + std::string(refusal_name(no.reason));
            skip(node, no.detail.empty() ? why : why + ", " + std::string(no.detail));
        }
    }

    void after(const Tensor& node, BackendId) override {
        if (!computed_) {
            return;
        }
        const Difference difference = compare(copy_.result(), node);
        NodeCheck check{evaluation_,
                        node.id,
                        node.name,
                        std::string(op_description(node.op, node.params[0])),
                        difference.nmse,
                        schedscope::tolerance(node),
                        std::string(difference.why)};
        if (check.beyond()) {
            ++result.n_beyond;
            result.first_beyond = result.first_beyond.value_or(result.checks.size());
        }
        result.checks.push_back(std::move(check));
    }

    Verification result;

private:
    void skip(const Tensor& node, std::string why) {
        result.skipped.push_back(
            {evaluation_, node.id, node.name, std::string(op_description(node.op, node.params[0])), std::move(why)});
    }

    Session& reference_;
    NodeCopy copy_;
    Backend& checked_;
    int32_t evaluation_ = -1;
    bool computed_ = false;
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
    BackendOptions options;
    options.n_threads = reference.options().n_threads;
    options.fusion = false;
    options.name = checked.name();
    const std::unique_ptr<Backend> backend = checked.make_backend(options);
    Verifier verifier(reference, checked, *backend);
    const Observing observing(reference.scheduler(), verifier);
    try {
        generate(reference, request);
    } catch (const Error& error) {
        if (verifier.result.n_beyond == 0) {
            throw;
        }
        verifier.result.ended_by = error.what();
    }
    return std::move(verifier.result);
}

} // namespace schedscope
