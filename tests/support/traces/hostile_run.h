#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace schedscope {
class Recorder;
}

namespace schedscope::test {

/// Texts as somebody would put them into a model or a trace to become markup or script of a page, or to break out of a string:
/// pieces that do something each, put together as the bytes say. What runs sets `window.pwned`, or asks for something from the
/// host evil.invalid. At least one.
std::vector<std::string> hostile_texts(std::span<const uint8_t> bytes);

/// A run with every kind of record that a report shows, in which `texts` stand in turn for the names and words of backends,
/// memory, tensors, facts, reasons and tokens.
void record_hostile_run(Recorder& to, const std::vector<std::string>& texts);

} // namespace schedscope::test
