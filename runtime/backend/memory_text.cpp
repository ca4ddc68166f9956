#include "runtime/backend/memory_text.h"

#include <iomanip>
#include <sstream>

namespace schedscope {

std::string memory_text(int64_t bytes) {
    constexpr const char* units[] = {"KiB", "MiB", "GiB"};
    if (bytes < 1024) {
        return std::to_string(bytes) + " B";
    }
    double amount = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (unit + 1 < std::size(units) && amount >= 1024) {
        amount /= 1024;
        ++unit;
    }
    std::ostringstream out;
    out << std::fixed << std::setprecision(1) << amount << ' ' << units[unit];
    return out.str();
}

} // namespace schedscope
