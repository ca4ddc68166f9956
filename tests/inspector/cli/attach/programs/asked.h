#pragma once

#include <cstdlib>
#include <string>

namespace schedscope::test {

/// A number that lives.sh gives to make a test longer, by the name of its variable.
inline int asked(const char* variable, int otherwise) {
    const char* const said = std::getenv(variable);
    return said != nullptr && *said != 0 ? std::stoi(said) : otherwise;
}

} // namespace schedscope::test
