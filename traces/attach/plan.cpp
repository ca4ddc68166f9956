#include "traces/attach/plan.h"

#include <stdio.h>

namespace schedscope::attach {

namespace {

constexpr int known_flags = 15, weights_usage = 1;
constexpr uint8_t runs_it = 1, takes_it_over = 2; ///< of an answer
constexpr int n_params = 16, max_src = 10;        // of a record
constexpr int64_t most_bytes = int64_t{1} << 46;  ///< of a tensor

const Tensor* source_of(const Layout& at, const Tensor* t, int slot) {
    return read_at<const Tensor*>(t, at.src + slot * pointer_bytes);
}

/// Reads a graph and writes it down.
class GraphRecord {
public:
    explicit GraphRecord(PlanCall& call)
        : s_(*call.scheduler), ggml_(*s_.ggml), at_(ggml_.at), plan_(s_.plan), graph_(call.graph) {}

    /// Null: done; else what is not as it should be.
    const char* run() {
        plan_.n_nodes = read_at<int32_t>(graph_, at_.n_nodes);
        plan_.n_leafs = read_at<int32_t>(graph_, at_.n_leafs);
        plan_.nodes = read_at<Tensor**>(graph_, at_.nodes);
        plan_.graph = graph_;
        if (!collect()) {
            return "memory";
        }
        find_batch();
        const int64_t number = next_number();
        plan_.evaluation = number;
        plan_.block.begin(number);
        for (const TensorBefore& known : plan_.tensors) {
            plan_.buffer_types.add(type_of(known.tensor));
        }
        // Numbers that the block names are told first.
        if (plan_.buffer_types.size() != plan_.tensors.size() ||
            !Session::settle(ggml_, s_.backends, s_.numbers, s_.n_backends)) {
            plan_.block.forget();
            return nullptr;
        }
        SCHEDSCOPE_PUT(plan_.block, graph, number, plan_.tensors.size());
        for (int i = 0; i < plan_.tensors.size(); ++i) {
            put_tensor(i);
        }
        put_answers();
        return nullptr;
    }

private:
    bool add(Tensor* t) {
        plan_.ids.put(t, plan_.tensors.size());
        TensorBefore* const before = plan_.tensors.add_unset();
        if (before == nullptr) {
            return false;
        }
        before->tensor = t;
        int n_src = at_.n_src;
        while (n_src > 0 && source_of(at_, t, n_src - 1) == nullptr) {
            --n_src;
        }
        before->n_src = n_src;
        for (int slot = 0; slot < n_src; ++slot) {
            before->src[slot] = source_of(at_, t, slot);
        }
        before->had_memory = buffer_of(t) != nullptr;
        return true;
    }

    /// Leafs, nodes, then what these are views of or read and no list has.
    bool collect() {
        auto* const leafs = read_at<Tensor**>(graph_, at_.leafs);
        const int n = plan_.n_leafs + plan_.n_nodes;
        plan_.tensors.clear();
        plan_.splits.clear();
        plan_.copies.clear();
        plan_.other_stages.clear();
        plan_.buffer_types.clear();
        plan_.operators.clear();
        plan_.types.clear();
        if (!plan_.ids.clear(4 * n + 256)) { // with views' sources and copies
            return false;
        }
        for (int i = 0; i < n; ++i) {
            if (!add(i < plan_.n_leafs ? leafs[i] : plan_.nodes[i - plan_.n_leafs])) {
                return false;
            }
        }
        for (int i = 0; i < plan_.tensors.size(); ++i) {
            const int n_reads = i < n ? plan_.tensors[i].n_src : 0; // nothing asks what those beside the graph are made of
            for (int slot = -1; slot < n_reads; ++slot) {
                const Tensor* const source =
                    slot < 0 ? read_at<const Tensor*>(plan_.tensors[i].tensor, at_.view_src) : plan_.tensors[i].src[slot];
                if (source != nullptr && plan_.ids.find(source) < 0 && plan_.tensors.size() < 2 * n + 64 &&
                    !add(const_cast<Tensor*>(source))) { // NOLINT: ggml's own are not const
                    return false;
                }
            }
        }
        return true;
    }

    const char* name_of(const Tensor* t) const { return reinterpret_cast<const char*>(t) + at_.name; }

