#pragma once

#include "runtime/system/visible_text.h"

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

/// Text for people, in lines. What a trace or a model calls its tensors may hold anything: none of it reaches a terminal as a
/// control character or breaks a line.
namespace schedscope {

/// A line that is written when it is complete:
///
///     OutputLine(out) << "split " << index << "  " << backend;
class OutputLine {
public:
    explicit OutputLine(std::ostream& out) : out_(out) {}
    ~OutputLine() { out_ << visible(text_.str()) << '\n'; }
    OutputLine(const OutputLine&) = delete;
    OutputLine& operator=(const OutputLine&) = delete;

    template <typename Part> OutputLine& operator<<(const Part& part) {
        text_ << part;
        return *this;
    }

private:
    std::ostream& out_;
    std::ostringstream text_;
};

/// "schedscope: …" on standard error, in one line, however long the names in it are.
void tell(std::string_view sentence);

/// "wrote x.trace: 12 evaluations; next: schedscope inspect x.trace" on standard error: the last line of whatever records;
/// of no evaluation nothing is next.
/// `kept`: what part of the run they are (recording_bounds.h); empty: the whole. `also`: what else there is to say of it; empty:
/// nothing.
void tell_of_trace(std::string_view trace, int64_t n_evaluations, const std::string& kept = {}, const std::string& also = {});

} // namespace schedscope
