// Every text of the shared records gives llama.cpp's tokens, and every token list llama.cpp's text.
#include "tests/support/text_records.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::TokenRecord;

class ReferenceRecords : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const auto model = test::tokenizer_file(std::string(GetParam()) + ".gguf");
        if (!std::filesystem::exists(model)) {
            GTEST_SKIP() << "needs the shared tokenizer files";
        }
        file_ = std::make_unique<gguf::File>(gguf::File::open(model));
        tokenizer_ = Tokenizer::load(*file_);
        file_.reset(); // a tokenizer does not need its file
        records_ = test::read_records(test::tokenizer_file(std::string(GetParam()) + ".jsonl.gz"));
        ASSERT_GT(records_.size(), 500U);
    }

    std::unique_ptr<gguf::File> file_;
    std::unique_ptr<Tokenizer> tokenizer_;
    std::vector<TokenRecord> records_;
};

TEST_P(ReferenceRecords, EncodeGivesTheSameIds) {
    for (const TokenRecord& r : records_) {
        if (r.ids) {
            EXPECT_EQ(tokenizer_->encode(r.text, r.add_special, r.parse_special), *r.ids)
                << ::testing::PrintToString(r.text) << " add_special " << r.add_special << " parse_special " << r.parse_special;
        } else {
            EXPECT_THROW(tokenizer_->encode(r.text, r.add_special, r.parse_special), Error) << ::testing::PrintToString(r.text);
        }
    }
}

TEST_P(ReferenceRecords, DecodeGivesTheSameText) {
    for (const TokenRecord& r : records_) {
        if (r.ids) {
            EXPECT_EQ(tokenizer_->decode(*r.ids, false, true), r.detok) << ::testing::PrintToString(*r.ids);
            EXPECT_EQ(tokenizer_->decode(*r.ids, true, false), r.detok_removed) << ::testing::PrintToString(*r.ids);
        }
    }
}

TEST_P(ReferenceRecords, PiecesAreTheSame) {
    for (const TokenRecord& r : records_) {
        std::string pieces;
        for (const Token t : r.ids.value_or(std::vector<Token>())) {
            pieces += tokenizer_->piece(t, true);
        }
        EXPECT_EQ(pieces, r.pieces);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceRecords, ::testing::Values("spm512", "bpe-gpt-2", "bpe-llama-bpe"),
                         [](const auto& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace schedscope
