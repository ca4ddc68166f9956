#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/memory_map.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/lifetimes.h"
#include "traces/history/words/misfit_words.h"
#include "traces/history/words/words.h"
#include "viz/tables/memory.h"

#include <algorithm>
#include <span>

namespace schedscope::tui {
namespace {

/// Memory: above, the buffers as maps; below, where each tensor lies and how long; on the right who shares its bytes, whose place
/// it takes, who holds the peak, and why buffers were planned again.
class MemoryView final : public View {
public:
    explicit MemoryView(InspectorSession& session) : rows_(session.history()) {}
    const tables::Table& table() const override { return rows_; }
    void update(InspectorSession& session) override {
        const PlanState& state = session.state();
        // All that is shown changes with the plan's memory only.
        constexpr FactSet kinds = fact_set<record::PlanBegin, record::BufferSize, record::Reallocation, record::Reserve>();
        const Step last = state.step == no_step ? no_step : session.history().source().previous_of(state.step + 1, kinds);
        if (state.planned_in == of_plan_ && state.placements.size() == rows_.rows().size() && last == of_step_) {
            return;
        }
        of_plan_ = state.planned_in;
        of_step_ = last;
        table_ = state.step == no_step ? accounts::MemoryAccount() : accounts::memory(session.history(), state);
        table_.reserves = accounts::told_once(std::move(table_.reserves));
        rows_.update(state);
        const std::vector<record::BufferSize>& sizes = table_.buffers;
        const auto& places = rows_.rows();
        std::vector<MemoryMap::DrawnBuffer> buffers;
        for (size_t i = 0; i < places.size(); ++i) {
            const record::Placement& p = places[i];
            if (buffers.empty() || buffers.back().buffer_type != p.buffer_type || buffers.back().chunk != p.chunk) {
                const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const record::BufferSize& b) {
                    return b.buffer_type == p.buffer_type && b.chunk == p.chunk;
                });
                const int64_t bytes = size == sizes.end() ? 0 : size->size;
                buffers.push_back(
                    {p.buffer_type,
                     p.chunk,
                     accounts::compute_size(session.history().session(),
                                            accounts::scheduler_of(session.history(), state.planned_in), p.buffer_type, bytes),
                     {}});
            }
            buffers.back().rows.push_back(int_of(i));
        }
        map_.set(places, std::move(buffers));
    }

    /// Where tensors lie is not all that may be known: of a log, how large the buffers are.
    std::string empty_text(const InspectorSession&) const override {
        std::string text = table().when_empty();
        if (!table_.memory.empty()) {
            text += "\ncompute buffers: " + joined(table_.memory, ", ", [](const accounts::MemoryRow& buffer) {
                        return buffer.buffer_type + " " + words::bytes(buffer.size);
                    });
        }
        if (!table_.reserves.empty()) {
            text += "\nreserved beforehand for " + joined(table_.reserves, ", ", [](const accounts::ReserveRow& r) {
                        return words::reserved_for(r.n_tokens) + (r.error ? " (failed: " + *r.error + ")" : "");
                    });
        }
        return text;
    }
    std::string title(const InspectorSession& session) const override {
        return joined({"memory", n_rows() == 0 ? "" : " " + words::count(n_rows()),
                       memory_misfits(session.history().session()).empty() ? "" : ": does not fit"});
    }
    Drawing* drawing() override { return &map_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        // A view lies where the tensor does that it is a view of.
        for (int hops = 0; hops < 32 && session.row_of(id) >= 0; ++hops) {
            const auto found = std::find_if(rows_.rows().begin(), rows_.rows().end(),
                                            [&](const record::Placement& p) { return p.tensor == id; });
            if (found != rows_.rows().end()) {
                return int_of(found - rows_.rows().begin());
            }
            if (session.is_copy(id) || !session.info(id).is_view()) {
                break;
            }
            id = session.info(id).view_source;
        }
        return -1;
    }
    bool changed(const InspectorSession& session, int row) const override {
        const auto* f = std::get_if<record::Placement>(&session.record().fact);
        return f && f->tensor == at(row).tensor;
    }

    std::string detail_title(InspectorSession& session, int row) const override { return session.name(at(row).tensor); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const record::Placement& p = at(row);
        std::vector<Line> lines;
        for (const MemoryMisfit& misfit : memory_misfits(session.history().session())) {
            add_wrapped(lines, width, "", 0, misfit.text(), warning);
        }
        add_peak(lines, session.history().buffer_type_name(p.buffer_type), width);
        add_wrapped(lines, width, "lies", 8,
                    session.history().buffer_type_name(p.buffer_type) + (p.chunk > 0 ? " chunk " + std::to_string(p.chunk) : "") +
                        ", bytes " + words::count(p.offset) + " to " + words::count(p.offset + p.size));
        add_wrapped(lines, width, "lives", 8, "from place " + std::to_string(p.first_use) + " to " + std::to_string(p.last_use));
        add_chain(session, lines, row, width);

        add_heading(lines, "in the same bytes");
        std::vector<record::Placement> sharing;
        for (const record::Placement& other : rows_.rows()) {
            const bool same_bytes = other.buffer_type == p.buffer_type && other.chunk == p.chunk &&
                                    other.offset < p.offset + p.size && p.offset < other.offset + other.size;
            if (same_bytes && other.tensor != p.tensor) {
                sharing.push_back(other);
            }
        }
        std::stable_sort(sharing.begin(), sharing.end(),
                         [](const record::Placement& a, const record::Placement& b) { return a.first_use < b.first_use; });
        for (const record::Placement& other : sharing) {
            add_wrapped(lines, width, std::to_string(other.first_use) + "–" + std::to_string(other.last_use), 10,
                        session.name(other.tensor), {}, Target::tensor(other.tensor));
        }
        if (sharing.empty()) {
            lines.push_back(line("nothing else", dim));
        }
        add_buffers(session, lines, width);
        return lines;
    }

