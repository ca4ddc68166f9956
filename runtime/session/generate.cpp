#include "runtime/session/generate.h"

#include "runtime/clock.h"
#include "runtime/context/choice_record.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/sampling/make_chain.h"
#include "runtime/session/prompt.h"
#include "runtime/session/warm_up.h"

#include <algorithm>
#include <numeric>

namespace schedscope {

namespace {

/// A sequence while it is generated.
struct Stream {
    const SequencePrompt* prompt = nullptr;
    std::shared_ptr<SamplerChain> chain;
    Generated result;
    int32_t next_position = 0;
    int32_t row = -1; ///< of logits that the next token is chosen from
    bool drops_space = false;
    bool active = true;
};

/// Tokens and rows of images of all prompts together.
int64_t total_length(const Session& session, const GenerateRequest& request) {
    return std::accumulate(request.prompts.begin(), request.prompts.end(), int64_t{0},
                           [&](int64_t n, const SequencePrompt& p) { return n + prompt_length(session, p); });
}

} // namespace

void check_request(const Session& session, const GenerateRequest& request) {
    const int32_t n_ctx = session.context().options().n_ctx;
    SequenceSet seen = 0;
    if (request.prompts.empty()) {
        throw Error(ErrorKind::usage, "prompt: there is none");
    }
    for (const SequencePrompt& p : request.prompts) {
        if (p.sequence < 0 || p.sequence >= max_sequences) {
            throw Error(ErrorKind::usage,
                        "sequence " + std::to_string(p.sequence) + ": ids are 0 to " + std::to_string(max_sequences - 1));
        }
        if ((seen & only_sequence(p.sequence)) != 0) {
            throw Error(ErrorKind::usage, "sequence " + std::to_string(p.sequence) + ": there are two of that id");
        }
        if (p.tokens.empty()) {
            throw Error(ErrorKind::usage, "prompt: it is empty, and the model adds no token of its own");
        }
        seen |= only_sequence(p.sequence);
        check_images(session, p, request);
        for (const Token t : p.tokens) {
            if (t < 0 || t >= session.model().hparams().n_vocab) {
                throw Error(ErrorKind::usage, "token " + std::to_string(t) + ": the vocabulary has " +
                                                  std::to_string(session.model().hparams().n_vocab));
            }
        }
    }
    if (const int64_t total = total_length(session, request); total > n_ctx) {
        throw Error(ErrorKind::usage, "prompt: its " + std::to_string(total) + " tokens do not fit into a context of " +
                                          std::to_string(n_ctx) + " (-c)");
    }
}

std::shared_ptr<SamplerChain> chain_of(const Session& session, const SequencePrompt& p) {
    // Sequences differ although they share the seed.
    return std::make_shared<SamplerChain>(p.chain ? *p.chain : make_chain(session.sampling(), session.seed() + p.sequence));
}

namespace {

/// With -bs the sequences' chains are in the context's graphs as long as this lives.
class ChainsInGraph {
public:
    explicit ChainsInGraph(Session& session) : session_(session) {}
    ~ChainsInGraph() {
        for (const int32_t sequence : sequences_) {
            session_.context().set_sampler(sequence, nullptr);
        }
    }
    ChainsInGraph(const ChainsInGraph&) = delete;
    ChainsInGraph& operator=(const ChainsInGraph&) = delete;
    void add(int32_t sequence, std::shared_ptr<SamplerChain> chain) {
        if (session_.options().sample_in_graph) {
            session_.context().set_sampler(sequence, std::move(chain));
            sequences_.push_back(sequence);
        }
    }

private:
    Session& session_;
    std::vector<int32_t> sequences_;
};

class Generation {
public:
    Generation(Session& session, const GenerateRequest& request)
        : session_(session), request_(request), context_(session.context()), in_graph_(session) {}

    GenerateResult run() {
        check_request(session_, request_);
        if (request_.warm_up) {
            warm_up(session_, request_);
        }
        if (session_.recorder() != nullptr) {
            session_.recorder()->flush(); // its file is made now, and not within the prompt's time
        }
        context_.cells().clear();
        start_streams();
        decode_prompts();
        int64_t begin = now_ns();
        while (choose_all()) {
            const int64_t settles = now_ns();
            session_.settle_weights();
            begin += now_ns() - settles; // a part of loading
            decode_next();
        }
        result_.generate_ns = now_ns() - begin;
        finish();
        return std::move(result_);
    }

private:
    void start_streams() {
        for (const SequencePrompt& p : request_.prompts) {
            Stream s;
            s.prompt = &p;
            s.chain = chain_of(session_, p);
            s.result.sequence = p.sequence;
            s.next_position = prompt_length(session_, p);
            s.drops_space = p.images.empty() && std::all_of(p.tokens.begin(), p.tokens.end(),
                                                            [&](Token t) { return session_.tokenizer().is_control(t); });
            for (const Token t : p.tokens) {
                s.chain->accept(t);
            }
            in_graph_.add(p.sequence, s.chain);
            streams_.push_back(std::move(s));
        }
        std::sort(streams_.begin(), streams_.end(),
                  [](const Stream& a, const Stream& b) { return a.result.sequence < b.result.sequence; });
    }

    void decode_prompts() {
        const int64_t begin = now_ns();
        for (const Batch& batch : prompt_batches(session_, session_.encoder(), request_, EncoderRun::compute)) {
            context_.decode(batch);
            result_.n_prompt += batch.size();
            read_rows(batch);
        }
        result_.prompt_ns = now_ns() - begin;
    }

