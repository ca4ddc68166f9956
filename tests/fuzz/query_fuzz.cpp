// The query language: what is typed for a search, a filter, a breakpoint or --watch. An input is the text. What can't be
// understood is said in one line; what can, says again what it was, and asks of a thing only what it says it asks.

#include "runtime/error.h"
#include "tests/fuzz/verdict.h"
#include "viz/query/known_words.h"

#include <cstdint>
#include <string>

namespace {

using namespace schedscope;
using namespace schedscope::query;
using fuzz::fail;

/// Something with a value for each field; `which` tells it apart from others.
Facts thing(const Query& query, int which) {
    Facts facts(query);
    constexpr const char* texts[] = {"ffn_norm-3", "MUL_MAT", "f32",        "Vulkan0",
                                     "CPU",        "1.wgt0",  "2a",         "blk.3.ffn_norm.weight",
                                     "assign",     "backend", "mul_mat_f32"};
    for (size_t i = 0; i < n_text_fields; ++i) {
        if (const auto field = static_cast<Field>(i); facts.wants(field) && (which & 1) == 0) {
            facts.set(field, texts[i]);
        }
    }
    for (size_t i = n_text_fields; i < n_fields; ++i) {
        if (const auto field = static_cast<Field>(i); facts.wants(field) && (which & 2) == 0) {
            facts.set(field, static_cast<double>(which) * 1024.0 - 1);
        }
    }
    return facts;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const Query query = Query::parse(text);
        if (query.text() != text) {
            fail("it says that it was another one", text);
        }
        const Query again = Query::parse(query.text());
        for (int which = 0; which < 8; ++which) {
            if (query.matches(thing(query, which)) != again.matches(thing(again, which))) {
                fail("the same text, another answer", text);
            }
        }
        for (const Query::Sought& sought : query.sought()) {
            if (sought.text.size() > text.size()) {
                fail("it seeks more than was typed", text);
            }
        }
        for (const Query::Term& term : query.terms()) { // what a field can be is said of it
            if (!query.asks(term.field) || (is_text(term.field) && term.texts.empty())) {
                fail("it asks for nothing", text);
            }
        }
        Facts nothing(query);
        query.matches(nothing);
        KnownWords().check(query);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage || std::string(error.what()).find('\n') < text.find('\n')) {
            fail("not an error of usage in one line", error.what());
        }
    }
    return 0;
}
