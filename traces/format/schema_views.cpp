// Views: the common questions, ready to be asked with any SQLite shell.

#include "traces/format/schema.h"

namespace schedscope::schema {

namespace {

/// The name of a tensor of a plan; a copy is called as the scheduler calls it. `plan`: step of the plan; `graph`: its graph.
std::string name_of(const std::string& plan, const std::string& graph, const std::string& id) {
    return "coalesce((SELECT name FROM tensor WHERE graph = " + graph + " AND id = " + id +
           "), (SELECT (SELECT name FROM backend WHERE id = k.backend) || '#' || (SELECT name FROM tensor WHERE graph = " +
           graph + " AND id = k.original) || '#' || coalesce(k.stage, '?') FROM copy k WHERE k.step > " + plan +
           " AND k.copy = " + id + " ORDER BY k.step LIMIT 1))";
}

std::string backend(const std::string& id) { return "(SELECT name FROM backend WHERE id = " + id + ")"; }
std::string word(const std::string& kind, const std::string& number) {
    return "(SELECT word FROM word WHERE kind = '" + kind + "' AND number = " + number + ")";
}
std::string text(const std::string& id) { return "(SELECT value FROM text WHERE id = " + id + ")"; }

/// The plan that a record written while planning speaks of.
constexpr const char* own_plan = "(SELECT max(step) FROM plan WHERE step < r.step)";

/// Records of planning with the step and graph of their plan.
std::string planned(const std::string& table) {
    return "(SELECT r.*, p.step AS plan_step, p.graph AS graph FROM " + table + " r JOIN plan p ON p.step = " + own_plan + ")";
}

/// Records of running with the step and graph of the plan that was run.
std::string run(const std::string& table) {
    return "(SELECT r.*, e.plan_step AS plan_step, e.graph AS graph FROM " + table +
           " r JOIN evaluations e ON e.id = r.evaluation)";
}

std::vector<Entity> make_views() {
    std::vector<Entity> v;
    const auto add = [&](const std::string& name, const std::string& select) {
        v.push_back({name, "CREATE VIEW " + name + " AS " + select});
    };

    add("evaluations", "SELECT x.id, x.first_step, x.kind, x.reused, x.failed_check, x.n_tokens, x.n_sequences, x.n_outputs, "
                       "x.planned_in, x.plan_step, p.graph, "
                       "x.failed, x.error FROM (SELECT v.id AS id, v.first_step AS first_step, " +
                           word("graph_kind", "b.kind") + " AS kind, b.reused AS reused, " + text("nullif(b.failed_check, 0)") +
                           " AS failed_check, b.n_tokens AS n_tokens, b.n_sequences AS n_sequences, b.n_outputs AS n_outputs, "
                           "coalesce(b.planned_in, v.id) AS planned_in, "
                           "(SELECT max(step) FROM plan WHERE step >= (SELECT first_step FROM evaluation WHERE id = "
                           "coalesce(b.planned_in, v.id)) AND step < "
                           "coalesce((SELECT first_step FROM evaluation WHERE id = coalesce(b.planned_in, v.id) + 1), "
                           "9223372036854775807)) AS plan_step, d.failed AS "
                           "failed, " +
                           text("nullif(d.error, 0)") +
                           " AS error FROM evaluation v LEFT JOIN evaluation_begin b ON b.evaluation = v.id LEFT JOIN "
                           "evaluation_end d ON d.evaluation = v.id) x "
                           "LEFT JOIN plan p ON p.step = x.plan_step");

    add("why", "SELECT r.step, r.evaluation, r.graph, r.tensor, " + name_of("r.plan_step", "r.graph", "r.tensor") + " AS name, " +
                   word("pass", "r.pass") + " AS pass, " + backend("r.before") + " AS backend_before, " + backend("r.after") +
                   " AS backend, " + word("cause", "r.cause") + " || CASE " + word("cause", "r.cause") +
                   " WHEN '1.wgt' THEN r.source ELSE '' END AS cause, " + name_of("r.plan_step", "r.graph", "r.\"by\"") +
                   " AS by_name FROM " + planned("assign") + " r");

    add("splits",
        "SELECT r.step, r.evaluation, r.idx, " + backend("r.backend") + " AS backend, " + word("split_reason", "r.why") +
            " AS why, r.first_node, (SELECT e.end_node - 1 FROM split_end e WHERE e.step > r.step ORDER BY e.step LIMIT 1) AS "
            "last_node, " +
            name_of("r.plan_step", "r.graph", "r.node") + " AS node, " + name_of("r.plan_step", "r.graph", "r.\"by\"") +
            " AS by_name, (SELECT count(*) FROM split_input i WHERE i.step > r.step AND i.step < n.step) AS n_inputs, "
            "(SELECT CASE WHEN count(bytes) = count(*) THEN coalesce(sum(bytes), 0) END FROM split_input i WHERE i.step > "
            "r.step AND i.step < n.step) AS input_bytes FROM " +
            planned("split") + " r JOIN split_end n ON n.step = (SELECT min(step) FROM split_end WHERE step > r.step)");

    add("copies", "SELECT r.step, r.evaluation, r.split, r.tensor, " + name_of("r.plan_step", "r.graph", "r.tensor") +
                      " AS name, " + backend("r.source_backend") + " AS source_backend, " +
                      backend("(SELECT s.backend FROM split s WHERE s.step < r.step ORDER BY s.step DESC LIMIT 1)") +
                      " AS backend, r.bytes, " + name_of("r.plan_step", "r.graph", "r.node") + " AS needed_by FROM " +
                      planned("split_input") + " r");

    // A kernel's record has the step before the split's own, and before those of the kernels behind it.
    const std::string kernel = " AS step, r.evaluation, r.time_ns, r.split, r.backend, r.device_time, k.count, k.first, k.last, "
                               "k.kernel, ";
    add("execute", "SELECT r.step - r.complete - r.count + 1 + t.key" + kernel +
                       "r.start_ns + json_extract(t.value, '$[0]') AS start_ns, r.start_ns + json_extract(t.value, '$[0]') + "
                       "json_extract(t.value, '$[1]') AS end_ns, k.bytes, k.flops FROM split_run r JOIN json_each(r.times) t "
                       "JOIN kernel k ON k.list = r.kernels AND k.position = r.first + t.key UNION ALL SELECT r.step" +
                       kernel +
                       "NULL, NULL, k.bytes, k.flops FROM split_run r JOIN kernel k ON k.list = r.kernels WHERE r.times IS NULL");

    // The time of a kernel that was not always timed is not known: no split's time is divided.
    const auto if_all_timed = [](const std::string& value) {
        return "CASE WHEN count(r.start_ns) = count(*) THEN " + value + " END";
    };
    add("kernel_time",
        "SELECT " + backend("r.backend") + " AS backend, " + text("r.kernel") +
            " AS kernel, count(*) AS runs, sum(r.count) AS nodes, " + if_all_timed("sum(r.end_ns - r.start_ns)") +
            " AS total_ns, " + if_all_timed("avg(r.end_ns - r.start_ns)") +
            " AS mean_ns, sum(r.bytes) AS bytes, sum(r.flops) AS flops FROM execute r GROUP BY r.backend, r.kernel "
            "ORDER BY total_ns DESC");

    add("timeline",
        "SELECT 'kernel' AS what, r.step, r.evaluation, r.split, " + backend("r.backend") + " AS backend, " + text("r.kernel") +
            " || ' ' || " + name_of("r.plan_step", "r.graph", "r.last") + " AS name, r.start_ns, r.end_ns, r.bytes FROM " +
            run("execute") + " r UNION ALL SELECT 'copy', r.step, r.evaluation, r.split, " + backend("r.backend") + ", " +
            name_of("r.plan_step", "r.graph", "r.tensor") + ", r.start_ns, r.end_ns, r.bytes FROM " + run("transfer") +
            " r UNION ALL SELECT 'wait', r.step, r.evaluation, r.split, " + backend("r.backend") +
            ", NULL, r.start_ns, r.end_ns, NULL FROM wait r UNION ALL SELECT 'split', r.step, r.evaluation, r.split, " +
            backend("r.backend") + ", 'split ' || r.split, r.start_ns, r.end_ns, NULL FROM split_run r WHERE r.complete");

    add("differences",
        "SELECT r.step, r.evaluation, r.tensor, " + name_of("r.plan_step", "r.graph", "r.tensor") +
            " AS name, (SELECT op FROM tensor WHERE graph = r.graph AND id = r.tensor) AS op, " + text("r.device") +
            " AS device, " + backend("r.backend") +
            " AS backend, r.compared, r.beyond, r.nmse, r.tolerance, r.max_error, r.element, r.value, r.expected, " +
            text("nullif(r.why, 0)") + " AS why FROM " + run("difference") + " r");

    // Two bytes an answer, low byte first; the constant holds every byte in order, so that a byte's position in it is its value.
    std::string every_byte;
    for (int i = 0; i < 256; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        every_byte += {digits[i >> 4], digits[i & 15]};
    }
    const auto byte = [&](const std::string& blob, const std::string& position) {
        return "(instr(x'" + every_byte + "', substr(" + blob + ", " + position + ", 1)) - 1)";
    };
    add("capabilities", "SELECT c.graph, c.backend AS backend, " + backend("c.backend") +
                            " AS backend_name, t.id AS tensor, t.name, t.op, a.yes, " + word("refusal", "a.reason") +
                            " AS reason, a.detail, " + byte("c.offload", "t.id + 1") +
                            " AS offload FROM capability c JOIN tensor t ON t.graph = c.graph JOIN answer a ON a.id = " +
                            byte("c.answers", "2 * t.id + 1") + " + 256 * " + byte("c.answers", "2 * t.id + 2"));
    return v;
}

} // namespace

const std::vector<Entity>& views() {
    static const std::vector<Entity> all = make_views();
    return all;
}

} // namespace schedscope::schema
