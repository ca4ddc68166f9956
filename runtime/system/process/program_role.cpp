#include "runtime/system/process/program_role.h"

#include <utility>

namespace schedscope {

namespace {

constexpr const char* this_program = "/proc/self/exe";

struct Stage {
    std::vector<std::pair<std::string_view, ProgramRole::Main*>> roles;
    bool open = false; ///< `main` asked which one to play
};

Stage& stage() {
    static Stage s; // roles are defined before `main`, in any order
    return s;
}

} // namespace

ProgramRole::ProgramRole(std::string_view name, Main* play) { stage().roles.emplace_back(name, play); }

std::optional<int> play_role(int argc, char** argv) {
    stage().open = true;
    for (const auto& [name, play] : stage().roles) {
        if (argc > 1 && argv[1] == name) {
            return play(argc, argv);
        }
    }
    return std::nullopt;
}

std::vector<std::string> own_command(std::string_view role) { return {this_program, std::string(role)}; }

bool can_be_played(const std::vector<std::string>& command) noexcept {
    return !command.empty() && (command.front() != this_program || stage().open);
}

} // namespace schedscope
