#include "traces/replay/profile/recorded_profile.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/profile/op_form.h"
#include "traces/store/reading/reader.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace schedscope {

namespace {

class RecordedProfile final : public DeviceProfile {
public:
    RecordedProfile(std::shared_ptr<const RecordSource> source, BackendId backend)
        : source_(std::move(source)), session_(source_->session()), backend_(session_.backends[backend]),
          recorded_by_us_(session_.settings && session_.models != nullptr),
          is_ours_(recorded_by_us_ && !backend_.keeps_order.value_or(false)), min_batch_(offload_min_batch(session_)) {
        if (backend_.default_buffer_type && is_index(*backend_.default_buffer_type, session_.buffer_types)) {
            memory_ = session_.buffer_types[*backend_.default_buffer_type];
        } else {
            memory_.is_host = backend_.kind == "cpu";
        }
        find_host_memory();
        for (GraphId g = 0; g < source_->n_graphs(); ++g) {
            take(source_->graph(g), source_->answers(g), backend);
        }
    }

    bool is_empty() const noexcept { return asked_.empty(); }

    const BackendInfo& backend() const override { return backend_; }
    const BufferTypeInfo& memory() const override { return memory_; }
    bool uses_host_memory() const override { return uses_host_memory_; }
    bool is_ours() const override { return is_ours_; }

    Answer supports_op(const OpQuestion& question) const override {
        const OpForm asked(question);
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] = answered_.try_emplace(asked.exact);
        if (is_new) {
            at->second = answer(question, asked);
        }
        return at->second;
    }

    bool wants_offload(const OpQuestion& question, int64_t min_batch) const override {
        const OpForm asked(question);
        const int64_t batch = offload_batch(question.node->op.value_or(Op::NONE), question.node->ne.value_or(Shape{}));
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] = taken_over_.try_emplace({asked.exact, min_batch}, false);
        if (is_new) {
            ProfileCounts uncounted;
            at->second = offload(asked, batch, min_batch, question.reads_host_weight ? counts_ : uncounted);
        }
        return at->second;
    }

    ProfileCounts counts() const override {
        const std::lock_guard lock(mutex_);
        return counts_;
    }

