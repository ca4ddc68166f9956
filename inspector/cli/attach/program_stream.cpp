#include "inspector/cli/attach/program_stream.h"

#include "runtime/system/number_words.h"
#include "traces/store/reading/trace_rows.h"

namespace schedscope {

ProgramStream::ProgramStream(const SharedPages& pages, Recorder& recorder, std::vector<std::pair<std::string, std::string>> facts)
    : ring_(pages.ring(), SharedPages::ring_bytes()), recorder_(recorder), reader_(recorder, {}, std::move(facts)) {}

bool ProgramStream::take() {
    try {
        if (reader_.ended() || damaged() || failure_) {
            return false;
        }
        const std::optional<import::StreamBlock> block = ring_.next();
        if (!block) {
            return false;
        }
        if (block->evaluation) {
            evaluations_.insert(*block->evaluation);
        }
        has_records_ = true;
        reader_.take(*block);
        recorder_.flush(); // what a block told is whole
        return true;
    } catch (const Damage& damage) {
        damage_ = damage.what();
    } catch (const Error& error) {
        failure_ = error;
    }
    return false;
}

std::vector<std::string> ProgramStream::finish(bool killed) {
    take_all();
    ring_.writer_is_gone();
    take_all();
    if (failure_) {
        throw Error(*failure_);
    }
    if (!has_records_) {
        return {};
    }
    std::vector<std::string> notes;
    if (killed && !reader_.ended()) {
        notes.emplace_back("the program was killed; what was complete is here");
    }
    if (ring_.lost() > 0) {
        notes.push_back(words::counted(ring_.lost(), "block") + " lost that the program had begun when it ended");
    }
    if (damaged()) {
        notes.push_back("the recording ends early: " + damage_);
    }
    return reader_.finish(std::move(notes), damaged()).notes;
}

} // namespace schedscope
