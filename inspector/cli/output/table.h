#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace schedscope {

/// Plain text in columns, for people: as wide as the widest cell (in characters, UTF-8), numbers to the right.
class Table {
public:
    enum class Align { left, right };
    struct TableColumn {
        std::string title;
        Align align = Align::left;
    };
    explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells); ///< each as `visible` shows it
    bool empty() const noexcept { return rows_.empty(); }
    void print(std::ostream& out) const;

private:
    std::vector<TableColumn> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace schedscope
