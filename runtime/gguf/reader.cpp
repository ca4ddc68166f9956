#include "runtime/gguf/gguf.h"

#include "runtime/error.h"
#include "runtime/gguf/mapping.h"
#include "runtime/gguf/parser.h"
#include "runtime/gguf/split.h"
#include "runtime/numbers.h"
#include "runtime/system/large_pages.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace schedscope::gguf {

File::File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::string& path) {
    File file;
    file.path_ = path;
    file.add_part(Mapping::of_file(path), path);
    file.follow_split();
    return file;
}

File File::from_bytes(std::vector<std::byte> bytes, std::string name) {
    File file;
    file.path_ = std::move(name);
    file.add_part(Mapping::of_bytes(std::move(bytes)), file.path_);
    return file;
}

void File::add_part(Mapping mapping, const std::string& path) {
    ParsedFile parsed = parse(mapping.bytes(), path);
    const auto part = n_of(mappings_);
    if (part == 0) {
        version_ = parsed.version;
        alignment_ = parsed.alignment;
        entries_ = std::move(parsed.entries);
        for (size_t i = 0; i < entries_.size(); ++i) {
            key_index_.emplace(entries_[i].key, i);
        }
    } else {
        check_part(parsed, part, path);
    }
    for (FileTensor& info : parsed.tensors) {
        if (!tensor_index_.emplace(info.name, tensors_.size()).second) {
            throw Error(ErrorKind::input,
                        path + ": tensor '" + visible_name(info.name) + "' is in an earlier part of the model, too");
        }
        info.part = part;
        tensors_.push_back(info);
    }
    mapping.check_whole();
    mappings_.push_back(std::move(mapping));
}

void File::follow_split() {
    const auto count = get_u32("split.count").value_or(1);
    if (count <= 1) {
        return;
    }
    const SplitName name(path_, get_u32("split.no").value_or(0), count);
    for (uint32_t part = 1; part < count; ++part) {
        const std::string path = name.of_part(part);
        add_part(Mapping::of_file(path), path);
    }
    if (const auto total = get_u64("split.tensors.count"); total && *total != tensors_.size()) {
        throw Error(ErrorKind::input, path_ + ": the parts hold " + std::to_string(tensors_.size()) + " tensors, not the " +
                                          std::to_string(*total) + " of split.tensors.count");
    }
}

int File::parts() const noexcept { return n_of(mappings_); }

uint64_t File::file_bytes() const noexcept {
    uint64_t sum = 0;
    for (const Mapping& m : mappings_) {
        sum += m.bytes().size();
    }
    return sum;
}

void File::check_whole() const {
    for (const Mapping& m : mappings_) {
        m.check_whole();
    }
}

const Mapping& File::mapping_of(const FileTensor& tensor) const noexcept { return mappings_[tensor.part]; }
size_t File::place_of(const FileTensor& tensor) const noexcept { return tensor.data - mapping_of(tensor).bytes().data(); }

void File::read_ahead(const FileTensor& tensor, size_t offset, size_t bytes) const noexcept {
    mapping_of(tensor).read_ahead(place_of(tensor) + offset, bytes);
}
void File::let_go(const FileTensor& tensor) const noexcept { let_go(tensor, 0, tensor.bytes); }
void File::let_go(const FileTensor& tensor, size_t offset, size_t bytes) const noexcept {
    mapping_of(tensor).let_go(place_of(tensor) + offset, bytes);
}
void File::read(const FileTensor& tensor, size_t offset, std::span<std::byte> into) const {
    mapping_of(tensor).read(place_of(tensor) + offset, into);
}

void File::move_to_large_pages(std::vector<const FileTensor*> tensors, const Each& each) const {
    struct Piece {
        const Mapping* mapping;
        size_t begin, end;
    };
    // Tensors are told apart by no more than their alignment, or by a vector: a large page need not end there.
    constexpr size_t little = size_t{64} << 10U, pieces_at_least = 1024;
    std::sort(tensors.begin(), tensors.end(), [](const FileTensor* a, const FileTensor* b) { return a->data < b->data; });
    std::vector<Piece> runs, pieces;
    for (const FileTensor* t : tensors) {
        const Piece own{&mapping_of(*t), place_of(*t), place_of(*t) + t->bytes};
        if (!runs.empty() && runs.back().mapping == own.mapping && own.begin <= runs.back().end + little) {
            runs.back().end = std::max(runs.back().end, own.end);
        } else {
            runs.push_back(own);
        }
    }
    const size_t all = std::accumulate(runs.begin(), runs.end(), size_t{0},
                                       [](size_t sum, const Piece& run) { return sum + run.end - run.begin; });
    // One for each thread is in memory twice; each is a mapping of its own, of which the system allows some ten thousands.
    const size_t most = std::max(2 * large_page, all / pieces_at_least / large_page * large_page);
    for (const Piece& run : runs) {
        for (size_t at = run.begin; at < run.end;) {
            const size_t past = reinterpret_cast<uintptr_t>(run.mapping->bytes().data() + at) % large_page;
            const size_t end = std::min(run.end, at - past + most);
            pieces.push_back({run.mapping, at, end});
            at = end;
        }
    }
    each(int_of(pieces.size()), [&](int i) {
        const Piece& piece = pieces[i];
        piece.mapping->move_to_large_pages(piece.begin, piece.end - piece.begin);
    });
}

