#include "tests/fuzz/trace_look.h"

#include "runtime/error.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/tables/every_table.h"
#include "tests/support/traces/faces.h"
#include "traces/store/reading/reader.h"
#include "viz/pictures/picture.h"
#include "viz/report/report.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace schedscope::fuzz {

namespace {

using Source = std::shared_ptr<const RecordSource>;

void picture(const Source& source, PictureView view) {
    test::try_it([&] {
        History history(source);
        PictureOptions options;
        options.view = view;
        make_dot(history, options);
    });
}

void report(const Source& source) {
    test::try_it([&] {
        History history(source);
        ReportOptions options;
        options.max_pictures = 0; // those are laid out by another program
        make_report(history, options);
    });
}

/// Each cell of each table of some evaluations.
void every_cell(const Source& source) {
    History history(source);
    const EvaluationId n = history.n_evaluations();
    for (EvaluationId e = 0; e < n; e += std::max(n / 8, 1)) {
        test::try_it([&] {
            const PlanState state = history.plan(e);
            test::for_each_table(history, state, [](const tables::Table& table) {
                for (int row = 0; row < table.n_rows(); row += std::max(table.n_rows() / 64, 1)) {
                    for (size_t i = 0; i < table.columns().size(); ++i) {
                        text_of(table.cell(row, i), table.columns()[i].unit);
                    }
                }
            });
        });
    }
}

struct Faces {
    std::vector<test::Face> short_ones, long_ones; ///< the long ones take some ten times as long
};

Faces all_faces() {
    constexpr std::string_view short_names[] = {"records", "units", "plan tables", "memory tables", "run tables", "cells"};
    Faces faces;
    const auto traces = test::trace_faces();
    std::vector<test::Face> all(traces.begin(), traces.end());
    all.push_back({"splits", [](const Source& s) { picture(s, PictureView::splits); }});
    all.push_back({"layers", [](const Source& s) { picture(s, PictureView::layers); }});
    all.push_back({"nodes", [](const Source& s) { picture(s, PictureView::nodes); }});
    all.push_back({"memory map", [](const Source& s) { picture(s, PictureView::memory); }});
    all.push_back({"cells", every_cell});
    all.push_back({"report", report});
    for (const test::Face& face : all) {
        const bool is_short = std::find(std::begin(short_names), std::end(short_names), face.name) != std::end(short_names);
        (is_short ? faces.short_ones : faces.long_ones).push_back(face);
    }
    return faces;
}

/// One of the short ones by the input's last byte, which a target takes first. For one input in 128 it is a long one, by all of
/// its bytes: if one byte chose that as well, the fuzzer would keep what it finds there and read a report most of the time.
const test::Face& face_for(std::string_view input) {
    static const Faces faces = all_faces();
    const size_t chance = chance_of(input);
    if (chance % 128 == 0) {
        return faces.long_ones[chance / 128 % faces.long_ones.size()];
    }
    return faces.short_ones[input.empty() ? 0 : static_cast<uint8_t>(input.back()) % faces.short_ones.size()];
}

} // namespace

void look_at_trace(const std::string& path, std::string_view input) {
    try {
        const auto reader = std::make_shared<TraceReader>(path);
        face_for(input).look(reader);
    } catch (const Error& error) {
        const std::string_view sentence = error.what();
        expect_of_input(error);
        // Characters: one that is shown instead of a byte takes three.
        const auto n = std::count_if(sentence.begin(), sentence.end(), [](char c) { return (c & 0xC0) != 0x80; });
        if (n > static_cast<ptrdiff_t>(path.size()) + 300 || sentence.find('\n') != std::string_view::npos) {
            fail("not one short line", error.what());
        }
    }
}

} // namespace schedscope::fuzz
