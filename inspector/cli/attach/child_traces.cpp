#include "inspector/cli/attach/child_traces.h"

#include "inspector/cli/attach/joining/other_process.h"
#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/attach/record_program.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "traces/store/output.h"

#include <csignal>
#include <filesystem>

namespace schedscope {

namespace {

namespace fs = std::filesystem;

std::string trace_of(const std::string& trace, pid_t id) {
    const fs::path path(trace);
    return (path.parent_path() / (path.stem().string() + "-" + std::to_string(id) + path.extension().string())).string();
}

} // namespace

struct ChildTraces::Child {
    explicit Child(int its_place) : place(its_place) {}

    int place; ///< where it is offered
    SharedPages pages;
    pid_t id = 0; ///< 0: it is free
    std::string trace;
    std::optional<ProgramTrace> file;
    std::optional<ProgramStream> stream;

    bool has_ended() const { return id != 0 && kill(id, 0) != 0; }
    void begin(pid_t owner, const ProgramRecording& recording) {
        id = owner;
        trace = trace_of(recording.trace, id);
        try {
            check_output(trace, recording.force);
            file.emplace(trace, recording);
        } catch (const Error& error) { // the others are recorded all the same
            tell(error.what());
            return;
        }
        stream.emplace(pages, file->recorder(), facts_of_process(id, recording.no_text));
    }
};

ChildTraces::ChildTraces(const SharedPages& first, const ProgramRecording& recording)
    : control_(first.control()), recording_(recording) {
    for (int place = 0; place < attach::most_offers; ++place) {
        offer(place);
    }
}

ChildTraces::~ChildTraces() = default;

void ChildTraces::offer(int place) {
    children_.push_back(std::make_unique<Child>(place));
    __atomic_store_n(&control_.offers[place], static_cast<attach::Offer>(children_.back()->pages.number()), __ATOMIC_RELEASE);
}

bool ChildTraces::take() {
    bool any = false;
    for (size_t i = 0; i < children_.size(); ++i) { // NOLINT(modernize-loop-convert): it grows
        Child& child = *children_[i];
        if (child.id == 0) {
            const attach::Offer now = __atomic_load_n(&control_.offers[child.place], __ATOMIC_ACQUIRE);
            if (now >> attach::owner_shift == 0) {
                continue;
            }
            child.begin(static_cast<pid_t>(now >> attach::owner_shift), recording_);
            offer(child.place); // to the next one
        }
        any = (child.stream && child.stream->take()) || any;
    }
    return any;
}

bool ChildTraces::all_ended() const {
    for (const std::unique_ptr<Child>& child : children_) {
        if (child->id != 0 && !child->has_ended()) {
            return false;
        }
    }
    return true;
}

void ChildTraces::finish() {
    take();
    for (const std::unique_ptr<Child>& child : children_) {
        if (!child->stream) {
            continue;
        }
        const std::vector<std::string> notes = child->stream->finish(child->has_ended());
        if (child->stream->has_records()) {
            child->file->finish(notes);
        }
    }
}

} // namespace schedscope
