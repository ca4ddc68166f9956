#include "runtime/session/session.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/context/flash_attention.h"
#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/scheduler/evaluation_record.h"
#include "runtime/scheduler/watch.h"
#include "runtime/session/model_header.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "runtime/system/read_number.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace schedscope {

namespace {

/// The tokens whose text has one of these characters.
std::vector<int32_t> tokens_with(const Tokenizer& tokenizer, std::string_view characters) {
    std::vector<int32_t> found;
    for (int32_t id = 0; id < tokenizer.n_tokens(); ++id) {
        if (tokenizer.piece(id).find_first_of(characters) != std::string::npos) {
            found.push_back(id);
        }
    }
    return found;
}

} // namespace

Session::Session(const Registry& registry, const RunOptions& options, Recorder* recorder)
    : Session(registry, open_models(options), options, recorder) {}

Session::Session(const Registry& registry, std::shared_ptr<const gguf::File> file, const RunOptions& options, Recorder* recorder)
    : Session(registry, ModelFiles{std::move(file), options.mmproj.empty() ? nullptr : vision::open_encoder(options.mmproj)},
              options, recorder) {}

Session::Session(const Registry& registry, ModelFiles files, const RunOptions& options, Recorder* recorder) : options_(options) {
    make_backends(registry);
    load_model(std::move(files));
    scheduler_ = std::make_unique<Scheduler>(backends_, scheduling());
    scheduler_->set_recorder(recorder);
    scheduler_->set_watcher(options_.watcher.get());
    settle_sampling();
    make_context();
    if (vision_ != nullptr) {
        encoder_ = std::make_unique<vision::Encoder>(*vision_, *scheduler_,
                                                     vision::EncoderOptions{.image_newline = options_.image_newline},
                                                     [this] { return context_->lend_scheduler("encoder"); });
    }
    told_.facts = options_.facts;
    tell_recorder();
}

Session::~Session() = default;

void Session::set_recorder(Recorder* recorder) {
    scheduler_->set_recorder(recorder);
    context_->recorder_changed();
    tell_recorder();
}

void Session::settle_weights() {
    if (!weights_are_settled_ && threads_ != nullptr) {
        weights_are_settled_ = true;
        model_->move_to_large_pages(*threads_);
    }
}

void Session::tell_recorder() {
    if (recorder() != nullptr) {
        if (told_.models == nullptr) {
            describe();
        }
        record_session(*scheduler_, told_);
    }
}

SchedulerOptions Session::scheduling() const {
    SchedulerOptions scheduling;
    scheduling.op_offload = options_.op_offload;
    scheduling.offload_min_batch = options_.offload_min_batch;
    scheduling.n_stages = options_.stages;
    scheduling.plans_only = options_.header_only;
    scheduling.kernel_times = options_.kernel_times;
    return scheduling;
}

/// beside: a file that is loaded, too; may be null.
LoadOptions Session::loading(const gguf::File* beside) const {
    LoadOptions loading(options_.header_only ? LoadMode::header : LoadMode::data);
    loading.mapped = options_.mmap;
    loading.repacks = options_.repack && may_lay_out(backend_options());
    loading.bytes_beside = beside != nullptr ? narrow<int64_t>(beside->file_bytes()) : 0;
    loading.locked = options_.mlock;
    loading.progress = options_.on_load;
    loading.threads = threads_.get();
    return loading;
}

BackendOptions Session::backend_options() const {
    BackendOptions o;
    o.n_threads = options_.n_threads;
    o.n_threads_batch = options_.n_threads_batch;
    o.processors = options_.processors;
    o.fusion = options_.fusion;
    o.products = options_.products;
    return o;
}

void Session::note_threads() {
    const int most = std::max(options_.n_threads, options_.n_threads_batch);
    const ProcessorSet processors = options_.processors.empty() ? ProcessorSet::usable() : options_.processors;
    if (!processors.empty() && most > processors.size()) {
        notes_.push_back(words::counted(most, "thread") + " share " + words::counted(processors.size(), "processor") + " (" +
                         processors.text() + "): fewer are faster (-t, -tb)");
    }
    const std::vector<std::string> caveats = caveats_of(devices_);
    notes_.insert(notes_.end(), caveats.begin(), caveats.end());
}

