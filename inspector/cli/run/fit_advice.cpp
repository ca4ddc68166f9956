#include "inspector/cli/run/fit_advice.h"

#include "runtime/context/kv_cache.h"
#include "runtime/error.h"
#include "runtime/model/weight_loader.h"
#include "runtime/numbers.h"
#include "runtime/ops/type.h"
#include "runtime/system/joined.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace schedscope {

bool all_fit(std::span<const MemoryNeed> needs) {
    return std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.fits(); });
}

bool devices_fit(std::span<const MemoryNeed> needs) {
    return std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.is_host || need.fits(); });
}

bool all_fit_at_once(std::span<const MemoryNeed> needs) {
    return std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.fits_at_once(); });
}

namespace {

constexpr std::array smaller_types{Type::Q8_0, Type::Q6_K,    Type::Q5_K, Type::Q5_0,   Type::Q4_K,    Type::Q4_0,  Type::IQ4_XS,
                                   Type::Q3_K, Type::IQ3_XXS, Type::Q2_K, Type::IQ2_XS, Type::IQ2_XXS, Type::IQ1_M, Type::IQ1_S};

double bits_of(Type type) { return 8.0 * to_double(row_bytes(type, traits(type).block)) / to_double(traits(type).block); }

/// Plans the same request with other options.
class Trials {
public:
    Trials(GenerateRequest request, const ModelFiles& files, const Registry& registry)
        : request_(std::move(request)), files_(files), registry_(registry) {}

    std::vector<MemoryNeed> needs(const RunOptions& options) {
        Session session(registry_, files_, options);
        plan_generation(session, request_);
        n_ctx_ = session.context().options().n_ctx;
        n_layers_ = session.model().hparams().n_layer;
        has_experts_ = session.model().hparams().n_expert > 0;
        count_layers(session);
        count_matrices(session);
        return memory_needs(session);
    }

