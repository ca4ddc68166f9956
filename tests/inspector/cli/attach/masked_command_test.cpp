// No key of anybody's is in a trace.
#include "inspector/cli/attach/masked_command.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

TEST(MaskedCommand, HasNoSecrets) {
    const auto masked = [](std::vector<std::string> words) { return masked_command(words); };
    EXPECT_EQ(masked({"llama-server", "--api-key", "k1", "-m", "a.gguf"}), "llama-server --api-key *** -m a.gguf");
    EXPECT_EQ(masked({"llama-server", "--api-key=k1", "--port", "1"}), "llama-server --api-key=*** --port 1");
    EXPECT_EQ(masked({"x", "--api-key-file", "keys.txt"}), "x --api-key-file ***");
    EXPECT_EQ(masked({"x", "--hf-token", "hf_abc", "-hft", "hf_def"}), "x --hf-token *** -hft ***");
    EXPECT_EQ(masked({"x", "--ssl-key-file", "k.pem", "--ssl-cert-file", "c.pem"}), "x --ssl-key-file *** --ssl-cert-file c.pem");
    EXPECT_EQ(masked({"x", "--my-password", "p", "--Client_Secret=s", "--token", "t"}),
              "x --my-password *** --Client_Secret=*** --token ***");
    EXPECT_EQ(masked({"env", "HF_TOKEN=abc", "x"}), "env HF_TOKEN=*** x");
    EXPECT_EQ(masked({"x", "https://me:word@host/a"}), "x https://***@host/a");
}

TEST(MaskedCommand, KeepsWhatIsNone) {
    EXPECT_EQ(masked_command({"x", "--n-tokens", "8", "--max-tokens=9", "--tokenizer", "t.json"}),
              "x --n-tokens 8 --max-tokens=9 --tokenizer t.json");
    EXPECT_EQ(masked_command({"x", "-p", "the secret of it's"}), "x -p 'the secret of it'\\''s'");
    EXPECT_EQ(masked_command({"x", "--api-key"}), "x --api-key");
}

} // namespace
} // namespace schedscope