void Session::make_backends(const Registry& registry) {
    devices_ = options_.header_only ? registry.select(options_.devices, described_, options_.profiles)
                                    : registry.select(options_.devices);
    BackendOptions options = backend_options();
    if (!options_.header_only) {
        options.threads = threads_ = threads_of(options);
        note_threads();
    }
    backends_ = schedscope::make_backends(devices_, options);
    if (const std::string note = idle_layers_note(registry); !note.empty()) {
        notes_.push_back(note);
    }
    if (options_.watcher) {
        std::vector<std::string_view> names;
        std::transform(backends_.begin(), backends_.end(), std::back_inserter(names), [](const auto& b) { return b->name(); });
        options_.watcher->check_backends(names);
    }
}

std::string Session::idle_layers_note(const Registry& registry) const {
    const int32_t n = options_.n_gpu_layers;
    const auto holds = [](const Device* d) { return holds_layers(device_kind_name(d->kind())); };
    if (!options_.devices.empty() || n == 0 || n == RunOptions().n_gpu_layers ||
        std::any_of(devices_.begin(), devices_.end(), holds)) {
        return "";
    }
    const bool software = registry.find("Vulkan0") != nullptr;
    return "-ngl " + std::to_string(n) + ": no device is here that layers could go to" +
           (software ? "; Vulkan0, a driver that runs on the CPU, is used when it is named: --device vulkan0,cpu" : "");
}

void Session::load_model(ModelFiles files) {
    PlacementOptions& placement = settings_.placement;
    placement.n_gpu_layers = options_.n_gpu_layers;
    placement.tensor_split = options_.tensor_split;
    for (const std::string& text : options_.overrides) {
        placement.overrides.push_back(TensorOverride::parse(text));
    }
    placement.cache_on_host = options_.cache_on_host;
    std::vector<OverrideReport> reports; // over the model and the image encoder together
    find_architecture(*files.text);      // before the tokenizer: the better sentence for a file that is no text model
    if (!options_.header_only) {         // a large vocabulary takes longer than the plans
        tokenizer_ = Tokenizer::load(*files.text);
    }
    model_ = std::make_unique<Model>(std::move(files.text), devices_, placement, loading(files.encoder.get()), &reports);
    notes_.insert(notes_.end(), model_->loaded().notes.begin(), model_->loaded().notes.end());
    if (files.encoder != nullptr) {
        load_encoder(std::move(files.encoder), reports);
    }
    require_matches(reports);
    std::transform(reports.begin(), reports.end(), std::back_inserter(notes_), override_note);
}

void Session::load_encoder(std::shared_ptr<const gguf::File> file, std::vector<OverrideReport>& reports) {
    vision_ =
        std::make_unique<vision::VisionModel>(std::move(file), devices_, settings_.placement, loading(&model_->file()), &reports);
    if (vision_->n_embd_text() != model_->hparams().n_embd) {
        throw Error(ErrorKind::input, options_.mmproj + ": it makes embeddings of " + std::to_string(vision_->n_embd_text()) +
                                          " values, but the model reads " + std::to_string(model_->hparams().n_embd));
    }
    notes_.insert(notes_.end(), vision_->loaded().notes.begin(), vision_->loaded().notes.end());
}

const Tokenizer& Session::tokenizer() const {
    if (tokenizer_ == nullptr) {
        tokenizer_ = Tokenizer::load(model_->file());
    }
    return *tokenizer_;
}

void Session::make_context() {
    constexpr int32_t usual_context = 4096;
    const int32_t n_ctx_train = model_->hparams().n_ctx_train;
    ContextOptions o;
    o.n_ctx = options_.n_ctx > 0 ? options_.n_ctx : options_.n_ctx == 0 ? n_ctx_train : std::min(usual_context, n_ctx_train);
    constexpr int32_t longest = (1 << 30); // positions stay far from the end of their type
    if (o.n_ctx > longest) {
        throw Error(ErrorKind::device, "KV cache: a context of " + std::to_string(o.n_ctx) +
                                           " is longer than the longest possible, " + std::to_string(longest));
    }
    constexpr int32_t least_with_images = 2048; // an image alone takes hundreds of tokens, or thousands
    if (vision_ != nullptr && o.n_ctx < least_with_images) {
        if (options_.n_ctx > 0) {
            notes_.push_back("-c " + std::to_string(options_.n_ctx) + ": raised to " + std::to_string(least_with_images) +
                             " for images");
        }
        o.n_ctx = least_with_images;
    }
    if (o.n_ctx > n_ctx_train) {
        notes_.push_back("context of " + std::to_string(o.n_ctx) + ": the model was trained on " + std::to_string(n_ctx_train));
    }
    o.n_batch = options_.n_batch;
    o.n_ubatch = options_.n_ubatch;
    o.cache_type_k = options_.cache_type_k;
    o.cache_type_v = options_.cache_type_v;
    o.flash_attention = options_.flash_attention == FlashAttention::on ||
                        (options_.flash_attention == FlashAttention::automatic &&
                         flash_attention_everywhere(*model_, o.cache_type_k, o.cache_type_v, o.n_ctx));
    context_ = std::make_unique<InferenceContext>(*model_, *scheduler_, o);
}

