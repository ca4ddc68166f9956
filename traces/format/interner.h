#pragma once

#include "runtime/numbers.h"
#include "runtime/planner/records.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace schedscope {

/// Texts and their numbers, in the order they first came; 0 is the empty text. Every recorder numbers the same way, so that
/// recorders which see the same texts agree. Not thread-safe. Returned views stay valid as long as the interner.
class Interner {
public:
    Interner() { add({}); }

    StringId intern(std::string_view text) {
        const auto found = ids_.find(text);
        return found != ids_.end() ? found->second : add(text);
    }
    bool knows(std::string_view text) const { return ids_.contains(text); }
    StringId size() const noexcept { return n_of(texts_); }
    bool contains(StringId id) const noexcept { return id >= 0 && id < size(); }
    std::string_view text(StringId id) const { return texts_.at(id); }

private:
    StringId add(std::string_view text) {
        const StringId id = size();
        ids_.emplace(texts_.emplace_back(text), id);
        return id;
    }

    std::deque<std::string> texts_; ///< a deque keeps the addresses
    std::unordered_map<std::string_view, StringId> ids_;
};

} // namespace schedscope