    /// Nothing where the options are refused: a type of the cache that flash attention is needed for, a context that is too
    /// short.
    std::optional<std::vector<MemoryNeed>> tried(const RunOptions& options) {
        try {
            return needs(options);
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    enum class Fit : uint8_t { no, not_at_once, yes }; ///< not_at_once: the host's memory does not hold its part
    Fit fit(const RunOptions& options) {
        const std::optional<std::vector<MemoryNeed>> needs = tried(options);
        return !needs || !all_fit(*needs) ? Fit::no : all_fit_at_once(*needs) ? Fit::yes : Fit::not_at_once;
    }

    int32_t n_ctx() const noexcept { return n_ctx_; } ///< of the plan before
    int32_t n_layers() const noexcept { return n_layers_; }
    bool has_experts() const noexcept { return has_experts_; }

    struct Holder {
        std::string buffer_type;
        int64_t memory = 0; ///< bytes; 0: unknown
        int32_t layers = 0; ///< the output is one, too
    };
    const std::vector<Holder>& holders() const noexcept { return holders_; } ///< the devices that -ts shares out to

    /// The text model's matrices in a device's memory, that could be of another type. Norms, biases and routers stay as they are.
    struct Matrices {
        int64_t bytes = 0, values = 0;
    };
    const std::map<std::string, Matrices>& matrices() const noexcept { return matrices_; } ///< of the plan before, by buffer type
    /// The largest of them by which all of these matrices could be kept, and run where they lie: at most so many bits a value.
    std::optional<Type> type_of_matrices(const RunOptions& options, double bits) {
        Session session(registry_, files_, options);
        const auto found = std::find_if(smaller_types.begin(), smaller_types.end(),
                                        [&](Type type) { return bits_of(type) <= bits && runs_with(session.model(), type); });
        return found == smaller_types.end() ? std::nullopt : std::optional(*found);
    }

private:
    void count_layers(Session& session) {
        holders_.clear();
        const PlacementPolicy& placement = session.model().placement();
        for (int32_t home = 0; home < placement.host(); ++home) {
            const BackendInfo& device = session.scheduler().session().backends[home];
            if (!device.kind || !holds_layers(*device.kind)) {
                continue;
            }
            Holder& holder = holders_.emplace_back(
                Holder{std::string(session.model().device(home).buffer_type().name()), device.memory_bytes.value_or(0)});
            for (int32_t layer = 0; layer <= n_layers_; ++layer) {
                holder.layers += placement.layer_home(layer) == home ? 1 : 0;
            }
        }
    }

    static bool is_matrix(const Model& model, const Tensor& t) {
        return t.buffer != nullptr && t.buffer->type().name() != model.device(model.placement().host()).buffer_type().name() &&
               t.ne[1] > 1 && t.role != Role::router && t.role != Role::norm;
    }

    void count_matrices(const Session& session) {
        matrices_.clear();
        for (const Tensor& t : session.model().tensors()) {
            if (is_matrix(session.model(), t)) {
                Matrices& there = matrices_[std::string(t.buffer->type().name())];
                there.bytes += n_bytes(t);
                there.values += n_elements(t);
            }
        }
    }

    /// Blocks of the type divide the rows of all matrices that lie on devices, which can run products with it.
    static bool runs_with(const Model& model, Type type) {
        std::set<std::tuple<std::string_view, Shape, Op>> asked;
        for (const Tensor& t : model.tensors()) {
            if (!is_matrix(model, t)) {
                continue;
            }
            gguf::FileTensor weight;
            weight.name = t.name;
            weight.type = type;
            weight.ne = t.ne;
            const Op reader = WeightUse(t.role, t.layer).reader;
            for (int32_t home = 0; home < model.placement().host(); ++home) {
                const Device& device = model.device(home);
                if (device.buffer_type().name() == t.buffer->type().name() &&
                    asked.insert({device.name(), t.ne, reader}).second &&
                    (t.ne[0] % traits(type).block != 0 || !device_can_read(device, weight, reader).yes)) {
                    return false;
                }
            }
        }
        return true;
    }

    GenerateRequest request_;
    const ModelFiles& files_;
    const Registry& registry_;
    int32_t n_ctx_ = 0, n_layers_ = 0;
    bool has_experts_ = false;
    std::vector<Holder> holders_;
    std::map<std::string, Matrices> matrices_;
};

/// Options that make it fit.
struct Way {
    std::string words;
    bool at_once = true; ///< else the host's memory does not hold its part
};

constexpr std::string_view not_held = "the host's memory does not hold the rest";
constexpr std::string_view not_held_at_once = "the host's memory does not hold the rest at once";

/// "with -c 4096, or with -nkvo (then the host's memory does not hold the rest at once)"
std::string text_of(const std::vector<Way>& ways) {
    const bool none_at_once = std::none_of(ways.begin(), ways.end(), [](const Way& way) { return way.at_once; });
    const std::string text = joined(ways, ", or ", [&](const Way& way) {
        return words::with_options(way.words) +
               (way.at_once || none_at_once ? "" : " (then " + std::string(not_held_at_once) + ")");
    });
    return text + (none_at_once ? ", and then " + std::string(not_held_at_once) : "");
}

/// How layers are shared out among several devices: ", split by their memory".
std::string split_words(const Trials& trials, const RunOptions& options) {
    const auto& holders = trials.holders();
    if (holders.size() < 2) {
        return "";
    }
    if (std::any_of(options.tensor_split.begin(), options.tensor_split.end(), [](float share) { return share > 0; })) {
        return " with this -ts";
    }
    return std::any_of(holders.begin(), holders.end(), [](const Trials::Holder& h) { return h.memory == 0; })
               ? ", split evenly"
               : ", split by their memory";
}

std::string fewer_layers(Trials& trials, RunOptions options) {
    if (options.n_gpu_layers <= 0) {
        return "";
    }
    int32_t fits = -1, does_not = std::min(options.n_gpu_layers, trials.n_layers() + 1);
    std::string rest; // what the host does not hold with as many as fit
    const std::string split = split_words(trials, options);
    while (does_not - fits > 1) {
        options.n_gpu_layers = (does_not + fits) / 2;
        const std::optional<std::vector<MemoryNeed>> needs = trials.tried(options);
        if (needs && devices_fit(*needs)) {
            fits = options.n_gpu_layers;
            rest = all_fit_at_once(*needs) ? "" : ", and then " + std::string(all_fit(*needs) ? not_held_at_once : not_held);
        } else {
            does_not = options.n_gpu_layers;
        }
    }
    return (fits < 0 ? "; no -ngl makes it fit" + split
                     : "; -ngl " + std::to_string(fits) + " is the most that the devices hold" + split) +
           rest;
}

/// The longest context that fits; `n_tokens` must have room.
std::optional<Way> shorter_context(Trials& trials, const RunOptions& options, int32_t n_ctx, int64_t n_tokens) {
    constexpr int64_t least = 512; // less is of no use
    constexpr int32_t granule = KvCache::granule;
    const auto tried = [&](int32_t n_granules) {
        RunOptions changed = options;
        changed.n_ctx = n_granules * granule;
        return trials.fit(changed);
    };
    int32_t fits = int_of((std::max(least, n_tokens) + granule - 1) / granule), does_not = n_ctx / granule;
    Trials::Fit how = fits < does_not ? tried(fits) : Trials::Fit::no;
    if (how == Trials::Fit::no) {
        return std::nullopt;
    }
    while (does_not - fits > 1) {
        const int32_t middle = fits + (does_not - fits) / 2;
        if (const Trials::Fit fit = tried(middle); fit != Trials::Fit::no) {
            fits = middle;
            how = fit;
        } else {
            does_not = middle;
        }
    }
    return Way{"-c " + std::to_string(fits * granule), how == Trials::Fit::yes};
}

/// The most tokens in one evaluation, of halves of the present number: compute buffers hold that many.
std::optional<Way> smaller_batch(Trials& trials, const RunOptions& options) {
    constexpr int32_t least = 64; // less takes much longer and saves little
    RunOptions changed = options;
    for (changed.n_ubatch = options.n_ubatch / 2; changed.n_ubatch >= least; changed.n_ubatch /= 2) {
        if (const Trials::Fit fit = trials.fit(changed); fit != Trials::Fit::no) {
            return Way{"-ub " + std::to_string(changed.n_ubatch), fit == Trials::Fit::yes};
        }
    }
    return std::nullopt;
}

/// Bytes. A device that holds nothing is not listed.
int64_t need_of(const std::vector<MemoryNeed>& needs, const Trials::Holder& holder) {
    const auto need =
        std::find_if(needs.begin(), needs.end(), [&](const MemoryNeed& n) { return n.buffer_type == holder.buffer_type; });
    return need == needs.end() ? 0 : need->total();
}

/// Layers go from the device that has most too much to the one that has most to spare, until all fit. Nothing: they don't.
std::optional<Way> other_shares(Trials& trials, RunOptions options) {
    constexpr int64_t no_limit = int64_t{1} << 60; // bytes of a device whose memory is not known
    std::set<std::vector<float>> tried;
    for (bool first = true; trials.holders().size() > 1; first = false) {
        const std::optional<std::vector<MemoryNeed>> needs = trials.tried(options);
        if (!needs || !tried.insert(options.tensor_split).second) {
            return std::nullopt;
        }
        std::vector<Trials::Holder> holders = trials.holders();
        if (!first && all_fit(*needs)) {
            return Way{"-ts " + joined(holders, ",", [](const Trials::Holder& h) { return std::to_string(h.layers); }),
                       all_fit_at_once(*needs)};
        }
        const auto spare = [&](const Trials::Holder& h) { return (h.memory > 0 ? h.memory : no_limit) - need_of(*needs, h); };
        const auto [from, to] = std::minmax_element(holders.begin(), holders.end(),
                                                    [&](const auto& a, const auto& b) { return spare(a) < spare(b); });
        if (from->layers == 0 || spare(*from) >= 0 || spare(*to) <= 0) {
            return std::nullopt;
        }
        const int64_t of_layer = std::max<int64_t>(need_of(*needs, *from) / from->layers, 1), too_much = -spare(*from);
        const auto n = int_of(std::clamp<int64_t>(too_much / of_layer, 1, from->layers));
        from->layers -= n;
        to->layers += n;
        options.tensor_split.clear();
        for (const Trials::Holder& h : holders) {
            options.tensor_split.push_back(to_float(h.layers));
        }
    }
    return std::nullopt;
}

/// Options with which all layers that were asked for fit where they go, one change each; where none does, two of them. Context,
/// caches and batch leave the weights' size as it is.
std::vector<Way> same_layers(Trials& trials, const RunOptions& options, bool weights_fit, int64_t n_tokens) {
    const int32_t n_ctx = trials.n_ctx();
    std::vector<Way> ways;
    const auto add = [&](const std::optional<Way>& way, const std::string& before = "") {
        if (way) {
            ways.push_back({before + way->words, way->at_once});
        }
    };
    const auto attempt = [&](const std::string& words, const RunOptions& changed) {
        if (const Trials::Fit fit = trials.fit(changed); fit != Trials::Fit::no) {
            ways.push_back({words, fit == Trials::Fit::yes});
        }
    };
    const auto with = [&](auto change) {
        RunOptions changed = options;
        change(changed);
        return changed;
    };
    if (!options.mmap) {
        attempt("no --no-mmap", with([](RunOptions& o) { o.mmap = true; }));
    }
    if (options.stages > 1) {
        attempt("--stages 1", with([](RunOptions& o) { o.stages = 1; }));
    }
    if (!options.tensor_split.empty()) {
        attempt("no -ts", with([](RunOptions& o) { o.tensor_split.clear(); }));
    }
    add(other_shares(trials, options));
    if (trials.has_experts()) {
        attempt("-ot exps=cpu", with([](RunOptions& o) { o.overrides.emplace_back("exps=cpu"); }));
    }
    if (!weights_fit) {
        return ways;
    }
    const std::pair<const char*, RunOptions> caches[] = {
        {"-ctk q8_0 -ctv q8_0", with([](RunOptions& o) { o.cache_type_k = o.cache_type_v = Type::Q8_0; })},
        {"-nkvo", with([](RunOptions& o) { o.cache_on_host = true; })}};
    add(shorter_context(trials, options, n_ctx, n_tokens));
    for (const auto& [words, changed] : caches) {
        attempt(words, changed);
    }
    add(smaller_batch(trials, options));
    if (options.op_offload) { // what weights of the host are multiplied with takes compute memory of a device
        attempt("--no-op-offload", with([](RunOptions& o) { o.op_offload = false; }));
    }
    if (ways.empty()) {
        for (const auto& [words, changed] : caches) {
            add(smaller_batch(trials, changed), words + std::string(" "));
        }
    }
    return ways;
}

/// How small the text model's matrices have to be, on the average, for all of them to fit where they go, and which type is that
/// these devices run with: as many bits of each as the rest leaves in the memory that holds least of its own.
std::string smaller_weights(Trials& trials, const RunOptions& options) {
    constexpr double no_limit = 64;
    double most = no_limit, bytes = 0, values = 0;
    for (const MemoryNeed& need : trials.needs(options)) {
        const auto found = trials.matrices().find(need.buffer_type);
        const Trials::Matrices here = found == trials.matrices().end() ? Trials::Matrices{} : found->second;
        bytes += to_double(here.bytes);
        values += to_double(here.values);
        if (!need.is_host && !need.fits()) {
            const int64_t room = need.memory - (need.total() - here.bytes);
            most = std::min(most, here.values > 0 ? 8 * to_double(room) / to_double(here.values) : 0);
        }
    }
    const std::optional<Type> type = most > 0 ? trials.type_of_matrices(options, most) : std::nullopt;
    if (!type) {
        return "; for all that were asked for it takes more memory";
    }
    std::ostringstream text;
    text << std::setprecision(3) << "; for all that were asked for it takes more memory, or weights of "
         << std::floor(most * 100) / 100 << " bits each (" << type_name(*type) << " has " << bits_of(*type) << ", these have "
         << 8 * bytes / values << ')';
    return text.str();
}

} // namespace

std::string what_would_fit(GenerateRequest request, const RunOptions& options, const ModelFiles& files,
                           const Registry& registry) {
    int64_t n_tokens = 0; // of each sequence, in one cache
    for (SequencePrompt& p : request.prompts) {
        n_tokens += std::ssize(p.tokens) + request.n_predict;
        if (p.images.empty()) { // they have places in it
            p.tokens.resize(std::min<size_t>(p.tokens.size(), options.n_ubatch));
        }
    }
    Trials trials(std::move(request), files, registry);
    const std::vector<MemoryNeed> needs = trials.needs(options);
    const bool weights_fit = std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) {
        return need.is_host || need.fits() || need.weights < need.memory;
    });
    const std::vector<Way> ways = same_layers(trials, options, weights_fit, n_tokens);
    if (devices_fit(needs)) { // fewer layers there would leave more to the host
        const auto said = [](const Way& way) { return words::with_options(way.words) + (way.at_once ? "" : ", if not at once"); };
        return ways.empty() ? "" : "; all of it fits " + joined(ways, ", or ", said);
    }
    const std::string fewer = fewer_layers(trials, options);
    if (ways.empty()) {
        return fewer + smaller_weights(trials, options);
    }
    return fewer + (options.n_gpu_layers > 0 ? "; all that were asked for fit " : "; it fits ") + text_of(ways);
}

} // namespace schedscope
