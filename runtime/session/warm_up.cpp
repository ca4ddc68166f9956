#include "runtime/session/warm_up.h"

#include "runtime/context/inference_context.h"
#include "runtime/error.h"
#include "runtime/session/prompt.h"

#include <algorithm>

namespace schedscope {

namespace {

/// What stands for a batch: its first ubatch, and the last one where that is shorter. Shaders depend on how many rows there are.
std::vector<Batch> shapes_of(const Batch& batch, int32_t n_ubatch) {
    std::vector<Batch> shapes{batch.part(0, std::min(batch.size(), n_ubatch))};
    if (const int32_t rest = batch.size() % n_ubatch; batch.size() > n_ubatch && rest > 0) {
        shapes.push_back(batch.part(batch.size() - rest, rest));
    }
    return shapes;
}

class WarmUp {
public:
    WarmUp(Session& session, const GenerateRequest& request)
        : session_(session), request_(request), scheduler_(session.backends(), session.scheduling()) {
        if (session.encoder() != nullptr) {
            encoder_.emplace(*session.vision(), scheduler_,
                             vision::EncoderOptions{.image_newline = session.options().image_newline},
                             [this] { return next_evaluation_++; });
        }
    }

    void run() {
        const int32_t n_ubatch = session_.context().options().n_ubatch;
        std::vector<Batch> shapes;
        for (const Batch& batch : prompt_batches(session_, encoder_ ? &*encoder_ : nullptr, request_, EncoderRun::prepare)) {
            for (Batch& shape : shapes_of(batch, n_ubatch)) {
                shapes.push_back(std::move(shape));
            }
        }
        const Batch token = next_batch(session_, request_, 0);
        InferenceContext context(session_.model(), scheduler_, context_options(shapes, token));
        if (session_.options().sample_in_graph) {
            for (const SequencePrompt& p : request_.prompts) {
                context.set_sampler(p.sequence, chain_of(session_, p));
            }
        }
        for (const Batch& shape : shapes) {
            if (stopped()) {
                return;
            }
            context.cells().clear();
            context.prepare(shape);
        }
        if (!stopped()) {
            context.cells().clear();
            context.decode(token);
        }
    }

private:
    bool stopped() const noexcept { return request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed); }

    /// No larger than its batches: the session's own context has memory, too.
    ContextOptions context_options(const std::vector<Batch>& shapes, const Batch& token) const {
        int32_t longest = token.size();
        for (const Batch& shape : shapes) {
            longest = std::max(longest, shape.size());
        }
        ContextOptions options = session_.context().options();
        options.n_ctx = std::min(options.n_ctx, longest);
        options.n_batch = options.n_ubatch = std::min(options.n_ubatch, longest);
        return options;
    }

    Session& session_;
    const GenerateRequest& request_;
    Scheduler scheduler_;
    EvaluationId next_evaluation_ = 0;
    std::optional<vision::Encoder> encoder_;
};

} // namespace

void warm_up(Session& session, const GenerateRequest& request) {
    if (session.options().header_only) {
        return;
    }
    try {
        WarmUp(session, request).run();
    } catch (const Error&) { // the run meets it again, where it is recorded; or it has the room that a second context lacks
    }
}

} // namespace schedscope
