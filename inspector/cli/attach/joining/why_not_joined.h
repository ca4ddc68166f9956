#pragma once

#include <string>

#include <sys/types.h>

namespace schedscope {

/// What stands against joining a process, with the cure, in words that go on after "process 123: "; empty: nothing that can be
/// seen before it is tried.
std::string why_not_joined(pid_t id);
/// The same, where its memory could not be opened, or none of its threads be held: by errno.
std::string why_not_seen(pid_t id, int error);
bool is_traced(pid_t id); ///< somebody holds it as a debugger does
std::string why_not_traced(pid_t id, int error);

} // namespace schedscope
