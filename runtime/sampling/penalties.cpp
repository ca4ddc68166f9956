#include "runtime/backend/buffer.h"
#include "runtime/numbers.h"
#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

namespace schedscope {

namespace {

class Penalise final : public Sampler, public GraphSampler {
public:
    explicit Penalise(const Penalties& p) : p_(p) {}
    Penalise(const Penalise&) = default;

    std::string_view name() const noexcept override { return "penalties"; }
    void apply(Candidates& c) override {
        if (off() || counts_.empty()) {
            return;
        }
        for (Candidate& i : c.items) {
            const auto found = counts_.find(i.id);
            if (found == counts_.end()) {
                continue;
            }
            i.logit = i.logit > 0 ? i.logit / p_.repeat : i.logit * p_.repeat;
            i.logit -= taken_off(found->second);
        }
        c.n_sorted = 0;
    }
    void accept(int32_t token) override {
        if (off()) {
            return;
        }
        ++counts_[token];
        last_.push_back(token);
        if (p_.last_n > 0 && last_.size() > static_cast<size_t>(p_.last_n)) {
            const auto oldest = counts_.find(last_.front());
            if (--oldest->second == 0) {
                counts_.erase(oldest);
            }
            last_.pop_front();
        }
    }
    void reset() override {
        last_.clear();
        counts_.clear();
    }

    GraphSampler* in_graph() noexcept override { return this; }
    void make_inputs(TensorStore& store, int64_t n_vocab) override {
        if (!off()) {
            const int64_t n = p_.last_n > 0 ? std::min<int64_t>(p_.last_n, n_vocab) : n_vocab;
            ids_ = store.make(Type::I32, {n, 1, 1, 1}, "penalised_tokens");
            factors_ = store.make(Type::F32, {1, n, 1, 1}, "penalty_factors");
            taken_off_ = store.make(Type::F32, {1, n, 1, 1}, "penalties_taken_off");
        }
    }
    /// A logit's positive part is divided and its negative part multiplied: one of them is 0, so the other comes out as on the
    /// CPU.
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (off()) {
            return;
        }
        Tensor* factors = graph_nodes::by_token(g, c, factors_, ids_, 1.0F);
        Tensor* taken_off = graph_nodes::by_token(g, c, taken_off_, ids_, 0.0F);
        Tensor* positive = ops::unary(g, c.logits, UnaryOp::RELU);
        Tensor* negative = ops::sub(g, c.logits, positive);
        Tensor* repeated = ops::add(g, ops::div(g, positive, factors), ops::mul(g, negative, factors));
        c.logits = ops::sub(g, repeated, taken_off);
        c.sorted = false;
    }
    void write_inputs(bool /*draws*/) override {
        if (ids_ == nullptr) {
            return;
        }
        const auto n = ids_->ne[0];
        new_ids_.clear();
        new_factors_.clear();
        new_taken_off_.clear();
        for (const auto& [id, count] : counts_) {
            new_ids_.push_back(id);
            new_factors_.push_back(p_.repeat);
            new_taken_off_.push_back(taken_off(count));
        }
        // Places that are left say again what the first one says: whichever is written last, the table is the same.
        new_ids_.resize(n, new_ids_.empty() ? 0 : new_ids_.front());
        new_factors_.resize(n, new_factors_.empty() ? 1.0F : new_factors_.front());
        new_taken_off_.resize(n, new_taken_off_.empty() ? 0.0F : new_taken_off_.front());
        tensor_write(*ids_, new_ids_.data(), 0, n * sizeof(int32_t));
        tensor_write(*factors_, new_factors_.data(), 0, n * sizeof(float));
        tensor_write(*taken_off_, new_taken_off_.data(), 0, n * sizeof(float));
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Penalise>(*this); }

private:
    bool off() const noexcept { return p_.last_n == 0 || (p_.repeat == 1.0F && p_.frequency == 0 && p_.presence == 0); }
    float taken_off(int32_t count) const noexcept { return to_float(count) * p_.frequency + p_.presence; }

    Penalties p_;
    std::deque<int32_t> last_;
    std::unordered_map<int32_t, int32_t> counts_; ///< occurrences among last_
    Tensor* ids_ = nullptr;                       ///< I32 [n]
    Tensor* factors_ = nullptr;                   ///< F32 [1, n]
    Tensor* taken_off_ = nullptr;                 ///< F32 [1, n]
    std::vector<int32_t> new_ids_;                // what is written to them
    std::vector<float> new_factors_, new_taken_off_;
};

} // namespace

std::unique_ptr<Sampler> make_penalties(const Penalties& penalties) { return std::make_unique<Penalise>(penalties); }

} // namespace schedscope