    /// How many tokens it is for, by the names that llama.cpp gives its inputs; for some years it gave them none, and then by
    /// what reads the embeddings.
    void find_batch() {
        plan_.n_tokens = plan_.n_outputs = SSCP_UNKNOWN_32;
        for (int i = 0; i < plan_.n_leafs; ++i) {
            const Tensor* const t = plan_.tensors[i].tensor;
            if (strcmp(name_of(t), "inp_tokens") == 0) {
                plan_.n_tokens = static_cast<int>(read_at<int64_t>(t, at_.ne));
            } else if (strcmp(name_of(t), "inp_out_ids") == 0) {
                plan_.n_outputs = static_cast<int>(read_at<int64_t>(t, at_.ne));
            }
        }
        for (int i = 0; i < plan_.n_nodes && plan_.n_tokens < 0; ++i) {
            const TensorBefore& node = plan_.tensors[plan_.n_leafs + i];
            const Tensor *const table = node.source(0), *const ids = node.source(1);
            if (table != nullptr && ids != nullptr && strcmp(name_of(table), "token_embd.weight") == 0 &&
                strcmp(ggml_.call.ggml_op_name(read_at<int32_t>(node.tensor, at_.op)), "GET_ROWS") == 0) {
                plan_.n_tokens = static_cast<int>(read_at<int64_t>(ids, at_.ne));
            }
        }
        plan_.kind = plan_.n_tokens < 1 ? "other" : plan_.n_tokens == 1 ? "decode" : "prefill";
    }

    Buffer* buffer_of(const Tensor* t) const {
        const auto* const source = read_at<const Tensor*>(t, at_.view_src);
        return read_at<Buffer*>(source != nullptr ? source : t, at_.buffer);
    }
    int type_of(const Tensor* t) {
        auto* const buffer = read_at<Buffer*>(t, at_.buffer);
        if (buffer == nullptr) {
            return -1;
        }
        if (buffer != last_buffer_) {
            last_buffer_ = buffer;
            last_type_ = Session::buffer_type(ggml_, ggml_.call.ggml_backend_buffer_get_type(buffer));
            last_usage_ = ggml_.call.ggml_backend_buffer_get_usage(buffer);
        }
        return last_type_;
    }

    uint32_t word(List<SharedWord>& words, int number, const char* (*name)(int)) {
        for (const SharedWord& known : words) {
            if (known.number == number) {
                return known.text;
            }
        }
        const uint32_t text = plan_.block.text(name(number));
        words.add({number, text});
        return text;
    }

    void put_tensor(int id) {
        const Tensor* const t = plan_.tensors[id].tensor;
        const int n = plan_.n_leafs + plan_.n_nodes;
        sent::tensor& r = row_;
        memcpy(r.ne, reinterpret_cast<const char*>(t) + at_.ne, sizeof r.ne);
        memcpy(r.nb, reinterpret_cast<const char*>(t) + at_.nb, sizeof r.nb);
        r.view_source = plan_.ids.find(read_at<const Tensor*>(t, at_.view_src));
        r.view_offset = r.view_source < 0 ? 0 : read_at<int64_t>(t, at_.view_offset);
        r.name = plan_.block.text(name_of(t));
        r.op = word(plan_.operators, read_at<int32_t>(t, at_.op), ggml_.call.ggml_op_name);
        r.type = word(plan_.types, read_at<int32_t>(t, at_.type), ggml_.call.ggml_type_name);
        r.flags = read_at<int32_t>(t, at_.flags) & known_flags;
        r.buffer_type = plan_.buffer_types[id];
        r.usage = r.buffer_type < 0 ? 0 : usage_text(t);
        r.user_backend = id < n && n <= static_cast<int>(s_.graph_size)
                             ? s_.number_of(ggml_.call.ggml_backend_sched_get_tensor_backend(s_.object, plan_.tensors[id].tensor))
                             : -1;
        r.leaf = id < plan_.n_leafs ? id : -1;
        r.node = id >= plan_.n_leafs && id < n ? id - plan_.n_leafs : -1;
        const TensorBefore& before = plan_.tensors[id];
        memset(r.src, -1, sizeof r.src);
        for (int i = 0; i < before.n_src && i < max_src; ++i) {
            r.src[i] = plan_.ids.find(before.src[i]);
        }
        memcpy(r.params, reinterpret_cast<const char*>(t) + at_.params, sizeof r.params);
        for (int32_t& value : r.params) {
            value = value == SSCP_UNKNOWN_32 ? 0 : value; // the bits of -0.0
        }
        plan_.block.put(Kind::tensor, r);
    }