    Target open(InspectorSession& session, int row) const override { return Target::tensor(tensor_of(session, row)); }

private:
    const record::Placement& at(int row) const { return rows_.rows()[row]; }
    /// Those that use one place after the other, each in place of the one before.
    void add_chain(InspectorSession& session, std::vector<Line>& lines, int row, int width) const {
        std::vector<const record::Placement*> chain{&at(row)};
        const auto find = [&](auto is_it) -> const record::Placement* {
            const auto found = std::find_if(rows_.rows().begin(), rows_.rows().end(), is_it);
            return found == rows_.rows().end() ? nullptr : &*found;
        };
        while (chain.size() <= rows_.rows().size()) {
            const TensorId parent = chain.front()->in_place_of;
            const auto* const before = find([&](const record::Placement& p) { return p.tensor == parent; });
            if (!before) {
                break;
            }
            chain.insert(chain.begin(), before);
        }
        while (chain.size() <= rows_.rows().size()) {
            const TensorId tensor = chain.back()->tensor;
            const auto* const behind = find([&](const record::Placement& p) { return p.in_place_of == tensor; });
            if (!behind) {
                break;
            }
            chain.push_back(behind);
        }
        if (chain.size() < 2) {
            return;
        }
        add_heading(lines, "one place, used in place by");
        for (const record::Placement* link : chain) {
            const bool itself = link->tensor == at(row).tensor;
            add_wrapped(lines, width, std::to_string(link->first_use) + "–" + std::to_string(link->last_use), 10,
                        session.name(link->tensor) + (itself ? " itself" : "") +
                            (link == chain.front() ? "" : ", the last user of the one above"),
                        itself ? bold : Style{}, Target::tensor(link->tensor));
        }
    }
    /// Of the buffer that is looked at, who holds its peak comes first: it is what the view is mostly asked, and a small screen
    /// shows only a few lines.
    void add_peak(std::vector<Line>& lines, const std::string& buffer_type, int width) const {
        constexpr size_t most = 3;
        for (const accounts::MemoryRow& buffer : table_.memory) {
            if (buffer.buffer_type != buffer_type || buffer.holders.empty()) {
                continue;
            }
            const size_t n = std::min(buffer.holders.size(), most);
            const std::string text = words::bytes(buffer.most_live) + " at " + buffer.place_of_most() + ", held by " +
                                     joined(std::span(buffer.holders).first(n), ", ", [](const accounts::MemoryRow::Holder& h) {
                                         return h.name + " " + words::bytes(h.bytes);
                                     });
            const size_t rest = buffer.holders.size() - n;
            add_wrapped(lines, width, "peak", 8, text + (rest > 0 ? " " + words::and_more(rest, "tensor") : ""), {},
                        Target::tensor(buffer.holders.front().id));
        }
    }
    void add_buffers(InspectorSession& session, std::vector<Line>& lines, int width) const {
        add_wrapped(lines, width, "", 0, std::string(places_count), dim);
        for (const accounts::MemoryRow& buffer : table_.memory) {
            add_heading(lines, "buffer " + buffer.buffer_type);
            add_wrapped(lines, width, "size", 8, words::bytes(buffer.size) + ", used to " + words::bytes(buffer.peak));
            if (buffer.most_live > 0) {
                add_wrapped(lines, width, "peak", 8,
                            words::bytes(buffer.most_live) + " needed at once, at " + buffer.place_of_most() + ", by");
            }
            for (const accounts::MemoryRow::Holder& holder : buffer.holders) {
                add_wrapped(lines, width, "", 8, words::bytes(holder.bytes) + "  " + holder.name, {}, Target::tensor(holder.id));
            }
        }
        if (!table_.resident.empty()) {
            add_heading(lines, "beside compute buffers");
        }
        for (const accounts::ResidentRow& row : table_.resident) {
            add_wrapped(lines, width, "", 0,
                        std::string(row.what) + " in " + session.history().buffer_type_name(row.buffer_type) + ": " +
                            words::bytes(row.size));
        }
        if (!session.state().reallocations.empty()) {
            add_heading(lines, "planned again because");
        }
        for (const record::Reallocation& r : session.state().reallocations) {
            add_wrapped(lines, width, "", 0, session.history().source().text(r.reason), {}, Target::tensor(r.node));
        }
        if (!table_.reserves.empty()) {
            add_heading(lines, "reserved beforehand");
        }
        for (const accounts::ReserveRow& r : table_.reserves) {
            add_wrapped(lines, width, "", 0,
                        "for a " + words::reserved_for(r.n_tokens) + " at once, with the cache full" +
                            (r.error ? ": failed, " + *r.error : ""),
                        r.error ? warning : Style{});
        }
    }

    tables::PlacesTable rows_;
    MemoryMap map_;
    accounts::MemoryAccount table_; ///< of the plan, when it had so many placements
    EvaluationId of_plan_ = -1;
    Step of_step_ = no_step;
};

} // namespace

std::unique_ptr<View> make_memory_view(InspectorSession& session) { return std::make_unique<MemoryView>(session); }

} // namespace schedscope::tui
