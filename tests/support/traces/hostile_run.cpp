#include "tests/support/traces/hostile_run.h"

#include "runtime/planner/recorder.h"
#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/sample_run.h"

#include <map>

namespace schedscope::test {

namespace {

constexpr std::string_view pieces[] = {
    "</script>",
    "<script>window.pwned=1</script>",
    "<script src=//evil.invalid/x.js></script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<base href=//evil.invalid/>",
    "<meta http-equiv=refresh content='0;url=//evil.invalid/'>",
    "<link rel=stylesheet href=//evil.invalid/x.css>",
    "<style>*{background:url(//evil.invalid/x)}</style>",
    "<body onload=window.pwned=1>",
    "<details open ontoggle=window.pwned=1>",
    "<title>",
    "</title>",
    "</style>",
    "</body></html>",
    "<!--",
    "-->",
    "<!--<script>",
    "]]>",
    "<![CDATA[",
    "\"",
    "'",
    "`",
    "\\",
    "\" onmouseover=\"window.pwned=1",
    "' autofocus onfocus='window.pwned=1",
    "\"};window.pwned=1;//",
    "';window.pwned=1;//",
    "${window.pwned=1}",
    "{{constructor.constructor('window.pwned=1')()}}",
    "javascript:window.pwned=1",
    "data:text/html,<script>window.pwned=1</script>",
    "url(//evil.invalid/x)",
    "&lt;script&gt;",
    "&#60;img src=x onerror=window.pwned=1&#62;",
    "&",
    "<",
    ">",
    "\\u003cscript\\u003e",
    "%3Cscript%3E",
    "__proto__",
    "constructor",
    "@DATA@",
    "#view=nodes&q=",
    "blk.0.",
    "-0",
    " (reshaped)",
    "cache_k_l0",
    "\n",
    "\r",
    "\t",
    "\x01",
    "\x1b[31m",
    "\xE2\x80\xA8", // a line separator, which ended strings of older scripts
    "\xE2\x80\xAE", // from right to left
    "\xEF\xBB\xBF", // a byte order mark
    "\xEF\xBF\xBE", // no character
    "\xED\xA0\x80", // half of a pair
    "\xFF\xFE",     // no UTF-8
    "\xC0\xBC",     // '<', written too long
    "\xF0\x9F\x92\xA3",
    "+ADw-script+AD4-",
    "%s%n",
};

/// Exchanges the texts in what it passes on: one that comes again is exchanged for the same.
class Renaming final : public Recorder {
public:
    Renaming(Recorder& to, const std::vector<std::string>& texts) : to_(to), texts_(texts) {}

    void session(const SessionInfo& info) override {
        SessionInfo renamed = info;
        for (BackendInfo& b : renamed.backends) {
            b.name = other(b.name);
            b.device = other(b.device + " device");
            b.kind = other(*b.kind + " kind");
            b.description = other(b.description + " description");
        }
        for (BufferTypeInfo& type : renamed.buffer_types) {
            type.name = other(type.name + " memory");
        }
        for (const char* fact : {"model", "architecture", "command"}) {
            renamed.facts.emplace_back(fact, other(fact));
        }
        renamed.facts.emplace_back(other("a fact"), other("its value"));
        if (renamed.settings) {
            renamed.settings->placement.overrides = {{other("a pattern"), other("its device")}};
        }
        to_.session(renamed);
    }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override {
        OwnedGraph renamed = OwnedGraph::copy_of(graph);
        for (TensorInfo& t : renamed.tensors) {
            t.name = renamed.keep(other(t.name));
        }
        to_.graph(id, renamed.view(), answers);
    }
    StringId intern(std::string_view text) override { return to_.intern(text.empty() ? "" : other(text)); }
    void flush() override { to_.flush(); }
    void keep(const Record& record) override { to_.keep(record); }

private:
    const std::string& other(std::string_view text) {
        return *others_.try_emplace(std::string(text), &texts_[others_.size() % texts_.size()]).first->second;
    }

    Recorder& to_;
    const std::vector<std::string>& texts_;
    std::map<std::string, const std::string*, std::less<>> others_;
};

} // namespace

std::vector<std::string> hostile_texts(std::span<const uint8_t> bytes) {
    // From 0x80 on a piece; 0 begins another text; what is left stands for itself.
    std::vector<std::string> texts(1);
    for (const uint8_t byte : bytes) {
        if (byte == 0) {
            texts.emplace_back();
        } else if (byte < 0x80) {
            texts.back() += static_cast<char>(byte);
        } else {
            texts.back() += pieces[byte % std::size(pieces)];
        }
    }
    return texts;
}

void record_hostile_run(Recorder& to, const std::vector<std::string>& texts) {
    using namespace test;
    Renaming renaming(to, texts);
    SampleRun run(renaming, session({"Vulkan0", "CPU"}), 2);
    run.evaluate(blocks(1, 1, 2));
    run.evaluate_again();
    run.evaluate(test::random_sketch({3, 1, 1}, run.session()), GraphKind::decode);
    renaming.add(record::Difference{});
    renaming.add(record::Alternative{0, renaming.intern("fa=off")});
}

} // namespace schedscope::test
