#include "tests/support/plain/plain_encoder.h"

#include "runtime/gguf/writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

namespace schedscope::test {

namespace {

/// Rows of doubles.
struct Rows {
    int n = 0, width = 0;
    std::vector<double> v;

    Rows(int rows, int columns) : n(rows), width(columns), v(static_cast<size_t>(rows) * columns) {}
    double* operator[](int i) { return v.data() + static_cast<size_t>(i) * width; }
    const double* operator[](int i) const { return v.data() + static_cast<size_t>(i) * width; }
};

using Function = double (*)(double);
double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double gelu_quick(double x) { return x / (1 + std::exp(-1.702 * x)); }
double relu(double x) { return std::max(x, 0.0); }
double hard_sigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double hard_swish(double x) { return x * hard_sigmoid(x); }

class Forward {
public:
    explicit Forward(const PlainEncoder& e) : e_(e) {}

    Rows run(const std::vector<float>& planes, int width, int height) {
        nx_ = width / e_.patch_size;
        ny_ = height / e_.patch_size;
        Rows x = embedding(planes, width, height);
        if (has("v.pre_ln.weight")) {
            x = norm(x, "v.pre_ln");
        }
        std::vector<int> wanted = e_.feature_layers;
        if (wanted.empty()) {
            wanted.push_back(e_.n_layer);
        }
        std::vector<Rows> states = {x};
        for (int il = 0; il < *std::max_element(wanted.begin(), wanted.end()); ++il) {
            states.push_back(block(states.back(), il));
        }
        if (has("v.post_ln.weight")) {
            states.back() = norm(states.back(), "v.post_ln");
        }
        const int skip = has("v.class_embd") ? 1 : 0;
        Rows features(nx_ * ny_, static_cast<int>(wanted.size()) * e_.n_embd);
        for (int p = 0; p < features.n; ++p) {
            for (size_t f = 0; f < wanted.size(); ++f) {
                const double* row = states[static_cast<size_t>(wanted[f])][p + skip];
                std::copy_n(row, e_.n_embd, features[p] + f * static_cast<size_t>(e_.n_embd));
            }
        }
        return project(features);
    }

private:
    bool has(const std::string& name) const { return e_.tensors.contains(name); }
    const std::vector<float>& get(const std::string& name) const { return e_.tensors.at(name).v; }

    Rows linear(const Rows& x, const std::string& name) const {
        const auto& w = get(name + ".weight");
        const int out = static_cast<int>(w.size()) / x.width;
        Rows y(x.n, out);
        for (int i = 0; i < x.n; ++i) {
            for (int o = 0; o < out; ++o) {
                double sum = has(name + ".bias") ? get(name + ".bias")[static_cast<size_t>(o)] : 0;
                for (int k = 0; k < x.width; ++k) {
                    sum += x[i][k] * w[static_cast<size_t>(o) * x.width + k];
                }
                y[i][o] = sum;
            }
        }
        return y;
    }

    Rows norm(const Rows& x, const std::string& name) const {
        const auto &w = get(name + ".weight"), &b = get(name + ".bias");
        Rows y(x.n, x.width);
        for (int i = 0; i < x.n; ++i) {
            const double mean = std::accumulate(x[i], x[i] + x.width, 0.0) / x.width;
            double variance = 0;
            for (int k = 0; k < x.width; ++k) {
                variance += (x[i][k] - mean) * (x[i][k] - mean) / x.width;
            }
            for (int k = 0; k < x.width; ++k) {
                y[i][k] = (x[i][k] - mean) / std::sqrt(variance + e_.eps) * w[static_cast<size_t>(k)] + b[static_cast<size_t>(k)];
            }
        }
        return y;
    }

    static Rows each(Rows x, Function f) {
        std::transform(x.v.begin(), x.v.end(), x.v.begin(), f);
        return x;
    }

    static Rows add(Rows x, const Rows& y) {
        for (size_t i = 0; i < x.v.size(); ++i) {
            x.v[i] += y.v[i];
        }
        return x;
    }

    /// Which row of the learned positions belongs to patch (x, y).
    int position(int x, int y) const {
        if (e_.minicpmv_version == 0) {
            return y * nx_ + x;
        }
        const int grid = static_cast<int>(std::lround(std::sqrt(e_.tensors.at("v.position_embd.weight").ne[1])));
        // As published: the interval of [0, 1), cut into `grid`, that patch / patches falls into.
        const auto bucket = [grid](int i, int n) {
            int at = 0;
            while (at + 1 < grid && (at + 1) * n <= i * grid) {
                ++at;
            }
            return at;
        };
        return bucket(y, ny_) * grid + bucket(x, nx_);
    }

