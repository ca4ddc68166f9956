#include "runtime/sampling/make_chain.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/sampling/ranges.h"
#include "runtime/system/joined.h"
#include "runtime/system/read_number.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace schedscope {

namespace {

using P = SamplingParams;

int32_t whole(double v) noexcept { return static_cast<int32_t>(v); }
float real(double v) noexcept { return to_float(v); }

/// One value of a sampler.
struct SamplerSetting {
    std::string_view name; ///< of its own; empty: only as one of the values behind the sampler's name
    ValueRange range;
    void (*set)(P& p, double value);
};

struct SamplerKind {
    std::string_view name;
    std::span<const SamplerSetting> settings; ///< in the order of the values behind the sampler's name
    std::unique_ptr<Sampler> (*make)(const P& p, uint32_t seed);
    bool chooses = false;
    bool (*off_by_default)(const P& p) = nullptr; ///< few use it: left out of a model's usual chain where it is off
};

constexpr SamplerSetting penalties[] = {
    {"penalty_repeat", ranges::above_zero, [](P& p, double v) { p.penalties.repeat = real(v); }},
    {"penalty_last_n", ranges::count, [](P& p, double v) { p.penalties.last_n = whole(v); }},
    {"penalty_frequency", ranges::any, [](P& p, double v) { p.penalties.frequency = real(v); }},
    {"penalty_presence", ranges::any, [](P& p, double v) { p.penalties.presence = real(v); }}};
constexpr SamplerSetting dry[] = {{"dry_multiplier", ranges::not_negative, [](P& p, double v) { p.dry.multiplier = real(v); }},
                                  {"dry_base", ranges::not_negative, [](P& p, double v) { p.dry.base = real(v); }},
                                  {"dry_allowed_length", ranges::length, [](P& p, double v) { p.dry.allowed_length = whole(v); }},
                                  {"dry_penalty_last_n", ranges::count, [](P& p, double v) { p.dry.last_n = whole(v); }}};
constexpr SamplerSetting top_n_sigma[] = {{"", ranges::any, [](P& p, double v) { p.top_n_sigma = real(v); }}};
constexpr SamplerSetting top_k[] = {{"", ranges::count, [](P& p, double v) { p.top_k = whole(v); }}};
constexpr SamplerSetting typical[] = {{"", ranges::share, [](P& p, double v) { p.typical = real(v); }}};
constexpr SamplerSetting top_p[] = {{"", ranges::not_negative, [](P& p, double v) { p.top_p = real(v); }}};
constexpr SamplerSetting min_p[] = {{"", ranges::share, [](P& p, double v) { p.min_p = real(v); }}};
constexpr SamplerSetting xtc[] = {{"xtc_probability", ranges::share, [](P& p, double v) { p.xtc.probability = real(v); }},
                                  {"xtc_threshold", ranges::share, [](P& p, double v) { p.xtc.threshold = real(v); }}};
constexpr SamplerSetting temperature[] = {
    {"", ranges::any, [](P& p, double v) { p.temperature = real(v); }},
    {"dynatemp_range", ranges::not_negative, [](P& p, double v) { p.temperature_range = real(v); }},
    {"dynatemp_exponent", ranges::any, [](P& p, double v) { p.temperature_exponent = real(v); }}};
constexpr SamplerSetting mirostat[] = {{"", ranges::mirostat_version, [](P& p, double v) { p.mirostat.version = whole(v); }},
                                       {"mirostat_tau", ranges::not_negative, [](P& p, double v) { p.mirostat.tau = real(v); }},
                                       {"mirostat_eta", ranges::not_negative, [](P& p, double v) { p.mirostat.eta = real(v); }}};

/// The settings of dist change its seed, which is no parameter: parse_chain takes care of it.
constexpr std::array kinds = {
    SamplerKind{"penalties", penalties, [](const P& p, uint32_t) { return make_penalties(p.penalties); }},
    SamplerKind{"dry", dry,
                [](const P& p, uint32_t) {
                    Dry d = p.dry;
                    if (p.dry_breakers && d.multiplier != 0) {
                        d.breakers = p.dry_breakers();
                    }
                    return make_dry(std::move(d));
                },
                false, [](const P& p) { return p.dry.multiplier == 0; }},
    SamplerKind{"top_n_sigma", top_n_sigma, [](const P& p, uint32_t) { return make_top_n_sigma(p.top_n_sigma); }, false,
                [](const P& p) { return p.top_n_sigma <= 0; }},
    SamplerKind{"top_k", top_k, [](const P& p, uint32_t) { return make_top_k(p.top_k); }},
    SamplerKind{"typ_p", typical, [](const P& p, uint32_t) { return make_typical(p.typical); }, false,
                [](const P& p) { return p.typical >= 1; }},
    SamplerKind{"top_p", top_p, [](const P& p, uint32_t) { return make_top_p(p.top_p); }},
    SamplerKind{"min_p", min_p, [](const P& p, uint32_t) { return make_min_p(p.min_p); }},
    // Not dist's seed: the token must not depend on the number that decided whether the top choices go.
    SamplerKind{"xtc", xtc, [](const P& p, uint32_t seed) { return make_xtc(p.xtc, seed + 0x9E3779B9U); }, false,
                [](const P& p) { return p.xtc.probability <= 0; }},
    SamplerKind{"temp", temperature,
                [](const P& p, uint32_t) {
                    return make_dynamic_temperature(p.temperature, p.temperature_range, p.temperature_exponent);
                }},
    SamplerKind{"greedy", {}, [](const P&, uint32_t) { return make_greedy(); }, true},
    SamplerKind{"dist", {}, [](const P&, uint32_t seed) { return make_dist(seed); }, true},
    SamplerKind{"mirostat", mirostat, [](const P& p, uint32_t seed) { return make_mirostat(p.mirostat, p.n_vocab, seed); }, true},
};

/// What other programs, and models' metadata, call them.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"temperature", "temp"}, {"temp_ext", "temp"},          {"typical", "typ_p"}, {"typical_p", "typ_p"},
    {"typ", "typ_p"},        {"top_nsigma", "top_n_sigma"}, {"nucleus", "top_p"}, {"penalty", "penalties"}};

