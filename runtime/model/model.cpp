#include "runtime/model/model.h"

#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/weight_loader.h"

namespace schedscope {

Model::Model(std::shared_ptr<const gguf::File> file, std::span<Device* const> devices, const PlacementOptions& placement,
             const LoadOptions& loading, std::vector<OverrideReport>* shared_reports)
    : file_(std::move(file)), devices_(devices.begin(), devices.end()), mode_(loading.mode),
      architecture_(&find_architecture(*file_)), hparams_(hparams_of(*file_)),
      placement_(placement, placed_devices(devices), hparams_.n_layer) {
    std::vector<OverrideReport> own_reports;
    WeightLoader loader(*file_, devices_, placement_, loading, store_, shared_reports != nullptr ? *shared_reports : own_reports);
    weights_.layers.resize(hparams_.n_layer);
    architecture_->weights(weights_, loader, hparams_);
    if (shared_reports == nullptr) {
        require_matches(own_reports);
    }
    loaded_ = loader.load();
}

Model::~Model() = default;

void Model::move_to_large_pages(ThreadPool& threads) const {
    if (!loaded_.streamed.empty()) {
        file_->move_to_large_pages(loaded_.streamed, [&](int n, const auto& work) { threads.run(n, work); });
        file_->check_whole();
    }
}

int64_t Model::n_parameters() const noexcept {
    int64_t n = 0;
    for (const gguf::FileTensor& t : file_->tensors()) {
        n += t.ne[0] * t.ne[1] * t.ne[2] * t.ne[3];
    }
    return n;
}

} // namespace schedscope
