#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/run/deferred_session.h"
#include "inspector/cli/run/recording.h"
#include "inspector/cli/run/value_printer.h"
#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/verify/verify.h"
#include "traces/history/words/difference_words.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>

namespace schedscope {

namespace {

using nlohmann::json;

constexpr size_t n_worst = 10; ///< rows shown beside those beyond their tolerance

struct VerifyArguments {
    bool json = false, all = false;
};
/// What is compared with what, as people write it.
struct DevicePair {
    std::string checked, reference;
};

DevicePair parse_devices(const std::string& list) {
    const size_t comma = list.find(',');
    DevicePair pair{list.substr(0, comma), comma == std::string::npos ? "cpu" : list.substr(comma + 1)};
    if (list.empty()) {
        throw Error(ErrorKind::usage,
                    "verify: --device says which two to compare: the one to check, then the reference (vulkan0,cpu)");
    }
    if (pair.checked.empty() || pair.reference.empty() || pair.reference.find(',') != std::string::npos) {
        throw Error(ErrorKind::usage,
                    "--device " + list + ": verify compares two: the one to check, then the reference (vulkan0,cpu)");
    }
    return pair;
}

json to_json(const Verification& v) {
    json results = json::array(), skipped = json::array();
    for (const NodeCheck& c : v.checks) {
        results.push_back({{"node", c.node},
                           {"nmse", or_null(c.nmse)},
                           {"tolerance", c.tolerance},
                           {"eval", c.evaluation},
                           {"id", c.id},
                           {"op", c.op},
                           {"beyond", c.beyond()},
                           {"why", or_null(c.why)},
                           {"max_error", or_null(c.max_error)},
                           {"element", c.element < 0 ? json(nullptr) : json(c.element)},
                           {"value", c.element < 0 ? json(nullptr) : or_null(c.value)},
                           {"expected", c.element < 0 ? json(nullptr) : or_null(c.expected)}});
    }
    for (const NodeSkipped& s : v.skipped) {
        skipped.push_back({{"node", s.node}, {"eval", s.evaluation}, {"id", s.id}, {"op", s.op}, {"why", s.why}});
    }
    return {{"nodes", v.checks.size()},
            {"beyond", v.n_beyond},
            {"first_beyond", v.first_beyond ? json(v.checks[*v.first_beyond].node) : json(nullptr)},
            {"ended_by", or_null(v.ended_by)},
            {"results", std::move(results)},
            {"skipped", std::move(skipped)}};
}

/// Those to show, in the order they ran: all, or what is beyond and the worst of the rest, measured by their tolerance.
std::vector<const NodeCheck*> chosen(const Verification& v, bool all) {
    std::vector<const NodeCheck*> rows;
    for (const NodeCheck& c : v.checks) {
        rows.push_back(&c);
    }
    if (all) {
        return rows;
    }
    const auto badness = [](const NodeCheck* c) {
        return c->beyond() ? std::numeric_limits<double>::infinity() : c->tolerance > 0 ? c->nmse / c->tolerance : 0;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return badness(a) > badness(b); });
    rows.resize(std::min(rows.size(), v.n_beyond + n_worst));
    std::sort(rows.begin(), rows.end()); // back in their order: they lie in one vector
    return rows;
}

void print(const Verification& v, const DevicePair& pair, bool all) {
    TextTable table({{"eval", TextTable::Align::right},
                     {"node"},
                     {"op"},
                     {"nmse", TextTable::Align::right},
                     {"tolerance", TextTable::Align::right},
                     {"largest", TextTable::Align::right},
                     {"at"},
                     {""}});
    for (const NodeCheck* c : chosen(v, all)) {
        table.row({std::to_string(c->evaluation), c->node, c->op, words::number(c->nmse), words::number(c->tolerance),
                   std::isnan(c->max_error) ? "-" : words::number(c->max_error),
                   c->element < 0 ? "" : words::place(c->element, c->ne),
                   c->beyond() ? "beyond" + (c->why.empty() ? "" : ": " + c->why) : ""});
    }
    if (!table.empty()) {
        table.print(std::cout);
    }
    std::map<std::string, std::map<std::string, size_t>> why; // by reason and operator
    for (const NodeSkipped& s : v.skipped) {
        ++why[s.why][s.op];
        if (all) {
            OutputLine(std::cout) << "skipped: evaluation " << s.evaluation << ", " << s.op << ' ' << s.node << ": " << s.why;
        }
    }
    for (const auto& [reason, operators] : why) {
        OutputLine line(std::cout);
        line << "skipped: " << reason << ':';
        for (const auto& [op, n] : operators) {
            line << ' ' << op << " × " << n;
        }
    }
    OutputLine(std::cout) << words::counted(v.checks.size(), "node") << " of " << pair.checked << " compared with "
                          << pair.reference << ", " << v.n_beyond << " beyond tolerance, " << v.skipped.size() << " skipped";
    if (!v.ended_by.empty()) {
        OutputLine(std::cout) << "ended early: " << v.ended_by;
    }
    if (interrupted()) {
        OutputLine(std::cout) << "interrupted: what follows was not compared";
    }
    if (v.first_beyond) {
        const NodeCheck& first = v.checks[*v.first_beyond];
        OutputLine(std::cout) << "first beyond: " << first.op << ' ' << first.node << " in evaluation " << first.evaluation;
    } else if (v.checks.empty()) {
        OutputLine(std::cout) << "nothing was compared";
    }
}

/// Compares, and records what it finds where that is wanted. Returns the exit code.
int compare_devices(RunArguments& arguments, const VerifyArguments& options) {
    const DevicePair pair = parse_devices(arguments.run.devices);
    ModelFiles files = open_models(arguments.run);
    const Registry registry;
    Device& checked = *registry.select(pair.checked).front();
    registry.select(pair.reference); // may refuse, before a trace is begun
    arguments.run.devices = pair.reference;
    arguments.run.fusion = false; // nodes are compared one by one, and so they run
    if (!arguments.run.sampling.temperature) {
        arguments.run.sampling.temperature = 0.0F; // the same tokens each time
    }
    catch_interrupts(arguments.record);
    const std::unique_ptr<TraceWriter> writer = make_writer(arguments);
    ValuePrinter printer(std::cerr);
    std::optional<DeferredSession> deferred;
    Recorder* recorder = arguments.run.watcher != nullptr ? &printer : nullptr;
    if (writer) {
        recorder = &deferred.emplace(*writer);
    }
    ProgressLine line;
    arguments.run.on_load = [&line](int64_t done, int64_t total) { line.say("reading weights", done, total); };
    Session reference(registry, std::move(files), arguments.run, recorder);
    line.clear();
    GenerateRequest request = make_request(arguments, reference);
    request.stop = &interrupt_flag();
    const Verification result = verify(reference, checked, request);
    if (options.json) {
        print_json(to_json(result));
    } else {
        print(result, {std::string(checked.name()), std::string(reference.backends().front()->name())}, options.all);
    }
    if (writer) {
        std::cout.flush();
        deferred->finish();
        writer->close();
    }
    return result.n_beyond > 0 ? 1 : 0;
}

} // namespace

CommandAction add_verify(CommandOptions& app) {
    auto arguments = add_run_options(app);
    auto options = std::make_shared<VerifyArguments>();
    arguments->n_predict = 2;
    app.default_text("--predict", "2");
    arguments->run.kernel_times = KernelTimes::kernels;
    app.default_text("--kernel-times", "kernels");
    app.add_option("--record", arguments->record, "Record to this trace: the plan, what ran, and each node's difference")
        .names_a_file();
    app.add_flag("--force", arguments->force, "The trace may replace a file that is no trace");
    app.add_flag("-v,--all", options->all, "Every node, not only the worst and those beyond");
    app.add_flag("--json", options->json, "Print JSON");
    return [arguments, options] {
        settle(*arguments);
        if (!arguments->logits_out.empty()) {
            throw Error(ErrorKind::usage, "--logits-out: verify only compares; run and record have it");
        }
        return compare_devices(*arguments, *options);
    };
}

} // namespace schedscope
