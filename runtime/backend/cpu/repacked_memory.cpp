#include "runtime/backend/cpu/repacked_memory.h"

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace schedscope {

namespace {

/// For which rows are laid out in this process.
const VectorOps& ops_here() noexcept {
    static const VectorOps& ops = best_vector_ops();
    return ops;
}

template <size_t bytes, bool back> void turn_floats(const std::byte* from, int64_t n, std::byte* to) {
    each_stretch_of_floats(n, [&](int64_t first, int64_t count) {
        for (int64_t r = 0; r < rows_laid_out_together; ++r) {
            const size_t in_rows = (r * n + first) * bytes, in_panel = (first * rows_laid_out_together + r * count) * bytes;
            std::memcpy(to + (back ? in_rows : in_panel), from + (back ? in_panel : in_rows), count * bytes);
        }
    });
}
template <size_t bytes>
constexpr RepackedRows floats_of{.lay_out = turn_floats<bytes, false>, .take_back = turn_floats<bytes, true>};

const RepackedRows& rows_of(Type type) noexcept {
    return type == Type::F32 ? floats_of<4> : is_float(type) ? floats_of<2> : ops_here().blocks[ordinal(type)].repacked;
}

/// A tensor's place: panels of so many bytes, each of rows of n elements.
struct Panels {
    const RepackedRows* ops;
    size_t bytes;
    size_t of_panel;
    int64_t n;
};

class RepackedBuffer final : public Buffer {
public:
    explicit RepackedBuffer(size_t bytes) : memory_(cpu_buffer_type().allocate(bytes)) {}

    const BufferType& type() const noexcept override { return cpu_repack_buffer_type(); }
    size_t size() const noexcept override { return memory_->size(); }
    std::byte* host_base() noexcept override { return nullptr; }
    std::byte* base() noexcept { return memory_->host_base(); }
    void hold(const Tensor& t) override {
        if (!can_be_repacked(t.type, t.ne)) {
            throw Error(ErrorKind::usage, "CPU_Repack: '" + t.name + "' can't be laid out");
        }
        const size_t of_row = row_bytes(t.type, t.ne[0]);
        const int64_t rows = is_float(t.type) ? rows_laid_out_together : ops_here().panel_rows;
        held_[t.offset] = {&rows_of(t.type), n_bytes(t), static_cast<size_t>(rows) * of_row, t.ne[0]};
    }
    void write(size_t offset, const void* source, size_t bytes) override {
        const auto* const from = static_cast<const std::byte*>(source);
        each_panel(offset, bytes, [&](const Panels& panels, std::byte* panel, size_t first, size_t n, size_t done) {
            if (n == panels.of_panel) {
                panels.ops->lay_out(from + done, panels.n, panel);
                return;
            }
            std::vector<std::byte> rows(panels.of_panel);
            panels.ops->take_back(panel, panels.n, rows.data());
            std::memcpy(rows.data() + first, from + done, n);
            panels.ops->lay_out(rows.data(), panels.n, panel);
        });
    }
    void read(size_t offset, void* target, size_t bytes) override {
        auto* const to = static_cast<std::byte*>(target);
        each_panel(offset, bytes, [&](const Panels& panels, std::byte* panel, size_t first, size_t n, size_t done) {
            if (n == panels.of_panel) {
                panels.ops->take_back(panel, panels.n, to + done);
                return;
            }
            std::vector<std::byte> rows(panels.of_panel);
            panels.ops->take_back(panel, panels.n, rows.data());
            std::memcpy(to + done, rows.data() + first, n);
        });
    }
    void clear(uint8_t value) override {
        for (const auto& [offset, panels] : held_) {
            const std::vector<std::byte> rows(panels.of_panel, std::byte{value});
            for (size_t at = 0; at < panels.bytes; at += panels.of_panel) {
                write(offset + at, rows.data(), rows.size());
            }
        }
    }
    std::string lock(size_t offset, size_t bytes) override { return memory_->lock(offset, bytes); }

private:
    /// use(panels, panel, first, n, done): bytes [first, first + n) of a panel's rows, in front of which `done` are.
    template <typename Use> void each_panel(size_t offset, size_t bytes, Use use) {
        for (size_t done = 0; done < bytes;) {
            const auto next = held_.upper_bound(offset + done);
            const auto at = next == held_.begin() ? held_.end() : std::prev(next);
            if (at == held_.end() || offset + done >= at->first + at->second.bytes) {
                throw Error(ErrorKind::usage, "CPU_Repack: there is no tensor at byte " + std::to_string(offset + done));
            }
            const Panels& panels = at->second;
            const size_t inside = offset + done - at->first, first = inside % panels.of_panel;
            const size_t n = std::min(panels.of_panel - first, bytes - done);
            use(panels, base() + at->first + inside - first, first, n, done);
            done += n;
        }
    }

    std::unique_ptr<Buffer> memory_;
    std::map<size_t, Panels> held_; ///< by offset
};

class RepackedBufferType final : public BufferType {
public:
    std::string_view name() const noexcept override { return laid_out_memory; }
    bool is_host() const noexcept override { return false; } // only the CPU's products know where a row lies
    size_t alignment() const noexcept override { return 64; }
    size_t max_size() const noexcept override { return SIZE_MAX; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override { return std::make_unique<RepackedBuffer>(bytes); }
};

} // namespace

const BufferType& cpu_repack_buffer_type() noexcept {
    static const RepackedBufferType type;
    return type;
}

bool multiplies_laid_out(Products products, const VectorOps& vector) noexcept {
    return products == Products::int8 && &vector == &ops_here();
}

std::optional<LaidOutType> layout_of(Type type) noexcept {
    if (rows_of(type).lay_out == nullptr) {
        return std::nullopt;
    }
    return is_float(type) ? LaidOutType{type, rows_laid_out_together, longest_row_as_it_is} : LaidOutType{type, widest_vector};
}

bool can_be_repacked(Type type, const Shape& ne) noexcept {
    const std::optional<LaidOutType> layout = layout_of(type);
    return layout && layout->takes(ne);
}

const std::byte* repacked_data(const Tensor& t) noexcept {
    if (t.buffer == nullptr || &t.buffer->type() != &cpu_repack_buffer_type()) {
        return nullptr;
    }
    return static_cast<RepackedBuffer*>(t.buffer)->base() + t.offset;
}

} // namespace schedscope
