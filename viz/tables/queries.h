#pragma once

#include "viz/tables/plan_table.h"

#include <list>
#include <string>
#include <vector>

namespace schedscope::tables {

/// An operator on a backend.
struct QueriesRow {
    int32_t op = 0; ///< index into the operators of the plan
    BackendId backend = no_backend;
    int n_on = 0, n_asked = 0;
    struct Refused {
        std::vector<TensorId> nodes;
        std::string why; ///< of the first of them
    };
    const Refused* refused = nullptr; ///< as long as the table
};

/// Operator by backend: how many nodes, how many of them the backend says it can run, how many stand on it at the step, how often
/// the scheduler has asked it.
class QueriesTable final : public PlanTable<QueriesTable, QueriesRow> {
public:
    explicit QueriesTable(History& history);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    std::string_view kind(int row) const override { return rows_[row].refused->nodes.empty() ? "yes" : "no"; }

    struct AskedAt {
        Step step;
        record::BackendQuery query;
    };
    const std::string& op(const QueriesRow& row) const { return plan_->ops[row.op].op; }
    const std::vector<TensorId>& nodes(const QueriesRow& row) const { return plan_->ops[row.op].nodes; }
    int n_nodes(const QueriesRow& row) const { return n_of(nodes(row)); }
    bool answered() const noexcept { return plan_->answered; } ///< the trace holds what the backends said
    /// Of nodes whose operator is not known.
    bool is_unknown(const QueriesRow& row) const { return op(row) == unknown_text; }
    int32_t op_of(TensorId id) const { return plan_->op_at(id); } ///< −1: it is no node
    int row_of(int32_t op, BackendId backend) const { return plan_->row(op, backend); }
    /// Of the questions of a row, in order.
    const AskedAt& asked(int row, int n) const { return plan_->asked[plan_->asked_of[row][n]]; }
    /// What a backend said of a node.
    const Answer& answer(BackendId backend, TensorId id) const;

private:
    struct OpNodes {
        std::string op;
        std::vector<TensorId> nodes; ///< at least one
        int first_row;               ///< one row a backend; one in all where the operator is not known
    };
    /// What is known of a plan: of its graph all, of the questions as far as they were looked at.
    struct Plan {
        GraphId graph = -1;
        Step begin = no_step; ///< of the evaluation that made the plan
        BackendId n_backends = 0;
        bool answered = false;
        std::vector<OpNodes> ops;   ///< by name
        std::vector<int32_t> op_of; ///< by tensor
        std::vector<QueriesRow> rows;
        std::list<QueriesRow::Refused> refused; ///< of each row
        std::vector<AskedAt> asked;             ///< before the step asked_until
        Step asked_until = no_step;
        std::vector<std::vector<int32_t>> asked_of; ///< by row, indices into asked

        int row(int32_t op, BackendId backend) const { return ops[op].first_row + (ops[op].op == unknown_text ? 0 : backend); }
        int32_t op_at(TensorId id) const { return is_index(id, op_of) ? op_of[id] : -1; }
    };
    Plan& plan_of_state();
    Plan read_graph() const;
    void find_questions(Plan& plan) const;
    void count(const Plan& plan);

    std::list<Plan> kept_; ///< the last one looked at first
    Plan nothing_;
    Plan* plan_ = &nothing_;
};

} // namespace schedscope::tables
