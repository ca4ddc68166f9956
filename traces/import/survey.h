#pragma once

#include "traces/import/backend_names.h"
#include "traces/import/log_lines.h"
#include "traces/import/other_line.h"

#include <string>
#include <utility>
#include <vector>

namespace schedscope::import {

/// Size of a compute buffer as a line prints it; a context that ends prints it again with more digits than at first.
struct PrintedSize {
    std::string buffer_type, text; ///< "Vulkan0", "0.89 MiB"
    int64_t bytes = 0, rounding = 0;
};

/// What must be known of a whole log before its graphs are read: a first reading collects it.
struct Survey {
    BackendNames backends;
    std::vector<std::string> buffer_types;                  ///< of compute buffers, as they came
    std::vector<PrintedSize> compute_buffers;               ///< each size that is printed of them, once, with most digits
    std::vector<std::pair<std::string, std::string>> facts; ///< of the run, by name; the last value holds
    LineWidth width;                                        ///< of the lines as they stand there
    size_t name_width = 0; ///< of the longest name on a node line: names of that width may be cut
    int64_t n_lines = 0, n_splits = 0, n_nodes = 0;
    bool has_causes = false;
};

/// What a line prints, by the line with the most digits that says the same of that buffer type.
PrintedSize closest_size(const Survey& survey, const BufferLine& buffer);

/// Reads the file to its end; it is not complete where the file was stopped.
Survey survey_log(LogFile& file);

} // namespace schedscope::import
