#pragma once

#include "runtime/planner/capabilities.h"
#include "runtime/planner/records.h"

#include <vector>

namespace schedscope {

/// Every answer about one graph, asked once. A recording takes it so that later questions (replay, what-if) have answers;
/// the planner then asks the table, and so does replay.
struct CapabilityTable final : Capabilities {
    const SessionInfo* session = nullptr; ///< buffer types and who can use which
    int32_t n_tensors = 0;
    std::vector<Answer> op_answers;       ///< [n_backends × n_tensors]
    std::vector<uint8_t> offload_answers; ///< [n_backends × n_tensors]

    /// Was the backend asked about the tensor? Of others the rest must not be called.
    bool has(BackendId backend, TensorId tensor) const noexcept {
        return is_index(at(backend, tensor), op_answers) && tensor < n_tensors;
    }
    const Answer& op_answer(BackendId backend, TensorId tensor) const { return op_answers[at(backend, tensor)]; }
    void refuse(BackendId backend, TensorId tensor, const Answer& why) { op_answers[at(backend, tensor)] = why; }
    void set_offload(BackendId backend, TensorId tensor, bool wants) { offload_answers[at(backend, tensor)] = wants ? 1 : 0; }
    /// Leaves the answers of these backends, in this order.
    void keep_backends(const std::vector<BackendId>& order);
    /// One tensor more, behind the others, with the answers about `like`.
    void add_tensor(TensorId like);

    int n_backends() const noexcept override;
    BufferTypeId default_buffer_type(BackendId backend) const override;
    bool is_host(BufferTypeId type) const override;
    Answer supports_op(BackendId backend, TensorId tensor) const override;
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override;
    bool wants_offload(BackendId backend, TensorId tensor) const override;

private:
    size_t at(BackendId backend, TensorId tensor) const noexcept { return backend * static_cast<size_t>(n_tensors) + tensor; }
};

/// Asks everything. session's buffer types and backends must be those of `from`.
void fill_table(CapabilityTable& table, const SessionInfo& session, const Capabilities& from, int32_t n_tensors);

} // namespace schedscope
