#include "inspector/cli/line/manual.h"

#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "runtime/system/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

namespace schedscope {

namespace {

// ---- What the definitions don't say. ----

constexpr std::string_view description = R"(.B schedscope
shows why a tensor program runs where it runs.
It is a complete inference runtime of the ggml family (GGUF models; CPU, BLAS and Vulkan backends; the five\-pass backend
scheduler) that writes a record of every decision it makes: which backend each tensor got, in which pass, by which rule,
because of which other tensor, and which backends were asked and said no.
On those records stand a terminal inspector that steps forward and backward, pictures of the splits, timelines,
and a trace file that anybody can replay without the devices.
.PP
A typical session records a run, looks at what was decided, and asks why:
.PP
.RS
.nf
schedscope record \-m model.gguf \-f prompt.txt \-n 8 \-ngl 20 \-o run.trace
schedscope show run.trace
schedscope explain run.trace attn_norm\-0
schedscope inspect run.trace
.fi
.RE
.PP
Results go to standard output, everything else to standard error.
What files and models hold is not trusted: a terminal gets none of their control characters, nor what turns the direction of
letters, but sees them as
.BR ? ;
to a pipe or a file generated text goes as it is, and JSON has such characters escaped.
An error is one line that says what is wrong and what to do where that is known.
)";

constexpr std::string_view devices = R"(Devices are named
.BR cpu ,
.BR blas ,
.BR vulkan0 ,
.B vulkan1
and so on, in any case;
.B "schedscope devices"
lists them.
The order of a list is their priority;
.B cpu
is last and added if it is missing.
The same device twice is two backends.
A device that is not here is described by its memory where nothing is computed
.RB ( "record \-\-dry\-run" ):
.IR NAME =vulkan:24GiB
has all features of the Vulkan backend,
.IR NAME =from: TRACE / DEVICE [:24GiB]
answers as
.I DEVICE
did when
.I TRACE
was recorded.
What it was asked at another size only is inferred, what it was never asked is no; both are counted.
)";

constexpr std::string_view exit_status = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
The answer is no: traces differ, a replay decides otherwise, a result is beyond its tolerance.
.TP
.B 2
Wrong usage; also an unknown tensor, an evaluation out of range, a pattern that matches nothing.
.TP
.B 3
An input file is missing, unreadable, broken or of an unknown kind.
.TP
.B 4
A device, memory or output failed. When the disk is full while recording, the text is complete.
.TP
.B 130
Interrupted; a trace that was being recorded was closed properly.
)";

