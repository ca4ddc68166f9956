#include "runtime/gguf/parser.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_set>
#include <utility>

namespace schedscope::gguf {

namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they lie in memory");

// Far beyond any real model; they bound time and memory for files made to hurt.
constexpr uint64_t max_entries = budget::model_entries;
constexpr uint64_t max_elements = budget::model_elements;
constexpr uint64_t max_key_bytes = 65'535; ///< the format's own limit

constexpr size_t least_alignment = 8; ///< the format's, and what the widest element needs

class GgufParser {
public:
    GgufParser(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

    ParsedFile run() {
        header();
        for (uint64_t i = 0; i < n_keys_; ++i) {
            entry();
        }
        alignment();
        for (uint64_t i = 0; i < n_tensors_; ++i) {
            tensor();
        }
        place_data();
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(const std::string& why) const { throw Error(ErrorKind::input, path_ + ": " + why); }

    uint64_t left() const noexcept { return bytes_.size() - at_; }

    std::span<const std::byte> take(uint64_t n) {
        if (n > left()) {
            fail("is truncated: it ends inside " + inside());
        }
        const auto taken = bytes_.subspan(at_, n);
        at_ += n;
        return taken;
    }

    template <typename T> T number() {
        T v;
        std::memcpy(&v, take(sizeof v).data(), sizeof v);
        return v;
    }

    std::span<const std::byte> string() { return take(number<uint64_t>()); }

    /// What is being read, for messages.
    std::string inside() const { return what_ + (name_.empty() ? "" : " '" + visible_name(name_) + "'"); }

    std::string_view name(uint64_t max_bytes) {
        name_ = {};
        const auto length = number<uint64_t>();
        if (length == 0 || length > max_bytes) {
            fail("is damaged: a name in " + what_ + " has " + std::to_string(length) + " bytes; 1 to " +
                 std::to_string(max_bytes) + " are possible");
        }
        const auto bytes = take(length);
        name_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        return name_;
    }

    void header() {
        if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "GGUF", 4) != 0) {
            fail("is not a GGUF file");
        }
        at_ = 4;
        result_.version = number<uint32_t>();
        if (result_.version != 0 && (result_.version & 0xFFFFU) == 0) {
            fail("is a big-endian GGUF file, which can't be read");
        }
        if (result_.version != 2 && result_.version != 3) {
            fail("has GGUF version " + std::to_string(result_.version) + "; 2 and 3 can be read");
        }
        n_tensors_ = number<uint64_t>();
        n_keys_ = number<uint64_t>();
        // The least that one takes: a name of one byte, a type and one byte; a name of one byte, two numbers and an offset.
        check_count(n_keys_, "metadata keys", 8 + 1 + 4 + 1);
        check_count(n_tensors_, "tensors", 8 + 1 + 4 + 4 + 8);
    }

    void check_count(uint64_t count, const char* of_what, uint64_t least_bytes) const {
        if (count > max_entries) {
            fail("claims " + std::to_string(count) + " " + of_what + "; at most " + std::to_string(max_entries) +
                 " are accepted");
        }
        if (count * least_bytes > left()) {
            fail("is truncated: it has no room for its " + std::to_string(count) + " " + of_what);
        }
    }

    ValueType value_type() {
        const auto type = number<uint32_t>();
        if (type >= static_cast<uint32_t>(ValueType::count)) {
            fail("is damaged: " + inside() + " has the unknown value type " + std::to_string(type));
        }
        return static_cast<ValueType>(type);
    }

    void entry() {
        what_ = "the metadata";
        const std::string_view key = name(max_key_bytes);
        if (!names_.insert(key).second) {
            fail("is damaged: the metadata key '" + visible_name(key) + "' occurs twice");
        }
        MetadataValue value;
        value.type = value_type();
        if (value.type == ValueType::array) {
            array(value);
        } else {
            value.bytes = value.type == ValueType::string ? string() : take(value_type_bytes(value.type));
        }
        result_.entries.push_back({key, value});
    }

    void array(MetadataValue& value) {
        value.element = value_type();
        value.count = number<uint64_t>();
        if (value.element == ValueType::array) {
            fail("has nested arrays in " + inside() + ", which can't be read");
        }
        if (value.count > max_elements) {
            fail("claims " + std::to_string(value.count) + " elements in " + inside() + "; at most " +
                 std::to_string(max_elements) + " are accepted");
        }
        if (value.element == ValueType::string) {
            strings_ += value.count;
            if (strings_ > max_elements) {
                fail("claims " + std::to_string(strings_) + " strings in arrays; at most " + std::to_string(max_elements) +
                     " are accepted");
            }
        } else {
            value.bytes = take(value.count * value_type_bytes(value.element));
            return;
        }
        const size_t begin = at_;
        for (uint64_t i = 0; i < value.count; ++i) {
            string();
        }
        value.bytes = bytes_.subspan(begin, at_ - begin);
    }

