// The user's own files: settings, and what was kept of a session about a trace. An input is the file; its first byte says which.
// What is right in it holds, and written again it is read as the same.

#include "inspector/tui/state/saved_session.h"
#include "inspector/tui/state/settings.h"
#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/verdict.h"

#include <cstdint>
#include <string>

namespace {

using namespace schedscope;
using fuzz::fail;

std::string lines_of(const tui::Settings& settings) {
    std::string text;
    for (const std::string& line : settings.lines()) {
        text += line + "\n";
    }
    return text;
}

void read_settings(const std::string& text) {
    static const fuzz::NamedMemoryFile file;
    file.put(text);
    std::string note;
    const std::string lines = lines_of(tui::read_settings(file.path(), note));
    file.put(lines);
    note.clear();
    if (lines_of(tui::read_settings(file.path(), note)) != lines || !note.empty()) {
        fail("what it writes is not what it reads", note);
    }
}

void read_session(const std::string& text) {
    constexpr Step n_steps = 1000;
    const std::string trace = "/home/me/run.trace";
    tui::SavedSession session, again;
    std::string note;
    const std::string whole =
        text.starts_with("!") ? "schedscope-session 1\ntrace " + trace + "\nsteps 1000\n" + text.substr(1) : text;
    if (!tui::SavedSession::parse(whole, trace, n_steps, session, note)) {
        return;
    }
    session.trace = trace;
    session.n_steps = n_steps;
    note.clear();
    if (!tui::SavedSession::parse(session.text(), trace, n_steps, again, note)) {
        fail("what it writes is not read", note);
    }
    again.trace = trace;
    again.n_steps = n_steps;
    if (again.text() != session.text()) {
        fail("what it writes is read as something else", again.text() + session.text());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 0) {
        const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
        (data[0] & 1) == 0 ? read_settings(text) : read_session(text);
    }
    return 0;
}
