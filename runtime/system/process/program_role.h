#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// Something that this program does when it starts itself as a child: `PROGRAM NAME ARGUMENTS…`. It is known to whatever program
/// is linked with the code that wants such a child, because it is defined beside that code:
///
///     const ProgramRole decoder("--decode-child", decode_child_main);
class ProgramRole {
public:
    using Main = int(int argc, char** argv);
    ProgramRole(std::string_view name, Main* play);
};

/// The first thing in `main`. Plays the role that the first argument names and returns its exit code; nothing: the program was
/// started by somebody else.
std::optional<int> play_role(int argc, char** argv);

/// The command that starts this program in a role.
std::vector<std::string> own_command(std::string_view role);

/// Whether `command` can be started: a program whose `main` does not begin with `play_role` must not start itself, or its
/// children would do what it does.
bool can_be_played(const std::vector<std::string>& command) noexcept;

} // namespace schedscope
