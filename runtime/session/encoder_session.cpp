#include "runtime/session/encoder_session.h"

#include "runtime/gguf/gguf.h"
#include "runtime/scheduler/evaluation_record.h"

namespace schedscope {

EncoderSession::EncoderSession(const Registry& registry, std::shared_ptr<const gguf::File> file, const EncoderSessionOptions& o,
                               Recorder* recorder)
    : recorder_(recorder), devices_(o.header_only ? registry.select(o.devices, described_) : registry.select(o.devices)) {
    BackendOptions backend;
    backend.n_threads = o.n_threads;
    backend.fusion = o.fusion;
    backends_ = make_backends(devices_, backend);
    PlacementOptions placement;
    placement.n_gpu_layers = o.n_gpu_layers;
    placement.overrides = o.overrides;
    model_ = std::make_unique<vision::VisionModel>(std::move(file), devices_, placement,
                                                   o.header_only ? LoadMode::header : LoadMode::data);
    notes_ = model_->notes();
    for (const OverrideReport& r : model_->placement().overrides()) {
        notes_.push_back(override_note(r));
    }
    SchedulerOptions scheduling;
    scheduling.plans_only = o.header_only;
    scheduler_ = std::make_unique<Scheduler>(backends_, scheduling);
    scheduler_->set_recorder(recorder);
    encoder_ = std::make_unique<vision::Encoder>(*model_, *scheduler_, recorder,
                                                 vision::EncoderOptions{.image_newline = o.image_newline},
                                                 [this] { return next_evaluation_++; });
    if (recorder != nullptr) {
        open_record(o, scheduling);
    }
}

void EncoderSession::open_record(const EncoderSessionOptions& o, const SchedulerOptions& scheduling) {
    SessionInfo info = scheduler_->session();
    info.facts = o.facts;
    const std::string& path = model_->file().path();
    info.facts.emplace_back("image_encoder", path.substr(path.find_last_of('/') + 1));
    info.facts.emplace_back("architecture", "clip");
    info.facts.emplace_back("projector", std::string(model_->projector().name));
    info.facts.emplace_back("n_layers", std::to_string(model_->hparams().n_layer));
    info.facts.emplace_back("n_gpu_layers", std::to_string(o.n_gpu_layers));
    info.facts.emplace_back("op_offload", scheduling.op_offload ? "on" : "off");
    info.facts.emplace_back("offload_min_batch", std::to_string(scheduling.offload_min_batch));
    info.facts.emplace_back("stages", std::to_string(scheduling.n_stages));
    info.facts.emplace_back("fusion", o.fusion ? "on" : "off");
    facts_ = info.facts;
    recorder_->session(info);
}

void EncoderSession::add_fact(std::string what, std::string value) {
    facts_.emplace_back(std::move(what), std::move(value));
    record_session(recorder_, *scheduler_, facts_);
}

} // namespace schedscope
