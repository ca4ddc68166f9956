#pragma once

#include "runtime/backend/registry.h"
#include "runtime/context/inference_context.h"
#include "runtime/model/model.h"
#include "runtime/planner/recorder.h"
#include "runtime/sampling/params.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/session/model_files.h"
#include "runtime/session/run_options.h"
#include "runtime/text/tokenizer.h"
#include "runtime/vision/encoder.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// A model ready to run, from options alone: devices are selected, backends made, the model loaded, the scheduler and the context
/// set up, and the recorder (if any) told what the session is. The one entry point for everything that runs models.
///
///     Registry registry;
///     RunOptions options;
///     options.model = "tiny.gguf";
///     Session session(registry, options);
///     generate(session, {.prompts = {{0, session.tokenizer().encode("Once", true, false)}}});
class Session {
public:
    /// Throws Error(usage, input or device) in words for the user. registry and recorder outlive the session.
    Session(const Registry& registry, const RunOptions& options, Recorder* recorder = nullptr);
    /// The same with files that are open already (or made in memory); their names in the options are only shown.
    Session(const Registry& registry, ModelFiles files, const RunOptions& options, Recorder* recorder = nullptr);
    /// The same; an image encoder is opened by its name.
    Session(const Registry& registry, std::shared_ptr<const gguf::File> file, const RunOptions& options,
            Recorder* recorder = nullptr);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const RunOptions& options() const noexcept { return options_; }
    const Model& model() const noexcept { return *model_; }
    /// A session that only plans reads the vocabulary when it is first asked for; throws Error(input) as Tokenizer::load does.
    const Tokenizer& tokenizer() const;
    InferenceContext& context() noexcept { return *context_; }
    const InferenceContext& context() const noexcept { return *context_; }
    Scheduler& scheduler() noexcept { return *scheduler_; }
    SchedulerOptions scheduling() const;    ///< the scheduler's
    BackendOptions backend_options() const; ///< the backends', but for their names and the threads that they share
    Recorder* recorder() const noexcept { return scheduler_->recorder(); }
    /// Another one from the next evaluation on, or none (null); it is told what the session is, and evaluations go on being
    /// counted.
    void set_recorder(Recorder* recorder);
    std::span<const std::unique_ptr<Backend>> backends() const noexcept { return backends_; }
    bool flash_attention() const noexcept { return context_->options().flash_attention; }

    /// The image encoder; null without one (RunOptions::mmproj).
    const vision::VisionModel* vision() const noexcept { return vision_.get(); }
    vision::Encoder* encoder() const noexcept { return encoder_.get(); }

    /// Sampling values settled from options, the model's metadata and defaults.
    const SamplingParams& sampling() const noexcept { return sampling_; }
    uint32_t seed() const noexcept { return seed_; }
    /// What the user should know although it works: options without effect, unknown end tokens. One sentence each.
    const std::vector<std::string>& notes() const noexcept { return notes_; }
    /// What more than one token is to be computed with: Model::move_to_large_pages, once.
    void settle_weights();
    /// One more fact for the records about the session. Without a recorder nothing happens.
    void add_fact(std::string what, std::string value);

private:
    void make_backends(const Registry& registry);
    void note_threads();
    LoadOptions loading(const gguf::File* beside) const;
    /// Where layers were asked to go to devices, none was named and there is none; empty: there is.
    std::string idle_layers_note(const Registry& registry) const;
    void load_model(ModelFiles files);
    void load_encoder(std::shared_ptr<const gguf::File> file, std::vector<OverrideReport>& reports);
    void make_context();
    void settle_sampling();
    void tell_recorder();
    void describe(); ///< for the first recorder: the model's header is copied

    RunOptions options_;
    PlanSettings settings_;
    std::vector<std::unique_ptr<Device>> described_; ///< devices that are not here, of a session that only plans
    std::vector<Device*> devices_;
    std::shared_ptr<ThreadPool> threads_; ///< that host backends share, and that load; null: the session only plans
    std::vector<std::unique_ptr<Backend>> backends_;
    std::unique_ptr<Model> model_;
    bool weights_are_settled_ = false;
    mutable std::unique_ptr<Tokenizer> tokenizer_;
    std::unique_ptr<Scheduler> scheduler_;
    std::unique_ptr<InferenceContext> context_;
    std::unique_ptr<vision::VisionModel> vision_;
    std::unique_ptr<vision::Encoder> encoder_;
    SamplingParams sampling_;
    uint32_t seed_ = 0;
    std::vector<std::string> notes_;
    SessionInfo told_; ///< to recorders, all but the devices
};

} // namespace schedscope
