#include "inspector/cli/run/image_prompt.h"

#include "inspector/cli/output/text_input.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/session/session.h"
#include "runtime/vision/prompt_parts.h"

#include <utility>

namespace schedscope {

namespace {

/// The texts in front of, between and behind the places of the images: one more than images.
std::vector<std::string> texts_around(std::string text, size_t n_images) {
    if (text.find(image_place) == std::string::npos) {
        text =
            "USER: " + std::string(image_place) + "\n" + (text.empty() ? "describe the image in detail." : text) + "\nASSISTANT:";
    }
    std::vector<std::string> texts;
    size_t at = 0;
    for (size_t next = text.find(image_place); next != std::string::npos; next = text.find(image_place, at)) {
        texts.push_back(text.substr(at, next - at));
        at = next + image_place.size();
    }
    const size_t places = texts.size();
    if (places == 1) { // all of them there
        texts.resize(n_images);
    } else if (places != n_images) {
        throw Error(ErrorKind::usage, "prompt: it has " + std::to_string(places) + " places for images (<image>), but " +
                                          std::to_string(n_images) + (n_images == 1 ? " is" : " are") + " given (--image)");
    }
    texts.push_back(text.substr(at));
    return texts;
}

/// Collects text and images into tokens and places.
class PromptWriter {
public:
    explicit PromptWriter(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    void add(const std::string& text) { text_ += text; }
    void add(std::shared_ptr<const vision::Views> views) {
        flush();
        prompt_.images.push_back({n_of(prompt_.tokens), std::move(views)});
    }
    SequencePrompt finish() {
        flush();
        return std::move(prompt_);
    }

private:
    /// What stands between two images is a text of its own to the tokenizer; only the first has a BOS.
    void flush() {
        if (!begun_ || !text_.empty()) {
            const auto tokens = tokenizer_.encode(text_, !begun_, true);
            prompt_.tokens.insert(prompt_.tokens.end(), tokens.begin(), tokens.end());
        }
        begun_ = true;
        text_.clear();
    }

    const Tokenizer& tokenizer_;
    SequencePrompt prompt_;
    std::string text_;
    bool begun_ = false;
};

std::vector<vision::PromptParts> prepare_images(const RunArguments& a, Session& session) {
    const vision::VisionModel& model = *session.vision();
    std::vector<vision::PromptParts> images;
    for (size_t i = 0; i < a.images.size(); ++i) {
        const std::string& path = a.images[i];
        vision::Views views = vision::prepare(a.pictures[i], model.hparams(), path);
        if (!a.no_text) {
            session.add_fact("image", path.substr(path.find_last_of('/') + 1) + ": " +
                                          vision::description(views, session.encoder()->n_rows(views)));
        }
        images.push_back(vision::prompt_parts(std::move(views), model.hparams()));
    }
    return images;
}

} // namespace

SequencePrompt image_prompt(const RunArguments& a, Session& session) {
    const bool given = a.prompt_option.given() || !a.prompt_file.empty() || !a.tokens.empty();
    if (!given && !a.sequences.empty()) {
        throw Error(ErrorKind::usage, "--image: goes into the prompt of -p, -f or --tokens, not of --seq");
    }
    std::vector<vision::PromptParts> images = prepare_images(a, session);
    if (!a.tokens.empty()) {
        SequencePrompt prompt{0, a.tokens};
        const int32_t before = a.tokens.front() == session.tokenizer().bos() ? 1 : 0;
        for (vision::PromptParts& image : images) {
            for (vision::PromptPart& part : image.parts) {
                prompt.images.push_back({before, std::move(part.views)});
            }
        }
        return prompt;
    }
    const auto texts = texts_around(a.prompt_file.empty() ? a.prompt : read_file(a.prompt_file), images.size());
    PromptWriter writer(session.tokenizer());
    for (size_t i = 0; i < images.size(); ++i) {
        writer.add(texts[i]);
        for (vision::PromptPart& part : images[i].parts) {
            writer.add(part.before);
            writer.add(std::move(part.views));
        }
        writer.add(images[i].after);
    }
    writer.add(texts.back());
    return writer.finish();
}

} // namespace schedscope