std::string spelled_our_way(std::string_view name) {
    std::string spelled(name);
    std::replace(spelled.begin(), spelled.end(), '-', '_');
    return spelled;
}

const SamplerKind* find_kind(std::string_view name) {
    std::string spelled = spelled_our_way(name);
    for (const auto& [other, known] : other_names) {
        spelled = spelled == other ? known : spelled;
    }
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const SamplerKind& k) { return k.name == spelled; });
    return found == kinds.end() ? nullptr : found;
}

std::string_view next_word(std::string_view& text, char separator) {
    const size_t at = text.find(separator);
    std::string_view word = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    while (!word.empty() && word.front() == ' ') {
        word.remove_prefix(1);
    }
    while (!word.empty() && word.back() == ' ') {
        word.remove_suffix(1);
    }
    return word;
}

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
    throw Error(ErrorKind::usage, "sampler '" + visible_name(word) + "': " + why);
}

/// A value of the sampler or setting of that name, in its range.
double number_of(std::string_view word, std::string_view value, const ValueRange& range) {
    const std::optional<double> number = read_number<double>(value);
    if (!number || !std::isfinite(*number)) {
        refuse(word, "'" + visible_name(value) + "' is not a number");
    }
    if (!range.holds(*number)) {
        refuse(word, out_of_range(*number, range));
    }
    return *number;
}

class ChainParser {
public:
    ChainParser(const SamplingParams& params, uint32_t seed) : params_(params), seed_(seed) {}

    SamplerChain parse(std::string_view text) {
        for (std::string_view rest = text; !rest.empty();) {
            if (const std::string_view word = next_word(rest, ';'); !word.empty()) {
                read(word);
            }
        }
        if (links_.empty() || !links_.back().kind->chooses) {
            throw Error(ErrorKind::usage,
                        "sampler chain '" + visible_name(text) + "': nothing chooses a token, end it with greedy or dist");
        }
        check();
        SamplerChain chain;
        if (!params_.logit_bias.empty()) {
            chain.add(make_logit_bias(params_.logit_bias));
        }
        for (const Link& link : links_) {
            chain.add(link.kind->make(params_, seed_), link.place);
        }
        return chain;
    }

private:
    struct Link {
        const SamplerKind* kind;
        SamplerChain::Place place;
    };

