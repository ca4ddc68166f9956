#include "inspector/cli/attach/record_program.h"

#include "inspector/cli/attach/child_traces.h"
#include "inspector/cli/attach/joining/other_process.h"
#include "inspector/cli/attach/masked_command.h"
#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/lines.h"
#include "runtime/system/number_words.h"
#include "traces/store/bounded/bounded_recorder.h"
#include "traces/store/output.h"
#include "traces/store/writer.h"
#include "viz/query/known_words.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

namespace schedscope {

void check_trace(const ProgramRecording& recording) {
    NamedFiles files;
    files.writes("-o", recording.trace);
    files.check();
    check_output(recording.trace, recording.force);
    parse_bounds(recording.bounds);
    if (const auto why = query::why_never_of_a_program(query::Query::parse(recording.bounds.when))) {
        throw Error(ErrorKind::usage, "--when " + recording.bounds.when + ": " + *why);
    }
}

namespace {

TraceWriter::Options options_of(const ProgramRecording& recording) {
    TraceWriter::Options options;
    options.texts = !recording.no_text;
    options.whole = true;
    return options;
}

} // namespace

ProgramTrace::ProgramTrace(std::string path, const ProgramRecording& recording)
    : path_(std::move(path)), writer_(path_, options_of(recording)), bounds_(parse_bounds(recording.bounds)),
      bounded_(writer_, bounds_) {}

void ProgramTrace::finish(const std::vector<std::string>& notes) {
    std::string kept;
    if (bounds_.any()) {
        bounded_.finish();
        kept = kept_by(bounds_, writer_.n_evaluations(), bounded_);
    }
    writer_.close();
    for (const std::string& note : notes) {
        tell(note);
    }
    tell_of_trace(path_, writer_.n_evaluations(), kept);
}

std::vector<std::pair<std::string, std::string>> facts_of_process(pid_t id, bool no_text) {
    std::error_code failed;
    const std::string path = std::filesystem::read_symlink(proc_path(id, "exe"), failed).string();
    std::ifstream file(proc_path(id, "cmdline"), std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; !no_text && std::getline(file, word, '\0');) {
        words.push_back(word);
    }
    std::vector<std::pair<std::string, std::string>> facts = {{"process", std::to_string(id)}};
    if (!path.empty()) {
        facts.emplace_back("program", path);
    }
    if (!words.empty()) {
        facts.emplace_back("command", masked_command(words));
    }
    return facts;
}

int record_stream(StreamSource& source, const ProgramRecording& recording, ChildTraces* children) {
    ProgramTrace trace(recording.trace, recording);
    ProgramStream stream(source.pages(), trace.recorder(), source.facts());
    for (bool any = false; !source.wait(any ? 0 : look_up_ms) || (children != nullptr && !children->all_ended());) {
        any = stream.take();
        any = (children != nullptr && children->take()) || any;
        if (stream.failed() && !source.goes_on_unread()) {
            source.leave();
        }
    }
    std::vector<std::string> notes = stream.finish(source.killed());
    for (std::string& note : source.notes()) {
        notes.push_back(std::move(note));
    }
    if (stream.has_records()) {
        trace.finish(notes);
    }
    if (children != nullptr) {
        children->finish();
    }
    return source.code_after(stream);
}

int record_program(const ProgramRecording& recording) {
    check_trace(recording);
    LaunchedProgram program(recording, {});
    std::optional<ChildTraces> children;
    if (recording.children) {
        children.emplace(program.pages(), recording);
    }
    return record_stream(program, recording, children ? &*children : nullptr);
}

} // namespace schedscope
