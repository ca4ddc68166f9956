#pragma once

#include "runtime/backend/registry.h"
#include "runtime/vision/encoder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// Everything a user can say about how an encoder runs without a text model; names and defaults are the command line's.
struct EncoderSessionOptions {
    std::string devices = {};    ///< as RunOptions::devices
    ProfileSource profiles = {}; ///< as RunOptions::profiles
    int32_t n_gpu_layers = 99;   ///< 0: the encoder stays on the host
    std::vector<std::string> overrides = {};
    int n_threads = 0;
    bool fusion = true;
    Products products = Products::int8;
    bool repack = true; ///< weights that the CPU alone multiplies are laid out
    bool image_newline = false;
    bool header_only = false;                                    ///< plan from the file's header
    std::vector<std::pair<std::string, std::string>> facts = {}; ///< the caller's own for the records
};

/// An encoder ready to run for itself, from options alone.
class EncoderSession {
public:
    /// Throws Error(usage, input or device) in words for the user. registry and recorder outlive the session.
    /// `file` as open_encoder gives it.
    EncoderSession(const Registry& registry, std::shared_ptr<const gguf::File> file, const EncoderSessionOptions& options,
                   Recorder* recorder = nullptr);

    const vision::VisionModel& model() const noexcept { return *model_; }
    const Scheduler& scheduler() const noexcept { return *scheduler_; }
    vision::Encoder& encoder() noexcept { return *encoder_; }
    const std::vector<std::string>& notes() const noexcept { return notes_; }
    /// One more fact for the records about the session. Without a recorder nothing happens.
    void add_fact(std::string what, std::string value);

private:
    void open_record(const EncoderSessionOptions& options, const SchedulerOptions& scheduling);

    std::vector<std::unique_ptr<Device>> described_;
    std::vector<Device*> devices_;
    std::vector<std::unique_ptr<Backend>> backends_;
    std::unique_ptr<vision::VisionModel> model_;
    std::unique_ptr<Scheduler> scheduler_;
    std::unique_ptr<vision::Encoder> encoder_;
    std::vector<std::string> notes_;
    PlanSettings settings_;
    SessionInfo told_; ///< to the recorder, all but the devices
    EvaluationId next_evaluation_ = 0;
};

} // namespace schedscope
