#pragma once

#include "runtime/planner/recorder.h"
#include "traces/format/fields.h"
#include "traces/format/interner.h"
#include "traces/format/schedscope_stream.h"
#include "traces/format/schema.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace schedscope::test {

/// Writes what a runtime records as a stream: a block for each graph, and one for each evaluation. Every field of every kind
/// is in it, by its name.
class StreamRecorder final : public Recorder {
public:
    /// `block_bytes`: the most that a block may take.
    explicit StreamRecorder(sscp_stream& stream, size_t block_bytes = size_t{1} << 25) : stream_(stream), memory_(block_bytes) {
        for_each_kind([&]<typename T>(size_t) {
            std::string words = std::string(fact_name(T{})) + " time_ns:i64";
            for_each_field<T>([&](const auto& f) {
                words += f.meaning == Meaning::kernels ? "" : std::string(" ") + f.name + ":" + type_of(f);
            });
            kinds_.push_back(sscp_kind(&stream_, words.c_str()));
        });
        for (const char* words :
             {"meta key:text value:text",
              "backend id:i32 name:text device:text kind:text description:text memory_bytes:i64 default_buffer_type:i32 "
              "kernel_times:text keeps_order:u8",
              "buffer_type id:i32 name:text is_host:u8 alignment:i64 max_size:i64",
              "backend_buffer_type backend:i16 buffer_type:i16",
              "settings n_layers:i32 n_gpu_layers:i32 cache_on_host:u8 flash_attention_asked:text flash_attention:i8 "
              "op_offload:u8 "
              "offload_min_batch:i64 n_stages:i32 fusion:u8 n_ctx:i32 n_batch:i32 n_ubatch:i32 cache_type_k:text "
              "cache_type_v:text",
              "device_share position:i32 share:f64", "tensor_override pattern:text device:text",
              "laid_out_type type:text rows:i64 longer_than:i64 is_copy:u8", "graph id:i64 n_tensors:i32",
              "tensor id:i32 name:text op:text type:text flags:u8 usage:text buffer_type:i32 user_backend:i32 leaf:i32 node:i32 "
              "view_source:i32 "
              "view_offset:i64 ne:i64*4 nb:i64*4 params:i32*16 role:text layer:i32 src:i32*10",
              "capability backend:i32 answers:u8[]", "answer backend:i32 tensor:i32 yes:i8 reason:text detail:text"}) {
            const std::string all = words;
            fixed_[all.substr(0, all.find(' '))] = sscp_kind(&stream_, words);
        }
    }

