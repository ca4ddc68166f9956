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
        OrderedJson object{{"step", r.step}, {"time_ns", r.time_ns}, {"evaluation", r.evaluation}, {"kind", fact_name(r.fact)}};
        std::visit(
            [&]<typename T>(const T& fact) {
                for_each_field<T>([&](const auto& f) {
                    // "kind" of an evaluation's graph would hide the record's own.
                    const std::string name = std::string_view(f.name) == "kind" ? "graph_kind" : f.name;
                    object[name] = value(fact.*f.member, f.meaning);
                    if (f.meaning == Meaning::tensor) {
                        object[name + "_name"] = tensor_name(r.step, static_cast<TensorId>(fact.*f.member));
                    }
                });
                if constexpr (std::is_same_v<T, record::EvaluationBegin>) {
                    imported_ = fact.kind == GraphKind::imported;
                    const KnownCounts counts = known_counts(fact);
                    for (const auto& [name, n] : {std::pair{"n_tokens", counts.tokens},
                                                  {"n_sequences", counts.sequences},
                                                  {"n_outputs", counts.outputs}}) {
                        object[name] = n ? OrderedJson(*n) : OrderedJson(nullptr);
                    }
                }
                if constexpr (std::is_same_v<T, record::SplitBegin>) {
                    object["why"] = reason_known(fact) ? object["why"] : OrderedJson(nullptr);
                }
                if constexpr (std::is_same_v<T, record::PlanBegin>) {
                    for (const char* untold : {"n_leafs", "n_stages", "current_stage", "op_offload"}) {
                        object[untold] = imported_ ? OrderedJson(nullptr) : object[untold];
                    }
                }
                if (imported_) {
                    object["time_ns"] = nullptr;
                }
                if constexpr (std::is_same_v<T, record::Assign>) {
                    const std::string cause = cause_name(fact.cause, fact.source);
                    object["cause"] = cause.empty() ? OrderedJson(nullptr) : OrderedJson(cause);
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
            case Meaning::text: return history_.source().text(int_of(v));
            case Meaning::tensor:
            case Meaning::split: return v < 0 ? OrderedJson(nullptr) : OrderedJson(v);
            case Meaning::index: return imported_ && v < 0 ? OrderedJson(nullptr) : OrderedJson(v);
            default: return v;
            }
        }
    }

    OrderedJson tensor_name(Step step, TensorId id) {
        return id == no_tensor ? OrderedJson(nullptr) : OrderedJson(history_.tensor_name_at(step, id));
    }

    History history_;
    bool imported_ = false; ///< the evaluation was made from a log
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
