#pragma once

#include "runtime/planner/capability_table.h"
#include "traces/import/stream/stream_layout.h"

#include <map>
#include <vector>

namespace schedscope::import {

/// One graph of a stream, with its tensors and what backends answered about them.
class StreamGraph {
public:
    /// A record of the kind `graph`, with at most so many tensors. Throws Damage.
    StreamGraph(const StreamFields& f, int64_t most_tensors);
    /// One that follows it. Throws Damage. `unknown`: gets its words that stand for nothing here.
    void take(const StreamFields& f, UnknownWords& unknown);
    static bool takes(std::string_view kind) noexcept { return kind == "tensor" || kind == "capability" || kind == "answer"; }
    /// When all of them came. Throws Damage where tensors are missing, or ids lead nowhere.
    void settle(const SessionInfo& session);

    int64_t number() const noexcept { return number_; } ///< the program's
    int64_t n_tensors() const noexcept { return n_tensors_; }
    GraphView view() const noexcept { return graph_.view(); }
    /// Of each backend of the session, which it was settled with. Details are texts of the block. Empty: none was asked about
    /// anything.
    CapabilityTable answers(const SessionInfo& session) const;

private:
    struct Answers { ///< [n_tensors] of a backend
        std::vector<Answer> op;
        std::vector<uint8_t> offload;
    };
    void take_tensor(const StreamFields& f, UnknownWords& unknown);
    void take_capability(const StreamFields& f);
    void take_answer(const StreamFields& f, UnknownWords& unknown);
    Answers& answers_of(const StreamFields& f);

    int64_t number_ = 0, n_tensors_ = 0;
    OwnedGraph graph_;
    std::vector<uint8_t> described_;                          ///< [n_tensors]
    std::vector<std::pair<int64_t, TensorId>> leafs_, nodes_; ///< by place
    TensorId next_ = 0;
    std::map<BackendId, Answers> given_;
};

} // namespace schedscope::import