    uint32_t usage_text(const Tensor* t) {
        enum Usage { any, weights = weights_usage, compute };
        type_of(t);
        const int usage = last_usage_ == weights || last_usage_ == compute ? last_usage_ : any;
        if (usage_texts_[usage] == 0) {
            usage_texts_[usage] = plan_.block.text(usage == weights ? "weights" : usage == compute ? "compute" : "any");
        }
        return usage_texts_[usage];
    }

    /// Who runs what: asked about every tensor of the lists, although the scheduler does without some of the answers.
    void put_answers() {
        const int n = plan_.n_leafs + plan_.n_nodes, n_tensors = plan_.tensors.size();
        plan_.answers.resize(n_tensors * s_.n_backends, SSCP_UNKNOWN_U8);
        for (int b = 0; b < s_.n_backends; ++b) {
            for (int i = 0; i < n; ++i) {
                const bool runs = ggml_.call.ggml_backend_supports_op(s_.backends[b], plan_.tensors[i].tensor);
                plan_.answers[b * n_tensors + i] = runs ? runs_it : 0;
            }
        }
        for (int i = plan_.n_leafs; i < n; ++i) {
            ask_who_takes_over(i);
        }
        for (int b = 0; b < s_.n_backends; ++b) {
            const sent::capability r = {s_.numbers[b]};
            plan_.block.put_list(Kind::capability, &r, sizeof r, plan_.answers.begin() + b * n_tensors,
                                 static_cast<size_t>(n_tensors));
        }
    }

    /// Asked where the scheduler may ask and nowhere else: there are builds where a backend that is never asked can't answer.
    void ask_who_takes_over(int id) {
        const Tensor* const t = plan_.tensors[id].tensor;
        const int n_tensors = plan_.tensors.size(), last = s_.n_backends - 1;
        bool may_be_asked = false;
        const TensorBefore& before = plan_.tensors[id];
        for (int slot = 0; slot < before.n_src && !may_be_asked && last > 0; ++slot) {
            const Tensor* const source = before.src[slot];
            Buffer* const buffer = source == nullptr ? nullptr : buffer_of(source);
            if (buffer == nullptr || ggml_.call.ggml_backend_buffer_get_usage(buffer) != weights_usage) {
                continue;
            }
            BufferType* const type = ggml_.call.ggml_backend_buffer_get_type(buffer);
            int first = 0; // that can run it where the weight lies
            while (first < last && (plan_.answers[first * n_tensors + id] != runs_it ||
                                    !ggml_.call.ggml_backend_supports_buft(s_.backends[first], type))) {
                ++first;
            }
            may_be_asked = first == last;
        }
        for (int b = 0; b < last && may_be_asked; ++b) {
            uint8_t& answer = plan_.answers[b * n_tensors + id];
            if (answer == runs_it && ggml_.call.ggml_backend_offload_op(s_.backends[b], t)) {
                answer = runs_it | takes_it_over;
            }
        }
    }

