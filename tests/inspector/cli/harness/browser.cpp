#include "tests/inspector/cli/harness/browser.h"

#include "tests/inspector/cli/harness/files.h"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace schedscope::test {

namespace {

/// What a person reads of markup.
std::string text_of(std::string_view markup) {
    constexpr std::array<std::pair<std::string_view, char>, 5> entities{
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}}};
    std::string text;
    bool in_tag = false;
    while (!markup.empty()) {
        size_t n = 1;
        if (markup[0] == '<' || (in_tag && markup[0] == '>')) {
            in_tag = markup[0] == '<';
        } else if (!in_tag) {
            char shown = markup[0];
            for (const auto& [entity, meant] : entities) {
                if (markup.starts_with(entity)) {
                    shown = meant;
                    n = entity.size();
                }
            }
            text += shown;
        }
        markup.remove_prefix(n);
    }
    return text;
}

void remove_elements(std::string& dom, const std::string& tag) {
    for (size_t at = dom.find("<" + tag); at != std::string::npos; at = dom.find("<" + tag, at)) {
        const size_t end = dom.find("</" + tag + ">", at);
        dom.erase(at, end == std::string::npos ? std::string::npos : end - at + tag.size() + 3);
    }
}

std::string quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text) {
        safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return safe + "'";
}

} // namespace

std::string BrowserPage::row(int tensor) const {
    const size_t at = dom.find("<tr class=\"of\" tabindex=\"0\" data-tensor=\"" + std::to_string(tensor) + "\"");
    return at == std::string::npos ? "" : text_of(dom.substr(at, dom.find("</tr>", at) - at));
}

std::string browser_path() {
    for (const char* path : {"/usr/bin/chromium-headless-shell", "/usr/bin/chromium"}) {
        if (exists(path)) {
            return path;
        }
    }
    return "";
}

BrowserPage open_page(const std::string& file, const std::string& at, const std::vector<std::string>& options) {
    const Folder folder;
    const std::string said = folder / "said";
    // Host names lead nowhere; the page's own clock runs ahead, so that nothing waits.
    std::string more;
    for (const std::string& option : options) {
        more += quoted(option) + " ";
    }
    const std::string command =
        quoted(browser_path()) +
        " --headless --no-sandbox --disable-gpu --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr"
        " --user-data-dir=" +
        quoted(folder / "profile") + " --window-size=1280,800 --virtual-time-budget=5000 --dump-dom " + more +
        quoted("file://" + file + "#" + at) + " 2> " + quoted(said);
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("the browser does not start");
    }
    BrowserPage page;
    std::array<char, 65536> part{};
    for (size_t n = fread(part.data(), 1, part.size(), pipe); n > 0; n = fread(part.data(), 1, part.size(), pipe)) {
        page.dom.append(part.data(), n);
    }
    pclose(pipe);
    remove_elements(page.dom, "script");
    remove_elements(page.dom, "style");
    page.text = text_of(page.dom);
    for (const std::string& line : lines_of(read_bytes(said))) {
        if (line.find("CONSOLE") != std::string::npos || line.find("Content Security Policy") != std::string::npos) {
            page.complaints += line + "\n";
        }
    }
    return page;
}

} // namespace schedscope::test
