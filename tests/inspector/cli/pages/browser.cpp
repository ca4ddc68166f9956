#include "tests/inspector/cli/pages/browser.h"

#include "runtime/system/descriptor.h"
#include "tests/inspector/cli/harness/files.h"

#include <array>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope::test {

namespace {

using nlohmann::json;

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

constexpr std::chrono::minutes patience(20); // only bounds a failure: a page may visit many, and a message comes at its end

/// A browser that runs until the tests' program ends: it takes seconds to start. Told over two pipes what to do, by the protocol
/// of its developers' tools: a JSON object each way, ended by a 0 byte.
class Browser {
public:
    explicit Browser(const std::vector<std::string>& options) {
        const Descriptor commands = pipe_to(to_, false), answers = pipe_to(from_, true);
        // Host names lead nowhere.
        std::vector<std::string> words = {browser_path(),
                                          "--headless",
                                          "--no-sandbox",
                                          "--disable-gpu",
                                          "--host-resolver-rules=MAP * ~NOTFOUND",
                                          "--remote-debugging-pipe",
                                          "--user-data-dir=" + (folder_ / "profile"),
                                          "--window-size=1280,800"};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (folder_ / "said").c_str(), O_WRONLY | O_CREAT, 0600);
        constexpr int its_commands = 3, its_answers = 4, above = 100; // neither is where the other has to be
        posix_spawn_file_actions_adddup2(&files, commands.get(), above);
        posix_spawn_file_actions_adddup2(&files, answers.get(), above + 1);
        posix_spawn_file_actions_adddup2(&files, above, its_commands);
        posix_spawn_file_actions_adddup2(&files, above + 1, its_answers);
        posix_spawn_file_actions_addclose(&files, above);
        posix_spawn_file_actions_addclose(&files, above + 1);
        const int failed = posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        if (failed != 0) {
            throw std::runtime_error("the browser does not start");
        }
    }

    ~Browser() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    BrowserPage open(const std::string& address, std::chrono::milliseconds own_time) {
        if (session_.empty()) {
            const std::string target = ask("Target.createTarget", {{"url", "about:blank"}})["targetId"];
            session_ = ask("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"];
            for (const char* told : {"Page", "Runtime", "Log"}) {
                ask(std::string(told) + ".enable");
            }
        }
        ask("Emulation.setVirtualTimePolicy", {{"policy", "pause"}});
        ask("Page.navigate", {{"url", "about:blank"}}); // else another place of the same file is not loaded again
        complaints_.clear();
        ask("Page.navigate", {{"url", address}});
        time_is_up_ = false;
        ask("Emulation.setVirtualTimePolicy", {{"policy", "pauseIfNetworkFetchesPending"}, {"budget", own_time.count()}});
        while (!time_is_up_) {
            hear();
        }
        BrowserPage page;
        page.dom = ask("Runtime.evaluate", {{"expression", "document.documentElement.outerHTML"}})["result"]["value"];
        page.complaints = complaints_;
        read_markup(page);
        return page;
    }

private:
    /// Keeps one end of a pipe, the one to read from or the other; the other end.
    static Descriptor pipe_to(Descriptor& kept, bool reads) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe to a browser");
        }
        kept = Descriptor(ends[reads ? 0 : 1]);
        return Descriptor(ends[reads ? 1 : 0]);
    }

    json ask(const std::string& method, const json& parameters = json::object()) {
        json question = {{"id", ++n_asked_}, {"method", method}, {"params", parameters}};
        if (!session_.empty()) {
            question["sessionId"] = session_;
        }
        const std::string text = question.dump() + '\0';
        if (!write_all(to_.get(), std::as_bytes(std::span(text)))) {
            fail("takes nothing");
        }
        for (;;) {
            json answer = hear();
            if (answer.value("id", 0) == n_asked_) {
                return answer.contains("result") ? answer["result"] : throw std::runtime_error(method + ": " + answer.dump());
            }
        }
    }

    /// The next message; what is no answer is taken note of.
    json hear() {
        size_t end = heard_.find('\0');
        for (; end == std::string::npos; end = heard_.find('\0')) {
            pollfd source{from_.get(), POLLIN, 0};
            std::array<char, 65536> part{};
            const bool is_there = poll(&source, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) > 0;
            const ssize_t n = is_there ? read(from_.get(), part.data(), part.size()) : 0;
            if (n <= 0) {
                fail("says nothing");
            }
            heard_.append(part.data(), static_cast<size_t>(n));
        }
        json message = json::parse(heard_.substr(0, end));
        heard_.erase(0, end + 1);
        const std::string method = message.value("method", "");
        time_is_up_ = time_is_up_ || method == "Emulation.virtualTimeBudgetExpired";
        if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" || method == "Log.entryAdded") {
            complaints_ += message["params"].dump() + "\n";
        }
        return message;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("the browser " + what + ": " + read_bytes(folder_ / "said"));
    }

    Folder folder_;
    pid_t pid_ = -1;
    Descriptor to_, from_;
    int n_asked_ = 0;
    std::string session_, heard_, complaints_;
    bool time_is_up_ = false;
};

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

BrowserPage open_page(const std::string& file, const std::string& at, const Opening& how) {
    static std::map<std::vector<std::string>, std::unique_ptr<Browser>> browsers;
    std::unique_ptr<Browser>& browser = browsers[how.options];
    if (browser == nullptr) {
        browser = std::make_unique<Browser>(how.options);
    }
    return browser->open("file://" + file + "#" + at, how.own_time);
}

} // namespace schedscope::test
