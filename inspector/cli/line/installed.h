#pragma once

#include <string>

/// What is installed beside the program (packaging.cmake), found from where the program lies.
namespace schedscope::installed {

/// The folder of the sample traces · of man pages; empty: the program does not lie in an installation.
std::string samples();
std::string man_pages();

/// "; the sample of that name is /opt/schedscope/share/schedscope/samples/all-cpu.trace", behind what is said of a trace that is
/// not there: a sample's name with or without the folder that the sources have it in, and ".trace". Empty: no sample has it.
std::string sample_called(const std::string& path);

} // namespace schedscope::installed
