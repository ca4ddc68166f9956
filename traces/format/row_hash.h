#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

/// A hash of a table's rows that no order of theirs changes, so that it can be kept while they are written. SCHEMA.md says the
/// same in words.
namespace schedscope {

/// The finaliser of splitmix64: each bit of the result depends on each one of x.
constexpr uint64_t mixed(uint64_t x) noexcept {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

/// One row, cell by cell in any order. A cell that is NULL adds nothing.
class RowHash {
public:
    void add(int column, int64_t value) noexcept { add(column, Sort::integer, static_cast<uint64_t>(value)); }
    /// SQLite keeps no sign of 0, and NaN as NULL.
    void add(int column, double value) noexcept {
        if (!std::isnan(value)) {
            add(column, Sort::real, std::bit_cast<uint64_t>(value == 0 ? 0.0 : value));
        }
    }
    /// Of a text or a blob.
    void add(int column, std::string_view bytes) noexcept {
        uint64_t sum = bytes.size();
        for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(8, bytes.size()))) {
            uint64_t word = 0; // little endian
            std::memcpy(&word, bytes.data(), std::min<size_t>(8, bytes.size()));
            sum = mixed(sum ^ word) + 1;
        }
        add(column, Sort::bytes, sum);
    }
    uint64_t value() const noexcept { return mixed(sum_); }

private:
    enum class Sort : uint8_t { integer, real, bytes };
    void add(int column, Sort sort, uint64_t value) noexcept {
        constexpr uint64_t odd = 0x9E3779B97F4A7C15U;
        sum_ += mixed(value + odd * (4 * static_cast<uint64_t>(column) + static_cast<uint64_t>(sort) + 1));
    }
    uint64_t sum_ = 0;
};

/// Of all rows of a table.
struct TableHash {
    int64_t n_rows = 0;
    uint64_t sum = 0;

    void add(const RowHash& row) noexcept {
        ++n_rows;
        sum += row.value();
    }
    bool operator==(const TableHash&) const = default;
};

} // namespace schedscope
