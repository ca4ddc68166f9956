#include "traces/export/export_jsonl.h"

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"
#include "traces/format/fields.h"
#include "traces/history/history.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace schedscope {

namespace {

using OrderedJson = nlohmann::ordered_json;

class JsonlExporter {
public:
    explicit JsonlExporter(const RecordSource& source)
        : history_(std::shared_ptr<const RecordSource>(std::shared_ptr<const RecordSource>(), &source)) {}

    OrderedJson line(const Record& r) {
        OrderedJson object{{"step", r.step},
                           {"time_ns", r.time_ns ? OrderedJson(*r.time_ns) : OrderedJson(nullptr)},
                           {"evaluation", r.evaluation},
                           {"kind", fact_name(r.fact)}};
        std::visit(
            [&]<typename T>(const T& fact) {
                for_each_field<T>([&](const auto& f) {
                    // "kind" of an evaluation's graph would hide the record's own.
                    const std::string name = std::string_view(f.name) == "kind" ? "graph_kind" : f.name;
                    const auto* known_value = known(fact.*f.member);
                    object[name] = known_value != nullptr ? value(*known_value, f.meaning) : OrderedJson(nullptr);
                    if (f.meaning == Meaning::tensor) {
                        const auto id = known_value != nullptr ? static_cast<TensorId>(*known_value) : no_tensor;
                        describe_tensor(object, name, r.step, id);
                    }
                });
                if constexpr (std::is_same_v<T, record::Assign>) {
                    object["cause"] = fact.cause ? word(cause_name(*fact.cause, fact.source)) : OrderedJson(nullptr);
                }
            },
            r.fact);
        return object;
    }

private:
    static OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }
    static OrderedJson word(std::string_view text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

    template <typename V> OrderedJson value(V v, Meaning meaning) {
        if constexpr (std::is_same_v<V, Pass>) {
            return word(pass_name(v));
        } else if constexpr (std::is_same_v<V, Cause>) {
            return word(cause_name(v, -1));
        } else if constexpr (std::is_same_v<V, SplitReason>) {
            return word(split_reason_name(v));
        } else if constexpr (std::is_same_v<V, GraphKind>) {
            return word(graph_kind_name(v));
        } else if constexpr (std::is_same_v<V, Question>) {
            return word(question_name(v));
        } else if constexpr (std::is_same_v<V, Refusal>) {
            return word(refusal_name(v));
        } else if constexpr (std::is_same_v<V, bool>) {
            return v;
        } else if constexpr (std::is_floating_point_v<V>) {
            return number(v);
        } else {
            switch (meaning) {
            case Meaning::backend: return v < 0 ? OrderedJson(nullptr) : OrderedJson(history_.backend_name(narrow<BackendId>(v)));
            case Meaning::buffer_type:
                return v < 0 ? OrderedJson(nullptr) : OrderedJson(history_.buffer_type_name(narrow<BufferTypeId>(v)));
            case Meaning::kernels: return kernels(int_of(v));
            case Meaning::text: return history_.source().text(int_of(v));
            case Meaning::tensor:
            case Meaning::split: return v < 0 ? OrderedJson(nullptr) : OrderedJson(v);
            default: return v;
            }
        }
    }

    OrderedJson kernels(KernelListId id) {
        OrderedJson list = OrderedJson::array();
        for (const KernelInfo& k : history_.source().kernels(id)) {
            list.push_back({{"kernel", history_.source().text(k.kernel)},
                            {"first", k.first},
                            {"last", k.last},
                            {"count", k.count},
                            {"bytes", k.bytes},
                            {"flops", k.flops}});
        }
        return list;
    }

    /// What the tensor of a field is, beside its id, so that one line answers by itself. A copy computes nothing, and has type
    /// and shape of what it holds.
    void describe_tensor(OrderedJson& object, const std::string& field, Step step, TensorId id) {
        const TensorInfo* const own = id == no_tensor ? nullptr : history_.tensor_at(step, id);
        const TensorInfo* const info = own != nullptr || id == no_tensor ? own : history_.held_at(step, id);
        object[field + "_name"] = id == no_tensor ? OrderedJson(nullptr) : OrderedJson(history_.tensor_name_at(step, id));
        object[field + "_op"] = own != nullptr && own->op ? OrderedJson(operator_text(*own)) : OrderedJson(nullptr);
        object[field + "_type"] = info != nullptr && info->type ? OrderedJson(type_text(*info)) : OrderedJson(nullptr);
        object[field + "_ne"] = info != nullptr && info->ne ? OrderedJson(*info->ne) : OrderedJson(nullptr);
    }

    History history_;
};

} // namespace

void export_jsonl(const RecordSource& source, std::ostream& out) {
    JsonlExporter exporter(source);
    source.for_each(0, source.n_steps(), [&](const Record& r) {
        // Pieces of tokens need not be whole characters.
        out << escape_controls(exporter.line(r).dump(-1, ' ', false, OrderedJson::error_handler_t::replace)) << '\n';
        return out.good();
    });
}

} // namespace schedscope
