// Values in any of the format's types, asked for as a program needs them.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"

#include <functional>

namespace schedscope::gguf {
namespace {

File file_of(const Writer& w) { return File::from_bytes(w.to_bytes(), "m.gguf"); }

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

TEST(Values, IntegersOfAnyWidthAreOneAsLongAsTheyFit) {
    Writer w;
    w.set("u8", uint8_t{200});
    w.set("i64", int64_t{-1});
    w.set("u64", uint64_t{1} << 40);
    w.set("true", true);
    const File f = file_of(w);
    EXPECT_EQ(f.get_u32("u8"), 200U);
    EXPECT_EQ(f.get_i32("i64"), -1);
    EXPECT_EQ(f.get_u64("u64"), uint64_t{1} << 40);
    EXPECT_EQ(f.get_u32("true"), 1U);
    EXPECT_EQ(f.get_u32("absent"), std::nullopt);
    EXPECT_EQ(message_of([&] { (void)f.get_u32("i64"); }), "m.gguf: key 'i64' is i64 -1, not a 32-bit number from 0 on");
    EXPECT_EQ(message_of([&] { (void)f.get_u32("u64"); }),
              "m.gguf: key 'u64' is u64 1099511627776, not a 32-bit number from 0 on");
}

TEST(Values, FloatsMayBeIntegersButNotTheOtherWayRound) {
    Writer w;
    w.set("f32", 0.5F);
    w.set("f64", 0.25);
    w.set("i32", int32_t{-3});
    const File f = file_of(w);
    EXPECT_EQ(f.get_f32("f32"), 0.5F);
    EXPECT_EQ(f.get_f32("f64"), 0.25F);
    EXPECT_EQ(f.get_f32("i32"), -3.0F);
    EXPECT_EQ(message_of([&] { (void)f.get_i32("f32"); }), "m.gguf: key 'f32' is f32 0.5, not a 32-bit integer");
}

TEST(Values, BooleansAreZeroOrOne) {
    Writer w;
    w.set("no", false);
    w.set("one", uint32_t{1});
    w.set("two", uint32_t{2});
    const File f = file_of(w);
    EXPECT_EQ(f.get_bool("no"), false);
    EXPECT_EQ(f.get_bool("one"), true);
    EXPECT_EQ(message_of([&] { (void)f.get_bool("two"); }), "m.gguf: key 'two' is u32 2, not true or false");
}

TEST(Values, ArraysGiveTheirElements) {
    Writer w;
    w.set("ints", std::vector<int32_t>{1, -2, 3});
    w.set("floats", std::vector<float>{0.5F, 2.0F});
    w.set("texts", std::vector<std::string>{"a", "", "c\xE2\x96\x81"});
    w.set("text", "x");
    const File f = file_of(w);
    EXPECT_EQ(f.get_i32_array("ints"), (std::vector<int32_t>{1, -2, 3}));
    EXPECT_EQ(f.get_f32_array("ints"), (std::vector<float>{1, -2, 3}));
    EXPECT_EQ(f.get_f32_array("floats"), (std::vector<float>{0.5F, 2.0F}));
    EXPECT_EQ(f.get_string_array("texts"), (std::vector<std::string_view>{"a", "", "c\xE2\x96\x81"}));
    EXPECT_EQ(message_of([&] { (void)f.get_i32_array("floats"); }),
              "m.gguf: key 'floats' is array of f32, not an array of 32-bit integers");
    EXPECT_EQ(message_of([&] { (void)f.get_string_array("text"); }), "m.gguf: key 'text' is string, not an array of strings");
    EXPECT_EQ(message_of([&] { (void)f.get_string("texts"); }), "m.gguf: key 'texts' is array of string, not a string");
}

TEST(Values, WhatIsRequiredAndAbsentIsNamed) {
    const File f = file_of(Writer());
    EXPECT_EQ(message_of([&] { (void)f.require_u32("llama.block_count"); }), "m.gguf: key 'llama.block_count' is missing");
    EXPECT_EQ(message_of([&] { (void)f.require_string_array("t"); }), "m.gguf: key 't' is missing");
    EXPECT_EQ(message_of([&] { (void)f.require_tensor("output.weight"); }), "m.gguf: tensor 'output.weight' is missing");
}

TEST(Values, AreWrittenAsPeopleReadThem) {
    Writer w;
    w.set("i", int8_t{-7});
    w.set("f", 1e-5F);
    w.set("b", true);
    w.set("s", "some text");
    w.set("a", std::vector<int32_t>{1, 2, 3, 4});
    w.set("t", std::vector<std::string>{"x", "y"});
    w.set("e", std::vector<float>{});
    const File f = file_of(w);
    EXPECT_EQ(f.find("i")->text(), "-7");
    EXPECT_EQ(f.find("f")->text(), "1e-05");
    EXPECT_EQ(f.find("b")->text(), "true");
    EXPECT_EQ(f.find("s")->text(), "some text");
    EXPECT_EQ(f.find("a")->text(), "[1, 2, 3, 4]");
    EXPECT_EQ(f.find("a")->text(2), "[1, 2, … (4)]");
    EXPECT_EQ(f.find("t")->text(1), "[x, … (2)]");
    EXPECT_EQ(f.find("e")->text(), "[]");
    EXPECT_EQ(f.find("a")->kind(), "array of i32");
}

} // namespace
} // namespace schedscope::gguf
