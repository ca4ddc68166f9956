#include "traces/replay/decisions.h"

#include "runtime/numbers.h"
#include "traces/diff/align.h"
#include "traces/format/fields.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <array>
#include <map>

namespace schedscope {

namespace {

constexpr FactSet decision_kinds =
    fact_set<record::Assign, record::SplitBegin, record::SplitEnd, record::SplitInput, record::CopyMade, record::Rewired,
             record::GraphInput, record::Reallocation, record::BufferSize, record::Placement, record::PlanEnd>();

/// What makes two decisions answers to one question: kind, and up to three numbers.
using QuestionKey = std::array<int64_t, 5>; ///< the last one counts repetitions

QuestionKey key_of(const Fact& fact) {
    const int64_t kind = fact.index();
    return std::visit(
        [kind]<typename T>(const T& f) -> QuestionKey {
            if constexpr (std::is_same_v<T, record::Assign>) {
                return {kind, static_cast<int64_t>(f.pass.value_or(Pass::none)), f.tensor, 0, 0};
            } else if constexpr (std::is_same_v<T, record::SplitBegin> || std::is_same_v<T, record::SplitEnd>) {
                return {kind, f.index, 0, 0, 0};
            } else if constexpr (std::is_same_v<T, record::SplitInput>) {
                return {kind, f.split, f.tensor, 0, 0};
            } else if constexpr (std::is_same_v<T, record::CopyMade>) {
                return {kind, f.of, f.stage.value_or(0), f.backend, 0};
            } else if constexpr (std::is_same_v<T, record::Rewired>) {
                return {kind, f.node, f.source, 0, 0};
            } else if constexpr (std::is_same_v<T, record::GraphInput> || std::is_same_v<T, record::Placement>) {
                return {kind, f.tensor, 0, 0, 0};
            } else if constexpr (std::is_same_v<T, record::BufferSize>) {
                return {kind, f.buffer_type, f.chunk, 0, 0};
            } else {
                return {kind, 0, 0, 0, 0};
            }
        },
        fact);
}

constexpr int16_t elsewhere = -2; ///< equal to no number

/// What the numbers of one plan are in another: backends and buffer types by name, tensors as they match, copies by what they are
/// copies of.
class Translation {
public:
    Translation(const PlanText& from, const PlanText& to)
        : tensors_(align_by_name(from.graph, to.graph)), n_from_(n_of(from.graph.tensors)) {
        for (const BackendInfo& b : from.session.backends) {
            backends_.push_back(find(to.session.backends, b.name));
        }
        for (const BufferTypeInfo& t : from.session.buffer_types) {
            types_.push_back(find(to.session.buffer_types, t.name));
        }
        std::map<CopyKey, TensorId> there;
        for (const Record& r : to.decisions) {
            if (const auto* c = std::get_if<record::CopyMade>(&r.fact)) {
                there.emplace(CopyKey{c->of, c->backend, c->stage.value_or(0)}, c->copy);
            }
        }
        for (const Record& r : from.decisions) {
            if (const auto* c = std::get_if<record::CopyMade>(&r.fact); c != nullptr && c->copy >= n_from_) {
                const auto same = there.find(CopyKey{tensor(c->of), translated(backends_, c->backend), c->stage.value_or(0)});
                copies_.emplace(c->copy, same != there.end() ? same->second : unknown + c->copy);
            }
        }
    }

    Fact operator()(Fact fact) const {
        std::visit(
            [this]<typename T>(T& f) {
                for_each_field<T>([&](const auto& field) {
                    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
                    const Value* value = known(f.*field.member);
                    if (value == nullptr) {
                        return;
                    }
                    if constexpr (std::is_same_v<Value, int16_t>) {
                        if (field.meaning == Meaning::backend) {
                            f.*field.member = translated(backends_, *value);
                        } else if (field.meaning == Meaning::buffer_type) {
                            f.*field.member = translated(types_, *value);
                        }
                    } else if constexpr (std::is_same_v<Value, TensorId>) {
                        if (field.meaning == Meaning::tensor) {
                            f.*field.member = tensor(*value);
                        }
                    }
                });
            },
            fact);
        return fact;
    }

private:
    using CopyKey = std::tuple<TensorId, BackendId, int16_t>; ///< of, backend, stage
    static constexpr TensorId unknown = 1 << 29;              ///< from here on: tensors that the other plan does not have

