#include "runtime/backend/processors.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace schedscope {
namespace {

using ::testing::HasSubstr;

std::string refusal(ProcessorSet (*read)(std::string_view), const std::string& text) {
    try {
        return "taken: " + read(text).text();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        return e.what();
    }
}

TEST(Processors, AreNamedByAMask) {
    EXPECT_EQ(ProcessorSet::of_mask("1").text(), "0");
    EXPECT_EQ(ProcessorSet::of_mask("0xF0").text(), "4-7");
    EXPECT_EQ(ProcessorSet::of_mask("0X10a").text(), "1,3,8");
    EXPECT_EQ(ProcessorSet::of_mask("0000ff").size(), 8);
    EXPECT_EQ(ProcessorSet::of_mask("8" + std::string(255, '0')).text(), "1023");
    EXPECT_EQ(ProcessorSet::of_mask(std::string(500, '0') + "1").text(), "0") << "zeros in front are no processors";
}

TEST(Processors, AreNamedByARange) {
    EXPECT_EQ(ProcessorSet::of_range("2-5").text(), "2-5");
    EXPECT_EQ(ProcessorSet::of_range("3-3").text(), "3");
    EXPECT_EQ(ProcessorSet::of_range("-3").text(), "0-3");
    EXPECT_EQ(ProcessorSet::of_range("1000-").text(), "1000-1023");
}

TEST(Processors, AreRefusedWhereTheTextIsNone) {
    for (const char* text : {"", "0x", "0", "000"}) {
        EXPECT_THAT(refusal(ProcessorSet::of_mask, text), HasSubstr("names no processor"));
    }
    for (const char* text : {"zz", "0xg1", "-1", "1 ", "0x0x1", "1,2"}) {
        EXPECT_THAT(refusal(ProcessorSet::of_mask, text), HasSubstr("hexadecimal mask"));
    }
    EXPECT_THAT(refusal(ProcessorSet::of_mask, "1" + std::string(256, '0')), HasSubstr("from 0 to 1023"));
    for (const char* text : {"", "-", "7", "a-b", "1-2-3", "1- 2", "1-99999999999"}) {
        EXPECT_THAT(refusal(ProcessorSet::of_range, text), HasSubstr("range of processors is wanted")) << text;
    }
    EXPECT_THAT(refusal(ProcessorSet::of_range, "0-1024"), HasSubstr("from 0 to 1023"));
    EXPECT_THAT(refusal(ProcessorSet::of_range, "5-3"), HasSubstr("ends before it begins"));
}

TEST(Processors, AreJoinedAndSharedOut) {
    ProcessorSet set = ProcessorSet::of_mask("3");
    set |= ProcessorSet::of_range("4-5");
    EXPECT_EQ(set.text(), "0-1,4-5");
    set &= ProcessorSet::of_range("1-4");
    EXPECT_EQ(set.text(), "1,4");
    EXPECT_TRUE(ProcessorSet().empty());
    EXPECT_EQ(ProcessorSet().text(), "");
}

TEST(Processors, BindTheThreadThatAsksAndThoseItStarts) {
    const ProcessorSet before = ProcessorSet::usable();
    ASSERT_FALSE(before.empty());
    const std::string first = before.text().substr(0, before.text().find_first_of("-,"));
    const ProcessorSet one = ProcessorSet::of_range(first + "-" + first);
    {
        const BoundThread bound(one);
        EXPECT_EQ(ProcessorSet::usable(), one);
        std::thread([&] { EXPECT_EQ(ProcessorSet::usable(), one); }).join();
        const BoundThread within(one);
        const BoundThread not_at_all({});
        EXPECT_EQ(ProcessorSet::usable(), one);
    }
    EXPECT_EQ(ProcessorSet::usable(), before);
}

TEST(Processors, ThatAreNotHereBindNothing) {
    ProcessorSet elsewhere = ProcessorSet::of_range("1023-1023");
    if (ProcessorSet::usable().has(1023)) {
        GTEST_SKIP() << "processor 1023 is here";
    }
    const ProcessorSet before = ProcessorSet::usable();
    try {
        const BoundThread bound(elsewhere);
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::device);
        EXPECT_THAT(e.what(), HasSubstr("can't be bound to processors 1023: "));
    }
    EXPECT_EQ(ProcessorSet::usable(), before);
}

TEST(Processors, AreOfCores) {
    EXPECT_GE(physical_cores(), 1);
    EXPECT_LE(physical_cores(), ProcessorSet::usable().size());
    EXPECT_EQ(physical_cores(ProcessorSet::of_mask("1")), 1);
}

} // namespace
} // namespace schedscope
