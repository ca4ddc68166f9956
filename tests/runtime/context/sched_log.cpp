#include "tests/runtime/context/sched_log.h"

#include <fstream>

namespace schedscope::test {

namespace {

std::string field(const std::string& line, size_t at, size_t width) {
    std::string s = at < line.size() ? line.substr(at, width) : "";
    const size_t begin = s.find_first_not_of(' ');
    return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(' ') + 1 - begin);
}

LogSplit split_of(const std::string& line) {
    LogSplit s;
    const size_t name = line.find(": ") + 2;
    const size_t inputs = line.find(" # ", name);
    s.backend = line.substr(name, inputs - name);
    s.n_inputs = std::stoi(line.substr(inputs + 3));
    for (size_t at = line.find(": [", inputs); at != std::string::npos; at = line.find("] [", at + 1)) {
        const size_t begin = line.find('[', at) + 1;
        // "NAME (SIZE)": names have parentheses, too.
        const size_t end = line.find("] ", begin);
        const std::string entry = line.substr(begin, end - begin);
        s.inputs.push_back(entry.substr(0, entry.rfind(" (")));
    }
    return s;
}

LogNode node_of(const std::string& line) {
    // node #%3d (%10.10s): %20.20s (%5.5s) [%5.5s %8.8s] use=%d,c=%d:
    LogNode n;
    n.index = std::stoi(line.substr(6, 3));
    n.op = field(line, 11, 10);
    n.name = field(line, 24, 20);
    n.size = field(line, 46, 5);
    n.backend = field(line, 54, 5);
    n.cause = field(line, 60, 8);
    // per source: " %20.20s (%5.5s) [%5.5s %8.8s]"
    constexpr size_t width = 46;
    for (size_t at = line.find(':', 69) + 1; at + width <= line.size(); at += width) {
        n.sources.push_back({field(line, at + 1, 20), field(line, at + 23, 5), field(line, at + 31, 5), field(line, at + 37, 8)});
    }
    return n;
}

} // namespace

std::optional<std::vector<LogGraph>> read_sched_log(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return std::nullopt;
    }
    std::vector<LogGraph> graphs;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## SPLIT #")) {
            if (line.starts_with("## SPLIT #0:")) {
                graphs.emplace_back();
            }
            graphs.back().splits.push_back(split_of(line));
        } else if (line.starts_with("node #")) {
            graphs.back().nodes.push_back(node_of(line));
        }
    }
    return graphs;
}

std::string log_size(long long bytes) {
    return bytes >= 1024 * 1024 ? std::to_string(bytes / 1024 / 1024) + "M" : std::to_string(bytes / 1024) + "K";
}

} // namespace schedscope::test
