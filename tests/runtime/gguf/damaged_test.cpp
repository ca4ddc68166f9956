// Each way in which a file can be wrong, and what the user is told.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"

namespace schedscope::gguf {
namespace {

using test::RawFile;

struct DamageCase {
    const char* name;
    RawFile file;
    const char* message;
};

void PrintTo(const DamageCase& d, std::ostream* out) { *out << d.name; }

class Damaged : public ::testing::TestWithParam<DamageCase> {};

TEST_P(Damaged, IsRefusedInOneSentence) {
    try {
        File::from_bytes(GetParam().file.bytes(), "m.gguf");
        FAIL() << "was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(e.what(), "m.gguf: " + std::string(GetParam().message));
    }
}

constexpr uint32_t f32 = 0;
constexpr uint32_t q8_0 = 8;

RawFile one_tensor(const std::vector<uint64_t>& ne, uint32_t type = f32, uint64_t offset = 0, size_t data = 4096) {
    RawFile file(1, 0);
    file.tensor("w", ne, type, offset).data(data);
    return file;
}

RawFile with_alignment(uint32_t alignment) { return RawFile(0, 1).key("general.alignment", ValueType::u32).number(alignment); }

const DamageCase damages[] = {
    {"Version1", RawFile(0, 0, 1), "has GGUF version 1; 2 and 3 can be read"},
    {"Version4", RawFile(0, 0, 4), "has GGUF version 4; 2 and 3 can be read"},
    {"Version0", RawFile(0, 0, 0), "has GGUF version 0; 2 and 3 can be read"},
    {"BigEndian", RawFile(0, 0, 0x03000000), "is a big-endian GGUF file, which can't be read"},
    {"ABillionKeys", RawFile(0, 1'000'000'000), "claims 1000000000 metadata keys; at most 100000 are accepted"},
    {"HugeTensorCount", RawFile(UINT64_MAX, 0), "claims 18446744073709551615 tensors; at most 100000 are accepted"},
    {"MoreKeysThanBytes", RawFile(0, 99'999), "is truncated: it has no room for its 99999 metadata keys"},
    {"EmptyKey", RawFile(0, 1).key("", ValueType::u64).number<uint64_t>(0),
     "is damaged: a name in the metadata has 0 bytes; 1 to 65535 are possible"},
    {"HugeKey", RawFile(0, 1).number(UINT64_MAX).data(64),
     "is damaged: a name in the metadata has 18446744073709551615 bytes; 1 to 65535 are possible"},
    {"KeyTwice", RawFile(0, 2).key("a", ValueType::u64).number<uint64_t>(1).key("a", ValueType::u64).number<uint64_t>(2),
     "is damaged: the metadata key 'a' occurs twice"},
    {"ValueType", RawFile(0, 1).string("a").number<uint32_t>(13).data(64),
     "is damaged: the metadata 'a' has the unknown value type 13"},
    {"HugeString", RawFile(0, 1).key("a", ValueType::string).number(UINT64_MAX - 7).data(64),
     "is truncated: it ends inside the metadata 'a'"},
    {"NestedArray",
     RawFile(0, 1).key("a", ValueType::array).number(static_cast<uint32_t>(ValueType::array)).number<uint64_t>(1).data(64),
     "has nested arrays in the metadata 'a', which can't be read"},
    {"HugeArray",
     RawFile(0, 1).key("a", ValueType::array).number(static_cast<uint32_t>(ValueType::f64)).number(uint64_t{1} << 61).data(64),
     "claims 2305843009213693952 elements in the metadata 'a'; at most 4194304 are accepted"},
    {"ShortArray",
     RawFile(0, 1).key("a", ValueType::array).number(static_cast<uint32_t>(ValueType::f64)).number<uint64_t>(1000).data(64),
     "is truncated: it ends inside the metadata 'a'"},
    {"ShortStringArray",
     RawFile(0, 1)
         .key("a", ValueType::array)
         .number(static_cast<uint32_t>(ValueType::string))
         .number<uint64_t>(1'000'000)
         .data(64),
     "is truncated: it ends inside the metadata 'a'"},
    {"StringArraysTogether",
     RawFile(0, 2)
         .key("a", ValueType::array)
         .number(static_cast<uint32_t>(ValueType::string))
         .number<uint64_t>(1)
         .string("")
         .key("b", ValueType::array)
         .number(static_cast<uint32_t>(ValueType::string))
         .number<uint64_t>(4194304),
     "claims 4194305 strings in arrays; at most 4194304 are accepted"},
    {"Alignment0", with_alignment(0), "is damaged: general.alignment is 0, not a power of two from 8 on"},
    {"Alignment48", with_alignment(48), "is damaged: general.alignment is 48, not a power of two from 8 on"},
    {"AlignmentText", RawFile(0, 1).key("general.alignment", ValueType::string).string("x"),
     "is damaged: general.alignment is x, not a power of two from 8 on"},
    {"FiveDimensions", one_tensor({1, 1, 1, 1, 1}), "is damaged: tensor 'w' has 5 dimensions; at most 4 are possible"},
    {"ZeroDimension", one_tensor({4, 0}), "is damaged: dimension 1 of tensor 'w' is 0"},
    {"NegativeDimension", one_tensor({UINT64_MAX}), "is damaged: dimension 0 of tensor 'w' is 18446744073709551615"},
    {"Overflow", one_tensor({uint64_t{1} << 31, uint64_t{1} << 31, 4}),
     "is damaged: tensor 'w' of shape [2147483648, 2147483648, 4] is too large"},
    {"Type", one_tensor({256}, 15), "tensor 'w' has type Q8_K, which is not supported"},
    {"TypeI32", one_tensor({256}, 26), "tensor 'w' has type I32, which is not supported"},
    {"TypeNumber", one_tensor({256}, 999), "tensor 'w' has type number 999, which is not supported"},
    {"Blocks", one_tensor({33}, q8_0),
     "is damaged: rows of tensor 'w' have 33 elements, which do not divide into blocks of q8_0"},
    {"Misaligned", one_tensor({4}, f32, 16),
     "is damaged: data of tensor 'w' begins at 16, which is not a multiple of the alignment 32"},
    {"DataBeyond", one_tensor({1025}), "is truncated: data of tensor 'w' (4100 bytes at 0) lies outside the file"},
    {"OffsetBeyond", one_tensor({4}, f32, 4096), "is truncated: data of tensor 'w' (16 bytes at 4096) lies outside the file"},
    {"HugeOffset", one_tensor({4}, f32, UINT64_MAX - 31),
     "is truncated: data of tensor 'w' (16 bytes at 18446744073709551584) lies outside the file"},
    {"TensorTwice", RawFile(2, 0).tensor("w", {4}, f32, 0).tensor("w", {4}, f32, 32).data(64),
     "is damaged: two tensors are named 'w'"},
    {"Overlap", RawFile(2, 0).tensor("v", {4}, f32, 32).tensor("w", {9}, f32, 0).data(64),
     "is damaged: data of tensors 'w' and 'v' overlaps"},
    {"LongTensorName", RawFile(1, 0).tensor(std::string(64, 'n'), {4}, f32, 0).data(64),
     "is damaged: a name in the list of tensors has 64 bytes; 1 to 63 are possible"},
    {"ControlBytesInNames", RawFile(1, 0).tensor("a\x1B[2Jb\n", {4}, 99, 0).data(64),
     "tensor 'a?[2Jb\\n' has type number 99, which is not supported"},
};

INSTANTIATE_TEST_SUITE_P(Files, Damaged, ::testing::ValuesIn(damages),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Paths, MustNameAGgufFile) {
    const files::Folder folder;
    const auto message = [](const std::string& path) -> std::string {
        try {
            File::open(path);
            return "was accepted";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            EXPECT_EQ(std::string(e.what()).rfind(path + ": ", 0), 0U) << e.what();
            return std::string(e.what()).substr(path.size() + 2);
        }
    };
    test::write_file(folder.file("empty"), {});
    test::write_file(folder.file("text"), RawFile().bytes());
    std::ofstream(folder.file("text")) << "GGML is not GGUF";
    std::ofstream(folder.file("short")) << "GGU";
    std::ofstream(folder.file("magic")) << "GGUF";
    EXPECT_EQ(message(folder.file("missing")), "there is no such file");
    EXPECT_EQ(message(folder.path()), "is a directory, not a GGUF file");
    EXPECT_EQ(message(folder.file("empty")), "is empty");
    EXPECT_EQ(message(folder.file("text")), "is not a GGUF file");
    EXPECT_EQ(message(folder.file("short")), "is not a GGUF file");
    EXPECT_EQ(message(folder.file("magic")), "is truncated: it ends inside the header");
    EXPECT_EQ(message("/dev/null"), "is not a regular file");
}

TEST(Versions, TwoAndThreeAreReadAlike) {
    for (const uint32_t version : {2U, 3U}) {
        RawFile file(1, 1, version);
        file.key("a", ValueType::i16).number<int16_t>(-5).tensor("w", {4, 2}, f32, 0).data(32);
        const File read = File::from_bytes(file.bytes());
        EXPECT_EQ(read.version(), version);
        EXPECT_EQ(read.get_i32("a"), -5);
        EXPECT_EQ(read.require_tensor("w").ne, (Shape{4, 2, 1, 1}));
    }
}

TEST(Data, BeginsAtTheFilesAlignment) {
    RawFile file(2, 1);
    file.key("general.alignment", ValueType::u32).number<uint32_t>(128).tensor("a", {1}, f32, 0).tensor("b", {1}, f32, 128);
    file.data(132, 128);
    const File read = File::from_bytes(file.bytes());
    EXPECT_EQ(read.require_tensor("b").data - read.require_tensor("a").data, 128);
    EXPECT_EQ(read.require_tensor("b").data + 4, read.require_tensor("a").data + 132);
}

TEST(Data, AFileWithoutTensorsMayEndBehindItsMetadata) {
    RawFile file(0, 1);
    file.key("a", ValueType::boolean).number<uint8_t>(1);
    EXPECT_EQ(File::from_bytes(file.bytes()).get_bool("a"), true);
}

} // namespace
} // namespace schedscope::gguf
