#include "traces/store/kept_answers.h"

#include <string_view>
#include <unordered_map>

namespace schedscope {

KeptAnswers::KeptAnswers(const CapabilityTable& from) : table(from) {
    std::unordered_map<std::string_view, std::string_view> kept;
    for (Answer& answer : table.op_answers) {
        if (answer.detail.empty()) {
            continue;
        }
        auto found = kept.find(answer.detail);
        if (found == kept.end()) {
            const std::string_view own = details.emplace_back(answer.detail);
            found = kept.emplace(own, own).first;
        }
        answer.detail = found->second;
    }
}

} // namespace schedscope
