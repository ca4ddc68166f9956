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
    bool binary = false;     ///< not for terminals
};

/// Writes an export to a file, or to standard output where `path` is "-". Throws Error(usage) when that would replace, without `force`, a file that
/// is no such export; Error(device) when it can't be written.
void write_export(const std::string& path, const ExportFormat& format, bool force,
                  const std::function<void(std::ostream&)>& write);

} // namespace schedscope
