#include "traces/import/import_log.h"

#include "runtime/error.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/import/graph_writer.h"
#include "traces/import/logged_text.h"
#include "traces/import/model_graphs.h"
#include "traces/import/other_model.h"
#include "traces/import/stream/stream_block.h"
#include "traces/import/survey.h"

#include <algorithm>
#include <utility>

namespace schedscope {

namespace import {

namespace {

/// Nodes and splits that may be taken to be there without lines of their own, beyond those of ordinary logs: numbers from noise
/// are not to fill the memory.
constexpr int64_t least_spare = 1 << 18;
constexpr int64_t spare_per_line = 4;

std::string quoted(std::string_view text) { return '"' + visible_name(text) + '"'; }

SessionInfo session_of(const Survey& survey) {
    SessionInfo session;
    for (int topic = 0; topic < ordinal(Topic::count); ++topic) { // a log has splits, nodes and where they run, and no more
        session.knows.lack(static_cast<Topic>(topic));
    }
    for (size_t i = 0; i < survey.backends.names().size(); ++i) {
        const auto id = static_cast<BackendId>(i);
        BackendInfo backend;
        backend.name = backend.device = survey.backends.names()[i];
        if (backend.name == "CPU" || backend.name == "BLAS") {
            backend.kind = backend.name == "CPU" ? "cpu" : "blas";
        }
        backend.description = survey.backends.description(id);
        if (survey.backends.maybe_cut(id)) {
            backend.description = "known from node lines alone, which cut names";
        }
        backend.supports_buffer_type.assign(survey.buffer_types.size(), 0);
        session.backends.push_back(std::move(backend));
    }
    for (const std::string& name : survey.buffer_types) {
        BufferTypeInfo type;
        type.name = name;
        type.is_host = name == "CPU" || name.ends_with("_Host");
        type.alignment = type.max_size = std::nullopt;
        session.buffer_types.push_back(std::move(type));
    }
    return session;
}

/// Counts what can't be taken as it stands, to be told at the end.
struct Troubles {
    int64_t unreadable = 0; ///< lines that begin as the scheduler's and name nothing
    int64_t incomplete = 0; ///< lines that lack something
    int64_t misplaced = 0;  ///< lines with numbers beyond belief
    int64_t unknown_causes = 0, unknown_ops = 0;
    std::string a_cause, an_op; ///< one of them
    int32_t lacks_splits = 0, lacks_inputs = 0, ends_early = 0;
    int32_t first_early = -1; ///< the first graph that ends early
    bool log_ends_within_line = false, last_line_incomplete = false;

    std::vector<std::string> sentences() const;
};

std::vector<std::string> Troubles::sentences() const {
    std::vector<std::string> notes;
    const auto count = [](int64_t n, const char* what) { return words::counted(n, what); };
    if (last_line_incomplete) {
        notes.emplace_back("the log ends within a line: it was cut off");
    } else if (log_ends_within_line) {
        notes.emplace_back("the log's last line has no end: it may be cut off");
    }
    if (ends_early > 0) {
        notes.push_back(ends_early == 1 ? "the end of graph " + std::to_string(first_early) + " is not in the log"
                                        : "the ends of " + count(ends_early, "graph") +
                                              " are not in the log, the first is graph " + std::to_string(first_early));
    }
    if (lacks_splits > 0) {
        notes.push_back("headers of splits are missing in " + count(lacks_splits, "graph"));
    }
    if (lacks_inputs > 0) {
        notes.push_back("inputs of splits are missing in " + count(lacks_inputs, "graph"));
    }
    if (incomplete > 0) {
        notes.push_back(count(incomplete, "line") + " of the scheduler cut short: what is missing is unknown");
    }
    if (unreadable > 0) {
        notes.push_back(count(unreadable, "line") + " of the scheduler could not be read");
    }
    if (misplaced > 0) {
        notes.push_back(count(misplaced, "line") + " left out: numbers that can't be");
    }
    if (unknown_causes > 0) {
        notes.push_back(count(unknown_causes, "cause") + " in words of another scheduler, as " + quoted(a_cause) +
                        ": shown as unknown");
    }
    if (unknown_ops > 0) {
        notes.push_back(count(unknown_ops, "node") + " with an operator that is not known or cut too short, as " + quoted(an_op));
    }
    return notes;
}

class Importer {
public:
    Importer(LogFile& file, const Survey& survey, Recorder& recorder, const ImportLimits& limits, ModelGraphs* model)
        : path_(file.path()), file_(file), survey_(survey), limits_(limits), model_(model), writer_(recorder),
          spare_(least_spare + spare_per_line * survey.n_lines),
          builder_(survey.backends, survey.name_width, limits.graph_tensors, spare_) {}

