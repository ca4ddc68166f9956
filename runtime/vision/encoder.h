#pragma once

#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/preprocess/arrange.h"
#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/vision_model.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace schedscope::vision {

struct EncoderOptions {
    bool image_newline = false; ///< --image-newline: see Arrangement
};

/// Turns prepared images into rows for the text model: for each view a graph (the last one's if it has the same size), planned by
/// the scheduler, recorded as an evaluation of the kind `encoder`. One thread at a time; model and scheduler outlive it.
class Encoder {
public:
    /// `number` gives each evaluation its number, and makes the scheduler free for it. Throws Error(usage)
    /// when options ask for what the file doesn't have.
    Encoder(const VisionModel& model, Scheduler& scheduler, const EncoderOptions& options, std::function<EvaluationId()> number);
    ~Encoder() { drop_graph(); }
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    /// Rows that `encode` gives for an image.
    int32_t n_rows(const Views& image) const { return arrangement(image).n_rows(); }

    /// For each image its rows, [n_rows × n_embd_text]. The scheduler is free again behind it. Throws Error(device) when the
    /// machine fails, Error(input) when the encoder's file was cut short meanwhile.
    std::vector<std::vector<float>> encode(std::span<const Views* const> images);
    /// Plans what `encode` would run, with the records that come from planning, and runs nothing.
    void plan_only(std::span<const Views* const> images);
    /// The same, and does what computing it would do once and for all: shaders are compiled.
    void prepare(std::span<const Views* const> images);

private:
    enum class Run : uint8_t { plan, prepare, compute };

    Size patches_of(const ImageView& view) const noexcept;
    Arrangement arrangement(const Views& image) const;
    /// One view; its rows are appended to `rows`.
    void evaluate(const ImageView& view, Run run, std::vector<float>& rows);
    /// All views, without rows.
    void plan(std::span<const Views* const> images, Run run);
    void build(Size patches);
    void drop_graph() noexcept;
    void fill(const ImageView& view) const;

    const VisionModel& model_;
    Scheduler& scheduler_;
    std::function<EvaluationId()> number_;
    std::vector<float> newline_; ///< empty without --image-newline
    std::unique_ptr<Graph> graph_;
    EncoderTensors io_;
    Size patches_; ///< of the graph
    EvaluationId planned_in_ = 0;
};

} // namespace schedscope::vision
