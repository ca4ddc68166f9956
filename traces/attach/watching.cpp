#include "traces/attach/watching.h"

#include "traces/attach/handing_on.h"

#include <math.h>

namespace schedscope::attach {

namespace {

constexpr int n_first = 8, n_buckets = 32; ///< elements that are told, and parts between the least and the greatest

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// `wanted` is in lower case. whole: it is all of the text; else some of it.
bool fits(const char* text, const char* wanted, bool whole) {
    for (bool more = true; more; ++text) {
        size_t n = 0;
        while (wanted[n] != 0 && lower(text[n]) == wanted[n]) {
            ++n;
        }
        if (wanted[n] == 0 && (!whole || text[n] == 0)) {
            return true;
        }
        more = !whole && text[0] != 0;
    }
    return false;
}

/// What a pattern may ask about.
struct Described {
    const char *name, *op, *type, *backend;
    int64_t bytes, split, node, id;
};

bool holds(const Watch& watch, const WatchTerm& term, const Described& of) {
    const char* text = nullptr;
    int64_t number = -1;
    switch (term.field) {
    case WatchedField::name: text = of.name; break;
    case WatchedField::op: text = of.op; break;
    case WatchedField::type: text = of.type; break;
    case WatchedField::kind: text = "node"; break;
    case WatchedField::backend: text = of.backend; break;
    case WatchedField::bytes: number = of.bytes; break;
    case WatchedField::split: number = of.split; break;
    case WatchedField::node: number = of.node; break;
    case WatchedField::id: number = of.id; break;
    }
    using R = WatchedRelation;
    if (text == nullptr) {
        const auto value = static_cast<double>(number);
        switch (term.relation) {
        case R::equal: return number >= 0 && value == term.number;
        case R::unequal: return number >= 0 && value != term.number;
        case R::less: return number >= 0 && value < term.number;
        case R::at_most: return number >= 0 && value <= term.number;
        case R::more: return number >= 0 && value > term.number;
        default: return number >= 0 && value >= term.number;
        }
    }
    const bool whole = term.relation == R::equal || term.relation == R::unequal;
    const bool wanted = term.relation == R::equal || term.relation == R::contains;
    bool any = false;
    const char* one = watch.texts + (term.first_text < watch_text_bytes ? term.first_text : watch_text_bytes - 1);
    for (int i = 0; i < term.n_texts; ++i, one += strlen(one) + 1) {
        any = any || fits(text, one, whole);
    }
    return text[0] != 0 && any == wanted;
}

bool matches(Watch& watch, const Described& of) {
    bool any = false;
    const uint32_t n = watch.n_terms < most_watch_terms ? watch.n_terms : most_watch_terms;
    for (uint32_t i = 0; i < n;) {
        const uint8_t pattern = watch.terms[i].pattern;
        bool all = true;
        for (; i < n && watch.terms[i].pattern == pattern; ++i) {
            all = all && holds(watch, watch.terms[i], of);
        }
        if (all) {
            __atomic_fetch_or(&watch.found, uint32_t{1} << (pattern % most_watch_patterns), __ATOMIC_RELAXED);
            any = true;
        }
    }
    return any;
}

float float_of_bits(uint32_t bits) {
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float float_of_half(uint16_t half) {
    const uint32_t sign = (half & 0x8000U) << 16, exponent = half >> 10 & 31U, fraction = half & 1023U;
    if (exponent == 0) { // a multiple of 2⁻²⁴
        const float size = static_cast<float>(fraction) / 16777216.0F;
        return sign != 0 ? -size : size;
    }
    return float_of_bits(sign | (exponent == 31 ? 255U << 23 : (exponent + 112) << 23) | fraction << 13);
}

/// Elements of the types that are told: those that are numbers one by one.
using Element = double (*)(const char* at);
template <typename T> double number_at(const char* at) { return static_cast<double>(read_at<T>(at, 0)); }
Element element_of(const char* type) {
    struct Known {
        const char* name;
        Element element;
    };
    static constexpr Known known[] = {
        {"f32", number_at<float>},
        {"f64", number_at<double>},
        {"i8", number_at<int8_t>},
        {"i16", number_at<int16_t>},
        {"i32", number_at<int32_t>},
        {"i64", number_at<int64_t>},
        {"f16", [](const char* at) { return static_cast<double>(float_of_half(read_at<uint16_t>(at, 0))); }},
        {"bf16", [](const char* at) { return static_cast<double>(float_of_bits(uint32_t{read_at<uint16_t>(at, 0)} << 16)); }}};
    for (const Known& one : known) {
        if (strcmp(one.name, type) == 0) {
            return one.element;
        }
    }
    return nullptr;
}

struct Elements {
    const char* data;
    int64_t ne[4], nb[4];
    Element element;

    template <typename F> void for_each(const F& see) const {
        for (int64_t i3 = 0; i3 < ne[3]; ++i3) {
            for (int64_t i2 = 0; i2 < ne[2]; ++i2) {
                for (int64_t i1 = 0; i1 < ne[1]; ++i1) {
                    const char* const row = data + i3 * nb[3] + i2 * nb[2] + i1 * nb[1];
                    for (int64_t i0 = 0; i0 < ne[0]; ++i0) {
                        see(element(row + i0 * nb[0]));
                    }
                }
            }
        }
    }
};

void put_statistics(Block& block, int id, const Elements& all) {
    sent::value r = {};
    double first[n_first] = {}, sum = 0, squares = 0, least = HUGE_VAL, greatest = -HUGE_VAL;
    all.for_each([&](double x) {
        if (r.n_elements < n_first) {
            first[r.n_elements] = x;
        }
        ++r.n_elements;
        if (__builtin_isnan(x)) {
            ++r.n_nan;
        } else if (__builtin_isinf(x)) {
            ++r.n_inf;
        } else {
            least = x < least ? x : least;
            greatest = x > greatest ? x : greatest;
            sum += x;
            squares += x * x;
        }
    });
    const int64_t n_finite = r.n_elements - r.n_nan - r.n_inf;
    const double none = __builtin_nan("");
    r.tensor = id;
    r.min = n_finite > 0 ? least : none;
    r.max = n_finite > 0 ? greatest : none;
    r.mean = n_finite > 0 ? sum / static_cast<double>(n_finite) : none;
    r.norm = n_finite > 0 ? __builtin_sqrt(squares) : none;
    block.put(Kind::value, r);
    for (int i = 0; i < n_first && i < r.n_elements; ++i) {
        SCHEDSCOPE_PUT(block, value_element, first[i], id, i);
    }
    int64_t counts[n_buckets] = {};
    if (greatest > least) {
        all.for_each([&](double x) {
            if (!__builtin_isnan(x) && !__builtin_isinf(x)) { // halves: the difference may be more than a number can say
                const int part = static_cast<int>((x / 2 - least / 2) / (greatest / 2 - least / 2) * n_buckets);
                ++counts[part < n_buckets ? part : n_buckets - 1];
            }
        });
    } else {
        counts[0] = n_finite;
    }
    for (int i = 0; i < n_buckets; ++i) {
        if (counts[i] > 0) {
            SCHEDSCOPE_PUT(block, value_bucket, counts[i], id, i);
        }
    }
}

} // namespace

bool watches() {
    const Control* const control = attachment().control;
    return control != nullptr && control->watch.n_terms > 0;
}

bool is_watched(Scheduler& s, const Tensor* node) {
    Plan& plan = s.plan;
    const int id = plan.ids.find(node), place = id - plan.n_leafs;
    if (place < 0 || place >= plan.n_nodes || !plan.sent || s.inert) {
        return false;
    }
    enum Answer : int8_t { not_asked, no, yes };
    if (plan.watched_in != plan.evaluation && plan.watched.resize(plan.n_nodes, not_asked)) {
        plan.watched_in = plan.evaluation;
    }
    if (place >= plan.watched.size()) {
        return false;
    }
    int8_t& answer = plan.watched[place];
    if (answer == not_asked) {
        const GgmlCopy& ggml = *s.ggml;
        Described of = {reinterpret_cast<const char*>(node) + ggml.at.name,
                        ggml.call.ggml_op_name(read_at<int32_t>(node, ggml.at.op)),
                        ggml.call.ggml_type_name(read_at<int32_t>(node, ggml.at.type)),
                        "",
                        static_cast<int64_t>(ggml.call.ggml_nbytes(node)),
                        -1,
                        place,
                        id};
        for (int i = 0; i < plan.splits.size(); ++i) {
            const SplitBounds& split = plan.splits[i];
            if (place >= split.first && place < split.end) {
                of.split = i;
                of.backend = split.backend < 0 ? "" : ggml.call.ggml_backend_name(s.backends[split.backend]);
            }
        }
        answer = matches(attachment().control->watch, of) ? yes : no;
    }
    return answer == yes;
}

void record_value(RunCall& call, const Tensor* node) {
    Scheduler& s = *call.scheduler;
    const GgmlCopy& ggml = *s.ggml;
    const Layout& at = ggml.at;
    Block* const block = block_of(call);
    const auto* const source = read_at<const Tensor*>(node, at.view_src);
    const bool has_memory = read_at<Buffer*>(source != nullptr ? source : node, at.buffer) != nullptr;
    Elements all = {nullptr, {}, {}, element_of(ggml.call.ggml_type_name(read_at<int32_t>(node, at.type)))};
    const size_t bytes = ggml.call.ggml_nbytes(node);
    if (block == nullptr || !has_memory || all.element == nullptr || ggml.call.ggml_backend_tensor_get == nullptr ||
        !s.values.reserve(bytes)) {
        return;
    }
    ggml.call.ggml_backend_tensor_get(node, s.values.data(), 0, bytes);
    all.data = s.values.data();
    memcpy(all.ne, reinterpret_cast<const char*>(node) + at.ne, sizeof all.ne);
    memcpy(all.nb, reinterpret_cast<const char*>(node) + at.nb, sizeof all.nb);
    put_statistics(*block, s.plan.ids.find(node), all);
}

} // namespace schedscope::attach