    Scheduler& s_;
    const GgmlCopy& ggml_;
    const Layout& at_;
    Plan& plan_;
    Graph* graph_;
    Buffer* last_buffer_ = nullptr;
    int last_type_ = -1, last_usage_ = 0;
    uint32_t usage_texts_[3] = {};
    sent::tensor row_ = {}; ///< every field is set for each tensor
};

/// In the order that ggml gave the nodes.
bool is_view(const GgmlCopy& ggml, const Tensor* t) {
    const char* const name = ggml.call.ggml_op_name(read_at<int32_t>(t, ggml.at.op));
    return strcmp(name, "NONE") == 0 || strcmp(name, "RESHAPE") == 0 || strcmp(name, "VIEW") == 0 ||
           strcmp(name, "PERMUTE") == 0 || strcmp(name, "TRANSPOSE") == 0;
}

Tensor* node_of(const Plan& plan, int i) { return plan.tensors[plan.n_leafs + i].tensor; }

void put_splits(Scheduler& s) {
    Plan& plan = s.plan;
    for (int i = 0; i < plan.splits.size(); ++i) {
        SplitBounds& split = plan.splits[i];
        split.backend = -1;
        for (int n = split.first; n < split.end && split.backend < 0; ++n) {
            if (!is_view(*s.ggml, node_of(plan, n))) {
                split.backend = s.place_of(s.ggml->call.ggml_backend_sched_get_tensor_backend(s.object, node_of(plan, n)));
            }
        }
        SCHEDSCOPE_PUT(plan.block, real_split, i, split.backend < 0 ? -1 : s.numbers[split.backend], split.first, split.end);
    }
}

/// `found(split, node, slot, original, copy)` for each source that is another tensor now: a copy.
template <typename F> void for_each_copied_source(const Scheduler& s, const F& found) {
    const Plan& plan = s.plan;
    const Layout& at = s.ggml->at;
    for (int i = 0; i < plan.splits.size(); ++i) {
        for (int n = plan.splits[i].first; n < plan.splits[i].end; ++n) {
            const TensorBefore& node = plan.tensors[plan.n_leafs + n];
            for (int slot = 0; slot < node.n_src; ++slot) {
                const auto* const now = source_of(at, node.tensor, slot);
                if (now == node.src[slot] || now == nullptr) {
                    continue;
                }
                const int original = plan.ids.find(node.src[slot]);
                if (original >= 0) {
                    found(i, n, slot, original, now);
                }
            }
        }
    }
}

/// The first node that reads a copy makes it an input of its split.
void put_sources(Scheduler& s) {
    Plan& plan = s.plan;
    for_each_copied_source(s, [&](int i, int n, int slot, int original, const Tensor* copy) {
        if (plan.ids.find(copy) < 0 && plan.copies.size() < 2 * plan.n_nodes + 64) {
            plan.ids.put(copy, plan.tensors.size() + plan.copies.size());
            plan.copies.add({copy, original, i, false, 0, 0, 0});
            SCHEDSCOPE_PUT(plan.block, real_input, i, original);
        }
        const int backend = plan.splits[i].backend;
        SCHEDSCOPE_PUT(plan.block, real_source, plan.n_leafs + n, slot, original, backend < 0 ? -1 : s.numbers[backend],
                       plan.stage);
    });
}

/// The stage whose copies are read: with several, a copy's name ends with it, unless it is too long.
int stage_of_copies(const Scheduler& s) {
    const int n_stages = s.ggml->call.ggml_backend_sched_get_n_copies(s.object);
    int stage = -1;
    if (n_stages < 2) {
        return stage;
    }
    for_each_copied_source(s, [&](int i, int, int, int original, const Tensor* copy) {
        for (int c = 0; c < n_stages && stage < 0 && s.plan.splits[i].backend >= 0; ++c) {
            char name[256];
            snprintf(name, sizeof name, "%s#%s#%d", s.ggml->call.ggml_backend_name(s.backends[s.plan.splits[i].backend]),
                     s.ggml->call.ggml_get_name(s.plan.tensors[original].tensor), c);
            stage = strcmp(name, s.ggml->call.ggml_get_name(copy)) == 0 ? c : -1;
        }
    });
    return stage;
}

/// The graph that the allocator gets begins, where there are several stages, with leafs that are their copies: the stages of one
/// tensor side by side, among them the copy that is read, or the tensor itself where it is kept once a stage.
void find_other_stages(Scheduler& s, const Graph* copy) {
    Plan& plan = s.plan;
    const Layout& at = s.ggml->at;
    const int n_stages = s.ggml->call.ggml_backend_sched_get_n_copies(s.object);
    auto* const leafs = read_at<Tensor**>(copy, at.leafs);
    const int n = n_stages < 2 ? 0 : read_at<int32_t>(copy, at.n_leafs) - plan.n_leafs;
    for (int first = 0; first + n_stages <= n; first += n_stages) {
        for (int c = 0; c < n_stages && plan.stage < 0; ++c) { // where no copy is read
            plan.stage = plan.ids.find(leafs[first + c]) >= 0 ? c : -1;
        }
        const int read = plan.stage < 0 ? -1 : plan.ids.find(leafs[first + plan.stage]), index = read - plan.tensors.size();
        if (read < 0 || index >= plan.copies.size()) {
            return; // not as it should be: then no place of theirs is told, which the verdict says
        }
        const int split = index < 0 ? -1 : plan.splits[plan.copies[index].split].backend;
        const int tensor = index < 0 ? read : plan.copies[index].tensor;
        const int backend =
            index >= 0 ? (split < 0 ? -1 : s.numbers[split])
                       : s.number_of(s.ggml->call.ggml_backend_sched_get_tensor_backend(s.object, plan.tensors[read].tensor));
        for (int stage = 0; stage < n_stages; ++stage) {
            if (stage != plan.stage) {
                plan.other_stages.add({leafs[first + stage], tensor, backend, stage});
            }
        }
    }
}

} // namespace

void record_graph(PlanCall& call) {
    Scheduler& s = *call.scheduler;
    call.looked_at = true;
    end_evaluation(s, 0);
    s.plan.sent = s.plan.ran = false;
    s.plan.block.forget();
    call.has_graph = call.has_result = call.has_keeps = false;
    const char* wrong = contradiction(*s.ggml, call.graph);
    wrong = wrong != nullptr ? wrong : GraphRecord(call).run();
    if (wrong != nullptr) {
        s.plan.block.forget();
        give_up(s, wrong);
        return;
    }
    if (!s.plan.block.begun()) {
        return;
    }
    Plan& plan = s.plan;
    plan.kind = call.is_reserve ? "reserve" : plan.kind;
    SCHEDSCOPE_PUT(plan.block, evaluation_begin, SSCP_UNKNOWN_64, plan.block.text(plan.kind), 0,
                   call.is_reserve ? 0 : is_observed(s), plan.n_tokens, plan.n_outputs);
    SCHEDSCOPE_PUT(plan.block, plan_begin, plan.evaluation, s.ggml->call.ggml_backend_sched_get_n_copies(s.object), s.op_offload);
    for (int i = 0; i < s.n_backends; ++i) {
        SCHEDSCOPE_PUT(plan.block, plan_backend, s.number, i, s.numbers[i]);
    }
    call.has_graph = true;
}

void record_split(PlanCall& call, Graph* graph, int first, int end) {
    if (call.has_graph && !call.has_result && graph == call.graph) {
        call.scheduler->plan.splits.add({first, end, -1});
    }
}

void record_split_view(PlanCall& call, const Graph* view) {
    if (!call.has_graph || call.has_result) {
        return;
    }
    const Plan& plan = call.scheduler->plan;
    const Layout& at = call.scheduler->ggml->at;
    const auto begin = reinterpret_cast<uintptr_t>(plan.nodes), first = read_at<uintptr_t>(view, at.nodes);
    const int n = read_at<int32_t>(view, at.n_nodes);
    const uintptr_t place = (first - begin) / static_cast<uintptr_t>(pointer_bytes);
    if (first < begin || n < 0 || place + static_cast<uintptr_t>(n) > static_cast<uintptr_t>(plan.n_nodes)) {
        return; // of another graph: a backend has some of its own
    }
    const int at_node = static_cast<int>(place), n_splits = plan.splits.size();
    if (n_splits == 0 || plan.splits[n_splits - 1].first != at_node) {
        record_split(call, call.graph, at_node, at_node + n);
    }
}

void record_result(PlanCall& call) {
    Scheduler& s = *call.scheduler;
    Plan& plan = s.plan;
    if (!call.has_graph || call.has_result || s.inert) {
        return;
    }
    call.has_result = true;
    if (plan.splits.size() != s.ggml->call.ggml_backend_sched_get_n_splits(s.object)) {
        plan.block.forget();
        give_up(s, "the number of splits");
        return;
    }
    for (int i = 0; i < plan.n_leafs + plan.n_nodes; ++i) {
        Backend* const backend = s.ggml->call.ggml_backend_sched_get_tensor_backend(s.object, plan.tensors[i].tensor);
        SCHEDSCOPE_PUT(plan.block, real_assign, i, s.number_of(backend));
    }
    put_splits(s);
    plan.stage = stage_of_copies(s);
    put_sources(s);
    for (int i = 0; i < plan.n_nodes; ++i) {
        if (plan.nodes[i] != node_of(plan, i)) {
            SCHEDSCOPE_PUT(plan.block, real_order, i, plan.ids.find(plan.nodes[i]));
        }
    }
}

/// The allocator's graph has the program's nodes, and between them tensors of no operator: in front of a copy, what it is a copy
/// of; behind a node, what is kept until then.
void record_keeps(PlanCall& call, Graph* copy) {
    Scheduler& s = *call.scheduler;
    Plan& plan = s.plan;
    if (!call.has_result || call.has_keeps || !plan.block.begun()) {
        return;
    }
    call.has_keeps = true;
    find_other_stages(s, copy);
    const Layout& at = s.ggml->at;
    const int n = read_at<int32_t>(copy, at.n_nodes);
    auto* const nodes = read_at<Tensor**>(copy, at.nodes);
    const auto is_own = [&](int i) {
        const int id = plan.ids.find(nodes[i]);
        return id >= 0 && id < plan.tensors.size();
    };
    for (int i = 0, node = -1; i < n; ++i) {
        if (is_own(i)) {
            node = plan.ids.find(nodes[i]);
            continue;
        }
        if (i + 1 < n && !is_own(i + 1) && plan.ids.find(nodes[i + 1]) >= plan.tensors.size()) {
            ++i; // and the copy
            continue;
        }
        for (int slot = 0; slot < at.n_src && node >= 0; ++slot) {
            const int kept = plan.ids.find(source_of(at, nodes[i], slot));
            if (kept >= 0) {
                SCHEDSCOPE_PUT(plan.block, real_keep, node, kept);
            }
        }
    }
}

void record_buffer(PlanCall& call, Buffer* buffer, BufferType* type, size_t size) {
    Scheduler& s = *call.scheduler;
    int number = 0, n = 0;
    for (const Chunk chunk : s.chunks) {
        number += chunk.type == type && chunk.round == s.allocations ? 1 : 0;
        if (chunk.type != type || chunk.round == s.allocations) {
            s.chunks[n++] = chunk;
        }
    }
    s.chunks.shorten(n);
    s.chunks.add({buffer, type, number, s.allocations});
    s.memory_unseen = false;
    if (call.has_graph && s.plan.block.begun()) {
        SCHEDSCOPE_PUT(s.plan.block, real_buffer, static_cast<int64_t>(size), Session::buffer_type(*s.ggml, type), number);
    }
}

void record_places(PlanCall& call) {
    Scheduler& s = *call.scheduler;
    Plan& plan = s.plan;
    if (!call.has_result || !plan.block.begun()) {
        return;
    }
    if (s.memory_unseen) {
        count(Count::unverified);
        return;
    }
    const Layout& at = s.ggml->at;
    Buffer* last = nullptr;
    uintptr_t base = 0;
    int type = -1, chunk = 0;
    const auto put = [&](const Tensor* t, sent::real_place r) {
        auto* const buffer = read_at<Buffer*>(t, at.buffer);
        const auto data = read_at<uintptr_t>(t, at.data);
        if (buffer == nullptr || data == 0 || read_at<const Tensor*>(t, at.view_src) != nullptr) {
            return;
        }
        BufferType* const of = s.ggml->call.ggml_backend_buffer_get_type(buffer);
        if (buffer != last) {
            last = buffer;
            base = reinterpret_cast<uintptr_t>(s.ggml->call.ggml_backend_buffer_get_base(buffer));
            type = Session::buffer_type(*s.ggml, of);
            chunk = 0;
            for (const Chunk& known : s.chunks) {
                chunk = known.buffer == buffer ? known.number : chunk;
            }
        }
        const auto size = static_cast<int64_t>(s.ggml->call.ggml_backend_buft_get_alloc_size(of, t));
        r.offset = static_cast<int64_t>(data - base);
        r.size = size < most_bytes ? size : -1;
        r.buffer_type = type;
        r.chunk = chunk;
        plan.block.put(Kind::real_place, r);
    };
    for (int i = 0; i < plan.tensors.size(); ++i) { // beside the lists as well: what is read gets a place
        if (!plan.tensors[i].had_memory) {
            put(plan.tensors[i].tensor, {0, 0, i, -1, -1, -1, 0, 0});
        }
    }
    for (int i = 0; i < plan.copies.size(); ++i) {
        put(plan.copies[i].copy, {0, 0, plan.tensors.size() + i, -1, -1, -1, 0, 0});
    }
    for (const StageCopy& other : plan.other_stages) {
        put(other.copy, {0, 0, -1, other.tensor, other.backend, other.stage, 0, 0});
    }
}

void send_plan(PlanCall& call, bool succeeded) {
    Scheduler& s = *call.scheduler;
    Plan& plan = s.plan;
    if (!call.has_graph || !plan.block.begun()) {
        return;
    }
    if (call.purpose == Purpose::memory && succeeded && !s.adopted) { // there are builds where its buffers are not seen
        SCHEDSCOPE_PUT(plan.block, real_memory, 1);
    }
    SCHEDSCOPE_PUT(plan.block, plan_end, succeeded ? 0 : plan.block.text("no memory for it"));
    if (call.is_reserve) {
        SCHEDSCOPE_PUT(plan.block, evaluation_end, 0, 0);
    }
    // A buffer's type may be new, and is told first.
    plan.sent = Session::settle(*s.ggml, s.backends, s.numbers, s.n_backends) && plan.block.commit();
    s.evaluation = plan.sent && !call.is_reserve ? plan.evaluation : -1;
}

} // namespace schedscope::attach
