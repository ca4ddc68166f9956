#include "tests/support/text_records.h"
#include "tests/support/paths.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <zlib.h>

namespace schedscope::test {

namespace {

std::string from_hex(const std::string& hex) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

} // namespace

std::string unpacked(const std::filesystem::path& gz) {
    std::string text;
    const gzFile file = gzopen(gz.c_str(), "rb");
    char buffer[1 << 16];
    for (int n = 0; file != nullptr && (n = gzread(file, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<size_t>(n));
    }
    gzclose(file);
    return text;
}

std::filesystem::path tokenizer_file(const std::string& name) { return paths::shared("models/tokenizer") + "/" + name; }

std::vector<TokenRecord> read_records(const std::filesystem::path& gz) {
    std::vector<TokenRecord> records;
    std::istringstream lines(unpacked(gz));
    for (std::string line; std::getline(lines, line);) {
        const auto json = nlohmann::json::parse(line);
        TokenRecord r;
        r.text = json.contains("hex") ? from_hex(json["hex"]) : json["text"].get<std::string>();
        r.add_special = json["add_special"];
        r.parse_special = json["parse_special"];
        if (json.contains("ids")) {
            r.ids = json["ids"].get<std::vector<Token>>();
            r.detok = from_hex(json["detok"]);
            r.detok_removed = from_hex(json["detok_removed"]);
            r.pieces = from_hex(json["pieces"]);
        }
        records.push_back(std::move(r));
    }
    return records;
}

} // namespace schedscope::test
