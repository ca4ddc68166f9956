#include "tests/inspector/cli/harness/story.h"

#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <nlohmann/json.hpp>

#include <sstream>
#include <stdexcept>

namespace schedscope::testing {
namespace {

/// A piece of the vocabulary as text: the low line that stands for a space becomes one.
std::string with_spaces(const std::string& piece) {
    const std::string low_line = "\u2581";
    std::string text;
    for (size_t at = 0; at < piece.size();) {
        const bool space = piece.compare(at, low_line.size(), low_line) == 0;
        text += space ? ' ' : piece[at];
        at += space ? low_line.size() : 1;
    }
    return text;
}

} // namespace

KnownStory known_story() {
    const std::string readme = read_bytes(shared("models/README.md"));
    const std::string fence = "```\n", before_ids = "Its token ids: ";
    const size_t begin = readme.find(fence), end = readme.find("\n" + fence, begin + 1), ids = readme.find(before_ids);
    if (begin == std::string::npos || end == std::string::npos || ids == std::string::npos) {
        throw std::runtime_error("the models' README tells no story");
    }
    KnownStory story;
    story.text = readme.substr(begin + fence.size(), end - begin - fence.size());
    std::istringstream list(readme.substr(ids + before_ids.size()));
    for (int32_t id = 0; list >> id;) {
        story.ids.push_back(id);
    }
    return story;
}

std::string known_text(size_t n) {
    const auto file = nlohmann::json::parse(run({"gguf", model(), "--json"}).out);
    const auto& pieces = file["metadata"]["tokenizer.ggml.tokens"];
    std::string text;
    const KnownStory story = known_story();
    for (size_t i = 0; i < n; ++i) {
        const auto piece = pieces.at(static_cast<size_t>(story.ids.at(i))).get<std::string>();
        text += piece == "<0x0A>" ? std::string("\n") : with_spaces(piece);
    }
    return text.substr(text.starts_with(' ') ? 1 : 0); // the very first piece's space
}

bool has_device(const std::string& name) {
    const auto found = nlohmann::json::parse(run({"devices", "--json"}).out);
    for (const auto& device : found["devices"]) {
        if (device["name"] == name) {
            return true;
        }
    }
    return false;
}

} // namespace schedscope::testing