    /// Throws Error(input) where each graph of the log is certainly of another model. Nothing is recorded.
    void refuse_other_model() {
        const auto models = model_->models();
        if (models == nullptr || models->empty()) {
            return;
        }
        checked_model_.emplace(models->front(), survey_.name_width);
        read_lines();
        if (n_checked_ > 0 && n_of_other_model_ == n_checked_ && !file_.stopped()) {
            throw Error(ErrorKind::input, input_name(path_) + ": the log is of another model: " + why_other_model_ +
                                              "; give -m the model that the log is of, or leave it out");
        }
    }

    ImportResult run() {
        session_ = session_of(survey_);
        session_.facts = facts({});
        writer_.session(session_);
        read_lines();
        result_.n_graphs = writer_.n_written();
        result_.notes = troubles_.sentences();
        if (model_ != nullptr) {
            tell_of_model();
        }
        if (result_.stopped) {
            result_.notes.insert(result_.notes.begin(), "the import was stopped: what follows in the log is not here");
        }
        if (!result_.notes.empty() || result_.n_filled_in > 0) {
            session_.facts = facts(result_.notes);
            writer_.session(session_);
        }
        return std::move(result_);
    }

private:
    void read_lines() {
        file_.rewind();
        LogLines lines(file_, survey_.width);
        WholeLine line;
        LineKind last = LineKind::other;
        bool starts = false; // the last line may be the beginning of a scheduler's
        while (lines.next(line) && !file_.stopped()) {
            if (line.kind != LineKind::other || line.text.find_first_not_of(' ') != std::string_view::npos) {
                last = line.kind;
                starts = line.kind == LineKind::other && may_start(line.text);
            }
            take(line);
        }
        result_.stopped = file_.stopped();
        if (!result_.stopped) { // else it is not the log that ends here
            troubles_.log_ends_within_line = last != LineKind::other && file_.ended_within_line();
            troubles_.last_line_incomplete = starts || (last != LineKind::other && last_incomplete_);
            settle_header();
            end_graph();
        }
    }

    void take(const WholeLine& line) {
        switch (line.kind) {
        case LineKind::split: take_split(line.text); break;
        case LineKind::node: take_node(line.text); break;
        case LineKind::other: take_other(line.text); break;
        }
    }

    void take_split(std::string_view text) {
        settle_header();
        last_incomplete_ = true;
        LoggedSplit split;
        if (!parse_split(text, split)) {
            ++troubles_.unreadable;
            return;
        }
        last_incomplete_ = !split.whole;
        header_ = text;
    }

    /// A header is kept until the next line of the scheduler tells whether it belongs to the graph before: its counter may have
    /// gone on while that of the nodes began again.
    void settle_header() {
        LoggedSplit split;
        if (header_.empty() || !parse_split(header_, split)) {
            return;
        }
        if (builder_.begins_next_graph(split)) {
            end_graph();
        }
        if (builder_.add(split)) {
            check_graph();
        } else {
            ++troubles_.misplaced;
        }
        header_.clear();
    }

    void take_node(std::string_view text) {
        last_incomplete_ = true;
        if (!parse_node(text, node_)) {
            ++troubles_.unreadable;
            return;
        }
        last_incomplete_ = !node_.whole;
        troubles_.incomplete += node_.whole ? 0 : 1;
        if (builder_.begins_next_graph(node_)) {
            LoggedSplit split;
            const bool begun = !header_.empty() && parse_split(header_, split) && builder_.begins_next_graph(split);
            if (!begun) {
                end_graph();
            }
        }
        settle_header();
        if (!builder_.add(node_)) {
            ++troubles_.misplaced;
            return;
        }
        check_graph();
        note_words();
    }

    void check_graph() const {
        if (std::ssize(builder_) > limits_.graph_tensors) {
            throw Error(ErrorKind::input, input_name(path_) + ": a graph of more than " + std::to_string(limits_.graph_tensors) +
                                              " tensors is too large to be read from a log");
        }
    }

    void note_words() {
        if (node_.has_name && !node_.op.empty() && builder_.last_op_unknown()) {
            troubles_.an_op = troubles_.unknown_ops++ == 0 ? readable(node_.op) : troubles_.an_op;
        }
        if (!node_.tensor.cause.empty() && builder_.last_cause_unknown()) {
            troubles_.a_cause = troubles_.unknown_causes++ == 0 ? readable(node_.tensor.cause) : troubles_.a_cause;
        }
    }

