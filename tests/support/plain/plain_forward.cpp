// The published descriptions of the architectures, written down once more: loops over doubles, one token after the other.
#include "tests/support/plain/plain_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace schedscope::test {

namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>; ///< one for each position

Row operator+(Row a, const Row& b) {
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] += b[i];
    }
    return a;
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }
double capped(double x, double cap) { return cap == 0 ? x : cap * std::tanh(x / cap); }

Row softmax(Row x) {
    const double most = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (double& v : x) {
        sum += v = std::exp(v - most);
    }
    for (double& v : x) {
        v /= sum;
    }
    return x;
}

class Forward {
public:
    Forward(const PlainModel& model, int n_ctx)
        : m(model), n_ctx_(n_ctx), width_(m.integer("embedding_length")), heads_(m.integer("attention.head_count")),
          kv_heads_(m.integer("attention.head_count_kv")),
          head_(static_cast<int>(m.number("attention.key_length", width_ / heads_))),
          pairs_(static_cast<int>(m.number("rope.dimension_count", head_)) / 2) {}

    Row logits(const std::vector<int32_t>& tokens) {
        Rows x;
        const PlainTensor& embedding = m.tensors.at("token_embd.weight");
        for (const int32_t token : tokens) {
            const auto* row = &embedding.v[static_cast<size_t>(token * width_)];
            x.emplace_back(row, row + width_);
            if (gemma()) {
                for (double& v : x.back()) {
                    v *= std::sqrt(static_cast<double>(width_));
                }
            }
        }
        for (int il = 0; il < m.integer("block_count"); ++il) {
            block(x, il);
        }
        Row all;
        for (const Row& row : x) {
            Row out = product(m.has("output.weight") ? "output" : "token_embd", norm("output_norm", row));
            for (const double v : out) {
                all.push_back(capped(v, m.architecture == "gemma2" ? m.number("final_logit_softcapping", 30) : 0));
            }
        }
        return all;
    }

private:
    bool is(const char* architecture) const { return m.architecture == architecture; }
    bool gemma() const { return m.architecture.starts_with("gemma"); }
    bool halves() const { return !is("llama"); }

    void block(Rows& x, int il) {
        const std::string blk = "blk." + std::to_string(il) + ".";
        const size_t n = x.size();
        Rows normed, q(n), k(n), v(n);
        for (size_t t = 0; t < n; ++t) {
            normed.push_back(norm(blk + "attn_norm", x[t]));
            project(blk, m.has(blk + "attn_norm_2.weight") ? norm(blk + "attn_norm_2", x[t]) : normed[t], q[t], k[t], v[t]);
            turn_heads(blk + "attn_q_norm", q[t], static_cast<int>(t), il);
            turn_heads(blk + "attn_k_norm", k[t], static_cast<int>(t), il);
        }
        for (size_t t = 0; t < n; ++t) {
            Row attended = product(blk + "attn_output", attend(q[t], k, v, static_cast<int>(t), il));
            if (is("falcon")) {
                x[t] = x[t] + attended + feed_forward(blk, normed[t]);
                continue;
            }
            if (m.has(blk + "post_attention_norm.weight")) {
                attended = norm(blk + "post_attention_norm", attended);
            }
            x[t] = x[t] + attended;
            Row out = feed_forward(blk, norm(blk + "ffn_norm", x[t]));
            x[t] = x[t] + (m.has(blk + "post_ffw_norm.weight") ? norm(blk + "post_ffw_norm", out) : out);
        }
    }

    void project(const std::string& blk, const Row& x, Row& q, Row& k, Row& v) const {
        if (!m.has(blk + "attn_qkv.weight")) {
            q = product(blk + "attn_q", x);
            k = product(blk + "attn_k", x);
            v = product(blk + "attn_v", x);
            return;
        }
        const Row all = product(blk + "attn_qkv", x);
        const auto k_at = all.begin() + heads_ * head_, v_at = k_at + kv_heads_ * head_;
        q.assign(all.begin(), k_at);
        k.assign(k_at, v_at);
        v.assign(v_at, all.end());
    }

