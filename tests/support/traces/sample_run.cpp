#include "tests/support/traces/sample_run.h"

#include <algorithm>

namespace schedscope::test {

Answer Answers::supports_op(BackendId backend, TensorId tensor) const {
    const TensorInfo& t = graph_.tensors[static_cast<size_t>(tensor)];
    if (backend + 1 == n_backends()) {
        return {};
    }
    if (t.op == Op::ARGSORT || t.op == Op::TOP_K) {
        return Answer::no(Refusal::op, "no kernel sorts");
    }
    if (t.op == Op::SOFT_MAX && (*t.ne)[0] > 4096) {
        return Answer::no(Refusal::size_limit, "rows are longer than 4096");
    }
    return {};
}

bool Answers::supports_buffer_type(BackendId backend, BufferTypeId type) const {
    return session_.backends[static_cast<size_t>(backend)].supports_buffer_type[static_cast<size_t>(type)] != 0;
}

bool Answers::wants_offload(BackendId backend, TensorId tensor) const {
    const TensorInfo& t = graph_.tensors[static_cast<size_t>(tensor)];
    return backend + 1 < n_backends() && t.op == Op::MUL_MAT && (*t.ne)[1] >= 32;
}

SessionInfo session(const std::vector<std::string>& backends) {
    SessionInfo info;
    for (const std::string& name : backends) {
        BackendInfo b;
        b.name = b.device = name;
        b.kind = name == "CPU" ? "cpu" : "gpu";
        b.description = "made up";
        b.memory_bytes = 1 << 30;
        b.default_buffer_type = static_cast<BufferTypeId>(info.buffer_types.size());
        info.buffer_types.push_back({name, name == "CPU", 32, -1});
        info.backends.push_back(b);
    }
    for (size_t b = 0; b < info.backends.size(); ++b) {
        info.backends[b].supports_buffer_type.assign(info.buffer_types.size(), 0);
        info.backends[b].supports_buffer_type[b] = 1;
    }
    info.facts = {{"model", "made-up.gguf"}, {"prompt", "Once upon a secret"}, {"architecture", "llama"}};
    info.settings.emplace();
    info.settings->n_layers = 6;
    info.settings->placement = {
        .n_gpu_layers = 5, .tensor_split = {0.1F, 3}, .overrides = {{"blk\\.1\\..*", "cpu"}}, .cache_on_host = true};
    info.settings->flash_attention_asked = FlashAttention::automatic;
    info.settings->flash_attention = true;
    info.settings->laid_out = {{Type::Q4_0, 16, 0, true}, {Type::F16, 8, 4096, false}};
    return info;
}

namespace {

class Builder {
public:
    OwnedGraph graph;

