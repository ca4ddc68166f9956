#include "runtime/system/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace schedscope {

namespace {

/// The number in a file; nothing: there is none, as where it says "max".
std::optional<int64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    int64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// The least limit of a group and those that it is in. In a container the path may be one outside: what is not there has none.
std::optional<int64_t> least_of(const std::string& mounted, std::string group, const std::string& file) {
    std::optional<int64_t> least;
    for (;;) {
        std::string path = mounted;
        path.append(group).append("/").append(file);
        if (const auto limit = number_in(path)) {
            least = std::min(least.value_or(*limit), *limit);
        }
        if (group.empty()) {
            return least;
        }
        group.erase(group.rfind('/'));
    }
}

} // namespace

std::optional<int64_t> control_group_limit(const std::string& groups, const std::string& mounted) {
    std::optional<int64_t> least;
    std::ifstream lines(groups);
    for (std::string line; std::getline(lines, line);) { // number:controllers:/path
        const size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos || line.find('/', second) != second + 1) {
            continue;
        }
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", group = line.substr(second + 1);
        const bool is_first_version = controllers.find(",memory,") != std::string::npos;
        if (!is_first_version && controllers != ",,") {
            continue;
        }
        const auto limit = is_first_version ? least_of(mounted + "/memory", group, "memory.limit_in_bytes")
                                            : least_of(mounted, group, "memory.max");
        if (limit) {
            least = std::min(least.value_or(*limit), *limit);
        }
    }
    return least;
}

int64_t usable_memory() {
    const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
    return std::min(machine, control_group_limit("/proc/self/cgroup", "/sys/fs/cgroup").value_or(machine));
}

} // namespace schedscope
