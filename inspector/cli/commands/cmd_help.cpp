#include "inspector/cli/commands/commands.h"

#include "inspector/cli/line/installed.h"
#include "inspector/manual/manual.h"
#include "inspector/tui/manual_tables.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include <sys/ioctl.h>
#include <unistd.h>

namespace schedscope {

namespace {

/// Of the terminal, as far as lines can be read well; of a pipe or a file what a terminal usually has.
int text_width() {
    constexpr int usual = 80, widest = 100;
    winsize size{};
    const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? std::min<int>(size.ws_col, widest) : usual;
}

void print(const manual::Topic& topic, bool with_name) {
    std::vector<manual::ManualLine> lines = lines_of(topic, text_width(), manual::Ticks::shown);
    for (size_t i = with_name ? 0 : 2; i < lines.size(); ++i) {
        for (const manual::Piece& piece : lines[i].pieces) {
            std::cout << piece.text;
        }
        std::cout << '\n';
    }
}

/// What there is: topics, commands, and what an installation has beside the program.
void print_overview() {
    manual::Topic overview;
    const auto add = [&](const char* heading) { overview.blocks.push_back({manual::Block::Kind::heading, heading}); };
    add("schedscope help TOPIC");
    for (const manual::TableRow& row : manual::topic_list()) {
        overview.blocks.push_back({manual::Block::Kind::term, row.term, row.meaning});
    }
    add("schedscope COMMAND --help");
    for (const Command& command : commands()) {
        overview.blocks.push_back({manual::Block::Kind::term, command.name, command.summary});
    }
    std::vector<manual::Block> beside;
    if (const std::string samples = installed::samples(); !samples.empty()) {
        beside.push_back({manual::Block::Kind::term, "samples", samples + ", what the README calls traces/samples"});
    }
    if (const std::string pages = installed::man_pages(); !pages.empty()) {
        beside.push_back({manual::Block::Kind::term, "man pages",
                          "man schedscope; where man does not find it: man -M " + pages + " schedscope"});
    }
    if (!beside.empty()) {
        add("Installed with it");
        overview.blocks.insert(overview.blocks.end(), beside.begin(), beside.end());
    }
    print(overview, false);
}

bool is_command(std::string_view name) {
    const auto all = commands();
    return std::any_of(all.begin(), all.end(), [&](const Command& c) { return name == c.name; });
}

} // namespace

CommandAction add_help(CommandOptions& app) {
    auto name = std::make_shared<std::string>();
    app.add_option("topic", *name, "A topic of the manual; without one: which there are");
    return [name] {
        if (name->empty()) {
            print_overview();
            return 0;
        }
        std::vector<std::string_view> also;
        for (const Command& command : commands()) {
            also.emplace_back(command.name);
        }
        manual::Topic topic = manual::topic(*name, tui::manual_table, also);
        if (is_command(topic.name)) {
            topic.blocks.push_back(
                {manual::Block::Kind::paragraph, "The command's options: `schedscope " + topic.name + " --help`."});
        }
        print(topic, true);
        return 0;
    };
}

} // namespace schedscope
