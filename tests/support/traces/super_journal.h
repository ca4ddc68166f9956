#pragma once

#include <cstdint>
#include <string>

namespace schedscope::test {

/// What a rollback journal of SQLite ends with when it belongs to several databases: it names a file that lists their journals.
/// Once none of those is there any more, SQLite deletes that file. page_bytes: of the database.
std::string super_journal(const std::string& name, uint32_t page_bytes);

} // namespace schedscope::test