    void take_other(std::string_view text) {
        if (const auto reserve = reserve_line(text)) {
            settle_header();
            end_graph();
            next_reserve_ = reserve;
        } else if (const auto buffer = buffer_line(text); buffer && buffer->of == "compute") {
            const std::string name = readable(buffer->buffer_type);
            const auto& types = survey_.buffer_types;
            const auto found = std::find(types.begin(), types.end(), name);
            if (found != types.end()) {
                settle_header();
                buffers_.emplace_back(found - types.begin(), closest_size(survey_, *buffer).bytes);
            }
        }
    }

    void end_graph() {
        if (builder_.empty()) {
            return;
        }
        LoggedGraph graph = builder_.finish();
        if (checked_model_) {
            const std::string why = checked_model_->why(graph);
            ++n_checked_;
            n_of_other_model_ += why.empty() ? 0 : 1;
            why_other_model_ = why_other_model_.empty() ? why : why_other_model_;
            return;
        }
        if (model_ != nullptr && graph.graph.nodes.empty()) {
            lacks_nodes_ = true;
        } else if (model_ != nullptr) {
            const std::optional<int32_t> n_tokens =
                next_reserve_ && next_reserve_->n_tokens > 0 ? std::optional(next_reserve_->n_tokens) : graph.n_tokens;
            const int64_t n_logged = std::ssize(graph.graph.tensors);
            if (const std::optional<FilledIn> filled = fill_in(graph, n_tokens, survey_.name_width, *model_, why_not_filled_)) {
                graph.n_tokens = filled->n_tokens;
                graph.kind = filled->n_tokens > 1 ? GraphKind::prefill : GraphKind::decode;
                ++result_.n_filled_in;
                result_.n_tensors += n_logged;
                result_.n_named += filled->n_named;
                if (filled->most_tokens > filled->n_tokens && n_alike_++ == 0) {
                    first_alike_ = joined({"evaluation ", std::to_string(writer_.n_written()), " is filled in as one of ",
                                           words::counted(filled->n_tokens, "token"), ", but up to ",
                                           std::to_string(filled->most_tokens), " are logged alike"});
                }
            } else {
                left_.push_back(std::to_string(writer_.n_written()));
            }
        }
        if (graph.ends_early) {
            troubles_.first_early = troubles_.ends_early++ == 0 ? writer_.n_written() : troubles_.first_early;
        }
        troubles_.lacks_splits += graph.lacks_splits ? 1 : 0;
        troubles_.lacks_inputs += graph.n_lost_inputs > 0 ? 1 : 0;
        const std::vector<TensorId>& nodes = graph.graph.nodes;
        result_.n_nodes += std::ssize(nodes);
        result_.n_splits += std::ssize(graph.splits);
        result_.n_left_out +=
            std::count_if(nodes.begin(), nodes.end(), [&](TensorId id) { return is_left_out(graph.graph.tensors[id]); });
        writer_.write(graph, {next_reserve_, std::move(buffers_)});
        next_reserve_.reset();
        buffers_.clear();
        if (writer_.n_records() > limits_.records) {
            throw Error(ErrorKind::input, input_name(path_) + ": more than " + std::to_string(limits_.records) +
                                              " records would be made of this log; the trace ends there");
        }
    }

    void tell_of_model() {
        session_.models = result_.n_filled_in > 0 ? model_->models() : nullptr;
        if (result_.n_filled_in > 0) {
            session_.knows = {};
            for (int topic = 0; topic < ordinal(Topic::count); ++topic) {
                if (static_cast<Topic>(topic) != Topic::shapes) {
                    session_.knows.lack(static_cast<Topic>(topic));
                }
            }
        }
        if (n_alike_ > 0) {
            result_.notes.push_back(first_alike_ +
                                    (n_alike_ == 1 ? "" : "; so it is with " + words::counted(n_alike_ - 1, "other")));
        }
        if (lacks_nodes_) {
            result_.notes.emplace_back("no nodes are in the log that the model could say more of: GGML_SCHED_DEBUG=2 logs them");
        }
        if (const auto left = std::ssize(left_); left > 0) {
            constexpr int64_t most_named = 6;
            const std::string which = joined(std::span(left_).first(std::min(left, most_named)), ", ");
            const std::string why = why_not_filled_.empty() ? "" : ": " + why_not_filled_;
            result_.notes.push_back(
                result_.n_filled_in == 0 && !why.empty()
                    ? "this does not look like the model of this log" + why + "; all is left as logged"
                    : words::counted(left, "graph") + " that the model's builder does not make, left as logged (" +
                          (left == 1 ? "evaluation " : "evaluations ") + which + (left > most_named ? ", …)" : ")") + why);
        }
    }