void Session::settle_sampling() {
    const gguf::File& file = model_->file();
    SamplingMetadata metadata;
    metadata.file = file.path();
    metadata.number = [&](std::string_view key) -> std::optional<double> {
        const gguf::MetadataValue* v = file.find("general.sampling." + std::string(key));
        if (const auto text = v != nullptr ? v->as_string() : std::nullopt) { // some write numbers as text
            return read_number<double>(*text);
        }
        return v != nullptr ? v->as_f64() : std::nullopt;
    };
    metadata.text = [&](std::string_view key) -> std::optional<std::string> {
        const auto v = file.get_string("general.sampling." + std::string(key));
        return v ? std::optional<std::string>(*v) : std::nullopt;
    };
    std::vector<int32_t> end_tokens;
    if (options_.sampling.ignore_eos) {
        for (int32_t id = 0; id < tokenizer().n_tokens(); ++id) {
            if (tokenizer().is_eog(id)) {
                end_tokens.push_back(id);
            }
        }
        if (end_tokens.empty()) {
            notes_.push_back("--ignore-eos: the vocabulary has no token that ends a generation");
        }
    }
    sampling_ = resolve(options_.sampling, metadata, end_tokens);
    sampling_.n_vocab = model_->hparams().n_vocab;
    sampling_.dry_breakers = [this] { return tokens_with(tokenizer(), "\n:\"*"); };
    seed_ = options_.seed ? *options_.seed : std::random_device{}();
}

void Session::describe() {
    const auto fact = [&](std::string_view what, std::string value) { told_.facts.emplace_back(what, std::move(value)); };
    const gguf::File& file = model_->file();
    const auto name_at = file.path().find_last_of('/');
    fact("model", name_at == std::string::npos ? file.path() : file.path().substr(name_at + 1));
    if (const auto name = file.get_string("general.name")) {
        fact("name", std::string(*name));
    }
    fact("architecture", model_->hparams().architecture);
    if (vision_ != nullptr) {
        const std::string& path = vision_->file().path();
        fact("image_encoder", path.substr(path.find_last_of('/') + 1));
        fact("projector", std::string(vision_->projector().name));
    }
    fact("parameters", std::to_string(model_->n_parameters()));
    settings_.n_layers = model_->hparams().n_layer;
    settings_.flash_attention_asked = options_.flash_attention;
    const ContextOptions& context = context_->options();
    settings_.flash_attention = context.flash_attention;
    settings_.op_offload = options_.op_offload;
    settings_.offload_min_batch = options_.offload_min_batch;
    settings_.n_stages = options_.stages;
    settings_.fusion = options_.fusion;
    settings_.laid_out = model_->loaded().laid_out;
    settings_.context = {context.n_ctx, context.n_batch, context.n_ubatch, context.cache_type_k, context.cache_type_v};
    told_.settings = settings_;
    std::vector<ModelHeader> models{header_of(file)};
    if (vision_ != nullptr) {
        models.push_back(header_of(vision_->file()));
    }
    told_.models = std::make_shared<const std::vector<ModelHeader>>(std::move(models));
    if (!options_.header_only) {
        const int n = n_threads_of(backend_options());
        fact("threads", std::to_string(n));
        if (options_.n_threads_batch > 0 && options_.n_threads_batch != n) {
            fact("batch_threads", std::to_string(options_.n_threads_batch));
        }
        if (!options_.processors.empty()) {
            fact("processors", options_.processors.text());
        }
        fact("cpu_products", std::string(products_name(options_.products)));
        fact("cpu_instructions", std::string(cpu_instructions()));
    }
    if (!options_.header_only) { // else nothing is sampled
        fact("seed", std::to_string(seed_));
    }
    if (options_.sample_in_graph) {
        fact("backend_sampling", "on");
    }
}

void Session::add_fact(std::string what, std::string value) {
    told_.facts.emplace_back(std::move(what), std::move(value));
    record_session(*scheduler_, told_);
}

} // namespace schedscope