private:
    /// A question that the device was asked.
    struct Asked {
        OpForm form;
        Answer answer;
        int64_t batch = 0;
        std::optional<bool> offload; ///< nothing: it was not asked whether it takes the work over
    };

    /// What answers tell of one at another batch: a "no" below the batch from which on work is taken over tells nothing.
    struct Takeovers {
        bool any = false, takes = false, refuses = false, smaller_was = false, larger_was_not = false;

        void take(const Asked& asked, int64_t batch, int64_t min_batch) {
            any |= asked.offload.has_value();
            takes |= asked.offload == true;
            refuses |= asked.offload == false && asked.batch >= min_batch;
            smaller_was |= asked.offload == true && asked.batch <= batch;
            larger_was_not |= asked.offload == false && asked.batch >= batch;
        }
        bool anything() const noexcept { return takes || refuses; }
    };

    /// It can use memory that the CPU computes in.
    void find_host_memory() {
        for (size_t t = 0; t < std::min(backend_.supports_buffer_type.size(), session_.buffer_types.size()); ++t) {
            const bool is_cpus = session_.backends.back().default_buffer_type == narrow<BufferTypeId>(t);
            uses_host_memory_ |= backend_.supports_buffer_type[t] != 0 && is_cpus && session_.buffer_types[t].is_host;
        }
    }

    void take(const OwnedGraph& graph, const CapabilityTable& answers, BackendId backend) {
        for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
            const TensorInfo& t = graph.tensors[id];
            if (!answers.has(backend, id) || !t.op || !t.type || !t.ne || !t.nb ||
                answers.op_answer(backend, id).reason == Refusal::not_asked) {
                continue;
            }
            const OpQuestion question = OpQuestion::about(graph.view(), id, session_.buffer_types);
            OpForm form(question);
            const auto [at, is_new] = by_exact_.try_emplace(form.exact, nullptr);
            if (is_new) {
                at->second = &asked_.emplace_back(
                    Asked{std::move(form), answers.op_answer(backend, id), offload_batch(*t.op, *t.ne), std::nullopt});
                by_form_[at->second->form.form].push_back(at->second);
                if (const std::string& operation = at->second->form.operation; !operation.empty()) {
                    by_operation_[operation].push_back(at->second);
                }
            }
            // Other programs ask their backends only about what reads a weight in host memory.
            if (recorded_by_us_ || answers.wants_offload(backend, id) || question.reads_host_weight) {
                at->second->offload = answers.wants_offload(backend, id);
            }
        }
    }

    const Asked* nearest(const std::map<std::string, std::vector<const Asked*>>& index, const std::string& key,
                         const OpForm& form) const {
        const auto found = index.find(key);
        if (key.empty() || found == index.end()) {
            return nullptr;
        }
        return *std::min_element(found->second.begin(), found->second.end(), [&](const Asked* a, const Asked* b) {
            return distance(a->form, form) < distance(b->form, form);
        });
    }

    Answer answer(const OpQuestion& question, const OpForm& form) const {
        if (const auto found = by_exact_.find(form.exact); found != by_exact_.end()) {
            ++counts_.exact;
            return recorded(question, found->second->answer, "");
        }
        const Asked* near = nearest(by_form_, form.form, form);
        near = near != nullptr ? near : nearest(by_operation_, form.operation, form);
        if (near != nullptr) {
            ++counts_.inferred;
            return recorded(question, near->answer, "inferred from another size");
        }
        ++counts_.unknown;
        return Answer::no(Refusal::none,
                          kept(std::string(not_known) + "the recorded device was not asked about " + words_of(question)));
    }

    /// As it was recorded, with a reason, and how it was come by.
    Answer recorded(const OpQuestion& question, Answer answer, std::string_view how) const {
        std::string detail(answer.detail);
        if (!answer.yes && detail.empty()) {
            detail = "the recorded device refused " + words_of(question);
        }
        if (!how.empty()) {
            detail = detail.empty() ? std::string(how) : detail + " (" + std::string(how) + ")";
        }
        answer.detail = kept(detail);
        return answer;
    }

    bool offload(const OpForm& form, int64_t batch, int64_t min_batch, ProfileCounts& counts) const {
        const auto exact = by_exact_.find(form.exact);
        if (exact != by_exact_.end() && exact->second->offload && min_batch == min_batch_) {
            ++counts.exact;
            return *exact->second->offload;
        }
        const auto alike = by_form_.find(form.form);
        Takeovers told;
        for (const Asked* asked : alike == by_form_.end() ? std::vector<const Asked*>() : alike->second) {
            told.take(*asked, batch, min_batch_);
        }
        if (!is_ours_ &&
            !told.anything()) { // what else was asked tells as much: a device looks at the batch, not at the operator
            for (const Asked& asked : asked_) {
                told.take(asked, batch, min_batch_);
            }
            if (!told.anything() && holds_layers(backend_.kind.value_or(""))) {
                ++counts.assumed;
                return batch > 0 && batch >= min_batch;
            }
        }
        ++(told.any ? counts.inferred : counts.unknown);
        if (!told.takes || min_batch != min_batch_) { // who takes work over does so from the batch on that is asked for
            return told.takes && batch > 0 && batch >= min_batch;
        }
        return told.smaller_was || (!told.larger_was_not && batch > 0 && batch >= min_batch);
    }

    std::string_view kept(const std::string& text) const { return *details_.insert(text).first; }

    std::shared_ptr<const RecordSource> source_;
    SessionInfo session_;
    BackendInfo backend_;
    BufferTypeInfo memory_;
    bool uses_host_memory_ = false;
    bool recorded_by_us_;
    bool is_ours_;      ///< and so is the device, which may have stood for another program's
    int64_t min_batch_; ///< with which it was recorded
    std::deque<Asked> asked_;
    std::map<std::string, Asked*> by_exact_;
    std::map<std::string, std::vector<const Asked*>> by_form_, by_operation_;
    mutable std::mutex mutex_; ///< of what follows
    mutable std::map<std::string, Answer> answered_;
    mutable std::map<std::pair<std::string, int64_t>, bool> taken_over_;
    mutable std::set<std::string> details_;
    mutable ProfileCounts counts_;
};

} // namespace

std::shared_ptr<const DeviceProfile> recorded_profile(std::shared_ptr<const RecordSource> source,
                                                      const DeviceDescription& description, const std::string& option) {
    const SessionInfo session = source->session();
    const auto is_meant = [&](const BackendInfo& b) {
        return same_ignoring_case(b.name, description.device) || same_ignoring_case(b.device, description.device);
    };
    const auto found = std::find_if(session.backends.begin(), session.backends.end(), is_meant);
    const std::string said = option + description.text + ": ";
    if (found == session.backends.end()) {
        throw Error(ErrorKind::usage,
                    said + "the trace has no device '" + description.device + "'; it has " +
                        joined(session.backends, ", ", [](const BackendInfo& b) { return visible_name(b.name); }));
    }
    auto profile = std::make_shared<RecordedProfile>(std::move(source), narrow<BackendId>(found - session.backends.begin()));
    if (profile->is_empty()) {
        throw Error(ErrorKind::input, said + "the trace has no answers of " + visible_name(found->name) +
                                          " (logs have none): record the run with schedscope record");
    }
    require_fitting_name(description, *profile, option);
    return profile;
}

std::vector<std::shared_ptr<const DeviceProfile>> recorded_profiles(const RecordSource& source) {
    const std::shared_ptr<const RecordSource> not_owned(std::shared_ptr<const RecordSource>(), &source);
    const SessionInfo session = source.session();
    std::vector<std::shared_ptr<const DeviceProfile>> all(session.backends.size());
    for (size_t b = 0; b < all.size(); ++b) {
        if (!holds_layers(session.backends[b].kind.value_or(""))) {
            continue;
        }
        auto profile = std::make_shared<RecordedProfile>(not_owned, narrow<BackendId>(b));
        all[b] = profile->is_empty() ? nullptr : std::move(profile);
    }
    return all;
}

std::shared_ptr<const DeviceProfile> read_profile(const DeviceDescription& description, const std::string& option) {
    return recorded_profile(std::make_shared<TraceReader>(description.trace), description, option);
}

} // namespace schedscope
