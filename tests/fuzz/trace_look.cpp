#include "tests/fuzz/trace_look.h"

#include "runtime/error.h"
#include "tests/support/faces.h"
#include "traces/reader.h"
#include "viz/picture.h"
#include "viz/report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace schedscope::fuzz {

namespace {

using Source = std::shared_ptr<const RecordSource>;

void picture(const Source& source, PictureView view) {
    testing::try_it([&] {
        History history(source);
        PictureOptions options;
        options.view = view;
        make_dot(history, options);
    });
}

void report(const Source& source) {
    testing::try_it([&] {
        History history(source);
        ReportOptions options;
        options.max_pictures = 0; // those are laid out by another program
        make_report(history, options);
    });
}

/// By the byte that chooses: those that take ten times as long come up once in 256.
std::vector<testing::Face> all_faces() {
    constexpr std::string_view short_ones[] = {"records", "units", "plan tables", "run tables", "splits", "layers", "memory map"};
    const auto traces = testing::trace_faces();
    std::vector<testing::Face> long_ones(traces.begin(), traces.end()), by_byte;
    long_ones.push_back({"splits", [](const Source& s) { picture(s, PictureView::splits); }});
    long_ones.push_back({"layers", [](const Source& s) { picture(s, PictureView::layers); }});
    long_ones.push_back({"nodes", [](const Source& s) { picture(s, PictureView::nodes); }});
    long_ones.push_back({"memory map", [](const Source& s) { picture(s, PictureView::memory); }});
    long_ones.push_back({"report", report});
    for (const std::string_view name : short_ones) {
        const auto found =
            std::find_if(long_ones.begin(), long_ones.end(), [&](const testing::Face& f) { return f.name == name; });
        by_byte.push_back(*found);
        long_ones.erase(found);
    }
    const size_t n_short = by_byte.size();
    while (by_byte.size() < 256 - long_ones.size()) {
        by_byte.push_back(by_byte[by_byte.size() % n_short]);
    }
    by_byte.insert(by_byte.end(), long_ones.begin(), long_ones.end());
    return by_byte;
}

void fail(const char* what, const char* sentence) {
    std::fprintf(stderr, "%s: %s\n", what, sentence);
    std::abort();
}

} // namespace

void look_at_trace(const std::string& path, uint8_t face) {
    static const std::vector<testing::Face> faces = all_faces();
    try {
        const auto reader = std::make_shared<TraceReader>(path);
        faces[face].look(reader);
    } catch (const Error& error) {
        const std::string_view sentence = error.what();
        if (error.kind() != ErrorKind::input) {
            fail("not an error of the input", error.what());
        }
        // Characters: one that is shown instead of a byte takes three.
        const auto n = std::count_if(sentence.begin(), sentence.end(), [](char c) { return (c & 0xC0) != 0x80; });
        if (n > static_cast<ptrdiff_t>(path.size()) + 300 || sentence.find('\n') != std::string_view::npos) {
            fail("not one short line", error.what());
        }
    }
}

} // namespace schedscope::fuzz
