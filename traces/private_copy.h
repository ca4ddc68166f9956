#pragma once

#include "traces/sqlite.h"

#include <string>

namespace schedscope {

/// A trace whose writer was killed, or is still at work, has a journal beside it that must be worked in before it can be read. That is done on a copy of both
/// in the folder for temporary files: the trace itself is left alone, and no permission to write it is needed. The copy goes away with the database.
/// Throws Error(input) or sqlite::Failure.
sqlite::Database open_private_copy(const std::string& path);

} // namespace schedscope
