#include "inspector/cli/run/model_graphs.h"

#include "runtime/backend/registry.h"
#include "runtime/session/generate.h"
#include "runtime/session/model_header.h"
#include "traces/store/live_store.h"

#include <algorithm>
#include <map>
#include <utility>

namespace schedscope {

namespace {

/// Dry runs on the CPU alone: what devices there are changes no graph.
class BuiltGraphs final : public ModelGraphs {
public:
    explicit BuiltGraphs(const std::string& path) {
        options_.model = path;
        options_.devices = "cpu";
        options_.header_only = true;
        file_ = open_models(options_).text;
        const Session session(registry_, file_, options_);
        token_bytes_ = session.model().hparams().n_embd * int64_t{sizeof(float)};
        n_ctx_train_ = session.model().hparams().n_ctx_train;
        models_ = std::make_shared<const std::vector<ModelHeader>>(1, header_of(*file_));
    }

    int64_t token_bytes() const override { return token_bytes_; }
    int32_t n_ctx_train() const override { return n_ctx_train_; }
    std::shared_ptr<const std::vector<ModelHeader>> models() const override { return models_; }

    const std::vector<const OwnedGraph*>& graphs(int32_t n_tokens, int32_t n_cells) override {
        const auto [at, is_new] = built_.try_emplace({n_tokens, n_cells});
        if (is_new) {
            build(n_tokens, n_cells, at->second);
        }
        return at->second.graphs;
    }

private:
    struct Built {
        LiveStore store;
        std::vector<const OwnedGraph*> graphs;
    };

    /// A prompt, and a decode behind a prompt that fills the cells. Their alternatives have flash attention the other way.
    /// llama.cpp reserves for prompts with a row of logits for each token.
    void build(int32_t n_tokens, int32_t n_cells, Built& built) {
        RunOptions options = options_;
        options.n_ctx = std::max(n_cells, n_tokens);
        options.n_ubatch = options.n_batch = std::max(n_tokens, n_tokens == 1 ? n_cells : 1);
        Session session(registry_, file_, options, &built.store);
        const int32_t n_prompt = n_tokens > 1 ? n_tokens : n_cells - 1;
        GenerateRequest request;
        request.prompts.push_back({0, std::vector<Token>(n_prompt, 1)});
        request.n_predict = n_prompt < options.n_ctx ? 1 : 0;
        plan_generation(session, request);
        if (n_tokens > 1) {
            request.all_logits = true;
            request.n_predict = 0;
            plan_generation(session, request);
        }
        for (GraphId id = 0; id < built.store.n_graphs(); ++id) {
            built.graphs.push_back(&built.store.graph(id));
        }
    }

    RunOptions options_;
    Registry registry_;
    std::shared_ptr<const gguf::File> file_;
    int64_t token_bytes_ = 0;
    int32_t n_ctx_train_ = 0;
    std::shared_ptr<const std::vector<ModelHeader>> models_;
    std::map<std::pair<int32_t, int32_t>, Built> built_;
};

} // namespace

std::unique_ptr<ModelGraphs> graphs_of_model(const std::string& path) { return std::make_unique<BuiltGraphs>(path); }

} // namespace schedscope
