#include "viz/tables/memory.h"

#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <tuple>

namespace schedscope::tables {

using query::Field;

constexpr int life_width = 24;

std::span<const HoldersTable::Entry> HoldersTable::entries() {
    using T = const HoldersTable&;
    using R = const accounts::MemoryRow::Holder&;
    static const Entry list[] = {
        {{.key = "id", .help = "the tensor's number", .unit = Unit::number}, [](T, R r) -> Cell { return r.id; }},
        {{.key = "name", .title = "name", .help = "the tensor"}, [](T, R r) -> Cell { return r.name; }},
        {{.key = "bytes", .title = "bytes", .help = "its size", .unit = Unit::bytes}, [](T, R r) -> Cell { return r.bytes; }},
    };
    return list;
}

HoldersTable::HoldersTable(std::vector<accounts::MemoryRow::Holder> rows) : TableOf("holders") { rows_ = std::move(rows); }

std::span<const BuffersTable::Entry> BuffersTable::entries() {
    using T = const BuffersTable&;
    using R = const accounts::MemoryRow&;
    static const Entry list[] = {
        {{.key = "buffer_type", .title = "buffer", .help = "the type of buffer"}, [](T, R r) -> Cell { return r.buffer_type; }},
        {{.key = "size", .title = "size", .help = "of its compute buffers, all chunks", .unit = Unit::bytes},
         [](T, R r) { return Cell::of_sum(r.size); }},
        {{.key = "size_rounding", .help = "bytes that the size may be off, where a log rounded it", .unit = Unit::bytes},
         [](T, R r) -> Cell { return r.size.rounding; }},
        {{.key = "peak", .title = "used to", .help = "the highest byte that this plan uses", .unit = Unit::bytes},
         [](T, R r) { return r.use_known ? Cell(r.peak) : Cell::unknown(); }},
        {{.key = "most",
          .title = "needed at once",
          .help = "bytes of all tensors that are needed at one node, where that is most",
          .unit = Unit::bytes},
         [](T, R r) { return r.use_known ? Cell(r.most_live) : Cell::unknown(); }},
        {{.key = "most_at", .title = "at place", .help = "where that is in the allocated graph", .unit = Unit::number},
         [](T, R r) { return r.use_known ? Cell(r.most_at) : Cell::unknown(); }},
        {{.key = "most_at_tensor", .title = "of", .help = "the tensor whose bytes are taken there"},
         [](T, R r) { return r.use_known ? Cell::if_any(r.most_at_name) : Cell::unknown(); }},
        {{.key = "holders",
          .title = "held by",
          .help = "the tensors that are needed there, the largest first",
          .unit = Unit::rows},
         [](T, R r) -> Cell { return std::shared_ptr<const Table>(std::make_shared<HoldersTable>(r.holders)); }},
        {{.key = "replan", .title = "planned again because", .help = "why memory was planned again"},
         [](T, R r) -> Cell { return r.replan; }},
    };
    return list;
}

BuffersTable::BuffersTable(History& history) : PlanTable("memory", history) {}

void BuffersTable::update(const PlanState& state, std::vector<accounts::MemoryRow> buffers) {
    look_at(state);
    say_when_empty(Topic::memory, "what memory was planned", "no memory was planned");
    rows_ = std::move(buffers);
}

std::span<const ResidentTable::Entry> ResidentTable::entries() {
    using T = const ResidentTable&;
    using R = const accounts::ResidentRow&;
    static const Entry list[] = {
        {{.key = "buffer_type", .title = "own memory in", .help = "the type of buffer"},
         [](T t, R r) -> Cell { return t.history().buffer_type_name(r.buffer_type); }},
        {{.key = "what", .title = "holds", .help = "what the plan's graph reads there"}, [](T, R r) -> Cell { return r.what; }},
        {{.key = "size", .title = "size", .help = "of these tensors", .unit = Unit::bytes},
         [](T, R r) { return Cell::of_sum(r.size); }},
    };
    return list;
}

ResidentTable::ResidentTable(History& history) : PlanTable("resident", history) {}

void ResidentTable::update(const PlanState& state, std::vector<accounts::ResidentRow> resident) {
    look_at(state);
    rows_ = std::move(resident);
}

std::span<const ReservesTable::Entry> ReservesTable::entries() {
    using T = const ReservesTable&;
    using R = const accounts::ReserveRow&;
    static const Entry list[] = {
        {{.title = "reserved beforehand for", .help = "the graph, whose tokens come at once, with the cache full"},
         [](T, R r) -> Cell { return words::reserved_for(r.n_tokens); }},
        {{.key = "n_tokens", .help = "at once, with the cache full", .unit = Unit::count},
         [](T, R r) -> Cell { return r.n_tokens; }},
        {{.key = "graph", .help = "the graph's number", .unit = Unit::number}, [](T, R r) -> Cell { return r.graph; }},
        {{.key = "error", .title = "failed because", .help = "why it failed"}, [](T, R r) -> Cell { return r.error; }},
    };
    return list;
}

ReservesTable::ReservesTable(std::vector<accounts::ReserveRow> rows) : TableOf("reserves") { rows_ = std::move(rows); }

std::span<const PlacesTable::Entry> PlacesTable::entries() {
    using T = const PlacesTable&;
    using R = const record::Placement&;
    static const Entry list[] = {
        {{.key = "id", .help = "the tensor's number", .unit = Unit::number}, [](T, R r) -> Cell { return r.tensor; }},
        {{.key = "name", .title = "name", .help = "the tensor"}, [](T t, R r) { return t.name(r.tensor); }},
        {{.key = "buffer_type",
          .title = "buffer",
          .help = "the type of buffer that it lies in",
          .width = 7,
          .from_width = 40,
          .most = 14},
         [](T t, R r) { return Cell(t.history().buffer_type_name(r.buffer_type)).of(t.backend_of(r.tensor)); }},
        {{.key = "chunk",
          .title = "chunk",
          .help = "which of the type's buffers",
          .unit = Unit::number,
          .width = 5,
          .from_width = 130,
          .tone = Tone::quiet},
         [](T, R r) -> Cell { return r.chunk; }},
        {{.key = "offset", .title = "offset", .help = "its first byte there", .unit = Unit::count, .width = 8},
         [](T, R r) -> Cell { return r.offset; }},
        {{.key = "size",
          .title = "size",
          .help = "the bytes that it takes",
          .unit = Unit::bytes,
          .width = 8,
          .field = Field::bytes},
         [](T, R r) -> Cell { return r.size; }},
        {{.title = "used",
          .help = "the places of its first and last use in the allocated graph",
          .unit = Unit::range,
          .width = 9,
          .from_width = 52,
          .tone = Tone::quiet},
         [](T, R r) { return Cell(std::to_string(r.first_use) + "–" + std::to_string(r.last_use)).ordered_by(r.first_use); }},
        {{.key = "first_use", .help = "the place of its first use in the allocated graph", .unit = Unit::number},
         [](T, R r) -> Cell { return r.first_use; }},
        {{.key = "last_use", .help = "the place of its last use", .unit = Unit::number},
         [](T, R r) -> Cell { return r.last_use; }},
        {{.key = "in_place_of",
          .title = "in place of",
          .help = "the tensor whose bytes it takes over",
          .width = 18,
          .from_width = 84,
          .tone = Tone::quiet},
         [](T t, R r) { return t.name(r.in_place_of); }},
        {{.title = "life", .help = "from its first to its last use", .width = life_width, .from_width = 98},
         [](T t, R r) { return Cell(t.life(r)).of(t.backend_of(r.tensor)).ordered_by(r.last_use - r.first_use); }},
    };
    return list;
}

PlacesTable::PlacesTable(History& history) : PlanTable("tensors", history) {}

void PlacesTable::update(const PlanState& state) {
    look_at(state);
    say_when_empty(Topic::memory, "where tensors lie",
                   state.planned ? "the memory of this plan is not known at this step: allocate comes after optimise"
                                 : "no memory is planned up to this step: allocate comes after optimise");
    for (const auto& [what, sizes] : accounts::logged_memory(history().session())) {
        when_empty_.append("\n").append(what).append(": ").append(sizes);
    }
    rows_ = state.placements;
    std::stable_sort(rows_.begin(), rows_.end(), [](const record::Placement& a, const record::Placement& b) {
        return std::tie(a.buffer_type, a.chunk, a.offset, a.first_use) < std::tie(b.buffer_type, b.chunk, b.offset, b.first_use);
    });
    last_use_ = 1;
    int64_t farthest = 0;
    for (const record::Placement& p : rows_) {
        last_use_ = std::max(last_use_, p.last_use + 1);
        farthest = std::max(farthest, p.offset);
    }
    // A number that is cut tells nothing.
    columns_[column_of(*this, "offset")].width = std::clamp(n_of(words::count(farthest)), 8, 15);
}

std::string PlacesTable::life(const record::Placement& place) const {
    const auto at = [&](int use) { return std::clamp(use * life_width / last_use_, 0, life_width - 1); };
    std::string bar;
    for (int i = 0; i < life_width; ++i) {
        bar += i >= at(place.first_use) && i <= at(place.last_use) ? "█" : "·";
    }
    return bar;
}

} // namespace schedscope::tables
