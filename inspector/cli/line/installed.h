#pragma once

#include <string>

/// What is installed beside the program (packaging.cmake), found from where the program lies.
namespace schedscope::installed {

/// A file or folder, by its path from the folder that the program lies in: "../lib/schedscope". It may not be there.
std::string path_of(const std::string& from_the_program);
/// The folder of the sample traces · of man pages; empty: the program does not lie in an installation.
std::string samples();
std::string man_pages();

/// "; the sample of that name is /opt/schedscope/share/schedscope/samples/all-cpu.trace", behind what is said of a trace that is
/// not there: a sample's name with or without the folder that the sources have it in, and ".trace". Empty: no sample has it.
std::string sample_called(const std::string& path);

} // namespace schedscope::installed
