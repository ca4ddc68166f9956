#include "traces/store/reading/copy_records.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace schedscope {

namespace {

class RecordCopier {
public:
    RecordCopier(const RecordSource& source, Recorder& to) : source_(source), to_(to) { to_.session(source_.session()); }

    /// [first, end), after those before.
    void copy(Step first, Step end) {
        records_.clear();
        source_.read(first, end, records_);
        for (size_t i = 0; i < records_.size();) {
            if (std::holds_alternative<record::Execute>(records_[i].fact) ||
                std::holds_alternative<record::SplitRun>(records_[i].fact)) {
                i += copy_part(i);
                continue;
            }
            copy_names(records_[i].fact);
            to_.keep(records_[i]);
            ++i;
        }
    }

private:
    StringId text(StringId id) {
        if (!is_index(id, texts_)) {
            texts_.resize(id + 1, -1);
        }
        if (texts_[id] < 0) {
            texts_[id] = to_.intern(source_.text(id));
        }
        return texts_[id];
    }

    void copy_graphs(GraphId last) {
        for (; n_graphs_ <= last; ++n_graphs_) {
            to_.graph(n_graphs_, source_.graph(n_graphs_).view(), source_.answers(n_graphs_));
        }
    }

    /// What a fact names is there before it; the texts have other numbers.
    void copy_names(Fact& fact) {
        std::visit(
            [&]<typename Record>(Record& r) {
                for_each_field<Record>([&](const auto& field) {
                    using Field = std::remove_cvref_t<decltype(field)>;
                    auto& value = r.*field.member;
                    if constexpr (std::is_same_v<typename Field::Value, int32_t>) {
                        const int32_t* const number = known(value);
                        if (number != nullptr && field.meaning == Meaning::text) {
                            value = text(*number);
                        } else if (number != nullptr && field.meaning == Meaning::graph) {
                            copy_graphs(*number);
                        }
                    }
                });
            },
            fact);
    }

    /// Kernels with times of their own that ran in one piece, and the end of their split behind them, are kept together, as a
    /// run keeps them. Returns how many records they are.
    size_t copy_part(size_t at) {
        const Record& first = records_[at];
        SplitPart part;
        part.last = false;
        KernelList kernels;
        times_.clear();
        size_t end = at;
        const auto together = [&](const Record& r, int32_t split, BackendId backend) {
            return r.evaluation == first.evaluation && r.time_ns == first.time_ns &&
                   (end == at || (split == part.split && backend == part.backend));
        };
        for (; end < records_.size(); ++end) {
            const auto* const k = std::get_if<record::Execute>(&records_[end].fact);
            if (!k || !together(records_[end], k->split, k->backend) || (end > at && k->device_time != part.device_time)) {
                break;
            }
            part.split = k->split;
            part.backend = k->backend;
            part.device_time = k->device_time;
            kernels.push_back({k->first, k->last, k->count, text(k->kernel), k->bytes, k->flops});
            times_.push_back({k->start_ns, k->end_ns});
        }
        if (!times_.empty()) {
            part.start_ns = times_.front().start_ns;
            part.end_ns = times_.back().end_ns;
            part.count = n_of(kernels);
            part.kernels = kept(std::move(kernels));
            part.times = times_;
        }
        const auto* const run = end < records_.size() ? std::get_if<record::SplitRun>(&records_[end].fact) : nullptr;
        const bool alone = end == at;
        if (run && together(records_[end], run->split, run->backend) && (alone || (run->start_ns && run->kernels == 0))) {
            part.split = run->split;
            part.backend = run->backend;
            part.start_ns = run->start_ns;
            part.end_ns = run->end_ns;
            part.last = true;
            if (alone && run->kernels != 0) {
                part.kernels = list(run->kernels);
                part.count = n_of(*part.kernels);
            }
            ++end;
        }
        to_.keep_part({first.step, first.time_ns, first.evaluation, part});
        return end - at;
    }

    /// A list has one pointer, so that it is written once.
    std::shared_ptr<const KernelList> list(KernelListId id) {
        std::shared_ptr<const KernelList>& made = lists_[id];
        if (!made) {
            KernelList kernels = source_.kernels(id);
            for (KernelInfo& kernel : kernels) {
                kernel.kernel = text(kernel.kernel);
            }
            made = std::make_shared<const KernelList>(std::move(kernels));
        }
        return made;
    }
    std::shared_ptr<const KernelList> kept(KernelList&& kernels) {
        uint64_t hash = 0;
        for (const KernelInfo& k : kernels) {
            for (const int64_t value : {int64_t{k.first}, int64_t{k.last}, int64_t{k.kernel}, k.bytes, k.flops}) {
                hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15U;
            }
        }
        const auto [begin, end] = timed_.equal_range(hash);
        const auto same = std::find_if(begin, end, [&](const auto& entry) { return *entry.second == kernels; });
        return same != end ? same->second : timed_.emplace(hash, std::make_shared<const KernelList>(std::move(kernels)))->second;
    }

    const RecordSource& source_;
    Recorder& to_;
    GraphId n_graphs_ = 0;
    std::vector<Record> records_;
    std::vector<KernelSpan> times_;
    std::vector<StringId> texts_; ///< [id in the source] −1: not given yet
    std::unordered_map<KernelListId, std::shared_ptr<const KernelList>> lists_;
    std::unordered_multimap<uint64_t, std::shared_ptr<const KernelList>> timed_; ///< by their hash
};

} // namespace

bool copy_records(const RecordSource& source, Step end, Recorder& to, const std::function<bool()>& go_on) {
    constexpr Step together = 8192;
    RecordCopier copier(source, to);
    for (Step first = 0; first < end; first += together) {
        if (!go_on()) {
            return false;
        }
        copier.copy(first, std::min(first + together, end));
    }
    return true;
}

} // namespace schedscope