    void read(std::string_view word) {
        auto place = SamplerChain::Place::anywhere;
        if (word.starts_with("cpu:")) {
            word.remove_prefix(4);
            place = SamplerChain::Place::cpu;
        }
        std::string_view values = word;
        const std::string_view name = next_word(values, '=');
        const SamplerSetting* setting = nullptr;
        const SamplerKind* kind = find_kind(name);
        for (const SamplerKind& k : kinds) {
            for (const SamplerSetting& s : k.settings) {
                if (!s.name.empty() && s.name == spelled_our_way(name)) {
                    kind = &k;
                    setting = &s;
                }
            }
        }
        if (kind == nullptr) {
            refuse(name, "there is none of that name (" + joined(kinds, ", ", &SamplerKind::name) + ")");
        }
        append(name, kind, place, setting != nullptr);
        if (word.find('=') == std::string_view::npos) {
            if (setting != nullptr) {
                refuse(name, "it needs a value");
            }
            return;
        }
        set(name, *kind, setting, values);
    }

    /// sets: it is one of the sampler's settings that is named.
    void append(std::string_view name, const SamplerKind* kind, SamplerChain::Place place, bool sets) {
        const bool sets_last = !links_.empty() && links_.back().kind == kind && !kind->settings.empty();
        if (!links_.empty() && links_.back().kind->chooses && !sets_last) {
            refuse(name, "the chain has already chosen a token before it");
        }
        const auto known = std::find_if(links_.begin(), links_.end(), [&](const Link& l) { return l.kind == kind; });
        if (known == links_.end()) {
            links_.push_back({kind, place});
        } else if (!sets) {
            refuse(name, "it is in the chain already");
        } else if (place == SamplerChain::Place::cpu) {
            known->place = place;
        }
    }

    void set(std::string_view name, const SamplerKind& kind, const SamplerSetting* setting, std::string_view values) {
        if (setting != nullptr) {
            setting->set(params_, number_of(name, values, setting->range));
            return;
        }
        if (kind.name == "dist") {
            seed_ = static_cast<uint32_t>(number_of(name, values, ranges::seed));
            return;
        }
        size_t i = 0;
        do {
            const std::string_view value = next_word(values, ',');
            if (i == kind.settings.size()) {
                refuse(name, std::string("it takes no more than ").append(std::to_string(i)).append(" values"));
            }
            const SamplerSetting& each = kind.settings[i++];
            each.set(params_, number_of(name, value, each.range));
        } while (!values.empty());
    }

    /// Mirostat without a version, where the model has none either.
    void check() const {
        const bool has_mirostat =
            std::any_of(links_.begin(), links_.end(), [](const Link& l) { return l.kind->name == "mirostat"; });
        if (has_mirostat && params_.mirostat.version == 0) {
            refuse("mirostat", "there are versions 1 and 2");
        }
    }

    SamplingParams params_;
    uint32_t seed_;
    std::vector<Link> links_;
};

} // namespace

SamplerChain make_chain(const SamplingParams& params, uint32_t seed) {
    SamplerChain chain;
    if (!params.logit_bias.empty()) {
        chain.add(make_logit_bias(params.logit_bias));
    }
    const bool greedy = params.temperature <= 0 && params.temperature_range <= 0;
    const bool mirostat = !greedy && params.mirostat.version != 0;
    for (std::string_view rest = params.sequence; !rest.empty();) {
        const SamplerKind* kind = find_kind(next_word(rest, ';'));
        // A model may recommend samplers that are not known here.
        if (kind == nullptr || kind->chooses || (kind->off_by_default != nullptr && kind->off_by_default(params))) {
            continue;
        }
        // Narrowing can't change which token is the likeliest; only penalties can. Mirostat stands behind temp alone, as in
        // llama.cpp.
        const bool penalises = kind->name == "penalties" || kind->name == "dry";
        if ((greedy && !penalises) || (mirostat && kind->name != "temp")) {
            continue;
        }
        chain.add(kind->make(params, seed));
    }
    chain.add(greedy ? make_greedy() : mirostat ? make_mirostat(params.mirostat, params.n_vocab, seed) : make_dist(seed));
    return chain;
}

SamplerChain parse_chain(std::string_view text, const SamplingParams& params, uint32_t seed) {
    return ChainParser(params, seed).parse(text);
}

} // namespace schedscope
