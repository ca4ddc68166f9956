#pragma once

#include "traces/store/sqlite.h"

#include <functional>
#include <string>

/// The two kinds of connections to a trace, and all that SQLite is told for each.
namespace schedscope::sqlite {

/// To a file that came from anywhere: nothing in it makes SQLite write, load or compute more than a trace's schema needs, while
/// `stop` says that it may go on. `address` is one of `file_system`. rolls_back: a journal beside it has to be worked in first.
Database connect_reader(const std::string& address, const char* file_system, bool rolls_back, std::function<bool()> stop);
/// Once its schema was found to be a trace's: statements may look at all of its rows.
void expect_rows(Database& reader, std::function<bool()> stop, int64_t file_bytes);

/// To a file that is being made.
void set_up_writer(Database& writer);
/// From here on each commit is an append to the journal beside the file, which is whole after a kill at any moment.
void begin_journal(Database& writer);

} // namespace schedscope::sqlite
