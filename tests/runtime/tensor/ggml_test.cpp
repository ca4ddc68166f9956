// Blocks and floats as ggml itself converts them, to the last bit (tests/data/blocks.txt).
#include "runtime/tensor/convert.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <sstream>
#include <vector>

namespace schedscope {
namespace {

struct Record {
    std::string kind, type;
    uint64_t hash = 0;
    std::vector<float> first;
};

std::vector<Record> records(const std::string& kind) {
    std::vector<Record> all;
    std::istringstream lines(files::read_bytes(paths::source("tests/data/blocks.txt")));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Record r;
        words >> r.kind >> r.type >> std::hex >> r.hash;
        if (r.kind == kind) {
            std::copy(std::istream_iterator<float>(words), {}, std::back_inserter(r.first));
            all.push_back(r);
        }
    }
    return all;
}

uint64_t fnv_1a(const void* data, size_t size) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3U;
    }
    return hash;
}

/// Upper bytes of a block's halfs whose bit 14 makes a scale infinite, or larger than 2.
std::vector<size_t> upper_bytes_of_scales(Type type) {
    switch (type) {
    case Type::MXFP4: return {};
    case Type::Q4_1:
    case Type::Q5_1:
    case Type::Q4_K:
    case Type::Q5_K: return {1, 3};
    case Type::Q2_K: return {81, 83};
    case Type::Q3_K:
    case Type::Q6_K:
    case Type::TQ1_0:
    case Type::TQ2_0:
    case Type::IQ1_M: return {traits(type).bytes - 1};
    default: return {1};
    }
}

TEST(Ggml, ExpandsBlocksToTheSameFloats) {
    const std::vector<Record> all = records("expand");
    ASSERT_EQ(all.size(), 22U);
    for (const Record& r : all) {
        const Type type = type_from_name(r.type).value();
        constexpr size_t blocks = 1000;
        const size_t bytes_of_block = traits(type).bytes;
        std::mt19937 random(11);
        std::vector<uint16_t> storage((bytes_of_block * blocks + 1) / 2);
        auto* bytes = reinterpret_cast<uint8_t*>(storage.data());
        for (size_t i = 0; i < bytes_of_block * blocks; ++i) {
            bytes[i] = static_cast<uint8_t>(random());
        }
        for (const size_t upper : upper_bytes_of_scales(type)) {
            for (size_t i = 0; i < blocks; ++i) {
                bytes[i * bytes_of_block + upper] &= 0xBF;
            }
        }
        std::vector<float> x(static_cast<size_t>(traits(type).block) * blocks);
        ASSERT_TRUE(row_to_float(type, bytes, x.data(), static_cast<int64_t>(x.size()))) << r.type;
        ASSERT_EQ(r.first.size(), 32U);
        for (size_t i = 0; i < r.first.size(); ++i) {
            EXPECT_EQ(x[i], r.first[i]) << r.type << ", element " << i;
        }
        EXPECT_EQ(fnv_1a(x.data(), x.size() * sizeof(float)), r.hash) << r.type;
    }
}

TEST(Ggml, QuantisesFloatsToTheSameBlocks) {
    const std::vector<Record> all = records("quantise");
    ASSERT_EQ(all.size(), 9U);
    for (const Record& r : all) {
        const Type type = type_from_name(r.type).value();
        constexpr size_t blocks = 400;
        const auto n = static_cast<size_t>(traits(type).block);
        std::mt19937 random(11);
        std::vector<float> x(n * blocks);
        for (size_t i = 0; i < x.size(); ++i) {
            x[i] = std::ldexp(static_cast<float>(random() % 2001) - 1000, static_cast<int>(i / n % 40) - 30);
        }
        std::vector<uint16_t> storage((traits(type).bytes * blocks + 1) / 2);
        ASSERT_TRUE(row_from_float(type, x.data(), storage.data(), static_cast<int64_t>(x.size()))) << r.type;
        EXPECT_EQ(fnv_1a(storage.data(), traits(type).bytes * blocks), r.hash) << r.type;
    }
}

TEST(Ggml, ScalesAreSetWhereBlocksHoldThem) {
    for (const char* name : {"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"}) {
        const Type type = type_from_name(name).value();
        std::mt19937 random(3);
        std::vector<uint16_t> storage(traits(type).bytes); // two blocks
        std::generate(storage.begin(), storage.end(), [&] { return static_cast<uint16_t>(random()); });
        std::vector<float> once(512), doubled(512);
        ASSERT_TRUE(set_scales(type, 0.5F, storage.data(), 512));
        ASSERT_TRUE(row_to_float(type, storage.data(), once.data(), 512));
        ASSERT_TRUE(set_scales(type, 1.0F, storage.data(), 512));
        ASSERT_TRUE(row_to_float(type, storage.data(), doubled.data(), 512));
        for (size_t i = 0; i < once.size(); ++i) {
            ASSERT_NE(once[i], 0.0F);
            ASSERT_EQ(doubled[i], 2 * once[i]) << name << ", element " << i;
        }
    }
    EXPECT_FALSE(set_scales(Type::Q8_0, 1.0F, nullptr, 0));
    EXPECT_FALSE(set_scales(Type::F32, 1.0F, nullptr, 0));
}

} // namespace
} // namespace schedscope