    TensorId tensor(TensorId id) const {
        if (id == no_tensor) {
            return id;
        }
        if (id < n_from_) {
            const TensorId match = tensors_[id];
            return match != no_tensor ? match : unknown + id;
        }
        const auto copy = copies_.find(id);
        return copy != copies_.end() ? copy->second : unknown + id;
    }
    template <typename List> static int16_t find(const List& list, const std::string& name) {
        const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
        return found == list.end() ? elsewhere : static_cast<int16_t>(found - list.begin());
    }
    static int16_t translated(const std::vector<int16_t>& map, int16_t id) { return is_index(id, map) ? map[id] : id; }
    std::vector<int16_t> backends_, types_;
    std::vector<TensorId> tensors_;
    TensorId n_from_;
    std::map<TensorId, TensorId> copies_;
};

/// What the recording does not know of a decision is no part of it.
bool equal(const Fact& recorded, const Fact& now, const PlanText& recorded_text, const PlanText& now_text) {
    return recorded.index() == now.index() && std::visit(
                                                  [&]<typename T>(const T& x) {
                                                      const T& y = std::get<T>(now);
                                                      bool same = true;
                                                      for_each_field<T>([&](const auto& f) {
                                                          using Value = typename std::remove_cvref_t<decltype(f)>::Value;
                                                          const Value *of_x = known(x.*f.member), *of_y = known(y.*f.member);
                                                          if (of_x == nullptr) {
                                                              return;
                                                          }
                                                          if constexpr (std::is_same_v<Value, StringId>) {
                                                              if (f.meaning == Meaning::text) {
                                                                  same = same && of_y != nullptr &&
                                                                         recorded_text.text(*of_x) == now_text.text(*of_y);
                                                                  return;
                                                              }
                                                          }
                                                          same = same && of_y != nullptr && *of_x == *of_y;
                                                      });
                                                      return same;
                                                  },
                                                  recorded);
}

struct DecisionSentence {
    const PlanText& t;

