#include "inspector/cli/line/app.h"

#include "inspector/cli/attach/started_program.h"
#include "inspector/cli/line/command.h"
#include "inspector/cli/line/command_line.h"
#include "inspector/cli/line/complete.h"
#include "inspector/cli/line/manual.h"
#include "inspector/cli/line/short_options.h"
#include "inspector/cli/line/usage_words.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/standard_streams.h"
#include "inspector/manual/manual.h"
#include "runtime/error.h"
#include "runtime/system/output_file.h"
#include "runtime/system/process/program_role.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <sstream>

namespace schedscope {

namespace {

constexpr const char* version = "schedscope " SCHEDSCOPE_VERSION;

int complain(const std::string& sentence, int code) {
    std::string line = sentence;
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cout.flush();
    tell(line);
    return code;
}

/// The program's page to standard output or, where there is a folder, all pages into it.
void print_man_pages(const CommandLine& line, const std::string& folder) {
    if (folder.empty()) {
        write_manual(line, version, std::cout);
        return;
    }
    write_man_pages(line, version, [&](const std::string& path, const std::function<void(std::ostream&)>& write) {
        std::ostringstream page;
        write(page);
        write_output_file(folder + "/" + path, page.str());
    });
}

/// Finds out what is asked for, and does it.
int obey(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    CLI::App program("Shows why a tensor program runs where it runs.", "schedscope");
    program.set_version_flag("--version", version);
    program.set_help_flag("-h,--help", "Print this help");
    program.require_subcommand(1);
    program.failure_message(CLI::FailureMessage::simple);
    CommandAction action;
    for (const Command& command : commands()) {
        CLI::App* sub = program.add_subcommand(command.name, command.summary);
        sub->set_help_flag("-h,--help", "Print this help");
        CommandOptions options(*sub);
        CommandAction own = command.add(options);
        sub->final_callback([&action, own] { action = own; });
    }
    name_values(program);
    // What packages and shells ask for: see the manual's and the completions' makers.
    if (first == "--man") {
        return print_man_pages(describe_command_line(program), argc > 2 ? argv[2] : ""), 0;
    }
    if (first == "--complete") {
        return complete(describe_command_line(program), {argv + 2, argv + argc}, std::cout), 0;
    }

    std::vector<std::string> arguments = lengthen_options(program, {argv + 1, argv + argc});
    const auto is_command = [](const std::string& name) {
        return std::any_of(commands().begin(), commands().end(), [&](const Command& command) { return command.name == name; });
    };
    if (arguments.size() == 2 && arguments[0] == "help" && !manual::is_topic(arguments[1]) && is_command(arguments[1])) {
        arguments = {arguments[1], "--help"};
    }
    try {
        if (arguments.empty()) {
            std::cerr << program.help();
            return exit_code(ErrorKind::usage);
        }
        program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // CLI11 takes them from the back
    } catch (const CLI::CallForHelp&) {
        const auto chosen = program.get_subcommands();
        std::cout << shorten_options(chosen.empty() ? program.help() : chosen.front()->help("schedscope"));
        return 0;
    } catch (const CLI::CallForVersion&) {
        std::cout << version << '\n';
        return 0;
    } catch (const CLI::ParseError& error) {
        return complain(usage_words(program, arguments, error), exit_code(ErrorKind::usage));
    }

    return action();
}

} // namespace

int perform(const CommandAction& action) {
    int code = 0;
    try {
        code = action();
    } catch (const Error& error) {
        // Where it was waiting for a pipe, the system says no more than that it was interrupted.
        const bool only_that = interrupted() && std::string_view(error.what()).ends_with(std::strerror(EINTR));
        code = only_that ? exit_interrupted : complain(error.what(), error.exit_code());
    } catch (const Interrupted&) {
        code = exit_interrupted;
    } catch (const std::bad_alloc&) {
        code = complain("out of memory", exit_code(ErrorKind::device));
    } catch (const std::exception& error) {
        code = complain(error.what(), exit_code(ErrorKind::device));
    }
    std::cout.flush();
    constexpr int they_differ = 1; // a result, as 0 is; what failed has said so
    if (!std::cout && (code == 0 || code == they_differ)) {
        return complain("standard output: write failed", exit_code(ErrorKind::device));
    }
    return interrupted() ? exit_interrupted : code;
}

int run_program(int argc, char** argv) {
    if (const std::optional<int> code = play_role(argc, argv)) {
        return *code; // the program started by itself, to decode an image or to lay out a picture
    }
    const StandardStreams streams;
    note_inherited_signals();
    std::signal(SIGCHLD, SIG_DFL); // whoever started this may ignore it, and then nothing is known of how a child ended
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow any more is a failed write like any other
    const int code = perform([&] { return obey(argc, argv); });
    bound_exit(code);
    return code;
}

} // namespace schedscope
