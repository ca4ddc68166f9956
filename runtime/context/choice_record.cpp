#include "runtime/context/choice_record.h"

namespace schedscope {

namespace {

/// What is known of a sampler that may have run in the graph.
void add_part(record::Sample& sample, const SamplerPart& part, const GraphChain& chain, const Scheduler& scheduler,
              Recorder& recorder) {
    sample.refused = part.refused;
    sample.why_not_in_graph = recorder.intern(part.why_not);
    if (part.in_graph) {
        sample.backend = scheduler.backend_of(*(part.last != nullptr ? part.last : chain.row()));
        sample.n_nodes = part.n_nodes;
        sample.tensor = part.last != nullptr ? part.last->id : no_tensor;
    }
}

} // namespace

void record_choice(Recorder& recorder, const InferenceContext& context, const Scheduler& scheduler, const SamplerChain& chain,
                   const ChosenToken& chosen) {
    const int32_t n_vocab = context.model().hparams().n_vocab;
    const GraphChain* in_graph = context.sampling().chain(chosen.sequence);
    int32_t candidates = n_vocab;
    const auto steps = chain.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
        record::Sample sample;
        sample.sequence = chosen.sequence;
        sample.sampler = recorder.intern(steps[i].name);
        sample.candidates = steps[i].candidates;
        if (in_graph != nullptr) {
            add_part(sample, in_graph->parts()[i], *in_graph, scheduler, recorder);
        }
        recorder.add(sample);
        // What the last sampler, which chooses, chose from.
        candidates = i + 1 < steps.size() ? steps[i].candidates : candidates;
    }
    record::NextToken t;
    t.sequence = chosen.sequence;
    t.token = chosen.token;
    t.position = chosen.position;
    t.text = recorder.intern(chosen.text);
    t.candidates = candidates;
    if (in_graph != nullptr && in_graph->n_in_graph() > 0) {
        t.host_bytes = context.sampling().sampled(chosen.sequence).host_bytes;
    }
    if (context.has_logits(chosen.row)) { // also where the token was chosen in the graph, but they are wanted
        t.host_bytes += int64_t{n_vocab} * sizeof(float);
    }
    recorder.add(t);
}

} // namespace schedscope