const MetadataValue* File::find(std::string_view key) const noexcept {
    const auto found = key_index_.find(key);
    return found != key_index_.end() ? &entries_[found->second].value : nullptr;
}

const FileTensor* File::find_tensor(std::string_view name) const noexcept {
    const auto found = tensor_index_.find(name);
    return found != tensor_index_.end() ? &tensors_[found->second] : nullptr;
}

const FileTensor& File::require_tensor(std::string_view name) const {
    const FileTensor* info = find_tensor(name);
    if (info == nullptr) {
        throw Error(ErrorKind::input, path_ + ": tensor '" + std::string(name) + "' is missing");
    }
    return *info;
}

template <typename Wanted, typename Get> std::optional<Wanted> File::get(std::string_view key, const char* wanted, Get as) const {
    const MetadataValue* value = find(key);
    if (value == nullptr) {
        mappings_.front().check_whole(); // a key that was lost is not found, either
        return std::nullopt;
    }
    const auto result = as(*value);
    mappings_.front().check_whole();
    if (!result) {
        const bool scalar = !value->is_array() && value->type != ValueType::string;
        throw Error(ErrorKind::input, path_ + ": key '" + std::string(key) + "' is " + value->kind() +
                                          (scalar ? " " + value->text() : std::string()) + ", not " + wanted);
    }
    return static_cast<Wanted>(*result);
}

std::optional<uint32_t> File::get_u32(std::string_view key) const {
    return get<uint32_t>(key, "a 32-bit number from 0 on", [](const MetadataValue& v) { return v.as_u32(); });
}
std::optional<int32_t> File::get_i32(std::string_view key) const {
    return get<int32_t>(key, "a 32-bit integer", [](const MetadataValue& v) { return v.as_i32(); });
}
std::optional<uint64_t> File::get_u64(std::string_view key) const {
    return get<uint64_t>(key, "a number from 0 on", [](const MetadataValue& v) { return v.as_u64(); });
}
std::optional<float> File::get_f32(std::string_view key) const {
    return get<float>(key, "a number", [](const MetadataValue& v) { return v.as_f64(); });
}
std::optional<bool> File::get_bool(std::string_view key) const {
    return get<bool>(key, "true or false", [](const MetadataValue& v) { return v.as_bool(); });
}
std::optional<std::string_view> File::get_string(std::string_view key) const {
    return get<std::string_view>(key, "a string", [](const MetadataValue& v) { return v.as_string(); });
}
std::optional<std::vector<int32_t>> File::get_i32_array(std::string_view key) const {
    return get<std::vector<int32_t>>(key, "an array of 32-bit integers", [](const MetadataValue& v) { return v.as_i32_array(); });
}
std::optional<std::vector<float>> File::get_f32_array(std::string_view key) const {
    return get<std::vector<float>>(key, "an array of numbers", [](const MetadataValue& v) { return v.as_f32_array(); });
}
std::optional<std::vector<std::string_view>> File::get_string_array(std::string_view key) const {
    return get<std::vector<std::string_view>>(key, "an array of strings",
                                              [](const MetadataValue& v) { return v.as_string_array(); });
}

template <typename Wanted> Wanted File::require(std::string_view key, std::optional<Wanted> value) const {
    if (!value) {
        throw Error(ErrorKind::input, path_ + ": key '" + std::string(key) + "' is missing");
    }
    return *std::move(value);
}

uint32_t File::require_u32(std::string_view key) const { return require(key, get_u32(key)); }
float File::require_f32(std::string_view key) const { return require(key, get_f32(key)); }
std::string_view File::require_string(std::string_view key) const { return require(key, get_string(key)); }
std::vector<float> File::require_f32_array(std::string_view key) const { return require(key, get_f32_array(key)); }
std::vector<std::string_view> File::require_string_array(std::string_view key) const {
    return require(key, get_string_array(key));
}

} // namespace schedscope::gguf