    Rows embedding(const std::vector<float>& planes, int width, int height) const {
        const int p = e_.patch_size, first = has("v.class_embd") ? 1 : 0;
        const auto& kernel = get("v.patch_embd.weight");
        const auto& positions = get("v.position_embd.weight");
        Rows x(nx_ * ny_ + first, e_.n_embd);
        const auto position_row = [&](int row, int o) { return positions[static_cast<size_t>(row) * e_.n_embd + o]; };
        for (int o = 0; o < e_.n_embd && first == 1; ++o) {
            x[0][o] = get("v.class_embd")[static_cast<size_t>(o)] + position_row(0, o);
        }
        for (int py = 0; py < ny_; ++py) {
            for (int px = 0; px < nx_; ++px) {
                for (int o = 0; o < e_.n_embd; ++o) {
                    double sum = has("v.patch_embd.bias") ? get("v.patch_embd.bias")[static_cast<size_t>(o)] : 0;
                    for (int c = 0; c < 3; ++c) {
                        for (int ky = 0; ky < p; ++ky) {
                            for (int kx = 0; kx < p; ++kx) {
                                sum += double{kernel[static_cast<size_t>(((o * 3 + c) * p + ky) * p + kx)]} *
                                       planes[static_cast<size_t>((c * height + py * p + ky) * width + px * p + kx)];
                            }
                        }
                    }
                    x[py * nx_ + px + first][o] = sum + position_row(position(px, py) + first, o);
                }
            }
        }
        return x;
    }

    static Rows attend(const Rows& q, const Rows& k, const Rows& v, int n_head) {
        const int d = q.width / n_head;
        Rows y(q.n, q.width);
        for (int head = 0; head < n_head; ++head) {
            for (int i = 0; i < q.n; ++i) {
                std::vector<double> score(static_cast<size_t>(k.n));
                for (int j = 0; j < k.n; ++j) {
                    score[static_cast<size_t>(j)] =
                        std::inner_product(q[i] + head * d, q[i] + (head + 1) * d, k[j] + head * d, 0.0) / std::sqrt(d);
                }
                const double most = *std::max_element(score.begin(), score.end());
                double sum = 0;
                for (double& s : score) {
                    sum += s = std::exp(s - most);
                }
                for (int j = 0; j < k.n; ++j) {
                    for (int c = head * d; c < (head + 1) * d; ++c) {
                        y[i][c] += score[static_cast<size_t>(j)] / sum * v[j][c];
                    }
                }
            }
        }
        return y;
    }

    Rows block(const Rows& in, int il) const {
        const std::string blk = "v.blk." + std::to_string(il) + ".";
        const Rows n1 = norm(in, blk + "ln1");
        const Rows attended =
            attend(linear(n1, blk + "attn_q"), linear(n1, blk + "attn_k"), linear(n1, blk + "attn_v"), e_.n_head);
        const Rows x = add(in, linear(attended, blk + "attn_out"));
        const Function f = e_.activation == "gelu" ? gelu : gelu_quick;
        return add(x, linear(each(linear(norm(x, blk + "ln2"), blk + "ffn_up"), f), blk + "ffn_down"));
    }

    /// Depthwise 3 × 3 with a border of zeros over rows in raster order.
    Rows depthwise(const Rows& x, int& nx, int& ny, const std::string& name, int stride) const {
        const auto& w = get(name);
        const int ox = (nx - 1) / stride + 1, oy = (ny - 1) / stride + 1;
        Rows y(ox * oy, x.width);
        for (int r = 0; r < y.n; ++r) {
            for (int c = 0; c < x.width; ++c) {
                for (int k = 0; k < 9; ++k) {
                    const int ix = r % ox * stride + k % 3 - 1, iy = r / ox * stride + k / 3 - 1;
                    if (ix >= 0 && ix < nx && iy >= 0 && iy < ny) {
                        y[r][c] += x[iy * nx + ix][c] * w[static_cast<size_t>(c) * 9 + k];
                    }
                }
            }
        }
        nx = ox;
        ny = oy;
        return y;
    }