    void read_rows(const Batch& batch) {
        int32_t row = 0;
        for (int32_t i = 0; i < batch.size(); ++i) {
            const size_t at = i;
            if (batch.outputs[at] == 0) {
                continue;
            }
            for (Stream& s : streams_) {
                if (only_sequence(s.result.sequence) != batch.sequences[at]) {
                    continue;
                }
                const bool last = batch.positions[at] + 1 == s.next_position;
                if (request_.on_logits && (request_.all_logits || request_.n_predict != 0)) {
                    request_.on_logits(s.result.sequence, batch.positions[at], context_.logits(row));
                }
                s.row = last ? row : s.row;
            }
            ++row;
        }
    }

    /// One more token for each active sequence. False: nothing is left to decode.
    bool choose_all() {
        bool any = false;
        for (Stream& s : streams_) {
            if (s.active) {
                choose(s);
                any = any || s.active;
            }
        }
        return any;
    }

    void choose(Stream& s) {
        const auto done = n_of(s.result.tokens);
        if (request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed)) {
            return end(s, StopReason::stopped);
        }
        if (request_.n_predict >= 0 && done >= request_.n_predict) {
            return end(s, StopReason::count);
        }
        const bool in_graph = (context_.sampling().sequences() & only_sequence(s.result.sequence)) != 0;
        const Token token =
            in_graph ? s.chain->choose(context_.sampling().sampled(s.result.sequence)) : s.chain->choose(context_.logits(s.row));
        s.chain->accept(token);
        const bool ends = session_.tokenizer().is_eog(token);
        std::string piece = session_.tokenizer().piece(token);
        if (s.drops_space && !piece.empty()) {
            piece.erase(0, piece.front() == ' ' ? 1 : 0);
            s.drops_space = false;
        }
        s.result.tokens.push_back(token);
        s.result.text += piece;
        ++result_.n_generated;
        record(s, token);
        if (request_.on_token) {
            request_.on_token({s.result.sequence, done, token, piece, ends});
        }
        if (ends) {
            end(s, StopReason::end_token);
        } else if (request_.n_predict >= 0 && done + 1 >= request_.n_predict) {
            end(s, StopReason::count);
        }
    }

    static void end(Stream& s, StopReason reason) {
        s.active = false;
        s.result.reason = reason;
    }

    void decode_next() {
        const auto wanted = int_of(std::count_if(streams_.begin(), streams_.end(), [](const Stream& s) { return s.active; }));
        if (context_.cells().size() - context_.cells().used() < wanted && !make_room()) {
            for (Stream& s : streams_) {
                if (s.active) {
                    end(s, StopReason::context_full);
                }
            }
            return;
        }
        batch_.clear();
        batch_.kind = GraphKind::decode;
        for (Stream& s : streams_) {
            if (s.active) {
                s.row = batch_.size();
                const uint8_t wanted = request_.on_logits ? output_choice | output_logits : output_choice;
                batch_.add(s.result.tokens.back(), s.next_position++, only_sequence(s.result.sequence), wanted);
            }
        }
        context_.decode(batch_);
        result_.n_decoded += batch_.size();
        for (const Stream& s : streams_) {
            if (s.active && request_.on_logits) {
                request_.on_logits(s.result.sequence, s.next_position - 1, context_.logits(s.row));
            }
        }
    }

    /// Context shift: forgets the older half of each sequence behind its first token, and moves the rest up.
    bool make_room() {
        if (!session_.options().context_shift) {
            return false;
        }
        bool any = false;
        for (Stream& s : streams_) {
            const int32_t keep = 1;
            const int32_t gone = (s.next_position - keep) / 2;
            if (!s.active || gone <= 0) {
                continue;
            }
            context_.cells().remove(s.result.sequence, keep, keep + gone);
            context_.cells().shift(s.result.sequence, keep + gone, -1, -gone);
            s.next_position -= gone;
            any = true;
        }
        return any;
    }

    void record(const Stream& s, Token token) {
        Recorder* recorder = session_.recorder();
        if (recorder == nullptr) {
            return;
        }
        const std::string text = session_.options().record_text ? session_.tokenizer().piece(token, true) : "";
        record_choice(*recorder, context_, session_.scheduler(), *s.chain,
                      {s.result.sequence, token, s.next_position, s.row, text});
    }

    void finish() {
        for (Stream& s : streams_) {
            result_.sequences.push_back(std::move(s.result));
        }
        if (session_.recorder() != nullptr) {
            session_.recorder()->flush();
        }
    }

    Session& session_;
    const GenerateRequest& request_;
    InferenceContext& context_;
    ChainsInGraph in_graph_;
    std::vector<Stream> streams_;
    Batch batch_;
    GenerateResult result_;
};

} // namespace

Batch next_batch(const Session& session, const GenerateRequest& request, std::optional<int32_t> position) {
    Batch next;
    next.kind = GraphKind::decode;
    for (const SequencePrompt& p : request.prompts) {
        next.add(p.tokens.back(), position ? *position : prompt_length(session, p), only_sequence(p.sequence), true);
    }
    return next;
}

bool fill_context(const Session& session, const GenerateRequest& request) {
    const int64_t prompts = total_length(session, request);
    const int32_t n_ctx = session.context().options().n_ctx;
    return prompts <= n_ctx && prompts + std::ssize(request.prompts) > n_ctx;
}

GenerateResult generate(Session& session, const GenerateRequest& request) { return Generation(session, request).run(); }

void plan_generation(Session& session, const GenerateRequest& request) {
    InferenceContext& context = session.context();
    check_request(session, request);
    context.cells().clear();
    ChainsInGraph in_graph(session);
    for (const SequencePrompt& p : request.prompts) {
        in_graph.add(p.sequence, chain_of(session, p));
    }
    for (const Batch& batch : prompt_batches(session, session.encoder(), request, EncoderRun::plan)) {
        context.plan_only(batch);
    }
    if (request.n_predict == 0) {
        return;
    }
    context.plan_only(next_batch(session, request));
}

} // namespace schedscope
