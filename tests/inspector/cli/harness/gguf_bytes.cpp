#include "tests/inspector/cli/harness/gguf_bytes.h"

#include <stdexcept>

namespace schedscope::test {

GgufBytes::GgufBytes(std::string bytes) : bytes_(std::move(bytes)) {
    // The last tensor's description ends the header; its name is the last one in front of the data.
    const uint64_t n_tensors = number(8, 8);
    size_t at = bytes_.find("token_embd.weight") - 8; // the first tensor's name, with its length in front
    for (uint64_t i = 0; i < n_tensors; ++i) {
        at += 8 + number(at, 8);
        at += 4 + 8 * number(at, 4) + 4 + 8;
    }
    header_bytes_ = at;
}

uint64_t GgufBytes::number(size_t at, size_t bytes) const {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
        value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_.at(at + i))) << (8 * i);
    }
    return value;
}

GgufBytes::Tensor GgufBytes::tensor(std::string_view name) const {
    std::string written;
    for (size_t i = 0; i < 8; ++i) {
        written += static_cast<char>((name.size() >> (8 * i)) & 0xff);
    }
    const size_t at = bytes_.find(written + std::string(name));
    if (at == std::string::npos) {
        throw std::runtime_error("no tensor '" + std::string(name) + "'");
    }
    const size_t dimensions = at + 8 + name.size();
    return {dimensions, dimensions + 4 + 8 * number(dimensions, 4)};
}

void GgufBytes::put(size_t at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        bytes_.at(at + i) = static_cast<char>((value >> (8 * i)) & 0xff);
    }
}

void GgufBytes::replace(std::string_view from, std::string_view to, std::string_view behind) {
    const size_t at = bytes_.find(from, bytes_.find(behind));
    if (at == std::string::npos || from.size() != to.size()) {
        throw std::runtime_error("can't replace '" + std::string(from) + "'");
    }
    bytes_.replace(at, from.size(), to);
}

} // namespace schedscope::test
