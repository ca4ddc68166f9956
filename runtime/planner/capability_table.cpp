#include "runtime/planner/capability_table.h"

#include "runtime/numbers.h"

namespace schedscope {

int CapabilityTable::n_backends() const noexcept { return n_of(session->backends); }

BufferTypeId CapabilityTable::default_buffer_type(BackendId backend) const {
    return session->backends[backend].default_buffer_type.value_or(no_buffer_type);
}

bool CapabilityTable::is_host(BufferTypeId type) const { return session->buffer_types[type].is_host; }

Answer CapabilityTable::supports_op(BackendId backend, TensorId tensor) const { return op_answer(backend, tensor); }

bool CapabilityTable::supports_buffer_type(BackendId backend, BufferTypeId type) const {
    return session->backends[backend].supports_buffer_type[type] != 0;
}

bool CapabilityTable::wants_offload(BackendId backend, TensorId tensor) const {
    return offload_answers[at(backend, tensor)] != 0;
}

void CapabilityTable::keep_backends(const std::vector<BackendId>& order) {
    std::vector<Answer> answers;
    std::vector<uint8_t> offload;
    for (const BackendId b : order) {
        const std::ptrdiff_t first = at(b, 0), end = first + n_tensors;
        if (end <= std::ssize(op_answers)) {
            answers.insert(answers.end(), op_answers.begin() + first, op_answers.begin() + end);
            offload.insert(offload.end(), offload_answers.begin() + first, offload_answers.begin() + end);
        }
    }
    op_answers = std::move(answers);
    offload_answers = std::move(offload);
}

void CapabilityTable::add_tensor(TensorId like) {
    std::vector<Answer> answers;
    std::vector<uint8_t> offload;
    for (std::ptrdiff_t first = 0, n = n_tensors; n > 0 && first + n <= std::ssize(op_answers); first += n) {
        answers.insert(answers.end(), op_answers.begin() + first, op_answers.begin() + first + n);
        answers.push_back(op_answers[first + like]);
        offload.insert(offload.end(), offload_answers.begin() + first, offload_answers.begin() + first + n);
        offload.push_back(offload_answers[first + like]);
    }
    op_answers = std::move(answers);
    offload_answers = std::move(offload);
    ++n_tensors;
}

void fill_table(CapabilityTable& table, const SessionInfo& session, const Capabilities& from, int32_t n_tensors) {
    table.session = &session;
    table.n_tensors = n_tensors;
    const auto n = from.n_backends() * static_cast<size_t>(n_tensors);
    table.op_answers.resize(n);
    table.offload_answers.resize(n);
    size_t i = 0;
    for (BackendId backend = 0; backend < from.n_backends(); ++backend) {
        for (TensorId tensor = 0; tensor < n_tensors; ++tensor, ++i) {
            table.op_answers[i] = from.supports_op(backend, tensor);
            table.offload_answers[i] = from.wants_offload(backend, tensor) ? 1 : 0;
        }
    }
}

} // namespace schedscope
