#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"
#include "runtime/tensor/convert.h"
#include "tests/support/models/storyteller.h"

#include <numeric>

namespace schedscope::gguf {
namespace {

std::vector<float> counting(size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

TEST(Writer, KeepsOrderTypesAndData) {
    Writer w;
    w.set("general.architecture", "llama");
    w.set("a.count", uint32_t{1});
    w.set("z", int16_t{-1});
    w.set("a.count", uint64_t{2}); // set again: in its old place
    w.add("v", {3, 2, 1, 1}, counting(6));
    w.add("h", {5, 1, 1, 1}, counting(5), Type::F16);
    w.add("q", {64, 2, 1, 1}, counting(128), Type::Q8_0);
    const File f = File::from_bytes(w.to_bytes());

    EXPECT_EQ(f.version(), 3U);
    ASSERT_EQ(f.metadata().size(), 3U);
    EXPECT_EQ(f.metadata()[1].key, "a.count");
    EXPECT_EQ(f.metadata()[1].value.type, ValueType::u64);
    EXPECT_EQ(f.metadata()[2].key, "z");
    ASSERT_EQ(f.tensors().size(), 3U);
    EXPECT_EQ(f.tensors()[0].n_dims, 2);
    EXPECT_EQ(f.tensors()[1].offset, 32U);
    EXPECT_EQ(f.tensors()[2].offset, 64U);
    EXPECT_EQ(std::memcmp(f.tensors()[0].data, counting(6).data(), 24), 0);
    EXPECT_EQ(half_to_float(reinterpret_cast<const uint16_t*>(f.tensors()[1].data)[4]), 4.0F);
    std::vector<float> q(128);
    ASSERT_TRUE(row_to_float(Type::Q8_0, f.tensors()[2].data, q.data(), 128));
    EXPECT_NEAR(q[127], 127.0F, 0.1F);
}

TEST(Writer, HasGgmlsNumberForEveryType) {
    // ggml.h's enum ggml_type.
    const std::vector<std::pair<Type, uint32_t>> numbers = {
        {Type::F32, 0},    {Type::F16, 1},     {Type::Q4_0, 2},     {Type::Q4_1, 3},    {Type::Q5_0, 6},
        {Type::Q5_1, 7},   {Type::Q8_0, 8},    {Type::Q2_K, 10},    {Type::Q3_K, 11},   {Type::Q4_K, 12},
        {Type::Q5_K, 13},  {Type::Q6_K, 14},   {Type::IQ2_XXS, 16}, {Type::IQ2_XS, 17}, {Type::IQ3_XXS, 18},
        {Type::IQ1_S, 19}, {Type::IQ4_NL, 20}, {Type::IQ3_S, 21},   {Type::IQ2_S, 22},  {Type::IQ4_XS, 23},
        {Type::IQ1_M, 29}, {Type::BF16, 30},   {Type::TQ1_0, 34},   {Type::TQ2_0, 35},  {Type::MXFP4, 39}};
    Writer w;
    std::vector<std::vector<std::byte>> data;
    for (const auto& [type, number] : numbers) {
        EXPECT_EQ(file_type_number(type), number) << type_name(type);
        EXPECT_EQ(type_from_file_number(number), type) << type_name(type);
        EXPECT_EQ(type_from_name(file_type_name(number)), type);
        data.emplace_back(row_bytes(type, 512) * 3, static_cast<std::byte>(number));
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
        w.add(type_name(numbers[i].first), numbers[i].first, {512, 3, 1, 1}, data[i]);
    }
    const File f = File::from_bytes(w.to_bytes());
    ASSERT_EQ(f.tensors().size(), numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
        const FileTensor& t = f.tensors()[i];
        EXPECT_EQ(t.type, numbers[i].first) << t.name;
        EXPECT_EQ(std::vector<std::byte>(t.data, t.data + t.bytes), data[i]) << t.name;
    }
}

TEST(Writer, CopiesAnyValueOfAnotherFile) {
    Writer w;
    w.set("text", "x");
    w.set("many", std::vector<std::string>{"a", "bc"});
    w.set("flag", true);
    w.set("real", 0.5);
    const File first = File::from_bytes(w.to_bytes());
    Writer copy;
    for (const MetadataEntry& e : first.metadata()) {
        copy.set(e.key, e.value);
    }
    EXPECT_EQ(copy.to_bytes(), w.to_bytes());
}

TEST(Writer, ARealFileComesOutByteForByte) {
    const std::string path = test::Storyteller().model("q8_0");
    const File file = File::open(path);
    Writer w;
    for (const MetadataEntry& e : file.metadata()) {
        w.set(e.key, e.value);
    }
    for (const FileTensor& t : file.tensors()) {
        w.add(t.name, t.type, t.ne, std::span(t.data, t.bytes));
    }
    EXPECT_EQ(w.to_bytes(), test::read_file(path));
}

TEST(Writer, ObeysTheAlignmentItWrites) {
    Writer w;
    w.set("general.alignment", uint32_t{256});
    w.add("a", {1, 1, 1, 1}, {1.0F});
    w.add("b", {1, 1, 1, 1}, {2.0F});
    const auto bytes = w.to_bytes();
    const File f = File::from_bytes(bytes);
    EXPECT_EQ(f.alignment(), 256U);
    EXPECT_EQ(f.tensors()[1].offset, 256U);
    EXPECT_EQ(bytes.size() % 256, 0U);
}

TEST(Writer, StreamsDataInPieces) {
    const files::Folder folder;
    Writer w;
    constexpr int64_t n = 3'000'000; // more than the file's buffer
    w.add("big", Type::F32, {n, 1, 1, 1}, [](const Writer::Put& put) {
        for (int64_t i = 0; i < n; i += 1000) {
            const std::vector<float> piece(1000, static_cast<float>(i));
            put(std::as_bytes(std::span(piece)));
        }
    });
    w.write(folder.file("big.gguf"));
    const File f = File::open(folder.file("big.gguf"));
    EXPECT_EQ(reinterpret_cast<const float*>(f.tensors()[0].data)[2'999'999], 2'999'000.0F);
}

TEST(Writer, AFailureLeavesTheOldFileAndNothingElse) {
    const files::Folder folder;
    Writer good;
    good.set("a", "old");
    good.write(folder.file("m.gguf"));

    Writer bad;
    bad.add("w", Type::F32, {4, 1, 1, 1}, [](const Writer::Put& put) { put(std::vector<std::byte>(15)); });
    EXPECT_THROW(bad.write(folder.file("m.gguf")), Error);
    EXPECT_EQ(File::open(folder.file("m.gguf")).require_string("a"), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Writer, SaysWhyAFileCantBeWritten) {
    const files::Folder folder;
    const auto message = [](const std::string& path) -> std::string {
        try {
            Writer w;
            w.set("a", "b");
            w.write(path);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::device);
            return e.what();
        }
        return "no error";
    };
    EXPECT_EQ(message(folder.file("no/such/m.gguf")), folder.file("no/such/m.gguf") + ": No such file or directory");
    EXPECT_EQ(message("/dev/full"), "/dev/full: No space left on device");
    EXPECT_EQ(message("/dev/null"), "no error");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null")); // written, not replaced
}

TEST(Writer, RefusesWhatNoFileCanHold) {
    Writer w;
    const auto kind_of = [&w](const auto& f) {
        try {
            f(w);
        } catch (const Error& e) {
            return static_cast<int>(e.kind());
        }
        return 0;
    };
    const int usage = static_cast<int>(ErrorKind::usage);
    EXPECT_EQ(kind_of([](Writer& x) { x.set("", "v"); }), usage);
    EXPECT_EQ(kind_of([](Writer& x) { x.add("w", {2, 1, 1, 1}, {1.0F}); }), usage);                       // too few values
    EXPECT_EQ(kind_of([](Writer& x) { x.add("w", {32, 1, 1, 1}, counting(32), Type::I32); }), usage);     // no floats
    EXPECT_EQ(kind_of([](Writer& x) { x.add("w", Type::I32, {4, 1, 1, 1}, Writer::Produce()); }), usage); // not in files
    EXPECT_EQ(kind_of([](Writer& x) { x.add("", Type::F32, {4, 1, 1, 1}, Writer::Produce()); }), usage);
    EXPECT_EQ(kind_of([](Writer& x) { x.add(std::string(64, 'n'), Type::F32, {4, 1, 1, 1}, Writer::Produce()); }), usage);
    EXPECT_EQ(kind_of([](Writer& x) { x.add("w", Type::F32, {0, 1, 1, 1}, Writer::Produce()); }), usage);
    w.add("w", {1, 1, 1, 1}, {1.0F});
    EXPECT_EQ(kind_of([](Writer& x) { x.add("w", {1, 1, 1, 1}, {1.0F}); }), usage);
}

} // namespace
} // namespace schedscope::gguf
