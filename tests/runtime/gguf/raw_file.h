#pragma once

#include "runtime/gguf/gguf.h"
#include "tests/support/files.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace schedscope::test {

/// Writes a GGUF file number by number, so that it can be wrong anywhere.
class RawFile {
public:
    explicit RawFile(uint64_t tensors = 0, uint64_t keys = 0, uint32_t version = 3) {
        text("GGUF").number(version).number(tensors).number(keys);
    }
    template <typename T> RawFile& number(T v) {
        const auto* at = reinterpret_cast<const std::byte*>(&v);
        bytes_.insert(bytes_.end(), at, at + sizeof v);
        return *this;
    }
    RawFile& text(std::string_view s) {
        const auto* at = reinterpret_cast<const std::byte*>(s.data());
        bytes_.insert(bytes_.end(), at, at + s.size());
        return *this;
    }
    RawFile& string(std::string_view s) { return number<uint64_t>(s.size()).text(s); }
    RawFile& key(std::string_view name, gguf::ValueType type) { return string(name).number(static_cast<uint32_t>(type)); }
    RawFile& tensor(std::string_view name, const std::vector<uint64_t>& ne, uint32_t type, uint64_t offset) {
        string(name).number(static_cast<uint32_t>(ne.size()));
        for (const uint64_t n : ne) {
            number(n);
        }
        return number(type).number(offset);
    }
    RawFile& data(size_t bytes, size_t alignment = 32) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
        bytes_.resize(bytes_.size() + bytes);
        return *this;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::vector<std::byte> bytes(static_cast<size_t>(in.tellg()));
    in.seekg(0).read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

} // namespace schedscope::test
