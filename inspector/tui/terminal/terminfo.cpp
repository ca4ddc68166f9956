// A file of its own because <term.h> defines hundreds of short names as macros.
#include "inspector/tui/terminal/terminfo.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

namespace schedscope::tui {

namespace {

TERMINAL* loaded = nullptr;

} // namespace

bool load_terminfo(const char* type) {
    int status = 0;
    if (setupterm(const_cast<char*>(type), STDOUT_FILENO, &status) == ERR) {
        return false;
    }
    loaded = cur_term;
    return true;
}

void forget_terminfo() {
    if (loaded != nullptr) {
        del_curterm(loaded);
        loaded = nullptr;
    }
}

std::string capability(const char* name) {
    const char* const value = tigetstr(const_cast<char*>(name));
    return value && value != reinterpret_cast<char*>(-1) ? value : std::string();
}

bool has_direct_colour() {
    char name[] = "RGB";
    const char* const text = tigetstr(name);
    return tigetflag(name) > 0 || tigetnum(name) > 0 || (text && text != reinterpret_cast<char*>(-1));
}

} // namespace schedscope::tui
