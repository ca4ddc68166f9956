#pragma once

#include "runtime/sampling/chain.h"
#include "runtime/sampling/params.h"

#include <string_view>

namespace schedscope {

/// Logit bias first, then the sequence, then greedy (temperature ≤ 0), mirostat (which takes the sequence's place but for
/// penalties and temperature) or dist. Samplers of the sequence that few use are left out where they are switched off.
SamplerChain make_chain(const SamplingParams& params, uint32_t seed);

/// A chain as people write it: "top_k=40;top_p=0.9;temp=0.8;dist". Words are joined by ';'; each names a sampler, or one value of
/// it by its name in a model's metadata:
///
///     penalties=REPEAT,LAST_N,FREQUENCY,PRESENCE   penalty_repeat= penalty_last_n= penalty_frequency= penalty_presence=
///     dry=MULTIPLIER,BASE,ALLOWED_LENGTH,LAST_N    top_n_sigma=   top_k=   typ_p=   top_p=   min_p=
///     xtc=PROBABILITY,THRESHOLD                    xtc_probability= xtc_threshold=
///     temp=T,RANGE,EXPONENT
///     greedy   dist=SEED   mirostat=VERSION,TAU,ETA   mirostat_tau= mirostat_eta=
///
/// The first word about a sampler says where it stands; later ones only set values. What is not set comes from `params`, and so
/// does a logit bias, which always is first. "cpu:" in front keeps a sampler off the graph. greedy, dist or mirostat must end the
/// chain. Throws Error(usage) naming what is not understood.
SamplerChain parse_chain(std::string_view text, const SamplingParams& params, uint32_t seed);

} // namespace schedscope
