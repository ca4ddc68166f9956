#pragma once

#include <string>

namespace schedscope::paths {

/// `part` of the folder that models, corpus and logs are shared in, beside the sources; it may not be there.
std::string shared(const std::string& part = {});
/// `part` of the sources: "traces/samples/all-cpu.trace".
std::string source(const std::string& part = {});
/// `part` of the folder of models and pictures that are made when the tests are built (make_models.cpp).
std::string made(const std::string& part);
/// `part` of the folder that programs are built into.
std::string program(const std::string& part);
/// A scheduler's log of those in tests/data/logs, by its name without ".log".
std::string log(const std::string& name);
/// A trace of those that come with the sources, by its name without ".trace".
std::string sample(const std::string& name);

} // namespace schedscope::paths
