#include "traces/import/stream/stream_reader.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/format/schedscope_stream.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace schedscope {

namespace import {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// "cause '9.magic' (3 times)": the first few.
std::string listed(const UnknownWords& words) {
    constexpr size_t most = 5;
    std::vector<std::string> some;
    for (auto word = words.begin(); word != words.end() && some.size() < most; ++word) {
        some.push_back(word->first + (word->second > 0 ? " (" + words::counted(word->second, "time") + ")" : ""));
    }
    return joined(some, ", ") + (words.size() > most ? " and " + std::to_string(words.size() - most) + " more" : "");
}

} // namespace

void StreamReader::take(const StreamBlock& block) {
    try {
        if (ended_) {
            throw Damage("it stands behind the end");
        }
        BlockContent content;
        read(block, content);
        for (const StreamGraph& graph : content.graphs) {
            std::set<const ForeignWords*> words;
            for (const TensorInfo& t : graph.view().tensors) {
                if (t.foreign != nullptr && words.insert(t.foreign).second) {
                    session_.add_words(*t.foreign);
                }
            }
        }
        if (session_.settle() || !begun_) {
            know_so_far();
        }
        begun_ = true;
        dropped_ = std::max(dropped_, block.dropped);
        for (StreamGraph& graph : content.graphs) {
            graph.settle(session_.info());
        }
        for (const StreamGraph& graph : content.graphs) {
            evaluations_.describe_graph(graph.number(), graph.view(), graph.answers(session_.info()));
        }
        if (!content.facts.empty() && !block.evaluation) {
            throw Damage("its records belong to no evaluation");
        }
        if (!content.facts.empty()) {
            evaluations_.take(*block.evaluation, std::move(content.facts));
            if (evaluations_.knowledge_so_far().has(Topic::tokens) != session_.info().knows.has(Topic::tokens)) {
                know_so_far();
            }
        }
    } catch (const Damage& damage) {
        const std::string why = damage.what(); // a record may be of a block before
        throw Damage(why.starts_with("the block at ") ? why : block_name(block.place) + ": " + why);
    }
}

void StreamReader::read(const StreamBlock& block, BlockContent& content) {
    const std::span<const std::byte> all(block.records);
    for (size_t at = 0; at < all.size();) {
        const size_t left = all.size() - at;
        const size_t bytes = left < SSCP_RECORD_HEADER ? 0 : number_at<uint32_t>(all, at);
        if (bytes < SSCP_RECORD_HEADER || bytes > left) {
            throw Damage("a record has " + std::to_string(bytes) + " bytes");
        }
        const uint32_t kind = number_at<uint32_t>(all, at + 4);
        if (const bool first = at == 0 && !begun_; (kind == SSCP_HELLO) != first) {
            throw Damage(first ? "it does not begin as a stream does" : "a stream begins within it");
        }
        take_record(kind, all.subspan(at + SSCP_RECORD_HEADER, bytes - SSCP_RECORD_HEADER), block, content);
        at += std::min((bytes + 7) / 8 * 8, left);
    }
}

void StreamReader::take_record(uint32_t kind, std::span<const std::byte> record, const StreamBlock& block,
                               BlockContent& content) {
    switch (kind) {
    case SSCP_HELLO: take_hello(record); return;
    case SSCP_KIND: take_kind(record); return;
    case SSCP_END: ended_ = true; return;
    case SSCP_TEXT:
        if (static_cast<int64_t>(record.size()) > budget::stream_text_bytes) {
            throw Damage("a text has " + std::to_string(record.size()) + " bytes");
        }
        content.texts.push_back(text_of(record));
        return;
    default: break;
    }
    if (kind < SSCP_FIRST_KIND) {
        note_unknown(unknown_, "kind " + std::to_string(kind)); // of a later minor version
        return;
    }
    const auto known = kinds_.find(kind);
    if (known == kinds_.end()) {
        throw Damage("a record is of kind " + std::to_string(kind) + ", which was not said");
    }
    KindOfRecords& of = known->second;
    of.came = true;
    try {
        of.known = take_fields(of, {of.layout, record, content.texts}, block, content);
    } catch (const Damage& damage) {
        throw Damage(of.layout.kind() + ": " + damage.what());
    }
    if (!of.known) {
        note_unknown(unknown_, "kind '" + of.layout.kind() + "'");
    }
}

void StreamReader::take_hello(std::span<const std::byte> record) const {
    if (record.size() < 8) {
        throw Damage("it does not begin as a stream does");
    }
    const auto major = number_at<uint32_t>(record, 0), minor = number_at<uint32_t>(record, 4);
    if (major != SSCP_MAJOR) {
        throw Damage("the stream is of version " + std::to_string(major) + "." + std::to_string(minor) +
                     ", and this program reads " + std::to_string(int{SSCP_MAJOR}) +
                     ".x: write it with this program's schedscope_stream.h");
    }
}

void StreamReader::take_kind(std::span<const std::byte> record) {
    const uint32_t number = record.size() < 8 ? 0 : number_at<uint32_t>(record, 0);
    if (number < SSCP_FIRST_KIND || number >= budget::stream_kinds || number_at<uint32_t>(record, 4) != 0) {
        throw Damage("a kind of records has the number " + std::to_string(number));
    }
    const StreamLayout layout(text_of(record.subspan(8)));
    const bool real = is_real_kind(layout.kind());
    if (!kinds_.try_emplace(number, KindOfRecords{layout, fact_kind(layout.kind()), real}).second) {
        throw Damage("kind " + std::to_string(number) + " is said twice");
    }
    if (real) {
        evaluations_.compare_plans();
    }
}