    void session(const SessionInfo& info) override {
        begin(SSCP_UNKNOWN_64);
        for (const auto& [key, value] : info.facts) {
            put("meta", text(key), text(value));
        }
        for (size_t t = 0; t < info.buffer_types.size(); ++t) {
            const BufferTypeInfo& i = info.buffer_types[t];
            put("buffer_type", static_cast<int32_t>(t), text(i.name), static_cast<uint8_t>(i.is_host), i.alignment, i.max_size);
        }
        for (size_t b = 0; b < info.backends.size(); ++b) {
            const BackendInfo& i = info.backends[b];
            put("backend", static_cast<int32_t>(b), text(i.name), text(i.device), i.kind ? text(*i.kind) : 0, text(i.description),
                i.memory_bytes, i.default_buffer_type ? std::optional(int32_t{*i.default_buffer_type}) : std::nullopt,
                i.kernel_times ? text(kernel_times_name(*i.kernel_times)) : 0,
                static_cast<uint8_t>(i.keeps_order ? int{*i.keeps_order} : UINT8_MAX));
            for (size_t t = 0; t < i.supports_buffer_type.size(); ++t) {
                if (i.supports_buffer_type[t] != 0) {
                    put("backend_buffer_type", static_cast<int16_t>(b), static_cast<int16_t>(t));
                }
            }
        }
        if (info.settings) {
            settings(*info.settings);
        }
        sscp_commit(&stream_, &block_);
    }

    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override {
        begin(SSCP_UNKNOWN_64);
        const size_t n = graph.tensors.size();
        put("graph", int64_t{id}, static_cast<int32_t>(n));
        std::vector<int32_t> leaf(n, -1), node(n, -1);
        for (size_t i = 0; i < graph.leafs.size(); ++i) {
            leaf[static_cast<size_t>(graph.leafs[i])] = static_cast<int32_t>(i);
        }
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            node[static_cast<size_t>(graph.nodes[i])] = static_cast<int32_t>(i);
        }
        for (size_t t = 0; t < n; ++t) {
            const TensorInfo& i = graph.tensors[t];
            put("tensor", static_cast<int32_t>(t), text(i.name), text(op_name(i)), text(type_name(i)), i.flags,
                text(schema::usage_name(i.usage)), int32_t{i.buffer_type}, int32_t{i.user_backend}, leaf[t], node[t],
                i.view_source, static_cast<int64_t>(i.view_offset), i.ne, i.nb, i.params, text(role_name(i.role)), i.layer,
                i.src);
        }
        for (size_t b = 0; n > 0 && (b + 1) * n <= answers.op_answers.size(); ++b) {
            std::vector<uint8_t> list(n);
            for (size_t t = 0; t < n; ++t) {
                list[t] = static_cast<uint8_t>((answers.op_answers[b * n + t].yes ? 1 : 0) |
                                               (answers.offload_answers[b * n + t] != 0 ? 2 : 0));
            }
            const auto backend = static_cast<int32_t>(b);
            sscp_put_list(&block_, fixed_["capability"], &backend, sizeof backend, list.data(), n);
            for (size_t t = 0; t < n; ++t) {
                if (const Answer& a = answers.op_answers[b * n + t]; !a.yes) {
                    put("answer", backend, static_cast<int32_t>(t), int8_t{0}, text(refusal_name(a.reason)), text(a.detail));
                }
            }
        }
        sscp_commit(&stream_, &block_);
        begun_ = -1;
    }

    StringId intern(std::string_view text) override { return texts_.intern(text); }

    void keep(const Record& record) override {
        if (begun_ != record.evaluation) {
            flush();
            begin(record.evaluation);
            begun_ = record.evaluation;
        }
        std::visit(
            [&]<typename T>(const T& fact) {
                bytes_.clear();
                add(record.time_ns);
                for_each_field<T>([&](const auto& f) {
                    using Value = typename std::remove_cvref_t<decltype(f)>::Value;
                    const Value* const value = known(fact.*f.member);
                    if (f.meaning == Meaning::kernels) {
                        return;
                    }
                    if constexpr (std::is_enum_v<Value>) {
                        add(value != nullptr ? text(word(word_kind<Value>(), static_cast<int64_t>(*value))) : 0);
                    } else if constexpr (std::is_same_v<Value, bool>) {
                        add(value != nullptr ? static_cast<int8_t>(*value) : SSCP_UNKNOWN_8);
                    } else if (f.meaning == Meaning::text) {
                        if constexpr (std::is_same_v<Value, StringId>) {
                            add(value != nullptr ? text(texts_.text(*value)) : 0);
                        }
                    } else {
                        add(fact.*f.member);
                    }
                });
                sscp_put(&block_, kinds_[record.fact.index()], bytes_.data(), bytes_.size());
            },
            record.fact);
    }

    /// A kind that no record of ours has: numbers of eight bytes, behind them a word where `words` end with ":text".
    uint32_t other_kind(const char* words) { return sscp_kind(&stream_, words); }
    void put_other(uint32_t kind, const std::vector<int64_t>& numbers, std::string_view word = {}) {
        bytes_.clear();
        for (const int64_t number : numbers) {
            add(number);
        }
        if (!word.empty()) {
            add(text(word));
        }
        sscp_put(&block_, kind, bytes_.data(), bytes_.size());
    }

    /// What was recorded since is a block.
    void flush() override {
        if (begun_ >= 0) {
            sscp_commit(&stream_, &block_);
            begun_ = -1;
        }
    }

