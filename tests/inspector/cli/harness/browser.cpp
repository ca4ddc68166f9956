#include "tests/inspector/cli/harness/browser.h"

#include "tests/inspector/cli/harness/files.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
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

/// Fills in what can be read of a page from its markup.
void read_markup(BrowserPage& page) {
    remove_elements(page.dom, "script");
    remove_elements(page.dom, "style");
    page.text = text_of(page.dom);
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
    read_markup(page);
    for (const std::string& line : lines_of(read_bytes(said))) {
        if (line.find("CONSOLE") != std::string::npos || line.find("Content Security Policy") != std::string::npos) {
            page.complaints += line + "\n";
        }
    }
    return page;
}

std::vector<BrowserPage> open_pages(const std::string& file, const std::vector<std::string>& places) {
    constexpr std::string_view begin = "what it saw: ";
    const Folder folder;
    write_bytes(folder / "visitor.html",
                R"(<!doctype html><meta charset="utf-8"><pre id="seen"></pre><script>
                const file = )" +
                    nlohmann::json("file://" + file).dump() + ", places = " + nlohmann::json(places).dump() + R"(, seen = [];
                const wait = ms => new Promise(done => setTimeout(done, ms));
                (async () => {
                  for (const at of places) {
                    const frame = document.createElement("iframe");
                    frame.width = 1280; frame.height = 800; frame.src = file + "#" + at;
                    const loaded = new Promise(done => frame.onload = done);
                    document.body.append(frame);
                    await loaded; await wait(1000);
                    seen.push(frame.contentDocument.documentElement.outerHTML);
                    frame.remove();
                  }
                  document.getElementById("seen").textContent = ")" +
                    std::string(begin) + R"(" + JSON.stringify(seen);
                })();</script>)");
    const BrowserPage visitor =
        open_page(folder / "visitor.html", "", {"--allow-file-access-from-files", "--virtual-time-budget=60000"});
    const size_t at = visitor.text.find(begin);
    if (at == std::string::npos) {
        throw std::runtime_error("the browser did not come to the end: " + visitor.complaints);
    }
    const auto seen = nlohmann::json::parse(visitor.text.substr(at + begin.size())); // nothing stands behind it
    std::vector<BrowserPage> pages;
    for (const auto& dom : seen) {
        BrowserPage page{dom.get<std::string>(), "", visitor.complaints};
        read_markup(page);
        pages.push_back(std::move(page));
    }
    return pages;
}

} // namespace schedscope::test