    void alignment() {
        result_.alignment = default_alignment;
        for (const MetadataEntry& e : result_.entries) {
            if (e.key != "general.alignment") {
                continue;
            }
            const auto wanted = e.value.as_u64();
            if (!wanted || !std::has_single_bit(*wanted) || *wanted < least_alignment) {
                fail("is damaged: general.alignment is " + e.value.text(1) + ", not a power of two from " +
                     std::to_string(least_alignment) + " on");
            }
            result_.alignment = *wanted;
        }
        names_.clear();
    }

    void tensor() {
        what_ = "the list of tensors";
        FileTensor info;
        info.name = name(max_name);
        what_ = "tensor";
        if (!names_.insert(info.name).second) {
            fail("is damaged: two tensors are named '" + visible_name(info.name) + "'");
        }
        const auto n_dims = number<uint32_t>();
        if (n_dims > max_dims) {
            fail("is damaged: tensor '" + visible_name(info.name) + "' has " + std::to_string(n_dims) + " dimensions; at most " +
                 std::to_string(max_dims) + " are possible");
        }
        info.n_dims = n_dims;
        for (size_t i = 0; i < n_dims; ++i) {
            const auto ne = number<uint64_t>();
            if (ne == 0 || ne > (std::numeric_limits<int64_t>::max())) {
                fail("is damaged: dimension " + std::to_string(i) + " of tensor '" + visible_name(info.name) + "' is " +
                     std::to_string(ne));
            }
            info.ne[i] = ne;
        }
        const auto file_type = number<uint32_t>();
        const auto type = type_from_file_number(file_type);
        if (!type) {
            fail("tensor '" + visible_name(info.name) + "' has type " + file_type_name(file_type) + ", which is not supported");
        }
        info.type = *type;
        info.offset = number<uint64_t>();
        measure(info);
        result_.tensors.push_back(info);
    }

    void measure(FileTensor& info) const {
        const TypeTraits& type = traits(info.type);
        if (info.ne[0] % type.block != 0) {
            fail("is damaged: rows of tensor '" + visible_name(info.name) + "' have " + std::to_string(info.ne[0]) +
                 " elements, which do not divide into blocks of " + std::string(type.name));
        }
        int64_t elements = 1;
        int64_t bytes = type.bytes;
        for (size_t i = 0; i < info.ne.size(); ++i) {
            if (__builtin_mul_overflow(elements, info.ne[i], &elements) ||
                __builtin_mul_overflow(bytes, i == 0 ? info.ne[0] / type.block : info.ne[i], &bytes)) {
                fail("is damaged: tensor '" + visible_name(info.name) + "' of shape " + shape_text(info.ne) + " is too large");
            }
        }
        info.bytes = bytes;
    }

    /// Data begins behind the padding; each tensor's must lie inside the file and apart from the others'.
    void place_data() {
        if (result_.tensors.empty()) {
            return;
        }
        const size_t mask = result_.alignment - 1;
        const size_t padding = (result_.alignment - (at_ & mask)) & mask;
        const size_t room = padding < left() ? bytes_.size() - at_ - padding : 0;
        const size_t begin = bytes_.size() - room;
        for (FileTensor& info : result_.tensors) {
            if ((info.offset & mask) != 0) {
                fail("is damaged: data of tensor '" + visible_name(info.name) + "' begins at " + std::to_string(info.offset) +
                     ", which is not a multiple of the alignment " + std::to_string(result_.alignment));
            }
            if (info.offset > room || info.bytes > room - info.offset) {
                fail("is truncated: data of tensor '" + visible_name(info.name) + "' (" + std::to_string(info.bytes) +
                     " bytes at " + std::to_string(info.offset) + ") lies outside the file");
            }
            info.data = bytes_.data() + begin + info.offset;
        }
        check_overlaps();
    }

    void check_overlaps() const {
        std::vector<const FileTensor*> by_offset;
        by_offset.reserve(result_.tensors.size());
        for (const FileTensor& info : result_.tensors) {
            by_offset.push_back(&info);
        }
        std::sort(by_offset.begin(), by_offset.end(), [](const auto* a, const auto* b) { return a->offset < b->offset; });
        for (size_t i = 1; i < by_offset.size(); ++i) {
            if (by_offset[i]->offset - by_offset[i - 1]->offset < by_offset[i - 1]->bytes) {
                fail("is damaged: data of tensors '" + visible_name(by_offset[i - 1]->name) + "' and '" +
                     visible_name(by_offset[i]->name) + "' overlaps");
            }
        }
    }

    std::span<const std::byte> bytes_;
    const std::string& path_;
    size_t at_ = 0;
    std::string what_ = "the header";
    std::string_view name_;
    uint64_t n_tensors_ = 0;
    uint64_t n_keys_ = 0;
    uint64_t strings_ = 0;                       ///< in all arrays so far
    std::unordered_set<std::string_view> names_; ///< of the list being read
    ParsedFile result_;
};

} // namespace

ParsedFile parse(std::span<const std::byte> bytes, const std::string& path) { return GgufParser(bytes, path).run(); }

} // namespace schedscope::gguf
