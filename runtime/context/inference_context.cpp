#include "runtime/context/inference_context.h"

#include "runtime/backend/buffer.h"
#include "runtime/context/key_shift.h"
#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/numbers.h"
#include "runtime/scheduler/evaluation_record.h"
#include "runtime/scheduler/watch.h"

#include <algorithm>
#include <bit>
#include <string>

namespace schedscope {

InferenceContext::InferenceContext(const Model& model, Scheduler& scheduler, const ContextOptions& options)
    : model_(model), scheduler_(scheduler), options_(options), settings_{options.flash_attention, options.n_ctx},
      cache_(model, {options.n_ctx, options.cache_type_k, options.cache_type_v, !options.flash_attention}), sampling_(model) {
    options_.n_ctx = cache_.options().n_cells;
    options_.n_batch = std::clamp(options.n_batch, 1, options_.n_ctx);
    options_.n_ubatch = std::clamp(options.n_ubatch, 1, options_.n_batch);
}

InferenceContext::~InferenceContext() { drop_graph(); }

void InferenceContext::drop_graph() noexcept {
    if (graph_ != nullptr) {
        scheduler_.reset();
        graph_.reset();
    }
}

EvaluationId InferenceContext::lend_scheduler(std::string_view to) {
    dropped_by_ = graph_ != nullptr ? to : dropped_by_;
    drop_graph();
    return next_evaluation_++;
}

void InferenceContext::recorder_changed() {
    dropped_by_ = graph_ != nullptr ? "recorder" : dropped_by_;
    drop_graph();
    alternatives_.clear(); // the graphs that another one was told of
}

void InferenceContext::check(const Batch& batch) const {
    const Hparams& h = model_.hparams();
    const size_t n = batch.size();
    const bool tokens = batch.tokens.size() == n && batch.embeddings.empty();
    const bool embeddings = batch.tokens.empty() && batch.embeddings.size() == n * h.n_embd;
    if (n == 0 || (!tokens && !embeddings) || batch.sequences.size() != n || batch.outputs.size() != n) {
        throw Error(ErrorKind::usage,
                    "batch: it needs tokens or embeddings, and a position, a sequence and an output flag for each");
    }
    for (const int32_t token : batch.tokens) {
        if (token < 0 || token >= h.n_vocab) {
            throw Error(ErrorKind::usage, "token " + std::to_string(token) + ": the vocabulary has " + std::to_string(h.n_vocab));
        }
    }
    for (size_t i = 0; i < n; ++i) {
        if (batch.positions[i] < 0 || batch.sequences[i] == 0) {
            throw Error(ErrorKind::usage, "batch: token " + std::to_string(i) + " has no position or no sequence");
        }
    }
}

void InferenceContext::decode(const Batch& batch) { evaluate(batch, Run::compute); }
void InferenceContext::plan_only(const Batch& batch) { evaluate(batch, Run::plan); }
void InferenceContext::prepare(const Batch& batch) { evaluate(batch, Run::prepare); }

void InferenceContext::evaluate(const Batch& batch, Run run) {
    check(batch);
    sampling_.check(batch);
    sampling_.forget_sampled();
    rows_.clear();
    logits_.clear();
    for (int32_t first = 0; first < batch.size(); first += options_.n_batch) {
        const int32_t end = std::min(first + options_.n_batch, batch.size());
        for (int32_t at = first; at < end; at += options_.n_ubatch) {
            evaluate(make_ubatch(batch, at, std::min(options_.n_ubatch, end - at)), run);
        }
    }
}

std::string_view InferenceContext::first_difference(const GraphKey& a, const GraphKey& b) noexcept {
    if (a.shape.n_tokens != b.shape.n_tokens) {
        return "n_tokens";
    }
    if (a.n_sequences != b.n_sequences) {
        return "n_sequences";
    }
    if (a.shape.embeddings != b.shape.embeddings) {
        return "embeddings";
    }
    if (a.shape.n_outputs != b.shape.n_outputs) {
        return "n_outputs";
    }
    if (a.n_kv != b.n_kv) {
        return "n_kv";
    }
    return a.samplers != b.samplers ? "samplers" : "";
}

void InferenceContext::build(const GraphKey& key) {
    drop_graph();
    sampling_.forget_former();
    graph_ = std::make_unique<Graph>();
    io_ = build(*graph_, settings_, key, cache_.view(key.n_kv));
    key_ = key;
}

void InferenceContext::reserve() {
    reserved_ = true;
    // The larger one last: its places are kept.
    for (const int32_t n_tokens : {1, options_.n_ubatch}) {
        const GraphKey key{{n_tokens, n_tokens, false}, 1, cache_.options().n_cells, sampling_.version()};
        const std::vector<PlanAlternative> alternatives = record_alternatives(key);
        Graph graph;
        build(graph, settings_, key, cache_.view(key.n_kv));
        scheduler_.reserve(graph, n_tokens, alternatives);
    }
}

GraphTensors InferenceContext::build(Graph& graph, const GraphSettings& settings, const GraphKey& key, const CacheView& cache) {
    GraphBuilder builder(graph, model_, settings, key.shape, cache);
    model_.architecture().graph(builder);
    sampling_.add_nodes(graph, builder.io.logits);
    return builder.io;
}

/// What the graph would be with the other setting of flash attention, so that a trace can answer what would change. Once for each
/// shape.
std::vector<PlanAlternative> InferenceContext::record_alternatives(const GraphKey& key) {
    const bool without_f32_values = traits(options_.cache_type_v).quantised(); // such a cache is read by flash attention only
    if (scheduler_.recorder() == nullptr || (options_.flash_attention && without_f32_values)) {
        return {};
    }
    const auto same = [&](const KnownAlternative& known) { return first_difference(known.key, key).empty(); };
    auto known = std::find_if(alternatives_.begin(), alternatives_.end(), same);
    if (known == alternatives_.end()) {
        GraphSettings settings = settings_;
        settings.flash_attention = !settings_.flash_attention;
        CacheView cache = cache_.view(key.n_kv);
        cache.v_transposed = !settings.flash_attention;
        Graph other;
        build(other, settings, key, cache);
        known = alternatives_.insert(alternatives_.end(), {key, scheduler_.record_graph(other)});
    }
    return {{known->graph, options_.flash_attention ? "fa=off" : "fa=on"}};
}

void InferenceContext::turn_moved_keys() {
    if (const auto shifts = cache_.cells().take_shifts()) {
        const EvaluationId evaluation = lend_scheduler("k_shift");
        try {
            shift_keys(model_, cache_, settings_.n_ctx, *shifts, scheduler_, evaluation);
        } catch (...) {
            cache_.cells().clear(); // some keys may be turned and others not: no token may attend to them
            throw;
        }
    }
}

void InferenceContext::evaluate(const Ubatch& u, Run run) {
    turn_moved_keys();
    KvCells& cells = cache_.cells();
    if (!cells.find(u.n_tokens, slots_)) {
        throw Error(ErrorKind::usage, "context is full: " + std::to_string(cells.used()) + " of " + std::to_string(cells.size()) +
                                          " cells are used, " + std::to_string(u.n_tokens) + " more tokens do not fit (-c)");
    }
    for (int32_t i = 0; i < u.n_tokens; ++i) {
        const size_t at = u.first + i;
        cells.take(slots_[i], u.batch->positions[at], u.batch->sequences[at]);
    }
    const GraphKey key{
        {u.n_tokens, std::max(u.n_outputs, 1), u.batch->tokens.empty()}, u.n_sequences, cache_.n_kv(), sampling_.version()};
    const std::string_view difference = graph_ == nullptr ? dropped_by_ : first_difference(key, key_);
    dropped_by_ = {};
    const bool reused = graph_ != nullptr && difference.empty();
    record_begin(u, reused, difference);
    try {
        if (!reused) {
            drop_graph();
            if (!reserved_) {
                reserve();
            }
            const std::vector<PlanAlternative> alternatives = record_alternatives(key);
            build(key);
            scheduler_.plan(*graph_, alternatives);
            if (scheduler_.watcher() != nullptr && scheduler_.recorder() != nullptr) {
                scheduler_.watcher()->check_found();
            }
        }
        if (run == Run::prepare) {
            scheduler_.prepare();
        }
        if (run == Run::compute) {
            inputs_.fill(io_, u, cells, slots_, model_.hparams());
            sampling_.write_inputs(u);
            scheduler_.expect(u.n_tokens);
            scheduler_.compute();
            read_outputs(u);
            sampling_.read(u, scheduler_.recorder() != nullptr);
            model_.file().check_whole(); // weights on the host lie in the file
        }
    } catch (const std::exception& e) {
        for (const int32_t cell : slots_) {
            cells.release(cell);
        }
        drop_graph();
        dropped_by_ = "error";
        record_evaluation_end(scheduler_, e.what());
        throw;
    }
    n_reused_ += reused ? 1 : 0;
    record_evaluation_end(scheduler_, nullptr);
}

/// Copies the rows of logits that the host needs, neighbours together. Rows of sequences that are sampled in the graph stay where
/// they are.
void InferenceContext::read_outputs(const Ubatch& u) {
    const size_t n_vocab = model_.hparams().n_vocab;
    const auto before = int_of(logits_.size() / n_vocab);
    const size_t first = rows_.size();
    int32_t n_copied = 0;
    for (int32_t i = 0; i < u.n_tokens; ++i) {
        const size_t at = u.first + i;
        const uint8_t output = u.batch->outputs[at];
        const bool for_host = (u.batch->sequences[at] & ~sampling_.sequences()) != 0;
        if (output != no_output) {
            rows_.push_back(for_host || (output & output_logits) != 0 ? before + n_copied++ : -1);
        }
    }
    logits_.resize(logits_.size() + n_copied * n_vocab);
    for (size_t row = first; row < rows_.size();) {
        size_t end = row;
        while (end < rows_.size() && rows_[end] >= 0) {
            ++end;
        }
        if (end > row) {
            tensor_read(*io_.logits, logits_.data() + rows_[row] * n_vocab, (row - first) * n_vocab * sizeof(float),
                        (end - row) * n_vocab * sizeof(float));
        }
        row = end + 1;
    }
}

std::span<const float> InferenceContext::logits(int32_t row) const {
    if (row < 0 || row >= n_outputs()) {
        throw Error(ErrorKind::usage, "logits: there is no row " + std::to_string(row) + " of " + std::to_string(n_outputs()));
    }
    if (rows_[row] < 0) {
        throw Error(ErrorKind::usage, "logits: row " + std::to_string(row) + " was sampled in the graph and not copied");
    }
    const size_t n_vocab = model_.hparams().n_vocab;
    return {logits_.data() + rows_[row] * n_vocab, n_vocab};
}

void InferenceContext::set_sampler(int32_t sequence, std::shared_ptr<SamplerChain> chain) {
    if (sequence < 0 || sequence >= max_sequences) {
        throw Error(ErrorKind::usage,
                    "sequence " + std::to_string(sequence) + ": ids are 0 to " + std::to_string(max_sequences - 1));
    }
    sampling_.set(sequence, std::move(chain));
}

void InferenceContext::record_begin(const Ubatch& u, bool reused, std::string_view failed_check) {
    const EvaluationId id = next_evaluation_++;
    ++n_evaluations_;
    if (!reused) {
        planned_in_ = id;
    }
    if (scheduler_.recorder() == nullptr) {
        return;
    }
    record::EvaluationBegin begin;
    begin.kind = u.batch->kind;
    begin.reused = reused;
    begin.n_tokens = u.n_tokens;
    begin.n_sequences = u.n_sequences;
    begin.n_outputs = u.n_outputs;
    begin.planned_in = planned_in_;
    record_evaluation_begin(scheduler_, id, begin, failed_check);
    for (int32_t i = 0; i < u.n_tokens; ++i) {
        const size_t at = u.first + i;
        record::UbatchToken token;
        token.token = u.batch->tokens.empty() ? -1 : u.batch->tokens[at];
        token.sequence = std::countr_zero(u.batch->sequences[at]);
        token.position = u.batch->positions[at];
        token.output = u.batch->outputs[at] != 0;
        scheduler_.recorder()->add(token);
    }
}

} // namespace schedscope