private:
    template <typename F> static std::string type_of(const F& field) {
        using Value = typename F::Value;
        if (std::is_enum_v<Value> || field.meaning == Meaning::text) {
            return "text";
        }
        return std::is_floating_point_v<Value> ? "f64" : "i" + std::to_string(8 * sizeof(Value));
    }
    static std::string word(std::string_view kind, int64_t number) {
        for (const schema::Word& w : schema::words()) {
            if (w.kind == kind && w.number == number) {
                return w.word.empty() ? "none" : w.word;
            }
        }
        return {};
    }
    void settings(const PlanSettings& s) {
        put("settings", s.n_layers, s.placement.n_gpu_layers, static_cast<uint8_t>(s.placement.cache_on_host),
            text(flash_attention_name(s.flash_attention_asked)),
            s.flash_attention ? static_cast<int8_t>(*s.flash_attention) : SSCP_UNKNOWN_8, static_cast<uint8_t>(s.op_offload),
            s.offload_min_batch, s.n_stages, static_cast<uint8_t>(s.fusion), s.context.n_ctx, s.context.n_batch,
            s.context.n_ubatch, type(s.context.cache_type_k), type(s.context.cache_type_v));
        for (size_t i = 0; i < s.placement.tensor_split.size(); ++i) {
            put("device_share", static_cast<int32_t>(i), double{s.placement.tensor_split[i]});
        }
        for (const TensorOverride& o : s.placement.overrides) {
            put("tensor_override", text(o.pattern), text(o.device));
        }
        for (const LaidOutType& laid_out : s.laid_out) {
            put("laid_out_type", type(laid_out.type), laid_out.rows, laid_out.longer_than,
                static_cast<uint8_t>(laid_out.is_copy));
        }
    }
    uint32_t type(std::optional<Type> type) { return type ? text(type_name(*type)) : 0; }
    void begin(int64_t evaluation) {
        flush();
        sscp_begin(&block_, memory_.data(), memory_.size(), evaluation, SSCP_UNKNOWN_64);
        text_of_.clear();
    }
    uint32_t text(std::string_view text) {
        const auto [found, is_new] = text_of_.try_emplace(std::string(text), 0);
        if (is_new) {
            found->second = sscp_text_n(&block_, text.data(), text.size());
        }
        return found->second;
    }
    template <typename T> void add(const T& value) {
        const size_t wide = std::min<size_t>(alignof(T), 8);
        bytes_.resize((bytes_.size() + wide - 1) / wide * wide);
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), from, from + sizeof value);
    }
    /// What is not known is the least value of its type, in every element.
    template <typename T> static T unknown() {
        T none{};
        if constexpr (std::is_arithmetic_v<T>) {
            none = std::numeric_limits<T>::min();
        } else {
            none.fill(std::numeric_limits<typename T::value_type>::min());
        }
        return none;
    }
    template <typename T> void add(const std::optional<T>& value) { add(value ? *value : unknown<T>()); }
    template <typename T> void add(const Known<T>& value) { add(std::optional<T>(value)); }
    template <typename... Values> void put(const std::string& kind, const Values&... values) {
        bytes_.clear();
        (add(values), ...);
        sscp_put(&block_, fixed_[kind], bytes_.data(), bytes_.size());
    }

    sscp_stream& stream_;
    std::vector<unsigned char> memory_;
    sscp_block block_{};
    std::vector<uint32_t> kinds_; ///< by index in Fact
    std::map<std::string, uint32_t> fixed_;
    std::map<std::string, uint32_t> text_of_; ///< of the block
    std::vector<std::byte> bytes_;            ///< of a record
    Interner texts_;
    int64_t begun_ = -1; ///< the evaluation whose records are in the block
};

} // namespace schedscope::test
