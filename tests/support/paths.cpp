// The only file that knows where the sources lie: the others compile to the same objects in every checkout.

#include "tests/support/paths.h"

namespace schedscope::paths {

namespace {

std::string inside(const std::string& folder, const std::string& part) { return part.empty() ? folder : folder + "/" + part; }

} // namespace

std::string shared(const std::string& part) { return inside(SCHEDSCOPE_SHARED_DIR, part); }
std::string source(const std::string& part) { return inside(SCHEDSCOPE_SOURCE_DIR, part); }
std::string made(const std::string& part) { return inside(SCHEDSCOPE_MADE_DIR, part); }
std::string program(const std::string& part) { return inside(SCHEDSCOPE_BIN_DIR, part); }
std::string log(const std::string& name) { return source("tests/data/logs/" + name + ".log"); }
std::string sample(const std::string& name) { return source("traces/samples/" + name + ".trace"); }

} // namespace schedscope::paths
