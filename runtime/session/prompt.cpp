#include "runtime/session/prompt.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <span>

namespace schedscope {

namespace {

std::vector<const vision::Views*> views_of(const SequencePrompt& prompt) {
    std::vector<const vision::Views*> views;
    for (const PromptImage& image : prompt.images) {
        views.push_back(image.views.get());
    }
    return views;
}

/// For each image of a prompt the rows of its embeddings.
std::vector<std::vector<float>> encode_images(const Session& session, vision::Encoder* encoder, const SequencePrompt& prompt,
                                              EncoderRun run) {
    const auto views = views_of(prompt);
    if (views.empty()) {
        return {};
    }
    if (run == EncoderRun::compute) {
        return encoder->encode(views);
    }
    run == EncoderRun::plan ? encoder->plan_only(views) : encoder->prepare(views);
    std::vector<std::vector<float>> rows;
    rows.reserve(views.size());
    for (const vision::Views* v : views) {
        rows.emplace_back(encoder->n_rows(*v) * static_cast<size_t>(session.model().hparams().n_embd));
    }
    return rows;
}

class Cutter {
public:
    Cutter(const Session& session, vision::Encoder* encoder, const GenerateRequest& request, EncoderRun run)
        : session_(session), encoder_(encoder), request_(request), run_(run) {}

    std::vector<Batch> cut() {
        for (const SequencePrompt& p : request_.prompts) {
            cut(p, encode_images(session_, encoder_, p, run_));
        }
        if (last_.size() > 0) {
            batches_.push_back(std::move(last_));
        }
        return std::move(batches_);
    }

private:
    void cut(const SequencePrompt& p, const std::vector<std::vector<float>>& rows) {
        int32_t token = 0, position = 0;
        for (size_t i = 0; i < p.images.size(); ++i) {
            const int32_t end = p.images[i].before;
            if (end > token) {
                add_tokens(batches_.emplace_back(), p, token, end, position);
                position += end - token;
                token = end;
            }
            const auto n = int_of(rows[i].size() / session_.model().hparams().n_embd);
            Batch& batch = batches_.emplace_back();
            const bool ends = i + 1 == p.images.size() && token == n_of(p.tokens);
            batch.add_embeddings(rows[i], n, position, only_sequence(p.sequence), ends);
            for (int32_t row = 0; row < n; ++row) {
                batch.outputs[row] = wanted(ends && row + 1 == n);
            }
            position += n;
        }
        add_tokens(last_, p, token, n_of(p.tokens), position);
    }

    void add_tokens(Batch& batch, const SequencePrompt& p, int32_t first, int32_t end, int32_t position) const {
        for (int32_t i = first; i < end; ++i) {
            const bool last = i + 1 == n_of(p.tokens) && &batch == &last_;
            batch.add(p.tokens[i], position + i - first, only_sequence(p.sequence), wanted(last));
        }
    }

    /// Of a token: the next one is chosen behind the last.
    uint8_t wanted(bool last) const {
        const bool logits = request_.all_logits || (last && request_.on_logits);
        return (last ? output_choice : no_output) | (logits ? output_logits : no_output);
    }

    const Session& session_;
    vision::Encoder* encoder_;
    const GenerateRequest& request_;
    EncoderRun run_;
    std::vector<Batch> batches_;
    Batch last_; ///< the ends of all prompts
};

} // namespace

int32_t prompt_length(const Session& session, const SequencePrompt& prompt) {
    auto n = n_of(prompt.tokens);
    for (const PromptImage& image : prompt.images) {
        n += session.encoder()->n_rows(*image.views);
    }
    return n;
}

void check_images(const Session& session, const SequencePrompt& p, const GenerateRequest& request) {
    if (p.images.empty()) {
        return;
    }
    const auto n = n_of(p.tokens);
    if (session.encoder() == nullptr) {
        throw Error(ErrorKind::usage, "image: there is no image encoder (--mmproj)");
    }
    int32_t before = 0;
    for (const PromptImage& image : p.images) {
        if (image.before < before || image.before > n) {
            throw Error(ErrorKind::usage, "image: token " + std::to_string(image.before) + " is no place for it");
        }
        before = image.before;
    }
    if (before == n && request.prompts.size() > 1) {
        throw Error(ErrorKind::usage, "sequence " + std::to_string(p.sequence) +
                                          ": its prompt ends in an image, which goes with a single sequence only");
    }
}

std::vector<Batch> prompt_batches(const Session& session, vision::Encoder* encoder, const GenerateRequest& request,
                                  EncoderRun run) {
    return Cutter(session, encoder, request, run).cut();
}

} // namespace schedscope