    std::vector<std::pair<std::string, std::string>> facts(const std::vector<std::string>& notes) const {
        std::vector<std::pair<std::string, std::string>> facts{
            {std::string(accounts::log_fact),
             path_ == "-" ? "a scheduler log from standard input" : std::string(accounts::log_file_words) + path_},
            {std::string(accounts::log_level_fact), survey_.n_nodes > 0 ? "2: splits and nodes" : "1: splits only"},
        };
        if (survey_.n_nodes > 0) {
            facts.emplace_back("causes", survey_.has_causes ? "as logged" : "the program was built without them");
        }
        facts.insert(facts.end(), survey_.facts.begin(), survey_.facts.end());
        if (!survey_.compute_buffers.empty()) {
            facts.emplace_back(accounts::compute_buffers_fact, joined(survey_.compute_buffers, ", ", [](const PrintedSize& size) {
                                   return joined({size.buffer_type, " ", size.text});
                               }));
        }
        if (result_.n_filled_in > 0) {
            facts.emplace_back("filled in", filled_in_words(result_));
        }
        if (const std::string all = joined(notes, "; "); !all.empty()) {
            facts.emplace_back("notes", all);
        }
        return facts;
    }

    const std::string path_;
    LogFile& file_;
    const Survey& survey_;
    const ImportLimits limits_;
    ModelGraphs* const model_;                ///< null: nothing is filled in
    std::string why_not_filled_;              ///< the last graph that was not
    std::optional<OtherModel> checked_model_; ///< graphs are compared with it, and not recorded
    int64_t n_checked_ = 0, n_of_other_model_ = 0;
    std::string why_other_model_;   ///< the first one
    std::vector<std::string> left_; ///< evaluations whose graph is as logged
    bool lacks_nodes_ = false;      ///< one shows splits alone
    int64_t n_alike_ = 0;           ///< graphs that the model makes for several numbers of tokens
    std::string first_alike_;       ///< which one, in words
    GraphWriter writer_;
    int64_t spare_;
    LoggedGraphBuilder builder_;
    SessionInfo session_;
    std::string header_; ///< of the split that is next
    LoggedNode node_;
    bool last_incomplete_ = false;
    std::optional<ReserveLine> next_reserve_;
    std::vector<std::pair<BufferTypeId, int64_t>> buffers_;
    Troubles troubles_;
    ImportResult result_;
};

} // namespace

} // namespace import

std::string filled_in_words(const ImportResult& result) {
    const std::string graphs = std::to_string(result.n_filled_in) + " of " + words::counted(result.n_graphs, "graph");
    if (result.n_filled_in == 0) {
        return graphs + " from the model";
    }
    return graphs + " from the model: " + words::count(result.n_named) + " of " + words::counted(result.n_tensors, "tensor") +
           " by the same name, the others by order";
}

ImportResult import_log(import::OpenedInput input, Recorder& recorder, const ImportLimits& limits, ModelGraphs* model) {
    import::LogFile file(std::move(input), {limits.bytes, limits.endless_line_bytes});
    const import::Survey survey = import::survey_log(file);
    ImportResult stopped;
    stopped.stopped = true;
    if (file.stopped()) {
        return stopped;
    }
    if (survey.n_splits == 0 && survey.n_nodes == 0) {
        throw Error(ErrorKind::input, import::input_name(file.path()) +
                                          ": no line of a ggml scheduler is in it; run the program with GGML_SCHED_DEBUG=2 and "
                                          "its log at level debug (-v)");
    }
    if (model != nullptr) {
        import::Importer(file, survey, recorder, limits, model).refuse_other_model();
        if (file.stopped()) {
            return stopped;
        }
    }
    return import::Importer(file, survey, recorder, limits, model).run();
}

ImportResult import_file(const std::string& path, Recorder& recorder, const std::atomic<bool>* stop, const ImportLimits& limits,
                         ModelGraphs* model) {
    import::OpenedInput input(path, stop);
    if (!import::is_stream(input.head())) {
        return import_log(std::move(input), recorder, limits, model);
    }
    if (model != nullptr) {
        throw Error(ErrorKind::usage, "-m: " + import::input_name(path) + " is a stream, which leaves nothing out");
    }
    return import_stream(std::move(input), recorder, limits);
}

} // namespace schedscope
