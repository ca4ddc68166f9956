#include "runtime/vision/vision_model.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/weight_loader.h"
#include "runtime/tensor/convert.h"

namespace schedscope::vision {

namespace {

const gguf::FileTensor* newline_of(const gguf::File& file) noexcept {
    const gguf::FileTensor* info = file.find_tensor("model.image_newline");
    return info != nullptr ? info : file.find_tensor("v.image_newline");
}

} // namespace

std::shared_ptr<const gguf::File> open_encoder(const std::string& path) {
    auto file = std::make_shared<const gguf::File>(gguf::File::open(path));
    read_hparams(*file);
    find_projector(*file);
    return file;
}

VisionModel::VisionModel(std::shared_ptr<const gguf::File> file, std::span<Device* const> devices,
                         const PlacementOptions& placement, const LoadOptions& loading,
                         std::vector<OverrideReport>* shared_reports)
    : file_(std::move(file)), mode_(loading.mode), hparams_(read_hparams(*file_)),
      placement_(placement, placed_devices(devices), 0), // an encoder has no layers that are placed
      projector_(&find_projector(*file_)) {
    std::vector<OverrideReport> own_reports;
    WeightLoader weight_loader(*file_, devices, placement_, loading, store_,
                               shared_reports != nullptr ? *shared_reports : own_reports);
    WeightNames loader(*file_, weight_loader);
    name_weights(weights_, loader, hparams_);
    const int64_t n_in = int64_t{hparams_.n_embd} * hparams_.feature_layers.size();
    projector_weights_ = projector_->weights(loader, hparams_, n_in);
    n_embd_text_ = projector_weights_->n_embd_text;
    if (shared_reports == nullptr) {
        require_matches(own_reports);
    }
    if (const gguf::FileTensor* newline = newline_of(*file_);
        newline != nullptr && (newline->ne != Shape{n_embd_text_, 1, 1, 1} || !can_expand(newline->type))) {
        throw Error(ErrorKind::input, file_->path() + ": tensor " + std::string(newline->name) + " has shape " +
                                          shape_text(newline->ne) + ", expected [" + std::to_string(n_embd_text_) + "]");
    }
    loaded_ = weight_loader.load();
}

VisionModel::~VisionModel() = default;

int32_t VisionModel::n_rows(Size patches) const { return projector_->n_rows(*projector_weights_, patches); }

std::vector<float> VisionModel::image_newline() const {
    const gguf::FileTensor* info = newline_of(*file_);
    std::vector<float> values(info != nullptr ? n_embd_text_ : 0);
    if (info != nullptr) {
        row_to_float(info->type, info->data, values.data(), n_embd_text_);
        file_->check_whole();
    }
    return values;
}

} // namespace schedscope::vision