    /// Normalised where the model has a norm for heads, and turned to the position.
    void turn_heads(const std::string& norm_name, Row& x, int position, int il) const {
        for (auto at = x.begin(); at != x.end(); at += head_) {
            Row head(at, at + head_);
            if (m.has(norm_name + ".weight")) {
                head = norm(norm_name, head);
            }
            turn(head, position, il);
            std::copy(head.begin(), head.end(), at);
        }
    }

    bool slides(int il) const { return (is("gemma2") && il % 2 == 0) || (is("gemma3") && il % 6 != 5); }

    void turn(Row& head, int position, int il) const {
        const bool local = is("gemma3") && slides(il); // its own base, not stretched
        const double base = local ? 10000 : m.number("rope.freq_base", 10000);
        const std::string scaling = local || !m.texts.contains("rope.scaling.type") ? "" : m.texts.at("rope.scaling.type");
        const double factor = scaling == "linear" || scaling == "yarn" ? m.number("rope.scaling.factor", 1) : 1;
        const double original = m.number("rope.scaling.original_context_length", m.number("context_length", 0));
        const double length = scaling == "yarn" ? 1 + 0.1 * std::log(factor) : m.number("rope.scaling.attn_factor", 1);
        for (int p = 0; p < pairs_; ++p) {
            double speed = std::pow(base, -static_cast<double>(p) / pairs_);
            speed /= angle_factor(p, original);
            double angle = position * speed / factor;
            if (scaling == "yarn") {
                const double kept = unstretched(p, base, original);
                angle = position * speed * (kept + (1 - kept) / factor);
            }
            const int i = halves() ? p : 2 * p, j = halves() ? p + pairs_ : 2 * p + 1;
            const double a = head[static_cast<size_t>(i)], b = head[static_cast<size_t>(j)];
            head[static_cast<size_t>(i)] = length * (a * std::cos(angle) - b * std::sin(angle));
            head[static_cast<size_t>(j)] = length * (a * std::sin(angle) + b * std::cos(angle));
        }
    }

    double angle_factor(int p, double original) const {
        for (const std::string& name :
             {std::string("rope_freqs.weight"),
              std::string(n_ctx_ > original ? "rope_factors_long.weight" : "rope_factors_short.weight")}) {
            if (m.has(name)) {
                return m.tensors.at(name).v[static_cast<size_t>(p)];
            }
        }
        return 1;
    }

    /// YaRN: pairs that turn more than 32 times over the original context keep their speed, those below one turn are stretched, a
    /// ramp lies between.
    double unstretched(int p, double base, double original) const {
        const auto pair_of_turns = [&](double turns) {
            return pairs_ * std::log(original / (turns * 2 * std::numbers::pi)) / std::log(base);
        };
        const double low = std::max(0.0, std::floor(pair_of_turns(32)));
        const double high = std::min(2.0 * pairs_ - 1, std::ceil(pair_of_turns(1)));
        return 1 - std::clamp((p - low) / std::max(0.001, high - low), 0.0, 1.0);
    }

    Row attend(const Row& q, const Rows& k, const Rows& v, int t, int il) const {
        double scale = 1 / std::sqrt(static_cast<double>(head_));
        const int window = slides(il) ? m.integer("attention.sliding_window") : t + 1;
        Row out;
        for (int h = 0; h < heads_; ++h) {
            const int at = h / (heads_ / kv_heads_) * head_;
            const int first = std::max(0, t - window + 1);
            Row scores;
            for (int j = first; j <= t; ++j) {
                double dot = 0;
                for (int i = 0; i < head_; ++i) {
                    dot += q[static_cast<size_t>(h * head_ + i)] * k[static_cast<size_t>(j)][static_cast<size_t>(at + i)];
                }
                scores.push_back(capped(scale * dot, is("gemma2") ? m.number("attn_logit_softcapping", 50) : 0));
            }
            scores = softmax(scores);
            for (int i = 0; i < head_; ++i) {
                double sum = 0;
                for (int j = first; j <= t; ++j) {
                    sum += scores[static_cast<size_t>(j - first)] * v[static_cast<size_t>(j)][static_cast<size_t>(at + i)];
                }
                out.push_back(sum);
            }
        }
        return out;
    }