    Rows bottleneck(const Rows& in, int& nx, int& ny, int number, int stride) const {
        const std::string at = "mm.model.mb_block." + std::to_string(number) + ".block.";
        Rows x = each(norm(depthwise(in, nx, ny, at + "0.0.weight", stride), at + "0.1"), hard_swish);
        Rows mean(1, x.width);
        for (int i = 0; i < x.n; ++i) {
            for (int c = 0; c < x.width; ++c) {
                mean[0][c] += x[i][c] / x.n;
            }
        }
        const Rows gate = each(linear(each(linear(mean, at + "1.fc1"), relu), at + "1.fc2"), hard_sigmoid);
        for (int i = 0; i < x.n; ++i) {
            for (int c = 0; c < x.width; ++c) {
                x[i][c] *= gate[0][c];
            }
        }
        return norm(linear(x, at + "2.0"), at + "2.1");
    }

    Rows project(const Rows& x) const {
        int nx = nx_, ny = ny_;
        if (e_.projector == "mlp" && has("mm.3.weight")) { // Yi-VL: linear, norm, GELU, linear, norm
            return norm(linear(each(norm(linear(x, "mm.0"), "mm.1"), gelu), "mm.3"), "mm.4");
        }
        if (e_.projector == "mlp") {
            const Rows first = linear(x, "mm.0");
            return has("mm.2.weight") ? linear(each(first, gelu), "mm.2") : first;
        }
        if (e_.projector == "ldp") {
            const Rows y = linear(each(linear(x, "mm.model.mlp.1"), gelu), "mm.model.mlp.3");
            const Rows first = add(y, bottleneck(y, nx, ny, 1, 1));
            return bottleneck(first, nx, ny, 2, 2);
        }
        if (e_.projector == "ldpv2") {
            const Rows y = linear(each(linear(x, "mm.model.mlp.0"), gelu), "mm.model.mlp.2");
            Rows pooled(nx / 2 * (ny / 2), y.width);
            for (int r = 0; r < pooled.n; ++r) {
                const int px = r % (nx / 2) * 2, py = r / (nx / 2) * 2;
                for (int c = 0; c < y.width; ++c) {
                    pooled[r][c] =
                        (y[py * nx + px][c] + y[py * nx + px + 1][c] + y[(py + 1) * nx + px][c] + y[(py + 1) * nx + px + 1][c]) /
                        4;
                }
            }
            nx /= 2;
            ny /= 2;
            Rows where = depthwise(pooled, nx, ny, "mm.model.peg.0.weight", 1);
            for (int r = 0; r < where.n; ++r) {
                for (int c = 0; c < where.width; ++c) {
                    where[r][c] += get("mm.model.peg.0.bias")[static_cast<size_t>(c)];
                }
            }
            return add(where, pooled);
        }
        return resample(x);
    }

    Rows resample(const Rows& x) const {
        const auto& query = e_.tensors.at("resampler.query");
        Rows q(static_cast<int>(query.ne[1]), static_cast<int>(query.ne[0]));
        q.v.assign(query.v.begin(), query.v.end());
        const Rows v = norm(linear(x, "resampler.kv"), "resampler.ln_kv");
        Rows k = v;
        const int quarter = k.width / 4;
        for (int p = 0; p < k.n; ++p) {
            for (int i = 0; i < quarter; ++i) {
                const double omega = 1 / std::pow(10000.0, static_cast<double>(i) / quarter);
                k[p][i] += std::sin(p % nx_ * omega);
                k[p][quarter + i] += std::cos(p % nx_ * omega);
                k[p][2 * quarter + i] += std::sin(p / nx_ * omega);
                k[p][3 * quarter + i] += std::cos(p / nx_ * omega);
            }
        }
        const int n_head = std::max(q.width / 128, 1);
        const Rows attended = attend(linear(norm(q, "resampler.ln_q"), "resampler.attn.q"), linear(k, "resampler.attn.k"),
                                     linear(v, "resampler.attn.v"), n_head);
        return linear(norm(linear(attended, "resampler.attn.out"), "resampler.ln_post"), "resampler.proj");
    }

    const PlainEncoder& e_;
    int nx_ = 0, ny_ = 0;
};

/// Makes tensors of random values.
class Maker {
public:
    Maker(PlainEncoder& e, uint32_t seed) : e_(e), random_(seed) {}

