#include "viz/report/report_parts.h"

namespace schedscope {

int32_t ReportTexts::number(std::string_view text) {
    const auto [entry, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
    if (is_new) {
        texts_.push_back(&entry->first); // keys of an unordered_map stay where they are
    }
    return entry->second;
}

nlohmann::json ReportTexts::list() const {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string* text : texts_) {
        all.push_back(*text);
    }
    return all;
}

} // namespace schedscope
