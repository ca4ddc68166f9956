#include "viz/query/known_words.h"
#include "viz/report/report_parts.h"

namespace schedscope {

using nlohmann::json;
using query::Field;

json report_language(const History& history) {
    const query::KnownWords words(history);
    json fields = json::array(), units = json::array(), signs = json::array(), sentences = json::object();
    for (size_t i = 0; i < query::n_fields; ++i) {
        const auto field = static_cast<Field>(i);
        const query::FieldEntry& entry = query::entry_of(field);
        json row{{"name", entry.name}, {"text", is_text(field)}, {"short_for", entry.short_for}};
        if (entry.also != Field::count) {
            row["also"] = field_name(entry.also);
        }
        if (is_text(field) && !words.of(field).empty()) {
            row["noun"] = entry.noun;
            row["words"] = words.of(field);
            row["also_called"] = json::object();
            for (const std::string& word : words.of(field)) {
                if (const std::string_view other = query::also_called(field, word); !other.empty()) {
                    row["also_called"][word] = other;
                }
            }
        }
        fields.push_back(std::move(row));
    }
    for (const query::NumberUnit& unit : query::units) {
        units.push_back({unit.name, field_name(unit.of), unit.factor});
    }
    for (const query::Sign& sign : query::signs) {
        signs.push_back({sign.text, sign.of_texts, sign.of_numbers});
    }
    for (const query::Sentence& sentence : query::sentences) {
        sentences[std::string(sentence.mistake)] = sentence.text;
    }
    return {{"fields", std::move(fields)},
            {"units", std::move(units)},
            {"signs", std::move(signs)},
            {"sentences", std::move(sentences)},
            {"seen_at_once", query::KnownWords::seen_at_once},
            {"most_listed", query::KnownWords::most_listed},
            {"nearest_listed", query::KnownWords::nearest_listed}};
}

} // namespace schedscope
