#pragma once

#include "inspector/cli/attach/shared_pages.h"
#include "runtime/error.h"
#include "traces/import/stream/stream_reader.h"
#include "traces/import/stream/stream_ring.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class Recorder;

/// What a program sends, made into records. Whatever is wrong with it, the program goes on; it is told at the end.
class ProgramStream {
public:
    /// `facts`: of the program, for the trace. The pages and the recorder are borrowed.
    ProgramStream(const SharedPages& pages, Recorder& recorder, std::vector<std::pair<std::string, std::string>> facts);

    /// Takes one block. False: there was none, or what came before was too wrong to go on.
    bool take();
    void take_all() {
        while (take()) {}
    }
    /// The program is gone: what it had begun to send is passed over. Completes the records and says what there is to say of
    /// them, each a sentence. Throws Error where the recorder could not write.
    std::vector<std::string> finish(bool killed);

    bool has_records() const noexcept { return has_records_; }
    int64_t n_evaluations() const noexcept { return static_cast<int64_t>(evaluations_.size()); }
    bool damaged() const noexcept { return !damage_.empty(); }                 ///< something is missing
    bool failed() const noexcept { return damaged() || failure_.has_value(); } ///< nothing more is taken

private:
    import::StreamRing ring_;
    Recorder& recorder_;
    import::StreamReader reader_;
    std::set<int64_t> evaluations_;
    std::string damage_;
    std::optional<Error> failure_;
    bool has_records_ = false;
};

} // namespace schedscope
