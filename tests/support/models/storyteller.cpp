#include "tests/support/models/storyteller.h"

#include "runtime/gguf/gguf.h"
#include "tests/support/models/teller.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace schedscope::test {

namespace {

constexpr size_t n_tokens = 200;

/// A piece of the vocabulary as text: the low line that stands for a space becomes one.
std::string as_text(std::string_view piece) {
    constexpr std::string_view low_line = "\u2581";
    if (piece == "<0x0A>") {
        return "\n";
    }
    std::string text;
    while (!piece.empty()) {
        const bool space = piece.starts_with(low_line);
        text += space ? ' ' : piece[0];
        piece.remove_prefix(space ? low_line.size() : 1);
    }
    return text;
}

} // namespace

std::string trained_model(const std::string& type) { return paths::shared("models/stories260K-" + type + ".gguf"); }

Storyteller::Storyteller() : trained_(std::filesystem::exists(trained_model())) {
    if (!trained_) {
        text_ = teller::text(n_tokens);
        ids_ = teller::ids(n_tokens);
    } else {
        std::ifstream file(paths::shared("models/README.md"));
        const std::string readme{std::istreambuf_iterator<char>(file), {}};
        const std::string fence = "```\n", before_ids = "Its token ids: ";
        const size_t begin = readme.find(fence), end = readme.find("\n" + fence, begin + 1), ids = readme.find(before_ids);
        if (begin == std::string::npos || end == std::string::npos || ids == std::string::npos) {
            throw std::runtime_error("the models' README tells no story");
        }
        text_ = readme.substr(begin + fence.size(), end - begin - fence.size());
        std::istringstream list(readme.substr(ids + before_ids.size()));
        ids_.assign(std::istream_iterator<int32_t>(list), {});
    }
    const gguf::File model_file = gguf::File::open(model());
    const auto vocabulary = model_file.require_string_array("tokenizer.ggml.tokens");
    for (const int32_t id : ids_) {
        pieces_.push_back(as_text(vocabulary[static_cast<size_t>(id)]));
    }
}

std::string Storyteller::model(const std::string& type) const { return trained_ ? trained_model(type) : teller::model(type); }

std::string Storyteller::text(size_t n) const {
    std::string all;
    for (size_t i = 0; i < n; ++i) {
        all += pieces_.at(i);
    }
    return all.substr(all.starts_with(' ') ? 1 : 0);
}

} // namespace schedscope::test
