#include "inspector/cli/line/manual.h"

#include "inspector/manual/roff.h"
#include "inspector/tui/manual_tables.h"

#include <algorithm>
#include <ostream>
#include <string_view>

namespace schedscope {

namespace {

using manual::bold;
using manual::italic;
using manual::roff;

constexpr std::string_view description = R"(.B schedscope
shows why a tensor program runs where it runs.
It is a complete inference runtime of the ggml family (GGUF models; CPU, BLAS and Vulkan backends; the five\-pass backend
scheduler) that writes a record of every decision it makes: which backend each tensor got, in which pass, by which rule,
because of which other tensor, and which backends were asked and said no.
The llama.cpp that is installed is recorded as it is.
On those records stand a terminal inspector that steps forward and backward, pictures of the splits, timelines,
and a trace file that anybody can replay without the devices.
.PP
A typical session records a run, looks at what was decided, and asks why:
.PP
.RS
.nf
schedscope record \-m model.gguf \-f prompt.txt \-n 8 \-ngl 3 \-o run.trace
schedscope show run.trace
schedscope explain run.trace attn_norm\-0
schedscope inspect run.trace
.fi
.RE
.PP
An error is one line that says what is wrong and what to do where that is known.
)";

std::string value_text(const OptionText& o) {
    // Choices are typed as they stand; anything else stands for something.
    return o.value.choices.empty() || o.value.name.find('|') == std::string::npos ? italic(o.value.name) : roff(o.value.name);
}

void write_option(const OptionText& o, std::ostream& out) {
    out << ".TP\n";
    if (o.is_argument()) {
        out << italic(o.value.name);
    }
    for (size_t i = 0; i < o.names.size(); ++i) {
        out << (i > 0 ? ", " : "") << bold(o.names[i]);
    }
    if (!o.is_argument() && !o.value.name.empty()) {
        out << ' ' << value_text(o);
    }
    std::string text = o.description;
    if (!o.by_default.empty()) {
        text += " (default: " + o.by_default + ")";
    }
    if (o.required && !o.is_argument()) {
        text += " (required)";
    }
    out << '\n' << roff(text.empty() ? "-" : text) << (text.ends_with('.') || text.ends_with(')') ? "" : ".") << '\n';
}

void write_synopsis(const CommandText& command, std::ostream& out) {
    out << ".SH SYNOPSIS\n" << bold("schedscope " + command.name);
    for (const OptionText& argument : command.arguments) {
        out << ' ' << (argument.required ? "" : "[") << italic(argument.value.name) << (argument.required ? "" : "]");
    }
    for (const OptionText& option : command.options) {
        if (option.required) {
            out << ' ' << bold(option.names.front()) << ' ' << value_text(option);
        }
    }
    out << " [" << italic("options") << "]\n";
}

/// In their groups, the command's own first.
void write_options(const CommandText& command, std::ostream& out) {
    std::string group = "Options";
    for (const OptionText& option : command.options) {
        if (option.group != group) {
            group = option.group;
            out << ".SS " << roff(group) << '\n';
        }
        write_option(option, out);
    }
}

void write_exit_status(std::ostream& out) {
    out << ".SH EXIT STATUS\n";
    for (const manual::TableRow& row : tui::manual_table("exit-codes")) {
        out << ".TP\n" << bold(row.term) << '\n' << roff(row.meaning) << ".\n";
    }
}

/// The topics that a reader of a command's page may look for next.
void write_see_also(std::string_view first, std::ostream& out) {
    out << ".SH SEE ALSO\n" << first;
    for (const manual::TopicText& topic : manual::topic_texts()) {
        out << ",\n.BR " << roff("schedscope-" + std::string(topic.name)) << " (7)";
    }
    out << '\n';
}

} // namespace

void write_manual(const CommandLine& line, const std::string& version, std::ostream& out) {
    manual::write_head("schedscope", 1, version, out);
    out << ".SH NAME\nschedscope \\- shows why a tensor program runs where it runs\n.SH SYNOPSIS\n"
        << bold("schedscope") << ' ' << italic("command") << " [" << italic("options") << "]\n"
        << ".SH DESCRIPTION\n"
        << description << ".SH COMMANDS\nEach has a page of its own,\n.BI schedscope\\- command (1).\n";
    for (const CommandText& command : line.commands) {
        out << ".TP\n" << bold(command.name) << '\n' << roff(command.summary) << ".\n";
    }
    out << ".SH OPTIONS\nOf the program, and\n.B \\-\\-help\nof every command:\n";
    for (const OptionText& option : line.options) {
        write_option(option, out);
    }
    out << ".SH TOPICS\nEach is a page of section 7,\n.BI schedscope\\- topic (7),\nand in the inspector\n.BI :help\\~ topic .\n";
    for (const manual::TableRow& row : manual::topic_list()) {
        out << ".TP\n" << bold(row.term) << '\n' << roff(row.meaning) << ".\n";
    }
    write_exit_status(out);
    write_see_also(".BR dot (1),\n.BR sqlite3 (1),\n.BR vulkaninfo (1)", out);
}

void write_command_page(const CommandText& command, const std::string& version, std::ostream& out) {
    const std::string page = "schedscope-" + command.name;
    manual::write_head(page, 1, version, out);
    out << ".SH NAME\n" << roff(page) << " \\- " << roff(command.summary) << '\n';
    write_synopsis(command, out);
    out << ".SH OPTIONS\n";
    for (const OptionText& argument : command.arguments) {
        write_option(argument, out);
    }
    write_options(command, out);
    if (!command.footer.empty()) { // lines that stand in columns stay as they are
        out << ".SH NOTES\n.nf\n" << roff(command.footer) << "\n.fi\n";
    }
    write_exit_status(out);
    write_see_also(".BR schedscope (1)", out);
}

void write_man_pages(const CommandLine& line, const std::string& version, const ManPageFile& file) {
    file("man1/schedscope.1", [&](std::ostream& out) { write_manual(line, version, out); });
    for (const CommandText& command : line.commands) {
        file("man1/schedscope-" + command.name + ".1", [&](std::ostream& out) { write_command_page(command, version, out); });
    }
    for (const manual::TopicText& text : manual::topic_texts()) {
        file("man7/schedscope-" + std::string(text.name) + ".7",
             [&](std::ostream& out) { manual::write_topic_page(manual::topic(text.name, tui::manual_table), version, out); });
    }
}

} // namespace schedscope
