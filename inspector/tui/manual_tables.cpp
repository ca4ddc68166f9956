#include "inspector/tui/manual_tables.h"

#include "inspector/tui/actions/commands.h"
#include "inspector/tui/input/keys.h"
#include "inspector/tui/panes/screen.h"
#include "inspector/tui/state/settings.h"
#include "runtime/error.h"
#include "runtime/planner/plan.h"
#include "runtime/system/budget.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/replay/what_if.h"
#include "viz/query/language.h"

#include <array>
#include <utility>

namespace schedscope::tui {
namespace {

using Rows = std::vector<manual::TableRow>;

Rows keys() {
    Rows rows;
    for (const Binding& binding : default_bindings()) {
        std::string help = binding.help;
        if (binding.contexts == in_live) {
            help += " (of a running program)";
        }
        rows.push_back({keys_text(binding), joined({help, " (", binding.name, ")"})});
    }
    return rows;
}

Rows mouse() {
    return {{"click",
             "selects a line; again: opens it. Passes, views, places in the top line and keys in the last one can be clicked"},
            {"a column's head", "orders the list by it"},
            {"the middle line", "drag it: a wider or narrower list"},
            {"wheel", "scrolls; over the timeline's lanes it zooms, over its axis it moves them"}};
}

Rows top_line() {
    Rows rows;
    for (const TopLineWord& word : top_line_words()) {
        rows.push_back({std::string(word.word), std::string(word.meaning)});
    }
    return rows;
}

Rows colon_commands() {
    Rows rows;
    for (const ColonCommand& c : commands()) {
        const bool optional = c.optional && *c.takes != '\0';
        rows.push_back({joined({":", c.name,
                                *c.takes == '\0' ? ""
                                : optional       ? " ["
                                                 : " ",
                                c.takes, optional ? "]" : ""}),
                        c.help});
    }
    return rows;
}

Rows view_rows() {
    Rows rows;
    for (const ViewEntry& view : views()) {
        rows.push_back({std::string(1, view.key()), joined({view.help, " (:view ", view.name, ")"})});
    }
    return rows;
}

Rows setting_rows() {
    Rows rows;
    for (const SettingEntry& s : all_settings()) {
        rows.push_back({joined({s.name, " ", s.value}), std::string(s.help)});
    }
    return rows;
}

Rows fields() {
    Rows rows;
    for (const query::FieldEntry& field : query::fields) {
        rows.push_back({std::string(field.name), std::string(field.help)});
    }
    return rows;
}

Rows signs() {
    static constexpr std::array<std::string_view, ordinal(query::Relation::count)> meanings{
        "is it, or (texts) one of several with a bar between them: op=MUL_MAT|ADD",
        "is another one",
        "contains it: name~blk.3",
        "does not contain it",
        "is less: split<3",
        "is at most that",
        "is more: bytes>1MiB",
        "is at least that: time>=2.5ms"};
    Rows rows;
    for (const query::Sign& sign : query::signs) {
        rows.push_back({std::string(sign.text), joined({meanings[ordinal(sign.relation)], !sign.of_numbers ? " (texts)"
                                                                                          : !sign.of_texts ? " (numbers)"
                                                                                                           : ""})});
    }
    return rows;
}

Rows units() {
    std::string bytes, times;
    for (const query::NumberUnit& unit : query::units) {
        std::string& of = unit.of == query::Field::bytes ? bytes : times;
        of.append(of.empty() ? "" : " ").append(unit.name);
    }
    return {{"bytes", bytes}, {"time", times}};
}

Rows rules() {
    Rows rows;
    for (int i = ordinal(Cause::none) + 1; i <= ordinal(Cause::copy); ++i) {
        const auto cause = static_cast<Cause>(i);
        const bool of_a_source = cause == Cause::weight;
        rows.push_back({of_a_source ? "1.wgtN" : cause_name(cause, 0),
                        joined({cause_meaning(cause), of_a_source ? " (the weight is source N)" : ""})});
    }
    return rows;
}

Rows what_if() {
    Rows rows;
    for (const WhatIfSetting& s : what_if_settings()) {
        rows.push_back({joined({s.name, "=", s.value}), std::string(s.help)});
    }
    return rows;
}

Rows exit_codes() {
    return {{"0", "done"},
            {"1", "the answer is no: traces differ, a replay without --set decides otherwise, a result is beyond its tolerance"},
            {"2", "wrong usage; also an unknown tensor, an evaluation out of range, a pattern that matches nothing"},
            {"3", "an input file is missing, unreadable, broken or of an unknown kind"},
            {"4", "a device, memory or output failed; when the disk is full while recording, the text is complete"},
            {"130", "interrupted; a trace that was being recorded was closed properly"}};
}

/// The numbers are those that the readers obey.
Rows limits() {
    using namespace budget;
    const auto seconds = [](int64_t n) { return words::count(n) + " s"; };
    return {
        {"Models", "Nothing is kept of a file that it does not hold. Keys, and tensors, of one file: " +
                       words::count(model_entries) + "; elements of an array in the metadata: " + words::count(model_elements) +
                       "; tokens of a vocabulary: " + words::count(model_vocabulary) + "; files of a split model: " +
                       words::count(model_parts) + ". A model that is cut short while it is read ends the run with exit code 3."},
        {"Traces",
         "Memory for rolling back or replaying a journal, and for sorting: " + words::limit(trace_scratch_bytes) +
             "; temporary space for the copy of a trace that is still being recorded: " + words::limit(trace_copy_bytes) + "."},
        {"Logs", "A log that is imported: " + words::limit(log_bytes) + "; a line without an end: " +
                     words::limit(log_endless_line_bytes) + " (beyond " + words::limit(log_line_bytes) +
                     " it is read in parts); tensors and splits of one graph: " + words::count(log_graph_tensors) +
                     "; records that are made: " + words::count(log_records) + "."},
        {"Streams", "A block: " + words::limit(stream_block_bytes) + "; a text: " + words::limit(stream_text_bytes) +
                        "; tensors of one graph: " + words::count(log_graph_tensors) +
                        "; evaluations: " + words::count(stream_evaluations) + ", at once " +
                        words::count(stream_open_evaluations) + "; records: " + words::count(log_records) +
                        ", of those that wait for others " + words::count(stream_held_records) + "."},
        {"Images", "The file: " + words::limit(image_file_bytes) + "; a side: " + words::count(image_longest_side) +
                       " pixels; in all: " + words::count(image_pixels) +
                       " pixels; memory to decode it: " + words::limit(image_memory_bytes) +
                       "; time: " + seconds(image_processor_seconds) + " of a processor, " + seconds(image_seconds) +
                       " by the clock; times that a JPEG goes over its pixels: " + words::count(jpeg_scans) + ", over " +
                       words::count(jpeg_scanned_pixels) +
                       " pixels in all; a chunk of a PNG beside the pixels: " + words::limit(png_chunk_bytes) + "."},
        {"Pictures of plans", "Memory of Graphviz: " + words::limit(layout_memory_bytes) +
                                  "; what it draws: " + words::limit(layout_picture_bytes) +
                                  "; time: " + seconds(layout_seconds) + " by the clock unless another limit is asked for, " +
                                  seconds(layout_processor_seconds) + " of a processor."},
        {"Texts", "A prompt, a text to score, a batch to tokenize: " + words::limit(text_bytes) +
                      "; the inspector's settings, and what it kept of a trace: " + words::limit(settings_bytes) + "."},
    };
}

struct ManualTable {
    std::string_view name;
    Rows (*rows)();
};
constexpr ManualTable tables[] = {{"keys", keys},        {"mouse", mouse},           {"commands", colon_commands},
                                  {"views", view_rows},  {"settings", setting_rows}, {"fields", fields},
                                  {"signs", signs},      {"units", units},           {"rules", rules},
                                  {"what-if", what_if},  {"limits", limits},         {"exit-codes", exit_codes},
                                  {"top-line", top_line}};

} // namespace

std::vector<manual::TableRow> manual_table(std::string_view name) {
    for (const ManualTable& table : tables) {
        if (table.name == name) {
            return table.rows();
        }
    }
    throw Error(ErrorKind::usage, "manual: there is no table '" + std::string(name) + "'");
}

} // namespace schedscope::tui