constexpr std::string_view behind_limits = R"man(.SH ENVIRONMENT
.TP
.B NO_COLOR
When it is set to anything, the inspector uses no colours.
.TP
.B TERM
The inspector's terminal, as ncurses knows it.
.TP
.B SCHEDSCOPE_CPU
Restricts the CPU backend to one of its ways to compute
.RB ( portable ,
.BR avx2 ,
\&...), to find where two differ.
.TP
.B SCHEDSCOPE_VULKAN_VALIDATION
When it is set, Vulkan is used with its validation layer; what that has to say goes to standard error.
.SH FILES
.TP
.I *.trace
A trace: one SQLite database, whose tables are described in
.IR traces/SCHEMA.md .
While it is being written, and after the program was killed,
.I *.trace\-wal
belongs to it.
.TP
.I *.gguf
A model, as llama.cpp's users have it; of a model in several files the first is named.
.TP
.I schedscope\-demo.trace\fR, \fPschedscope\-demo\-splits.dot\fR, \fPschedscope\-demo\-splits.svg
What
.B "schedscope demo"
writes to the current folder when it has no terminal.
.SH EXAMPLES
What would be decided with all layers on the device?
.PP
.RS
.nf
schedscope replay run.trace \-\-set ngl=99
.fi
.RE
.PP
How would a model of 70 billion parameters lie on two cards that are not here?
.PP
.RS
.nf
schedscope synth llama \-\-preset 70b \-\-header\-only \-o 70b.gguf
schedscope record \-m 70b.gguf \-\-dry\-run \-\-device a=vulkan:24GiB,b=vulkan:24GiB,cpu \-o plan.trace
schedscope dot plan.trace \-\-view layers \-o plan.svg
.fi
.RE
.PP
Where do two devices first differ?
.PP
.RS
.nf
schedscope verify \-m model.gguf \-p "Once upon a time" \-\-device vulkan0,cpu
.fi
.RE
.PP
What does the llama.cpp that is installed decide, step by step?
.PP
.RS
.nf
schedscope inspect \-\- llama\-cli \-m model.gguf \-p "Once upon a time" \-ngl 20
.fi
.RE
.PP
The program is held before its first plan.
The keys are those of
.BR "inspect \-m" :
.B c
lets it run,
.B Space
holds it again,
.B }
goes on to the next split,
.B :output
shows what it writes; it reads nothing.
Whoever quits while it runs ends it (SIGTERM); else the exit code is its own.
A program that is held goes on by itself within seconds when the inspector is gone, or is stopped by Ctrl\-Z.
.PP
A timeline for ui.perfetto.dev, and the trace's own tables:
.PP
.RS
.nf
schedscope export run.trace \-\-perfetto run.pftrace
sqlite3 run.trace \(aqSELECT * FROM kernel_time\(aq
.fi
.RE
.SH OTHER PROGRAMS
How
.BR record ,
.B inspect
and
.B attach
meet the programs that ggml is used in.
Each needs ggml in libraries of its own
.RI ( libggml\-base.so ).
Which processes have one:
.PP
.RS
.nf
grep \-ls libggml\-base /proc/[0\-9]*/maps
.fi
.RE
.TP
.BR llama.cpp " (tried: Debian\(aqs 0.7.0 with Vulkan, BLAS and CPU)"
.B schedscope record \-o run.trace \-\- llama\-completion \-m model.gguf \-no\-cnv \-p \(dqOnce upon a time\(dq \-ngl 20
.TP
.BR llama\-server " (tried: the same)"
.B schedscope record \-\-last 100MiB \-o run.trace \-\- llama\-server \-m model.gguf \-ngl 20
.br
.B schedscope attach $(pidof llama\-server) \-o run.trace
.TP
.BR node\-llama\-cpp " (tried: builds b3889 to v0.5.0)"
.B schedscope record \-o run.trace \-\- node app.mjs
.br
Through
.BR npx ,
or where the application forks workers, with
.BR \-\-children .
.TP
.BR whisper.cpp " (tried: Debian\(aqs 1.9.5)"
.B schedscope record \-o run.trace \-\- whisper\-cli \-m model.bin \-f sound.wav
.TP
.BR llama\-cpp\-python " (not tried)"
.B schedscope record \-o run.trace \-\- python3 app.py
.TP
.BR "LM Studio" " (not tried)"
Its engine is a process of its own, which the command above finds:
.B schedscope attach
.I PID
.B \-o run.trace
.TP
.BR Ollama " (not tried)"
.B schedscope record \-\-children \-o run.trace \-\- ollama serve
.br
Its models run in a process that it starts.
Where that holds ggml within its own executable, nothing can be recorded, and one line says so.
.SH SEE ALSO
.BR dot (1),
.BR sqlite3 (1),
.BR vulkaninfo (1)
)man";

// ---- The rest. ----

/// Text that means itself: what the formatter would take for its own is written out.
std::string roff(std::string_view text) {
    std::string out;
    bool line_begins = true;
    while (!text.empty()) {
        const char32_t c = take_character(text).value_or(U'?');
        if (line_begins && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        line_begins = c == '\n';
        switch (c) {
        case '\\': out += "\\e"; break;
        case '-': out += "\\-"; break;
        case '\'': out += "\\(aq"; break;
        case '`': out += "\\(ga"; break;
        case '^': out += "\\(ha"; break;
        case '~': out += "\\(ti"; break;
        case 0x2026: out += "..."; break;
        default:
            if (c < 0x80) {
                out += static_cast<char>(c);
            } else {
                char number[16];
                std::snprintf(number, sizeof number, "\\[u%04X]", c);
                out += number;
            }
        }
    }
    return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fP"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fP"; }

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

/// Options of a running model stand in groups; several commands share them.
bool is_shared(const OptionText& o) { return o.group != "Options"; }

/// Every command has it: it is told once.
bool is_help(const OptionText& o) { return std::find(o.names.begin(), o.names.end(), "--help") != o.names.end(); }

bool has_shared(const CommandText& command) { return std::any_of(command.options.begin(), command.options.end(), is_shared); }

bool says_the_same(const OptionText& a, const OptionText& b) {
    return a.names == b.names && a.description == b.description && a.by_default == b.by_default && a.required == b.required;
}

const CommandText* first_with_shared(const CommandLine& line) {
    const auto found = std::find_if(line.commands.begin(), line.commands.end(), has_shared);
    return found == line.commands.end() ? nullptr : &*found;
}

void write_synopsis(const CommandText& command, std::ostream& out) {
    out << ".PP\n" << bold("schedscope " + command.name);
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

/// What a file that came from elsewhere may cost. The numbers are those that the readers obey.
void write_limits(std::ostream& out) {
    using namespace budget;
    const auto seconds = [](int64_t n) { return words::count(n) + " s"; };
    const std::pair<std::string_view, std::string> limits[] = {
        {"Models", "Nothing is kept of a file that it does not hold. Keys, and tensors, of one file: " +
                       words::count(model_entries) + "; elements of an array in the metadata: " + words::count(model_elements) +
                       "; tokens of a vocabulary: " + words::count(model_vocabulary) +
                       "; files of a split model: " + words::count(model_parts) +
                       ". A model that is cut short while it is read ends the run with exit status 3."},
        {"Traces",
         "Memory for rolling back or replaying a journal, and for sorting: " + words::limit(trace_scratch_bytes) +
             "; temporary space for the copy of a trace that is still being recorded: " + words::limit(trace_copy_bytes) + "."},
        {"Logs", "A log that is imported: " + words::limit(log_bytes) + "; a line without an end: " +
                     words::limit(log_endless_line_bytes) + " (beyond " + words::limit(log_line_bytes) +
                     " it is read in parts); tensors and splits of one graph: " + words::count(log_graph_tensors) +
                     "; records that are made: " + words::count(log_records) + "."},
        {"Streams", "A block: " + words::limit(stream_block_bytes) + "; a text: " + words::limit(stream_text_bytes) +
                        "; tensors of one graph: " + words::count(log_graph_tensors) +
                        "; evaluations: " + words::count(stream_evaluations) + ", at once " +
                        words::count(stream_open_evaluations) + "; records: " + words::count(log_records) +
                        ", of those that wait for others " + words::count(stream_held_records) + "."},
        {"Images", "The file: " + words::limit(image_file_bytes) + "; a side: " + words::count(image_longest_side) +
                       " pixels; in all: " + words::count(image_pixels) +
                       " pixels; memory to decode it: " + words::limit(image_memory_bytes) +
                       "; time: " + seconds(image_processor_seconds) + " of a processor, " + seconds(image_seconds) +
                       " by the clock; times that a JPEG goes over its pixels: " + words::count(jpeg_scans) + ", over " +
                       words::count(jpeg_scanned_pixels) +
                       " pixels in all; a chunk of a PNG beside the pixels: " + words::limit(png_chunk_bytes) + "."},
        {"Pictures of plans", "Memory of Graphviz: " + words::limit(layout_memory_bytes) +
                                  "; what it draws: " + words::limit(layout_picture_bytes) +
                                  "; time: " + seconds(layout_seconds) + " by the clock unless another limit is asked for, " +
                                  seconds(layout_processor_seconds) + " of a processor."},
        {"Texts", "A prompt, a text to score, a batch to tokenize: " + words::limit(text_bytes) +
                      "; the inspector's settings, and what it kept of a trace: " + words::limit(settings_bytes) + "."},
    };
    out << ".SH LIMITS\nWhat is read may come from anybody, so it may cost no more than this."
           " What is beyond a limit is refused in one line, with exit status 3 (4 for pictures).\n";
    for (const auto& [what, text] : limits) {
        out << ".TP\n" << bold(std::string(what)) << '\n' << roff(text) << '\n';
    }
}

/// Lines that stand in columns stay as they are.
void write_footer(const std::string& footer, std::ostream& out) { out << ".PP\n.nf\n" << roff(footer) << "\n.fi\n"; }

void write_command(const CommandLine& line, const CommandText& command, std::ostream& out) {
    out << ".SS " << roff(command.name) << '\n' << roff(command.summary) << ".\n";
    write_synopsis(command, out);
    for (const OptionText& argument : command.arguments) {
        write_option(argument, out);
    }
    const CommandText* shared = first_with_shared(line);
    for (const OptionText& option : command.options) {
        const bool in_common = is_shared(option) && std::any_of(shared->options.begin(), shared->options.end(),
                                                                [&](const OptionText& o) { return says_the_same(o, option); });
        if (!in_common && !is_help(option)) {
            write_option(option, out);
        }
    }
    if (has_shared(command)) {
        out << ".PP\nIt takes the options of a run as well, see\n.BR OPTIONS .\n";
    }
    if (!command.footer.empty()) {
        write_footer(command.footer, out);
    }
}

/// The options of a run, once, in their groups.
void write_shared(const CommandText& command, std::ostream& out) {
    std::string group;
    for (const OptionText& option : command.options) {
        if (!is_shared(option)) {
            continue;
        }
        if (option.group != group) {
            group = option.group;
            out << ".SS " << roff(group) << '\n';
        }
        write_option(option, out);
    }
}

} // namespace

void write_manual(const CommandLine& line, const std::string& version, std::ostream& out) {
    out << ".\\\" Made by `schedscope --man` from the definitions of the command line.\n"
        << ".TH SCHEDSCOPE 1 \"\" \"" << roff(version) << "\" \"User Commands\"\n"
        << ".ad l\n" // long names of files and options leave gaps where lines are stretched
        << ".SH NAME\nschedscope \\- shows why a tensor program runs where it runs\n.SH SYNOPSIS\n"
        << bold("schedscope") << ' ' << italic("command") << " [" << italic("options") << "]\n"
        << ".SH DESCRIPTION\n"
        << description << ".SH COMMANDS\n";
    for (const CommandText& command : line.commands) {
        write_command(line, command, out);
    }
    out << ".SH OPTIONS\nOf the program, and\n.B \\-\\-help\nof every command:\n";
    for (const OptionText& option : line.options) {
        write_option(option, out);
    }
    if (const CommandText* shared = first_with_shared(line)) {
        out << ".PP\nThe options of a run keep llama.cpp\\(aqs names where it has them.\n.PP\n" << devices;
        write_shared(*shared, out);
    }
    out << exit_status;
    write_limits(out);
    out << behind_limits;
}

} // namespace schedscope
