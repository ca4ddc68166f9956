#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace schedscope {

/// A format that traces are exported in.
struct ExportFormat {
    std::string_view name;   ///< "a Perfetto trace"
    std::string_view begins; ///< what its first bytes have among them: how an earlier export is known
    std::string_view suffix; ///< of its files' names: ".pftrace"
    bool binary = false;     ///< not for terminals
};

/// To be asked before anything is made for it: throws Error(usage) when an export to `path` ("-": standard output) would replace,
/// without `force`, a file that is no such export, or be no text on a terminal.
void check_export(const std::string& path, const ExportFormat& format, bool force);

/// One line on standard error where a file's name ends as those of another format do.
void say_what_it_is(const std::string& path, const ExportFormat& format);

/// Writes an export to a file as OutputFile does, or to standard output. Stops where the program is interrupted: the file is then
/// as it was. Throws Error(device) when it can't be written, and what `write` throws.
void write_export(const std::string& path, const std::function<void(std::ostream&)>& write);

} // namespace schedscope
