#include "inspector/tui/text.h"
#include "inspector/tui/view.h"
#include "traces/tables.h"

#include <algorithm>
#include <map>

namespace schedscope::tui {
namespace {

/// Memory: where each tensor lies in its compute buffer and how long; on the right who shares its bytes, the buffers and why they were planned anew.
class MemoryView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        rows_ = session.state().placements;
        std::stable_sort(rows_.begin(), rows_.end(), [](const record::Placement& a, const record::Placement& b) {
            return std::tie(a.buffer_type, a.chunk, a.offset, a.first_use) <
                   std::tie(b.buffer_type, b.chunk, b.offset, b.first_use);
        });
        last_use_ = 1;
        for (const record::Placement& p : rows_)
            last_use_ = std::max(last_use_, p.last_use + 1);
        columns_ = {{"buffer", 8, false, 0}, {"offset", 10, true, 0}, {"size", 9, true, 0, Field::bytes},
                    {"used", 9, true, 52},   {"name", 0, false, 0},   {"life", life_width, false, 78}};
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int) const override {
        const record::Placement& p = at(index);
        const BackendId backend = backend_of(session, p.tensor);
        const Style ink = backend_style(backend, session.n_backends());
        return {{buffer_name(session, p.buffer_type), ink},
                {grouped(p.offset)},
                {bytes_text(p.size)},
                {std::to_string(p.first_use) + "–" + std::to_string(p.last_use), dim},
                {(p.in_place_of != no_tensor ? "= " : "") + session.name(p.tensor)},
                {life(p), ink}};
    }

    std::string empty_text(const Session&) const override {
        return "no memory is planned up to this step: allocate comes after optimise";
    }
    std::string title(const Session&) const override { return "memory"; }

    int row_of(const Session&, TensorId id) const override {
        const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const record::Placement& p) { return p.tensor == id; });
        return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
    }
    TensorId tensor_of(const Session&, int row) const override { return at(row).tensor; }
    bool changed(const Session& session, int row) const override {
        const auto* f = std::get_if<record::Placement>(&session.record().fact);
        return f && f->tensor == at(row).tensor;
    }

    std::string detail_title(Session& session, int row) const override { return session.name(at(row).tensor); }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const record::Placement& p = at(row);
        std::vector<Line> lines;
        add_wrapped(lines, width, "lies", 8,
                    buffer_name(session, p.buffer_type) + (p.chunk > 0 ? " chunk " + std::to_string(p.chunk) : "") + ", bytes " +
                        grouped(p.offset) + " to " + grouped(p.offset + p.size));
        add_wrapped(lines, width, "lives", 8,
                    "from place " + std::to_string(p.first_use) + " to " + std::to_string(p.last_use) +
                        " of the allocated graph");
        if (p.in_place_of != no_tensor)
            add_wrapped(lines, width, "takes", 8, "the place of " + session.name(p.in_place_of) + ", whose last user it is", {},
                        Target::tensor(p.in_place_of));

        add_heading(lines, "in the same bytes");
        std::vector<record::Placement> sharing;
        for (const record::Placement& other : rows_) {
            const bool same_bytes = other.buffer_type == p.buffer_type && other.chunk == p.chunk &&
                                    other.offset < p.offset + p.size && p.offset < other.offset + other.size;
            if (same_bytes && other.tensor != p.tensor)
                sharing.push_back(other);
        }
        std::stable_sort(sharing.begin(), sharing.end(),
                         [](const record::Placement& a, const record::Placement& b) { return a.first_use < b.first_use; });
        for (const record::Placement& other : sharing)
            add_wrapped(lines, width, std::to_string(other.first_use) + "–" + std::to_string(other.last_use), 10,
                        session.name(other.tensor), {}, Target::tensor(other.tensor));
        if (sharing.empty())
            lines.push_back(line("nothing else", dim));

        add_heading(lines, "buffers");
        for (const record::BufferSize& b : tables::compute_buffers(session.history(), session.state().step)) {
            int64_t end = 0;
            for (const record::Placement& other : rows_)
                if (other.buffer_type == b.buffer_type && other.chunk == b.chunk)
                    end = std::max(end, other.offset + other.size);
            add_wrapped(lines, width, buffer_name(session, b.buffer_type), 10,
                        bytes_text(b.size) + ", used to " + bytes_text(end));
        }
        if (!session.state().reallocations.empty())
            add_heading(lines, "planned anew because");
        for (const record::Reallocation& r : session.state().reallocations)
            add_wrapped(lines, width, "", 0, session.history().source().text(r.reason), {}, Target::tensor(r.node));
        return lines;
    }

    Target open(Session&, int row) const override { return Target::tensor(at(row).tensor); }

    void facts(Session& session, int row, Facts& facts) const override {
        const record::Placement& p = at(row);
        session.describer().tensor(session.state(), p.tensor, facts);
        facts.set(Field::bytes, p.size);
    }

private:
    static constexpr int life_width = 24;

    const record::Placement& at(int row) const { return rows_[static_cast<size_t>(row)]; }
    static BackendId backend_of(const Session& session, TensorId id) {
        const auto& tensors = session.state().tensors;
        return id >= 0 && static_cast<size_t>(id) < tensors.size() ? tensors[static_cast<size_t>(id)].backend : no_backend;
    }
    static std::string buffer_name(Session& session, BufferTypeId id) {
        const auto& types = session.history().session().buffer_types;
        return id >= 0 && static_cast<size_t>(id) < types.size() ? types[static_cast<size_t>(id)].name : "-";
    }
    std::string life(const record::Placement& p) const {
        const auto at = [&](int use) { return std::clamp(use * life_width / last_use_, 0, life_width - 1); };
        std::string bar;
        for (int i = 0; i < life_width; ++i)
            bar += i >= at(p.first_use) && i <= at(p.last_use) ? "█" : "·";
        return bar;
    }

    std::vector<record::Placement> rows_;
    int last_use_ = 1;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_memory_view() { return std::make_unique<MemoryView>(); }

} // namespace schedscope::tui