    std::string operator()(const record::Assign& f) const {
        std::string s = f.after == no_backend ? "unassigned" : t.backend(or_none(f.after));
        s += " by " + cause_text(f.cause, f.source);
        return or_none(f.by) == no_tensor ? s : s + " (" + t.tensor(*f.by) + ")";
    }
    std::string operator()(const record::SplitBegin& f) const {
        std::string s = "begins on " + t.backend(or_none(f.backend)) + " at node " + std::to_string(f.first_node.value_or(-1)) +
                        " (" + t.tensor(or_none(f.node)) + "), " + std::string(reason_text(f.why));
        return or_none(f.by) == no_tensor ? s : s + " " + t.tensor(*f.by);
    }
    std::string operator()(const record::SplitEnd& f) const {
        return "ends before node " + std::to_string(f.end_node.value_or(-1)) + ", " + words::counted(f.n_inputs, "input");
    }
    std::string operator()(const record::SplitInput& f) const {
        return "input of split " + std::to_string(f.split) + " from " + t.backend(or_none(f.from)) + ", first for " +
               t.tensor(or_none(f.node));
    }
    std::string operator()(const record::CopyMade& f) const {
        return "copy " + std::to_string(f.copy) + " on " + t.backend(f.backend);
    }
    std::string operator()(const record::Rewired& f) const {
        return "source " + std::to_string(f.source) + " is " + t.tensor(f.copy);
    }
    std::string operator()(const record::GraphInput&) const { return "kept once per stage"; }
    std::string operator()(const record::Reallocation& f) const { return std::string(t.text(f.reason)); }
    std::string operator()(const record::BufferSize& f) const {
        return t.buffer_type(f.buffer_type) + " chunk " + std::to_string(f.chunk) + ": " + std::to_string(f.size) + " bytes";
    }
    std::string operator()(const record::Placement& f) const {
        return std::to_string(f.size) + " bytes at " + std::to_string(f.offset) + " of " + t.buffer_type(f.buffer_type) +
               (f.chunk > 0 ? " chunk " + std::to_string(f.chunk) : "") +
               (f.in_place_of == no_tensor ? "" : ", in place of " + t.tensor(f.in_place_of));
    }
    std::string operator()(const record::PlanEnd& f) const {
        return f.error != 0 ? std::string(t.text(f.error))
                            : words::counted(f.n_splits, "split") + ", " + words::counted(f.n_copies, "copy");
    }
    template <typename T> std::string operator()(const T&) const { return {}; }
};

std::string_view what_of(const Fact& fact) {
    return std::visit(
        []<typename T>(const T&) -> std::string_view {
            if constexpr (std::is_same_v<T, record::Assign>) {
                return "assignment";
            } else if constexpr (std::is_same_v<T, record::SplitBegin> || std::is_same_v<T, record::SplitEnd>) {
                return "split";
            } else if constexpr (std::is_same_v<T, record::SplitInput>) {
                return "input";
            } else if constexpr (std::is_same_v<T, record::CopyMade>) {
                return "copy";
            } else if constexpr (std::is_same_v<T, record::Rewired>) {
                return "rewire";
            } else if constexpr (std::is_same_v<T, record::GraphInput>) {
                return "graph_input";
            } else if constexpr (std::is_same_v<T, record::Reallocation>) {
                return "reallocation";
            } else if constexpr (std::is_same_v<T, record::BufferSize>) {
                return "buffer";
            } else if constexpr (std::is_same_v<T, record::Placement>) {
                return "placement";
            } else {
                return "plan";
            }
        },
        fact);
}

/// " (first_use 3, last_use 9)": all that are no text and no number of the session's, which another order of devices changes.
std::string numbers_of(const Fact& fact) {
    return std::visit(
        []<typename T>(const T& f) {
            std::string s;
            for_each_field<T>([&](const auto& field) {
                if (field.meaning != Meaning::text && field.meaning != Meaning::backend &&
                    field.meaning != Meaning::buffer_type) {
                    const auto* value = known(f.*field.member);
                    s += (s.empty() ? " (" : ", ") + std::string(field.name) + ' ' +
                         (value != nullptr ? std::to_string(static_cast<int64_t>(*value)) : unknown_text);
                }
            });
            return s + (s.empty() ? "" : ")");
        },
        fact);
}

ReplayDifference difference(EvaluationId evaluation, const Fact* recorded, const PlanText& recorded_text, const Fact* now,
                            const PlanText& now_text) {
    const Fact& known = recorded != nullptr ? *recorded : *now;
    const PlanText& text = recorded != nullptr ? recorded_text : now_text;
    ReplayDifference d;
    d.evaluation = evaluation;
    d.what = what_of(known);
    if (const auto* copy = std::get_if<record::CopyMade>(&known)) {
        d.tensor = copy->of;
    } else if (!std::holds_alternative<record::SplitBegin>(known) && !std::holds_alternative<record::Reallocation>(known)) {
        d.tensor = subject(known);
    }
    if (d.tensor != no_tensor) {
        d.name = text.tensor(d.tensor);
    } else if (const auto* split = std::get_if<record::SplitBegin>(&known)) {
        d.name = "split " + std::to_string(split->index);
    } else if (const auto* end = std::get_if<record::SplitEnd>(&known)) {
        d.name = "split " + std::to_string(end->index);
    } else {
        d.name = "plan";
    }
    d.recorded = recorded != nullptr ? std::visit(DecisionSentence{recorded_text}, *recorded) : "";
    d.now = now != nullptr ? std::visit(DecisionSentence{now_text}, *now) : "";
    if (d.recorded == d.now) { // the sentences leave out some numbers
        d.recorded += numbers_of(*recorded);
        d.now += numbers_of(*now);
    }
    return d;
}

using Decisions = std::map<QuestionKey, size_t>; ///< index into PlanText::decisions

Decisions by_key(const std::vector<Record>& records, const std::function<Fact(const Fact&)>& seen_as) {
    Decisions decisions;
    for (size_t i = 0; i < records.size(); ++i) {
        QuestionKey key = key_of(seen_as(records[i].fact));
        while (!decisions.emplace(key, i).second) {
            ++key.back();
        }
    }
    return decisions;
}

} // namespace

bool is_decision(const Fact& fact) noexcept { return (fact_bit(fact) & decision_kinds) != 0; }

std::string PlanText::tensor(TensorId id) const {
    if (id == no_tensor) {
        return "-";
    }
    if (is_index(id, graph.tensors)) {
        return std::string(graph.tensors[id].name);
    }
    for (const Record& r : decisions) {
        if (const auto* copy = std::get_if<record::CopyMade>(&r.fact); copy != nullptr && copy->copy == id) {
            return copy_name(backend(copy->backend), tensor(copy->of), copy->stage.value_or(0));
        }
    }
    return "copy " + std::to_string(id);
}

std::string PlanText::backend(BackendId id) const { return is_index(id, session.backends) ? session.backends[id].name : "-"; }

std::string PlanText::buffer_type(BufferTypeId id) const {
    return is_index(id, session.buffer_types) ? session.buffer_types[id].name : "-";
}

std::map<std::string, int64_t> compare_decisions(EvaluationId evaluation, const PlanText& recorded, const PlanText& now,
                                                 size_t max_differences, ReplayResult& result) {
    const Translation translate(now, recorded);
    const Decisions before = by_key(recorded.decisions, [](const Fact& fact) { return fact; });
    const Decisions after = by_key(now.decisions, translate);

    std::vector<std::pair<Step, ReplayDifference>> found; // shown in the order in which they were decided
    std::map<std::string, int64_t> n_differing;
    const auto differ = [&](Step order, const Fact* a, const Fact* b) {
        ++n_differing[std::string(what_of(a != nullptr ? *a : *b))];
        ++result.n_differences;
        if (result.differences.size() + found.size() < max_differences) {
            found.emplace_back(order, difference(evaluation, a, recorded, b, now));
        }
    };
    for (const auto& [key, i] : before) {
        ++result.compared;
        const Record& a = recorded.decisions[i];
        const auto other = after.find(key);
        if (other == after.end()) {
            differ(i, &a.fact, nullptr);
        } else if (const Fact& b = now.decisions[other->second].fact; equal(a.fact, translate(b), recorded, now)) {
            ++result.identical;
        } else {
            differ(i, &a.fact, &b);
        }
    }
    for (const auto& [key, i] : after) {
        if (!before.contains(key)) {
            ++result.compared;
            differ(i, nullptr, &now.decisions[i].fact);
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [order, d] : found) {
        result.differences.push_back(std::move(d));
    }
    return n_differing;
}

} // namespace schedscope
