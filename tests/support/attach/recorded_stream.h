#pragma once

#include "inspector/cli/attach/shared_pages.h"

#include <map>
#include <string>
#include <vector>

namespace schedscope::test {

/// A record that a program sent: its fields by name, as text where they are one, lists as their numbers with blanks between.
struct SentRecord {
    std::string kind;
    int64_t evaluation = -1; ///< −1: of none
    std::map<std::string, std::string> fields;

    int64_t number(const std::string& field) const; ///< throws std::out_of_range
    const std::string& text(const std::string& field) const { return fields.at(field); }
};

/// All that a program sent, and how it ended.
struct RecordedStream {
    std::vector<SentRecord> records;
    bool ended = false; ///< the stream has its end
    int code = 0;
    attach::Control control = {};

    std::vector<SentRecord> of(const std::string& kind, int64_t evaluation = -1) const; ///< evaluation −1: of any
};

/// Runs a program with the library in it, and reads what comes.
RecordedStream recorded_stream(const std::vector<std::string>& command, const AttachOptions& options = {});

} // namespace schedscope::test
