#pragma once

#include "traces/import/import_log.h"
#include "traces/import/stream/stream_block.h"
#include "traces/import/stream/stream_evaluations.h"
#include "traces/import/stream/stream_graph.h"
#include "traces/import/stream/stream_session.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::import {

/// Makes records of a stream's blocks, wherever those come from. A block is checked as a whole before anything of it is recorded.
class StreamReader {
public:
    /// `facts`: stand before those of the stream. The recorder outlives this.
    StreamReader(Recorder& recorder, const ImportLimits& limits, std::vector<std::pair<std::string, std::string>> facts = {})
        : evaluations_(recorder, limits.records), facts_(std::move(facts)) {}

    /// Throws Damage: "the block at byte 40: assign: tensor is 12". What came before it is recorded.
    void take(const StreamBlock& block);
    bool ended() const noexcept { return ended_; } ///< as it should; nothing more is to come
    /// What waits is recorded. `notes`: what else there is to say of how it ended.
    /// `damaged`: take has thrown. Else this may, once, too.
    ImportResult finish(std::vector<std::string> notes = {}, bool damaged = false);

private:
    struct KindOfRecords {
        StreamLayout layout;
        std::optional<size_t> fact;      ///< index in Fact
        bool real = false;               ///< what a scheduler decided
        bool came = false, known = true; ///< a record did; somebody here reads it
    };
    struct BlockContent {
        StreamTexts texts;
        std::vector<StreamGraph> graphs;
        int64_t n_tensors = 0; ///< of them
        std::vector<StreamFact> facts;
    };
    void read(const StreamBlock& block, BlockContent& content);
    void take_record(uint32_t kind, std::span<const std::byte> record, const StreamBlock& block, BlockContent& content);
    void take_hello(std::span<const std::byte> record) const;
    void take_kind(std::span<const std::byte> record);
    bool take_fields(const KindOfRecords& kind, const StreamFields& f, const StreamBlock& block, BlockContent& content);
    void know_so_far();
    void give_session(const std::vector<std::string>& notes);
    void add_notes(std::vector<std::string>& notes) const;

    StreamEvaluations evaluations_;
    std::vector<std::pair<std::string, std::string>> facts_;
    StreamSession session_;
    std::map<uint32_t, KindOfRecords> kinds_;
    UnknownWords unknown_;
    uint64_t dropped_ = 0;
    bool begun_ = false, ended_ = false;
};

} // namespace schedscope::import