/// False: no reader here takes such a record.
bool StreamReader::take_fields(const KindOfRecords& kind, const StreamFields& f, const StreamBlock& block,
                               BlockContent& content) {
    if (kind.fact || kind.real) {
        if (std::ssize(content.facts) == budget::stream_held_records) {
            throw Damage("a block has more than " + std::to_string(budget::stream_held_records) + " records");
        }
        const auto intern = [this](std::string_view text) { return evaluations_.intern(text); };
        StreamFact fact;
        if (kind.real) {
            fact.real = read_real(f, unknown_);
            if (!fact.real) {
                return false;
            }
        } else {
            fact = read_fact(*kind.fact, f, intern, unknown_);
        }
        fact.place = block.place;
        fact.time_ns = fact.time_ns ? fact.time_ns : block.time_ns;
        content.facts.push_back(fact);
        return true;
    }
    if (f.kind() == "graph") {
        // A number alone gets no memory.
        const int64_t most = std::min<int64_t>(budget::log_graph_tensors, block.records.size() / SSCP_RECORD_HEADER);
        content.n_tensors += content.graphs.emplace_back(f, most - content.n_tensors).n_tensors();
        return true;
    }
    if (session_.take(f, unknown_)) {
        return true;
    }
    if (StreamGraph::takes(f.kind()) && content.graphs.empty()) {
        throw Damage("no graph stands before it in the block");
    }
    return StreamGraph::takes(f.kind()) && (content.graphs.back().take(f, unknown_), true);
}

/// Facts of whoever reads, of the stream, and what there is to say of it.
void StreamReader::give_session(const std::vector<std::string>& notes) {
    SessionInfo given = session_.info();
    given.facts = facts_;
    std::copy_if(session_.facts().begin(), session_.facts().end(), std::back_inserter(given.facts),
                 [](const auto& fact) { return !fact.second.empty(); });
    if (!notes.empty()) {
        given.facts.emplace_back("notes", joined(notes, "; "));
    }
    evaluations_.describe_session(given);
}

void StreamReader::add_notes(std::vector<std::string>& notes) const {
    const EvaluationCounts& n = evaluations_.counts();
    const int64_t dropped = static_cast<int64_t>(std::min<uint64_t>(dropped_, std::numeric_limits<int64_t>::max()));
    for (const auto& [count, noun, what] :
         {std::tuple{dropped, "block", "dropped by the program, for which there was no room"},
          {n.without_plan, "record", "left out that speak of a plan or a graph that is not in the stream"},
          {n.late, "record", "left out that came after the end of their evaluation"},
          {n.without_end, "evaluation", "without an end"}}) {
        if (count > 0) {
            notes.push_back(words::counted(count, noun) + " " + what);
        }
    }
    if (const std::vector<std::string> missing = session_.missing_settings(); !missing.empty()) {
        notes.push_back("the settings are left out, because " + joined(missing, ", ") + " never came");
    }
    UnknownWords unknown = unknown_;
    for (const auto& [number, kind] : kinds_) {
        for (const StreamLayout::Field& field : kind.layout.fields()) {
            if (kind.known && kind.came && !field.asked) {
                unknown["field '" + field.name + "' of '" + kind.layout.kind() + "'"];
            }
        }
    }
    if (!unknown.empty()) {
        notes.push_back("not known here and left out: " + listed(unknown));
    }
}

void StreamReader::know_so_far() {
    session_.set_knowledge(evaluations_.knowledge_so_far());
    give_session({});
}

ImportResult StreamReader::finish(std::vector<std::string> notes, bool damaged) {
    evaluations_.finish(damaged);
    add_notes(notes);
    session_.set_knowledge(evaluations_.knowledge());
    give_session(notes);
    for (const auto& [key, value] : session_.facts()) { // which needs no note in the trace
        if (key == SSCP_FACT_IDLE_LIBRARIES && !value.empty()) {
            notes.push_back(value);
        }
    }
    const EvaluationCounts& n = evaluations_.counts();
    return {.n_graphs = int_of(n.plans), .n_splits = n.splits, .n_nodes = n.nodes, .notes = std::move(notes)};
}

} // namespace import

ImportResult import_stream(import::OpenedInput input, Recorder& recorder, const ImportLimits& limits) {
    using namespace import;
    const std::string name = input_name(input.path());
    StreamFile file(std::move(input));
    StreamReader reader(recorder, limits, {{"stream", name}});
    try {
        while (const std::optional<StreamBlock> block = file.next()) {
            reader.take(*block);
        }
        std::vector<std::string> notes;
        const bool stopped = !reader.ended() && file.input().stopped();
        if (stopped) {
            notes.emplace_back("the import was stopped: what follows in the stream is not here");
        } else if (!reader.ended()) {
            notes.emplace_back(file.cut() ? "the stream ends within a block: the program was killed; what was complete is here"
                                          : "the stream has no end: the program was killed, or still runs");
        }
        ImportResult result = reader.finish(std::move(notes));
        result.stopped = stopped;
        return result;
    } catch (const Damage& damage) {
        reader.finish({"the stream is damaged: what follows in it is not here"}, true);
        throw Error(ErrorKind::input, name + ": " + damage.what());
    }
}

} // namespace schedscope
