#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

/// `--logits-out`: raw little-endian float32 rows, by sequence id, then position. Throws Error(device) when it can't be written.
class LogitsFile {
public:
    LogitsFile(const std::string& path, bool one_sequence);
    void row(int32_t sequence, std::span<const float> logits);
    void close();

private:
    void check() const;

    std::string path_;
    bool one_sequence_;
    std::ofstream out_;
    std::map<int32_t, std::vector<float>> rows_; ///< held back until the end when several sequences take turns
};

} // namespace schedscope
