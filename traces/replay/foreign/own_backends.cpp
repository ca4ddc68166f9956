#include "traces/replay/foreign/own_backends.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/format/fields.h"

#include <algorithm>
#include <numeric>

namespace schedscope {

OwnBackends::OwnBackends(const SessionInfo& session, std::span<const record::PlanBackend> own) {
    if (own.empty()) {
        order_.resize(session.backends.size());
        std::iota(order_.begin(), order_.end(), BackendId{0});
        types_.assign(order_.size(), no_buffer_type);
        return;
    }
    order_.assign(own.size(), no_backend);
    types_.assign(own.size(), no_buffer_type);
    for (const record::PlanBackend& b : own) {
        if (!is_index(b.place, order_) || order_[b.place] != no_backend || !is_index(b.backend, session.backends)) {
            throw Error(ErrorKind::input, "a plan's own backends are not numbered from 0: place " + std::to_string(b.place) +
                                              " has backend " + std::to_string(b.backend));
        }
        order_[b.place] = b.backend;
        types_[b.place] = b.buffer_type;
    }
}

bool OwnBackends::are_all(const SessionInfo& session) const {
    const auto is_default = [](BufferTypeId type) { return type == no_buffer_type; };
    return std::ssize(order_) == std::ssize(session.backends) && std::is_sorted(order_.begin(), order_.end()) &&
           std::all_of(types_.begin(), types_.end(), is_default);
}

BackendId OwnBackends::own(BackendId of_session) const {
    const auto found = std::find(order_.begin(), order_.end(), of_session);
    return found == order_.end() ? no_backend : narrow<BackendId>(found - order_.begin());
}

SessionInfo OwnBackends::session(const SessionInfo& all) const {
    SessionInfo session = all;
    session.backends.clear();
    for (size_t place = 0; place < order_.size(); ++place) {
        BackendInfo& backend = session.backends.emplace_back(all.backends[order_[place]]);
        if (types_[place] != no_buffer_type) {
            backend.default_buffer_type = types_[place];
        }
    }
    return session;
}

CapabilityTable OwnBackends::answers(const CapabilityTable& all) const {
    CapabilityTable answers;
    answers.session = all.session;
    answers.n_tensors = all.n_tensors;
    const size_t n = all.n_tensors;
    for (const BackendId b : order_) {
        const size_t first = b * n;
        if (first + n <= all.op_answers.size()) { // else no backend was asked
            const auto op = all.op_answers.begin() + first;
            answers.op_answers.insert(answers.op_answers.end(), op, op + n);
            const auto offload = all.offload_answers.begin() + first;
            answers.offload_answers.insert(answers.offload_answers.end(), offload, offload + n);
        } else {
            answers.op_answers.resize(answers.op_answers.size() + n, Answer::no(Refusal::not_asked, ""));
            answers.offload_answers.resize(answers.offload_answers.size() + n);
        }
    }
    return answers;
}

void OwnBackends::renumber(OwnedGraph& graph) const {
    for (TensorInfo& t : graph.tensors) {
        t.user_backend = t.user_backend == no_backend ? no_backend : own(t.user_backend);
    }
}

void OwnBackends::to_session(Fact& fact) const {
    std::visit(
        [this]<typename T>(T& f) {
            for_each_field<T>([&](const auto& field) {
                using Value = typename std::remove_cvref_t<decltype(field)>::Value;
                if constexpr (std::is_same_v<Value, BackendId>) {
                    if (const Value* id = known(f.*field.member); id != nullptr && field.meaning == Meaning::backend) {
                        f.*field.member = in_session(*id);
                    }
                }
            });
        },
        fact);
}

} // namespace schedscope
