#include "tests/support/traces/super_journal.h"

namespace schedscope::test {

std::string super_journal(const std::string& name, uint32_t page_bytes) {
    const auto number = [](uint32_t n) {
        return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                           static_cast<char>(n)};
    };
    uint32_t sum = 0;
    for (const char c : name) {
        sum += static_cast<uint32_t>(static_cast<signed char>(c));
    }
    constexpr uint32_t locks_at = 1U << 30; // the page of SQLite's locks, which no database uses
    return number(locks_at / page_bytes + 1) + name + number(static_cast<uint32_t>(name.size())) + number(sum) +
           "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
}

} // namespace schedscope::test