    Row feed_forward(const std::string& blk, const Row& x) const {
        if (m.has(blk + "ffn_gate_inp.weight")) {
            return experts(blk, x);
        }
        Row up = product(blk + "ffn_up", x), gate;
        if (is("phi3")) {
            gate.assign(up.begin(), up.begin() + static_cast<ptrdiff_t>(up.size() / 2));
            up.erase(up.begin(), up.begin() + static_cast<ptrdiff_t>(up.size() / 2));
        } else if (m.has(blk + "ffn_gate.weight")) {
            gate = product(blk + "ffn_gate", x);
        }
        for (size_t i = 0; i < up.size(); ++i) {
            up[i] = gate.empty() ? gelu(up[i]) : up[i] * (gemma() ? gelu(gate[i]) : silu(gate[i]));
        }
        return product(blk + "ffn_down", up);
    }

    Row experts(const std::string& blk, const Row& x) const {
        const Row weight = softmax(product(blk + "ffn_gate_inp", x));
        std::vector<size_t> order(weight.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight[a] > weight[b]; });
        order.resize(static_cast<size_t>(m.integer("expert_used_count")));
        double sum = 0;
        for (const size_t e : order) {
            sum += weight[e];
        }
        Row out(x.size(), 0);
        for (const size_t e : order) {
            Row up = product(blk + "ffn_up_exps", x, e);
            const Row gate = product(blk + "ffn_gate_exps", x, e);
            for (size_t i = 0; i < up.size(); ++i) {
                up[i] *= silu(gate[i]);
            }
            const Row down = product(blk + "ffn_down_exps", up, e);
            for (size_t i = 0; i < out.size(); ++i) {
                out[i] += weight[e] / sum * down[i];
            }
        }
        return out;
    }

    Row norm(const std::string& name, const Row& x) const {
        const auto n = static_cast<double>(x.size());
        const bool layer = is("falcon");
        const double eps = m.number(layer ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 0);
        const double mean = layer ? std::accumulate(x.begin(), x.end(), 0.0) / n : 0;
        double square = 0;
        for (const double v : x) {
            square += (v - mean) * (v - mean);
        }
        const auto& w = m.tensors.at(name + ".weight").v;
        Row out;
        for (size_t i = 0; i < x.size(); ++i) {
            out.push_back((x[i] - mean) / std::sqrt(square / n + eps) * w[i]);
        }
        return with_bias(name, std::move(out));
    }

    Row product(const std::string& name, const Row& x, size_t expert = 0) const {
        const PlainTensor& w = m.tensors.at(name + ".weight");
        const auto inputs = static_cast<size_t>(w.ne[0]), outputs = static_cast<size_t>(w.ne[1]);
        Row out;
        for (size_t o = 0; o < outputs; ++o) {
            double sum = 0;
            for (size_t i = 0; i < inputs; ++i) {
                sum += x[i] * w.v[(expert * outputs + o) * inputs + i];
            }
            out.push_back(sum);
        }
        return with_bias(name, std::move(out));
    }

    Row with_bias(const std::string& name, Row x) const {
        const auto bias = m.tensors.find(name + ".bias");
        for (size_t i = 0; bias != m.tensors.end() && i < x.size(); ++i) {
            x[i] += bias->second.v[i];
        }
        return x;
    }

    const PlainModel& m;
    const int n_ctx_, width_, heads_, kv_heads_, head_, pairs_;
};

} // namespace

std::vector<double> plain_logits(const PlainModel& model, const std::vector<int32_t>& tokens, int n_ctx) {
    return Forward(model, n_ctx).logits(tokens);
}

} // namespace schedscope::test
