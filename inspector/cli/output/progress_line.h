#pragma once

#include <cstdint>
#include <string>

namespace schedscope {

/// One line on a terminal's stderr that tells what takes so long: shown after a moment, with the seconds counting up, and removed
/// at the end. Not a terminal: nothing.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void say(const std::string& what); ///< what is done from here on
    /// The same of bytes: "reading weights, 1.2 GiB of 4.1 GiB".
    void say(const std::string& what, int64_t done_bytes, int64_t of_bytes);
    void tick(); ///< to be called now and then while it is done
    void clear();

private:
    void draw(int64_t seconds);

    bool on_;
    std::string what_;
    int64_t begin_ns_ = 0, shown_s_ = 0;
    bool drawn_ = false;
};

} // namespace schedscope
