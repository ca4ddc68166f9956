#include "runtime/vision/encoder.h"

#include "runtime/backend/buffer.h"
#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/numbers.h"
#include "runtime/scheduler/evaluation_record.h"
#include "runtime/vision/positions.h"

#include <cmath>
#include <numeric>

namespace schedscope::vision {

namespace {

template <typename T> void write_all(const Tensor* t, const std::vector<T>& values) {
    if (t != nullptr && t->buffer != nullptr) { // inputs that no node reads have no memory
        tensor_write(*t, values.data(), 0, values.size() * sizeof(T));
    }
}

} // namespace

Encoder::Encoder(const VisionModel& model, Scheduler& scheduler, const EncoderOptions& options,
                 std::function<EvaluationId()> number)
    : model_(model), scheduler_(scheduler), number_(std::move(number)) {
    if (!options.image_newline) {
        return;
    }
    newline_ = model.image_newline();
    if (newline_.empty() || !model.hparams().unpad) {
        throw Error(ErrorKind::usage,
                    "--image-newline: " + model.file().path() + " has no model.image_newline for tiles that are put together");
    }
}

Size Encoder::patches_of(const ImageView& view) const noexcept {
    const int32_t patch = model_.hparams().patch_size;
    return {view.width / patch, view.height / patch};
}

Arrangement Encoder::arrangement(const Views& image) const {
    const Size patches = patches_of(image.views.front());
    Arrangement a;
    a.rows_of_view = model_.n_rows(patches);
    a.tiles = image.tiles;
    a.image = image.image;
    // Rows of a view are a square again where the projector makes fewer of them.
    const auto side = int_of(std::lround(std::sqrt(a.rows_of_view)));
    a.grid = {side, side};
    a.unpad = model_.hparams().unpad && side * side == a.rows_of_view;
    a.newline = !newline_.empty();
    return a;
}

std::vector<std::vector<float>> Encoder::encode(std::span<const Views* const> images) {
    std::vector<std::vector<float>> all;
    for (const Views* image : images) {
        std::vector<float> rows;
        for (const ImageView& view : image->views) {
            evaluate(view, Run::compute, rows);
        }
        all.push_back(arrange(arrangement(*image), rows, newline_, model_.n_embd_text()));
    }
    drop_graph();
    return all;
}

void Encoder::plan_only(std::span<const Views* const> images) { plan(images, Run::plan); }
void Encoder::prepare(std::span<const Views* const> images) { plan(images, Run::prepare); }

void Encoder::plan(std::span<const Views* const> images, Run run) {
    std::vector<float> none;
    for (const Views* image : images) {
        for (const ImageView& view : image->views) {
            evaluate(view, run, none);
        }
    }
    drop_graph();
}

void Encoder::drop_graph() noexcept {
    if (graph_ != nullptr) {
        scheduler_.reset();
        graph_.reset();
    }
}

void Encoder::build(Size patches) {
    drop_graph();
    auto graph = std::make_unique<Graph>();
    EncoderGraphBuilder builder(*graph, model_, patches);
    builder.build();
    graph_ = std::move(graph);
    io_ = builder.io;
    patches_ = patches;
}

void Encoder::fill(const ImageView& view) const {
    const EncoderHparams& h = model_.hparams();
    write_all(io_.pixels, planes_of(view, h));
    if (h.minicpmv_version > 0) {
        const auto grid = int_of(std::lround(std::sqrt(model_.weights().position_embd->ne[1])));
        write_all(io_.positions, positions_on_grid(patches_, grid));
    } else {
        std::vector<int32_t> positions(io_.positions->ne[0]);
        std::iota(positions.begin(), positions.end(), 0);
        write_all(io_.positions, positions);
    }
    if (io_.patches != nullptr) {
        std::vector<int32_t> rows(io_.patches->ne[0]);
        std::iota(rows.begin(), rows.end(), 1); // the class is row 0
        write_all(io_.patches, rows);
    }
    if (io_.position_waves != nullptr) {
        write_all(io_.position_waves, position_waves(patches_, int_of(io_.position_waves->ne[0])));
    }
}

void Encoder::evaluate(const ImageView& view, Run run, std::vector<float>& rows) {
    const Size patches = patches_of(view);
    const EvaluationId id = number_();
    const bool reused = graph_ != nullptr && patches_ == patches;
    const bool other = graph_ != nullptr && !reused;
    if (!reused) {
        build(patches);
        planned_in_ = id;
    }
    record::EvaluationBegin begin;
    begin.kind = GraphKind::encoder;
    begin.reused = reused;
    begin.n_tokens = begin.n_outputs = int_of(io_.result->ne[1]);
    begin.planned_in = planned_in_;
    record_evaluation_begin(scheduler_, id, begin, other ? "image size" : "");
    try {
        if (!reused) {
            scheduler_.plan(*graph_, same_with_any_attention);
        }
        if (run == Run::prepare) {
            scheduler_.prepare();
        }
        if (run == Run::compute) {
            fill(view);
            scheduler_.expect(io_.result->ne[1]);
            scheduler_.compute();
            const size_t n = n_elements(*io_.result);
            rows.resize(rows.size() + n);
            tensor_read(*io_.result, rows.data() + (rows.size() - n), 0, n * sizeof(float));
            model_.file().check_whole(); // weights on the host lie in the file
        }
    } catch (const std::exception& e) {
        drop_graph();
        record_evaluation_end(scheduler_, e.what());
        throw;
    }
    record_evaluation_end(scheduler_, nullptr);
}

} // namespace schedscope::vision
