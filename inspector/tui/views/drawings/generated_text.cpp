#include "inspector/tui/views/drawings/generated_text.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::tui {

void GeneratedText::update(InspectorSession& session) {
    constexpr FactSet kinds = fact_bit<record::NextToken>();
    const RecordSource& source = session.history().source();
    source.for_each_of(kinds, read_ + 1, session.step() + 1, [&](const Record& record) {
        const auto& f = std::get<record::NextToken>(record.fact);
        std::vector<Piece>& pieces = sequences_[f.sequence];
        // Evaluations between may be left out of the trace; a context that was shifted goes on at an earlier position.
        const bool gap = !pieces.empty() && f.position > pieces.back().position + 1;
        pieces.push_back(
            {record.step, record.evaluation, f.position,
             std::string(gap ? " … " : "") + (f.text.value_or(0) != 0 ? std::string(source.text(*f.text))
                                                                      : " " + (f.token ? std::to_string(*f.token) : "?"))});
    });
    read_ = std::max(read_, session.step());
}

int GeneratedText::rows(InspectorSession& session, int body_rows, int) const {
    int n = 0;
    for (const auto& [sequence, pieces] : sequences_) {
        n += pieces.front().step <= session.step() ? 1 : 0;
    }
    return std::min(n, std::max(body_rows / 4, 2));
}

std::vector<Line> GeneratedText::draw(InspectorSession& session, int, int height, int width) {
    std::vector<Line> lines;
    for (const auto& [sequence, pieces] : sequences_) {
        if (pieces.front().step > session.step() || n_of(lines) == height) {
            continue;
        }
        const std::string label = " seq " + std::to_string(sequence) + "  ";
        // Its end, as much of it as there is room for.
        size_t end = pieces.size();
        while (end > 0 && pieces[end - 1].step > session.step()) {
            --end;
        }
        size_t first = end;
        for (int room = width - text_width(label) - 2; first > 0; --first) {
            room -= text_width(pieces[first - 1].text);
            if (room < 0) {
                break;
            }
        }
        Line l;
        l.parts.push_back({label, dim});
        if (first > 0) {
            l.parts.push_back({"…", dim});
        }
        // Pieces are joined: a character may be spread over several tokens.
        std::string before, now;
        for (; first < end; ++first) {
            (pieces[first].evaluation == session.state().evaluation ? now : before) += pieces[first].text;
        }
        l.parts.push_back({std::move(before), {}});
        l.parts.push_back({std::move(now), bold.with_reverse()});
        lines.push_back(std::move(l));
    }
    return lines;
}

} // namespace schedscope::tui
