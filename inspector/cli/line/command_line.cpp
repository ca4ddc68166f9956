#include "inspector/cli/line/command_line.h"

#include "inspector/cli/line/short_options.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/show/show.h"
#include "inspector/manual/manual.h"
#include "runtime/model/synth/synth.h"
#include "runtime/numbers.h"
#include "runtime/ops/type.h"
#include "runtime/planner/plan.h"
#include "runtime/system/joined.h"
#include "runtime/vision/synth_llava.h"
#include "traces/replay/what_if.h"
#include "viz/pictures/picture.h"

#include <CLI/CLI.hpp>

#include <array>

namespace schedscope {

namespace {

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.emplace_back(text);
    return parts;
}

std::vector<std::string> passes() {
    std::vector<std::string> names;
    for (int i = ordinal(Pass::none) + 1; i < ordinal(Pass::count); ++i) {
        names.emplace_back(pass_name(static_cast<Pass>(i)));
    }
    return names;
}

std::vector<std::string> views() {
    const auto names = picture_view_names();
    return {names.begin(), names.end()};
}

std::vector<std::string> types() {
    std::vector<std::string> names;
    for (int i = 0; i < ordinal(Type::count); ++i) {
        const auto type = static_cast<Type>(i);
        if (type != Type::I8 && type != Type::I16 && type != Type::I32 && type != Type::I64 && type != Type::F64) {
            names.emplace_back(type_name(type));
        }
    }
    return names;
}

template <typename Presets> std::vector<std::string> names_of(const Presets& presets) {
    std::vector<std::string> names;
    for (const auto& preset : presets) {
        names.emplace_back(preset.name);
    }
    return names;
}

ValueText preset() {
    ValueText value{ValueText::Kind::choice, "", {}, {}, {}};
    for (const SynthArchitecture* a : synth_architectures()) {
        value.choices_by_argument.emplace_back(a->name, names_of(a->presets));
    }
    value.choices_by_argument.emplace_back("llava", names_of(vision::encoder_presets()));
    return value;
}

std::vector<std::string> architectures() {
    std::vector<std::string> names;
    for (const auto& [name, presets] : preset().choices_by_argument) {
        names.push_back(name);
    }
    return names;
}

/// What a name stands for. A name of a new kind is a line here.
ValueText value_of(const std::string& name) {
    const auto file = [](std::vector<std::string> suffixes) {
        return ValueText{ValueText::Kind::file, "", std::move(suffixes), {}, {}};
    };
    const auto choice = [](std::vector<std::string> choices) {
        return ValueText{ValueText::Kind::choice, "", {}, std::move(choices), {}};
    };
    if (name == "TRACE") {
        return file({"trace"});
    }
    if (name == "GGUF") {
        return file({"gguf"});
    }
    if (name == "PICTURE") {
        return file({"svg", "png", "pdf", "dot"});
    }
    if (name == "IMAGE") {
        return file({"png", "jpg", "jpeg", "bmp", "gif", "ppm", "pgm"});
    }
    if (name == "JSONL") {
        return file({"jsonl"});
    }
    if (name == "PFTRACE") {
        return file({"pftrace"});
    }
    if (name == "HTML") {
        return file({"html"});
    }
    if (name == "LOG") {
        return file({"log", "txt"});
    }
    if (name == "FILE") {
        return file({});
    }
    if (name == "DEVICES") {
        return {ValueText::Kind::devices, "", {}, {}, {}};
    }
    if (name == "PASS") {
        return choice(passes());
    }
    if (name == "PASSES") {
        std::vector<std::string> names = passes();
        names.emplace_back("all");
        return choice(names);
    }
    if (name == "VIEW") {
        return choice(views());
    }
    if (name == "PART") {
        return choice(split(show::time_names(), '|'));
    }
    if (name == "TOPIC") {
        return choice(split(show::topic_names(), '|'));
    }
    if (name == "MANUAL") {
        std::vector<std::string> topics;
        for (const manual::TopicText& topic : manual::topic_texts()) {
            topics.emplace_back(topic.name);
        }
        return choice(topics);
    }
    if (name == "TYPE") {
        return choice(types());
    }
    if (name == "ARCHITECTURE") {
        return choice(architectures());
    }
    if (name == "PRESET") {
        return preset();
    }
    if (name == "SETTING") {
        return choice(what_if_beginnings());
    }
    return {};
}

struct ValueName {
    const char *command, *option, *name; ///< command "": every one that has the option
};

/// What each option's value is called. Options that want a number or any text are not here.
constexpr std::array value_names = {
    ValueName{"", "trace", "TRACE"},
    ValueName{"", "--model", "GGUF"},
    ValueName{"", "--mmproj", "GGUF"},
    ValueName{"", "--image", "IMAGE"},
    ValueName{"", "--file", "FILE"},
    ValueName{"", "--ppl", "FILE"},
    ValueName{"", "--logits-out", "FILE"},
    ValueName{"", "--record", "TRACE"},
    ValueName{"", "--device", "DEVICES"},
    ValueName{"", "--pass", "PASS"},
    ValueName{"", "--view", "VIEW"},
    ValueName{"", "--what", "TOPIC"},
    ValueName{"", "--by", "PART"},
    ValueName{"", "--set", "SETTING"},
    ValueName{"attach", "pid", "PID"},
    ValueName{"attach", "--output", "TRACE"},
    ValueName{"diff", "a", "TRACE"},
    ValueName{"diff", "b", "TRACE"},
    ValueName{"dot", "--output", "PICTURE"},
    ValueName{"embed-image", "--output", "FILE"},
    ValueName{"dot", "--pass", "PASSES"},
    ValueName{"export", "--html", "HTML"},
    ValueName{"export", "--jsonl", "JSONL"},
    ValueName{"export", "--perfetto", "PFTRACE"},
    ValueName{"gguf", "file", "GGUF"},
    ValueName{"help", "topic", "MANUAL"},
    ValueName{"import", "log", "LOG"},
    ValueName{"import", "--output", "TRACE"},
    ValueName{"inspect", "--diff", "TRACE"},
    ValueName{"inspect", "program", "PROGRAM"},
    ValueName{"record", "--output", "TRACE"},
    ValueName{"record", "program", "PROGRAM"},
    ValueName{"synth", "architecture", "ARCHITECTURE"},
    ValueName{"synth", "--preset", "PRESET"},
    ValueName{"synth", "--type", "TYPE"},
    ValueName{"synth", "--output", "GGUF"},
    ValueName{"tokenize", "--batch", "JSONL"},
};

/// "INT:{1,4}" → 1, 4
std::vector<std::string> listed_choices(const std::string& type) {
    const size_t open = type.find('{'), close = type.find('}');
    return open == std::string::npos || close == std::string::npos ? std::vector<std::string>()
                                                                   : split(type.substr(open + 1, close - open - 1), ',');
}

OptionText describe(const CLI::Option& option) {
    OptionText o;
    for (const std::string& name : option.get_snames()) {
        o.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        o.names.push_back(shorten_options("--" + name));
    }
    o.description = option.get_description();
    o.group = option.get_group();
    o.by_default = option.get_default_str();
    o.required = option.get_required();
    o.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
    if (option.get_items_expected_max() == 0) {
        return o;
    }
    const std::string type = option.get_type_name();
    if (const std::vector<std::string> choices = listed_choices(type); !choices.empty()) {
        o.value = {ValueText::Kind::choice, joined(choices, "|"), {}, choices, {}};
        return o;
    }
    const std::string name = type.substr(0, type.find(':'));
    o.value = value_of(name);
    o.value.name = o.is_argument() ? option.get_name(true) : name == "INT" || name == "UINT" ? "N" : name == "FLOAT" ? "X" : name;
    return o;
}

std::vector<OptionText> describe_options(const CLI::App& app, bool arguments) {
    std::vector<OptionText> all;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional() == arguments) {
            all.push_back(describe(*option));
        }
    }
    return all;
}

} // namespace

bool is_comma_list(const CLI::Option& option) { return describe(option).value.kind == ValueText::Kind::devices; }

CommandLine describe_command_line(const CLI::App& program) {
    CommandLine line;
    line.options = describe_options(program, false);
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        line.commands.push_back({command->get_name(), command->get_description(), command->get_footer(),
                                 describe_options(*command, true), describe_options(*command, false)});
    }
    return line;
}

void name_values(CLI::App& program) {
    for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
        for (const ValueName& v : value_names) {
            if (*v.command == '\0' || command->get_name() == v.command) {
                if (CLI::Option* option = command->get_option_no_throw(v.option)) {
                    option->type_name(v.name);
                }
            }
        }
    }
}

} // namespace schedscope
