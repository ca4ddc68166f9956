#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/text_input.h"
#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/text/tokenizer.h"
#include "traces/history/words/words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>
#include <sstream>

namespace schedscope {

namespace {

struct TokenizeArguments {
    std::string model, prompt, batch;
    bool no_special = false, parse_special = false;
};

/// Two hexadecimal digits a byte. Throws Error(input) for anything else.
std::string from_hex(const std::string& hex) {
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
        unsigned char byte = 0;
        const char* const end = hex.data() + std::min(i + 2, hex.size());
        const auto [read_to, error] = std::from_chars(hex.data() + i, end, byte, 16);
        if (error != std::errc{} || read_to != hex.data() + i + 2) {
            throw Error(ErrorKind::input, "hex: two hexadecimal digits a byte are expected");
        }
        bytes += byte;
    }
    return bytes;
}

struct TextRecord {
    std::string text;
    bool add_special, parse_special;
};

/// Its "text" (or "hex", for bytes that are no UTF-8), with "add_special" and "parse_special". Nothing: it is no record.
std::optional<TextRecord> text_record(const std::string& line, const TokenizeArguments& options) {
    try {
        const auto record = nlohmann::json::parse(line);
        return TextRecord{record.contains("hex") ? from_hex(record.at("hex").get<std::string>())
                                                 : record.at("text").get<std::string>(),
                          record.value("add_special", !options.no_special), record.value("parse_special", options.parse_special)};
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// null for a text that the vocabulary has no tokens for.
std::string ids_line(const Tokenizer& tokenizer, const TextRecord& record) {
    try {
        return nlohmann::json(tokenizer.encode(record.text, record.add_special, record.parse_special)).dump();
    } catch (const Error&) {
        return "null";
    }
}

int tokenize_batch(const Tokenizer& tokenizer, const TokenizeArguments& options) {
    std::istringstream in(read_file(options.batch));
    int64_t n_lines = 0, n_broken = 0, first_broken = 0;
    for (std::string line; std::getline(in, line);) {
        ++n_lines;
        if (const auto record = text_record(line, options)) {
            std::cout << ids_line(tokenizer, *record) << '\n';
        } else {
            std::cout << "null\n"; // the records behind it keep their lines
            first_broken = n_broken++ == 0 ? n_lines : first_broken;
        }
    }
    if (n_broken > 0) {
        tell(options.batch + ": " + std::to_string(n_broken) + " of " + words::counted(n_lines, "line") +
             " can't be read as a record, the first is line " + std::to_string(first_broken) + "; null stands for each");
    }
    return 0;
}

} // namespace

CommandAction add_tokenize(CommandOptions& app) {
    auto options = std::make_shared<TokenizeArguments>();
    app.add_option("-m,--model", options->model, "GGUF file").required();
    const CommandOption prompt = app.add_option("-p,--prompt", options->prompt, "Text (default: standard input)");
    app.add_flag("--no-special", options->no_special, "Add no BOS or EOS");
    app.add_flag("--parse-special", options->parse_special, "Control tokens written out in the text become their ids");
    app.add_option("--batch", options->batch,
                   "Records, one JSON object a line: text or hex, add_special, parse_special; prints an array a line")
        .excludes(prompt);
    return [options, prompt] {
        const gguf::File file = gguf::File::open(options->model);
        const auto tokenizer = Tokenizer::load(file);
        if (!options->batch.empty()) {
            return tokenize_batch(*tokenizer, *options);
        }
        const std::string text = prompt.given() ? options->prompt : read_all(std::cin, "standard input");
        for (const Token id : tokenizer->encode(text, !options->no_special, options->parse_special)) {
            std::cout << id << '\n';
        }
        return 0;
    };
}

} // namespace schedscope