    void tensor(const std::string& name, std::vector<int64_t> ne, double size) {
        PlainTensor t{std::move(ne), {}};
        const int64_t n = std::accumulate(t.ne.begin(), t.ne.end(), int64_t{1}, std::multiplies<>());
        for (int64_t i = 0; i < n; ++i) {
            // Halfs hold these exactly, so that a file with half-precision kernels is the same model.
            const double v = std::uniform_real_distribution<double>(-size, size)(random_);
            t.v.push_back(static_cast<float>(std::round(v * 1024) / 1024));
        }
        e_.tensors[name] = std::move(t);
    }
    void linear(const std::string& name, int64_t in, int64_t out, bool bias = true) {
        tensor(name + ".weight", {in, out}, std::sqrt(3.0 / static_cast<double>(in)));
        if (bias) {
            tensor(name + ".bias", {out}, 0.3);
        }
    }
    void norm(const std::string& name, int64_t n) {
        tensor(name + ".weight", {n}, 0.5);
        for (float& v : e_.tensors[name + ".weight"].v) {
            v += 1;
        }
        tensor(name + ".bias", {n}, 0.3);
    }

private:
    PlainEncoder& e_;
    std::mt19937 random_;
};

void make_projector(PlainEncoder& e, Maker& make, const std::string& kind, int64_t in, int64_t out) {
    if (kind == "mlp-linear") {
        make.linear("mm.0", in, out);
    } else if (kind == "mlp_norm") {
        make.linear("mm.0", in, 40);
        make.norm("mm.1", 40);
        make.linear("mm.3", 40, out);
        make.norm("mm.4", out);
    } else if (e.projector == "mlp") {
        make.linear("mm.0", in, 40);
        make.linear("mm.2", 40, out);
    } else if (e.projector == "ldp") {
        make.linear("mm.model.mlp.1", in, out);
        make.linear("mm.model.mlp.3", out, out);
        for (const int number : {1, 2}) {
            const std::string at = "mm.model.mb_block." + std::to_string(number) + ".block.";
            make.tensor(at + "0.0.weight", {3, 3, 1, out}, 0.6);
            make.norm(at + "0.1", out);
            make.linear(at + "1.fc1", out, out / 4);
            make.linear(at + "1.fc2", out / 4, out);
            make.linear(at + "2.0", out, out, false);
            make.norm(at + "2.1", out);
        }
    } else if (e.projector == "ldpv2") {
        make.linear("mm.model.mlp.0", in, out);
        make.linear("mm.model.mlp.2", out, out);
        make.tensor("mm.model.peg.0.weight", {3, 3, out}, 0.6); // as files have it that dropped the dimension of 1
        make.tensor("mm.model.peg.0.bias", {out}, 0.3);
    } else {
        make.tensor("resampler.query", {out, 6}, 1);
        make.linear("resampler.kv", in, out, false);
        for (const char* name : {"q", "k", "v", "out"}) {
            make.linear(std::string("resampler.attn.") + name, out, out);
        }
        for (const char* name : {"q", "kv", "post"}) {
            make.norm(std::string("resampler.ln_") + name, out);
        }
        make.linear("resampler.proj", out, out, false);
    }
}

} // namespace

PlainEncoder random_encoder(const std::string& kind, uint32_t seed, int n_embd_text) {
    PlainEncoder e;
    e.projector = kind.substr(0, kind.find_first_of("-_"));
    e.swapped_names = kind == "mlp-swapped";
    if (kind == "mlp-gelu") {
        e.activation = "gelu";
    }
    if (kind.ends_with("-large")) { // heads of CLIP's length, and more patches than a tile of a kernel
        e.image_size = 182;
        e.patch_size = 14;
        e.n_embd = 128;
        e.n_ff = 320;
        e.n_head = 2;
    }
    if (kind == "mlp-features") {
        e.feature_layers = {0, 2};
    }
    if (kind == "resampler") {
        e.activation = "gelu";
        e.minicpmv_version = 3;
    }
    Maker make(e, seed);
    const bool has_class = kind != "mlp-siglip" && kind != "resampler";
    const int64_t n = e.n_embd, side = e.image_size / e.patch_size;
    make.tensor("v.patch_embd.weight", {e.patch_size, e.patch_size, 3, n}, 0.15);
    if (has_class) {
        make.tensor("v.class_embd", {n}, 1);
        make.norm("v.pre_ln", n);
    } else {
        make.tensor("v.patch_embd.bias", {n}, 0.3);
        make.norm("v.post_ln", n);
    }
    make.tensor("v.position_embd.weight", {n, kind == "resampler" ? 49 : side * side + (has_class ? 1 : 0)}, 0.5);
    for (int il = 0; il < e.n_layer; ++il) {
        const std::string blk = "v.blk." + std::to_string(il) + ".";
        make.norm(blk + "ln1", n);
        for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
            make.linear(blk + name, n, n);
        }
        make.norm(blk + "ln2", n);
        make.linear(blk + "ffn_up", n, e.n_ff);
        make.linear(blk + "ffn_down", e.n_ff, n);
    }
    make_projector(e, make, kind, n * static_cast<int64_t>(std::max<size_t>(e.feature_layers.size(), 1)), n_embd_text);
    return e;
}

