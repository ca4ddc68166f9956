#include "runtime/session/encoder_session.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/gguf/gguf.h"
#include "runtime/scheduler/evaluation_record.h"
#include "runtime/session/model_header.h"

#include <algorithm>
#include <iterator>

namespace schedscope {

EncoderSession::EncoderSession(const Registry& registry, std::shared_ptr<const gguf::File> file, const EncoderSessionOptions& o,
                               Recorder* recorder)
    : devices_(o.header_only ? registry.select(o.devices, described_, o.profiles) : registry.select(o.devices)) {
    BackendOptions backend;
    backend.n_threads = o.n_threads;
    backend.fusion = o.fusion;
    backend.products = o.products;
    if (!o.header_only) {
        backend.threads = threads_of(backend);
    }
    backends_ = make_backends(devices_, backend);
    settings_.placement.n_gpu_layers = o.n_gpu_layers;
    for (const std::string& text : o.overrides) {
        settings_.placement.overrides.push_back(TensorOverride::parse(text));
    }
    std::vector<OverrideReport> reports;
    LoadOptions loading(o.header_only ? LoadMode::header : LoadMode::data);
    loading.repacks = o.repack && may_lay_out(backend);
    loading.threads = backend.threads.get();
    model_ = std::make_unique<vision::VisionModel>(std::move(file), devices_, settings_.placement, loading, &reports);
    notes_ = o.header_only ? std::vector<std::string>() : caveats_of(devices_);
    notes_.insert(notes_.end(), model_->loaded().notes.begin(), model_->loaded().notes.end());
    require_matches(reports);
    std::transform(reports.begin(), reports.end(), std::back_inserter(notes_), override_note);
    SchedulerOptions scheduling;
    scheduling.plans_only = o.header_only;
    scheduler_ = std::make_unique<Scheduler>(backends_, scheduling);
    scheduler_->set_recorder(recorder);
    encoder_ = std::make_unique<vision::Encoder>(*model_, *scheduler_, vision::EncoderOptions{.image_newline = o.image_newline},
                                                 [this] { return next_evaluation_++; });
    if (recorder != nullptr) {
        open_record(o, scheduling);
    }
}

void EncoderSession::open_record(const EncoderSessionOptions& o, const SchedulerOptions& scheduling) {
    told_.facts = o.facts;
    const std::string& path = model_->file().path();
    told_.facts.emplace_back("image_encoder", path.substr(path.find_last_of('/') + 1));
    told_.facts.emplace_back("architecture", "clip");
    told_.facts.emplace_back("projector", std::string(model_->projector().name));
    settings_.n_layers = model_->hparams().n_layer;
    settings_.op_offload = scheduling.op_offload;
    settings_.offload_min_batch = scheduling.offload_min_batch;
    settings_.n_stages = scheduling.n_stages;
    settings_.fusion = o.fusion;
    settings_.laid_out = model_->loaded().laid_out;
    told_.settings = settings_;
    told_.models = std::make_shared<const std::vector<ModelHeader>>(1, header_of(model_->file()));
    record_session(*scheduler_, told_);
}

void EncoderSession::add_fact(std::string what, std::string value) {
    told_.facts.emplace_back(std::move(what), std::move(value));
    record_session(*scheduler_, told_);
}

} // namespace schedscope
