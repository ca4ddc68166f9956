#include "runtime/session/model_files.h"

#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/hparams.h"
#include "runtime/vision/vision_model.h"

namespace schedscope {

ModelFiles open_models(const RunOptions& options) {
    ModelFiles files;
    files.text = std::make_shared<const gguf::File>(gguf::File::open(options.model));
    find_architecture(*files.text);
    read_hparams(*files.text);
    if (!options.mmproj.empty()) {
        files.encoder = vision::open_encoder(options.mmproj);
    }
    return files;
}

} // namespace schedscope
