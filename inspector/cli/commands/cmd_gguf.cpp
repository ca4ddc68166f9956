#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/print_json.h"
#include "runtime/gguf/gguf.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <iostream>
#include <sstream>

namespace schedscope {

namespace {

struct GgufArguments {
    std::string file;
    bool json = false;
};

using nlohmann::json;

template <typename List> json array_json(const List& list) {
    json out = json::array();
    for (const auto& element : *list) {
        out.push_back(element);
    }
    return out;
}

json value_json(const gguf::MetadataValue& value) {
    if (value.is_array()) {
        switch (value.element) {
        case gguf::ValueType::string: return array_json(value.as_string_array());
        case gguf::ValueType::f32:
        case gguf::ValueType::f64: return array_json(value.as_f64_array());
        default:
            if (const auto integers = value.as_i32_array()) {
                return array_json(integers);
            }
            return array_json(value.as_f64_array());
        }
    }
    switch (value.type) {
    case gguf::ValueType::string: return *value.as_string();
    case gguf::ValueType::boolean: return *value.as_bool();
    case gguf::ValueType::f32:
    case gguf::ValueType::f64: return *value.as_f64();
    case gguf::ValueType::u64: return *value.as_u64();
    default: return *value.as_i64();
    }
}

json file_json(const gguf::File& file) {
    json metadata = json::object();
    for (const gguf::MetadataEntry& entry : file.metadata()) {
        metadata[std::string(entry.key)] = value_json(entry.value);
    }
    json tensors = json::array();
    for (const gguf::FileTensor& t : file.tensors()) {
        tensors.push_back({{"name", t.name},
                           {"type", type_name(t.type)},
                           {"ne", t.ne},
                           {"offset", t.offset},
                           {"bytes", t.bytes},
                           {"part", t.part}});
    }
    return {{"version", file.version()},
            {"alignment", file.alignment()},
            {"metadata", std::move(metadata)},
            {"tensors", std::move(tensors)}};
}

void file_text(const gguf::File& file, std::ostream& out) {
    out << visible(file.path()) << ": GGUF version " << file.version() << ", " << words::bytes(file.file_bytes());
    if (file.parts() > 1) {
        out << " in " << file.parts() << " parts";
    }
    out << ", " << file.metadata().size() << " keys, " << file.tensors().size() << " tensors\n\n";
    TextTable keys({{"key"}, {"type"}, {"value"}});
    for (const gguf::MetadataEntry& entry : file.metadata()) {
        keys.row({std::string(entry.key), entry.value.kind(), entry.value.text()});
    }
    keys.print(out);
    out << '\n';
    TextTable tensors({{"tensor"}, {"type"}, {"shape"}, {"offset", TextTable::Align::right}, {"size", TextTable::Align::right}});
    for (const gguf::FileTensor& t : file.tensors()) {
        tensors.row({std::string(t.name), std::string(type_name(t.type)), shape_text(t.ne), std::to_string(t.offset),
                     words::bytes(t.bytes)});
    }
    tensors.print(out);
}

} // namespace

CommandAction add_gguf(CommandOptions& app) {
    auto options = std::make_shared<GgufArguments>();
    app.add_option("file", options->file, "GGUF file; of a split model the first part").required();
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        const gguf::File file = gguf::File::open(options->file);
        if (options->json) {
            const auto json = file_json(file);
            file.check_whole();
            print_json(json);
        } else {
            std::ostringstream text;
            file_text(file, text);
            file.check_whole();
            std::cout << text.view();
        }
        return 0;
    };
}

} // namespace schedscope