namespace {

gguf::Writer writer_of(const PlainEncoder& e, Type kernels) {
    gguf::Writer w;
    const auto size = [&](const char* key, int v) { w.set(std::string("clip.vision.") + key, static_cast<uint32_t>(v)); };
    const auto floats = [](const std::array<double, 3>& v) {
        return std::vector<float>{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
    };
    w.set("general.architecture", "clip");
    w.set("clip.has_vision_encoder", true);
    w.set("clip.projector_type", e.projector.c_str());
    w.set("clip.use_gelu", e.activation != "quick");
    if (e.minicpmv_version > 0) {
        w.set("clip.minicpmv_version", int32_t{e.minicpmv_version});
    }
    size("image_size", e.image_size);
    size("patch_size", e.patch_size);
    size("embedding_length", e.n_embd);
    size("feed_forward_length", e.n_ff);
    size("projection_dim", 0);
    size("block_count", e.n_layer);
    size("attention.head_count", e.n_head);
    w.set("clip.vision.attention.layer_norm_epsilon", static_cast<float>(e.eps));
    w.set("clip.vision.image_mean", floats(e.mean));
    w.set("clip.vision.image_std", floats(e.std));
    const auto integers = [&](const char* key, const std::vector<int>& v) {
        if (!v.empty()) {
            w.set(std::string("clip.vision.") + key, std::vector<int32_t>(v.begin(), v.end()));
        }
    };
    integers("feature_layer", e.feature_layers);
    integers("image_grid_pinpoints", e.pinpoints);
    if (!e.merge_type.empty()) {
        w.set("clip.vision.mm_patch_merge_type", e.merge_type.c_str());
    }
    for (const auto& [name, tensor] : e.tensors) {
        std::string stored = name;
        if (const size_t at = name.find("ffn_"); e.swapped_names && at != std::string::npos) {
            stored = name.substr(0, at) +
                     (name.substr(at, 6) == "ffn_up" ? "ffn_down" + name.substr(at + 6) : "ffn_up" + name.substr(at + 8));
        }
        Shape ne{1, 1, 1, 1};
        std::copy(tensor.ne.begin(), tensor.ne.end(), ne.begin());
        w.add(stored, ne, tensor.v, tensor.ne.size() == 4 ? kernels : Type::F32);
    }
    return w;
}

} // namespace

std::shared_ptr<gguf::File> PlainEncoder::file(Type kernels) const {
    return std::make_shared<gguf::File>(gguf::File::from_bytes(writer_of(*this, kernels).to_bytes(), "encoder.gguf"));
}

void PlainEncoder::write(const std::string& path) const { writer_of(*this, Type::F32).write(path); }

PlainEncoder PlainEncoder::from(const gguf::File& file) {
    PlainEncoder e;
    const auto size = [&](const char* key) { return file.get_i32(std::string("clip.vision.") + key).value(); };
    e.image_size = size("image_size");
    e.patch_size = size("patch_size");
    e.n_embd = size("embedding_length");
    e.n_ff = size("feed_forward_length");
    e.n_layer = size("block_count");
    e.n_head = size("attention.head_count");
    e.eps = file.require_f32("clip.vision.attention.layer_norm_epsilon");
    for (size_t c = 0; c < 3; ++c) {
        e.mean[c] = file.require_f32_array("clip.vision.image_mean")[c];
        e.std[c] = file.require_f32_array("clip.vision.image_std")[c];
    }
    for (const gguf::FileTensor& t : file.tensors()) {
        if (t.type != Type::F32) {
            throw std::runtime_error("a tensor is not f32");
        }
        const auto* values = reinterpret_cast<const float*>(t.data);
        e.tensors[std::string(t.name)] = {{t.ne.begin(), t.ne.begin() + t.n_dims}, {values, values + t.bytes / sizeof(float)}};
    }
    return e;
}

int PlainEncoder::n_embd_text() const {
    for (const char* name : {"mm.4.bias", "mm.2.bias", "mm.0.bias", "mm.model.mlp.3.bias", "mm.model.mlp.2.bias"}) {
        if (const auto at = tensors.find(name); at != tensors.end()) {
            return static_cast<int>(at->second.v.size());
        }
    }
    return static_cast<int>(tensors.at("resampler.query").ne[0]);
}

std::vector<double> plain_rows(const PlainEncoder& e, const std::vector<float>& planes, int width, int height) {
    return Forward(e).run(planes, width, height).v;
}

} // namespace schedscope::test
