// Models in several files.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"

namespace schedscope::gguf {
namespace {

class Split : public ::testing::Test {
protected:
    /// Part `number` (from 0) with one tensor.
    void write(int number, int count, const std::string& tensor, int said_number = -1, int tensors = 3) {
        Writer w;
        w.set("split.no", static_cast<uint16_t>(said_number >= 0 ? said_number : number));
        w.set("split.count", static_cast<uint16_t>(count));
        w.set("split.tensors.count", tensors);
        if (number == 0) {
            w.set("general.architecture", "llama");
        }
        w.add(tensor, {2, 1, 1, 1}, {static_cast<float>(number), 1.0F});
        w.write(path(number, count));
    }
    std::string path(int number, int count) const {
        return folder_.file("model-0000" + std::to_string(number + 1) + "-of-0000" + std::to_string(count) + ".gguf");
    }
    std::string message(const std::string& opened) const {
        try {
            File::open(opened);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            return e.what();
        }
        return "no error";
    }
    files::Folder folder_;
};

TEST_F(Split, IsOneModel) {
    write(0, 3, "a");
    write(1, 3, "b");
    write(2, 3, "c");
    const File f = File::open(path(0, 3));
    EXPECT_EQ(f.parts(), 3);
    EXPECT_EQ(f.require_string("general.architecture"), "llama");
    ASSERT_EQ(f.tensors().size(), 3U);
    EXPECT_EQ(f.require_tensor("c").part, 2);
    EXPECT_EQ(*reinterpret_cast<const float*>(f.require_tensor("c").data), 2.0F);
    EXPECT_EQ(f.file_bytes(), std::filesystem::file_size(path(0, 3)) + std::filesystem::file_size(path(1, 3)) +
                                  std::filesystem::file_size(path(2, 3)));
}

TEST_F(Split, AMissingPartIsNamed) {
    write(0, 2, "a");
    EXPECT_EQ(message(path(0, 2)), path(1, 2) + ": there is no such file");
}

TEST_F(Split, IsOpenedByItsFirstPart) {
    write(0, 2, "a");
    write(1, 2, "b");
    EXPECT_EQ(message(path(1, 2)), path(1, 2) + ": is part 2 of a split model; open its first part, " + path(0, 2));
}

TEST_F(Split, NeedsTheNamesOfItsParts) {
    write(0, 2, "a");
    std::filesystem::rename(path(0, 2), folder_.file("renamed.gguf"));
    EXPECT_EQ(message(folder_.file("renamed.gguf")), folder_.file("renamed.gguf") +
                                                         ": is the first part of a split model, but its name does not end in "
                                                         "-00001-of-00002.gguf: the other parts can't be found");
}

TEST_F(Split, APartMustBeThePartItsNameSays) {
    write(0, 2, "a");
    write(1, 2, "b", 0);
    EXPECT_EQ(message(path(0, 2)), path(1, 2) + ": is not part 2 of the model, as its name says");
}

TEST_F(Split, ATensorIsInOnePart) {
    write(0, 2, "a");
    write(1, 2, "a");
    EXPECT_EQ(message(path(0, 2)), path(1, 2) + ": tensor 'a' is in an earlier part of the model, too");
}

TEST_F(Split, AllTensorsMustBeThere) {
    write(0, 2, "a", -1, 5);
    write(1, 2, "b", -1, 5);
    EXPECT_EQ(message(path(0, 2)), path(0, 2) + ": the parts hold 2 tensors, not the 5 of split.tensors.count");
}

} // namespace
} // namespace schedscope::gguf
