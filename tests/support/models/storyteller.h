#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope::test {

/// A model and what it must tell greedily from BOS alone: stories260K, whose text the README beside it has, where ../shared is
/// there; else the teller (teller.h). For tests of the text itself; those that need just some model take the teller.
class Storyteller {
public:
    Storyteller();

    bool trained() const noexcept { return trained_; }
    std::string model(const std::string& type = "f32") const;         ///< its file; f32, f16, q8_0, q4_0
    const std::vector<int32_t>& ids() const noexcept { return ids_; } ///< 200 tokens
    const std::string& text() const noexcept { return text_; }        ///< of all of them, without the very first space
    std::string text(size_t n) const;                                 ///< of the first n

private:
    bool trained_;
    std::string text_;
    std::vector<int32_t> ids_;
    std::vector<std::string> pieces_; ///< of the ids
};

/// stories260K; it may not be there.
std::string trained_model(const std::string& type = "f32");

} // namespace schedscope::test
