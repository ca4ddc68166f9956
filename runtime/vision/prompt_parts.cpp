#include "runtime/vision/prompt_parts.h"

namespace schedscope::vision {

namespace {

std::shared_ptr<const Views> alone(ImageView view, Size image) {
    auto views = std::make_shared<Views>();
    views->image = image;
    views->views.push_back(std::move(view));
    return views;
}

} // namespace

PromptParts prompt_parts(Views image, const EncoderHparams& h) {
    PromptParts all;
    if (h.minicpmv_version == 0) {
        all.parts.push_back({"", std::make_shared<const Views>(std::move(image))});
        return all;
    }
    // Version 2 (MiniCPM-V 2.5): <image>…</image><slice><image>…</image><image>…</image>\n…</slice>
    // from 3 (2.6) on:           <image>…</image><slice>…</slice><slice>…</slice>\n…
    const bool nested = h.minicpmv_version == 2;
    const std::string open = nested ? "<image>" : "<slice>", close = nested ? "</image>" : "</slice>";
    all.parts.push_back({"<image>", alone(std::move(image.views.front()), image.image)});
    all.after = "</image>";
    for (size_t i = 1; i < image.views.size(); ++i) {
        std::string before = std::move(all.after);
        if (i == 1) {
            before += nested ? "<slice>" : "";
        } else if ((i - 1) % image.tiles.width == 0) {
            before += "\n";
        }
        all.parts.push_back({before + open, alone(std::move(image.views[i]), image.image)});
        all.after = close;
    }
    all.after += nested && image.views.size() > 1 ? "</slice>" : "";
    return all;
}

} // namespace schedscope::vision
