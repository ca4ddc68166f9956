#include "traces/import/survey.h"

#include "traces/history/accounts/as_logged.h"
#include "traces/import/logged_text.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace schedscope::import {

namespace {

constexpr size_t longest_cut_name = 64; ///< ggml's names have at most 63 bytes
constexpr size_t most_buffer_types = 1024, most_sizes = 64;
constexpr ptrdiff_t most_told_buffers = 64;

void note_fact(Survey& survey, const FactLine& fact) {
    const auto same = [&](const auto& f) { return f.first == fact.name; };
    const auto found = std::find_if(survey.facts.begin(), survey.facts.end(), same);
    if (found != survey.facts.end()) {
        found->second = readable(fact.value);
    } else {
        survey.facts.emplace_back(fact.name, readable(fact.value));
    }
}

/// What lies in memory beside the plans: "CPU_Mapped 0.41 MiB, Vulkan0 0.15 MiB".
void note_buffer(Survey& survey, const BufferLine& buffer) {
    const std::string_view name = buffer.of == "KV" ? accounts::kv_buffers_fact : accounts::model_buffers_fact;
    const std::string one = readable(buffer.buffer_type) + " " + std::string(buffer.size.text);
    const auto found = std::find_if(survey.facts.begin(), survey.facts.end(), [&](const auto& f) { return f.first == name; });
    if (found == survey.facts.end()) {
        survey.facts.emplace_back(name, one);
    } else if (std::count(found->second.begin(), found->second.end(), ',') < most_told_buffers) {
        found->second += ", " + one;
    }
}

PrintedSize printed(const BufferLine& buffer) {
    return {readable(buffer.buffer_type), std::string(buffer.size.text), buffer.size.bytes, buffer.size.rounding};
}

/// The same size with more digits?
bool says_closer(const PrintedSize& size, const PrintedSize& other) {
    return size.buffer_type == other.buffer_type && size.rounding < other.rounding &&
           std::abs(size.bytes - other.bytes) <= size.rounding + other.rounding;
}

void note_compute_buffer(Survey& survey, const BufferLine& buffer) {
    const std::string name = readable(buffer.buffer_type);
    auto& types = survey.buffer_types;
    if (std::find(types.begin(), types.end(), name) == types.end()) {
        if (types.size() == most_buffer_types) {
            return;
        }
        types.push_back(name);
    }
    auto& all = survey.compute_buffers;
    PrintedSize said = printed(buffer);
    const auto same = [&](const PrintedSize& size) { return size.buffer_type == name && size.bytes == said.bytes; };
    if (const auto found = std::find_if(all.begin(), all.end(), same); found != all.end()) {
        if (said.rounding < found->rounding) {
            *found = std::move(said);
        }
    } else if (all.size() < most_sizes) {
        all.push_back(std::move(said));
    }
}

void note_other(Survey& survey, std::string_view line) {
    if (const auto device = device_line(line)) {
        survey.backends.add_device(readable(device->name), readable(device->description));
    } else if (const auto buffer = buffer_line(line); buffer && buffer->of != "compute") {
        note_buffer(survey, *buffer);
    } else if (buffer) {
        note_compute_buffer(survey, *buffer);
    } else if (const auto fact = fact_line(line)) {
        note_fact(survey, *fact);
    }
}

/// Lines as they are, for the width that they were wrapped at.
LineWidth width_of(LogFile& file, int64_t& n_lines) {
    LineWidth width;
    std::string_view line;
    while (file.next(line)) {
        width.n_longest = line.size() > width.longest ? 0 : width.n_longest;
        width.longest = std::max(width.longest, line.size());
        width.n_longest += line.size() == width.longest ? 1 : 0;
        ++n_lines;
    }
    return width;
}

} // namespace

PrintedSize closest_size(const Survey& survey, const BufferLine& buffer) {
    PrintedSize closest = printed(buffer);
    for (const PrintedSize& size : survey.compute_buffers) {
        closest = says_closer(size, closest) ? size : closest;
    }
    return closest;
}

Survey survey_log(LogFile& file) {
    Survey survey;
    file.rewind();
    survey.width = width_of(file, survey.n_lines);
    file.rewind();
    LogLines lines(file, survey.width);
    WholeLine line;
    LoggedSplit split;
    LoggedNode node;
    const auto note_tensor = [&](const LoggedTensor& tensor) {
        survey.backends.add_cut(tensor);
        survey.name_width = std::max(survey.name_width, std::min(tensor.name.size(), longest_cut_name));
        survey.has_causes |= !tensor.cause.empty();
    };
    while (lines.next(line)) {
        if (line.kind == LineKind::other) {
            note_other(survey, line.text);
        } else if (line.kind == LineKind::split && parse_split(line.text, split)) {
            survey.backends.add_full(readable(split.backend));
            ++survey.n_splits;
        } else if (line.kind == LineKind::node && parse_node(line.text, node)) {
            ++survey.n_nodes;
            note_tensor(node.tensor);
            std::for_each(node.sources.begin(), node.sources.end(), note_tensor);
        }
    }
    survey.backends.settle();
    auto& sizes = survey.compute_buffers;
    std::erase_if(sizes, [all = sizes](const PrintedSize& size) {
        return std::any_of(all.begin(), all.end(), [&](const PrintedSize& other) { return says_closer(other, size); });
    });
    return survey;
}

} // namespace schedscope::import