    TensorId add(Op op, const std::string& name, Shape ne, std::vector<TensorId> src) {
        TensorInfo t;
        t.op = op;
        t.name = graph.keep(name);
        t.ne = ne;
        t.nb = contiguous_strides(*t.type, ne);
        for (size_t i = 0; i < src.size(); ++i) {
            t.src[i] = src[i];
        }
        if (is_view_op(op)) {
            const TensorInfo& viewed = graph.tensors[static_cast<size_t>(src[0])];
            t.view_source = viewed.is_view() ? viewed.view_source : src[0];
        }
        const auto id = static_cast<TensorId>(graph.tensors.size());
        graph.tensors.push_back(t);
        (op == Op::NONE ? graph.leafs : graph.nodes).push_back(id);
        return id;
    }
    TensorInfo& at(TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }
};

} // namespace

OwnedGraph blocks(int n_blocks, int n_tokens, int n_backends) {
    Builder b;
    const int64_t n = n_tokens;
    const auto weight = [&](const std::string& name, Shape ne, int backend) {
        const TensorId id = b.add(Op::NONE, name, ne, {});
        b.at(id).usage = BufferUsage::weights;
        b.at(id).buffer_type = static_cast<BufferTypeId>(backend);
        return id;
    };
    const auto input = [&](const std::string& name, Shape ne) {
        const TensorId id = b.add(Op::NONE, name, ne, {});
        b.at(id).flags = flag_input;
        return id;
    };
    const TensorId tokens = input("inp_tokens", {n, 1, 1, 1});
    const TensorId positions = input("inp_pos", {n, 1, 1, 1});
    const TensorId mask = input("KQ_mask", {64, n, 1, 1});
    TensorId x =
        b.add(Op::GET_ROWS, "inp_embd", {64, n, 1, 1}, {weight("token_embd.weight", {64, 100, 1, 1}, n_backends - 1), tokens});
    for (int i = 0; i < n_blocks; ++i) {
        const std::string s = "-" + std::to_string(i), blk = "blk." + std::to_string(i) + ".";
        const int on = i * n_backends / n_blocks;
        const TensorId residual = x;
        x = b.add(Op::RMS_NORM, "norm" + s, {64, n, 1, 1}, {x});
        x = b.add(Op::MUL, "attn_norm" + s, {64, n, 1, 1}, {x, weight(blk + "attn_norm.weight", {64, 1, 1, 1}, on)});
        TensorId q = b.add(Op::MUL_MAT, "Qcur" + s, {64, n, 1, 1}, {weight(blk + "attn_q.weight", {64, 64, 1, 1}, on), x});
        const TensorId k = b.add(Op::MUL_MAT, "Kcur" + s, {64, n, 1, 1}, {weight(blk + "attn_k.weight", {64, 64, 1, 1}, on), x});
        q = b.add(Op::RESHAPE, "Qcur" + s + " (reshaped)", {16, 4, n, 1}, {q});
        q = b.add(Op::ROPE, "Qcur" + s, {16, 4, n, 1}, {q, positions});
        TensorId kq = b.add(Op::MUL_MAT, "kq" + s, {64, n, 4, 1}, {k, q});
        kq = b.add(Op::SOFT_MAX, "kq_soft_max" + s, {64, n, 4, 1}, {kq, mask});
        x = b.add(Op::RESHAPE, "kqv_out" + s, {64, n, 4, 1}, {kq});
        x = b.add(Op::MUL_MAT, "attn_out" + s, {64, n, 1, 1}, {weight(blk + "attn_output.weight", {64, 64, 1, 1}, on), x});
        x = b.add(Op::ADD, "ffn_inp" + s, {64, n, 1, 1}, {x, residual});
        x = b.add(Op::RMS_NORM, "norm" + s, {64, n, 1, 1}, {x}); // the name a second time
    }
    x = b.add(Op::MUL_MAT, "result_output", {100, n, 1, 1}, {weight("output.weight", {64, 100, 1, 1}, 0), x});
    b.at(x).flags = flag_output;
    b.add(Op::ARGSORT, "order", {100, n, 1, 1}, {x});
    return std::move(b.graph);
}

SampleRun::SampleRun(Recorder& recorder, SessionInfo info, int n_stages)
    : recorder_(recorder), info_(std::move(info)), n_stages_(n_stages) {
    recorder_.session(info_);
}

void SampleRun::begin(GraphKind kind, bool reused, int32_t n_tokens) {
    const EvaluationId id = next_evaluation_++;
    planned_in_ = reused ? planned_in_ : id;
    recorder_.set_evaluation(id);
    record::EvaluationBegin f;
    f.kind = kind;
    f.reused = reused;
    f.n_tokens = n_tokens;
    f.n_sequences = f.n_outputs = 1;
    f.planned_in = planned_in_;
    f.failed_check = reused || id == 0 ? 0 : recorder_.intern("n_tokens");
    recorder_.add(f);
    for (int32_t i = 0; i < n_tokens; ++i) {
        recorder_.add(record::UbatchToken{403 + i, 0, i, i + 1 == n_tokens});
    }
}

void SampleRun::end(const std::string& error) {
    recorder_.add(record::EvaluationEnd{!error.empty(), recorder_.intern(error)});
    recorder_.flush();
}

bool SampleRun::evaluate(OwnedGraph graph, GraphKind kind) {
    graph_ = std::move(graph);
    const TensorInfo& first = graph_.tensors.front();
    begin(kind, false, first.name == "inp_tokens" ? static_cast<int32_t>((*first.ne)[0]) : 3);
    fill_table(table_, info_, Answers(info_, graph_), static_cast<int32_t>(graph_.tensors.size()));
    recorder_.graph(next_graph_, graph_.view(), table_);
    PlanOptions options;
    options.n_stages = n_stages_;
    options.current_stage = stage_;
    options.graph_id = next_graph_++;
    options.session = &info_;
    stage_ = (stage_ + 1) % n_stages_;
    try {
        make_plan(graph_.view(), table_, options, carry_, plan_, &recorder_);
        optimise();
        planner_.place(graph_.view(), plan_, order_, table_, info_.buffer_types, &recorder_);
    } catch (const PlanError& error) {
        end(error.what());
        return false;
    }
    execute();
    choose_token();
    end("");
    return true;
}

void SampleRun::evaluate_again() {
    begin(GraphKind::decode, true, 1);
    execute();
    choose_token();
    end("");
}

/// As a backend might: exchanges neighbours that don't depend on each other, and fuses a norm with the product behind it.
void SampleRun::optimise() {
    recorder_.add(record::PassBegin{Pass::optimise});
    order_ = graph_.nodes;
    for (size_t s = 0; s < plan_.splits.size(); ++s) {
        const Split& split = plan_.splits[s];
        const auto index = static_cast<int32_t>(s);
        for (int32_t i = split.first_node; i + 1 < split.end_node; ++i) {
            TensorId &a = order_[static_cast<size_t>(i)], &b = order_[static_cast<size_t>(i) + 1];
            const TensorInfo& later = graph_.tensors[static_cast<size_t>(b)];
            if (std::find(later.src.begin(), later.src.end(), a) != later.src.end() || is_view_op(*later.op)) {
                continue;
            }
            std::swap(a, b);
            recorder_.add(record::Reorder{index, a, i + 1, i});
            recorder_.add(record::Reorder{index, b, i, i + 1});
            ++i;
        }
        for (int32_t i = split.first_node; i + 1 < split.end_node; ++i) {
            const TensorId a = order_[static_cast<size_t>(i)], b = order_[static_cast<size_t>(i) + 1];
            if (graph_.tensors[static_cast<size_t>(a)].op == Op::RMS_NORM &&
                graph_.tensors[static_cast<size_t>(b)].op == Op::MUL) {
                recorder_.add(record::Fusion{index, split.backend, i, 2, recorder_.intern("rms_norm_mul")});
            } else if (graph_.tensors[static_cast<size_t>(a)].op == Op::MUL_MAT && i % 7 == 0) {
                recorder_.add(record::NotFused{index, split.backend, a, b, recorder_.intern("the product is used twice")});
            }
        }
    }
    recorder_.add(record::PassEnd{Pass::optimise});
}

void SampleRun::execute() {
    recorder_.add(record::PassBegin{Pass::execute});
    for (size_t s = 0; s < plan_.splits.size(); ++s) {
        const Split& split = plan_.splits[s];
        const auto index = static_cast<int32_t>(s);
        const int64_t split_start = clock_;
        for (int32_t i = 0; i < split.n_inputs; ++i) {
            const TensorId input = plan_.split_inputs[static_cast<size_t>(split.first_input + i)];
            const Copy& copy = plan_.copies[static_cast<size_t>(plan_.find_copies(input, split.backend) + plan_.current_stage)];
            record::Transfer f;
            f.split = index;
            f.tensor = input;
            f.copy = copy.id;
            f.from = plan_.assignments[static_cast<size_t>(input)].backend;
            f.to = split.backend;
            f.bytes = 1024;
            f.start_ns = clock_;
            f.end_ns = clock_ += 50;
            recorder_.add(f);
        }
        KernelList kernels;
        std::vector<KernelSpan> spans;
        for (int32_t i = split.first_node; i < split.end_node; ++i) {
            const TensorId node = order_[static_cast<size_t>(i)];
            if (!is_view_op(*graph_.tensors[static_cast<size_t>(node)].op)) {
                const StringId name = recorder_.intern(op_name(*graph_.tensors[static_cast<size_t>(node)].op));
                kernels.push_back({node, node, 1, name, 4096, 8192});
                spans.push_back({clock_, clock_ + 100});
                clock_ += 100;
            }
        }
        SplitPart part;
        part.split = index;
        part.backend = split.backend;
        if (kernel_times != KernelTimes::none) {
            part.start_ns = split_start;
            part.end_ns = clock_;
        }
        part.kernels = kernels.empty() ? nullptr : std::make_shared<const KernelList>(kernels);
        part.count = static_cast<int32_t>(kernels.size());
        if (kernel_times == KernelTimes::kernels) {
            part.times = spans;
        }
        recorder_.add(part);
    }
    recorder_.add(record::Wait{-1, 0, clock_, clock_ + 10});
    recorder_.add(record::PassEnd{Pass::execute});
}

void SampleRun::choose_token() {
    recorder_.add(record::Sample{0, 0, recorder_.intern("top_k"), 0, 40});
    recorder_.add(record::Sample{0, no_backend, recorder_.intern("dist"), recorder_.intern("needs a random number"), 1});
    recorder_.add(record::NextToken{0, 403, next_evaluation_, recorder_.intern(" secret"), 40, 160});
}

} // namespace schedscope::test
