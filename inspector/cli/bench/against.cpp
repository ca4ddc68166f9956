#include "inspector/cli/bench/against.h"

#include "inspector/cli/bench/peer_rates.h"
#include "runtime/error.h"
#include "runtime/system/number_words.h"
#include "runtime/system/process/child_process.h"
#include "runtime/system/process/program_role.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace schedscope {

namespace {

constexpr int64_t most_printed = 1 << 20; ///< bytes; rates are a line

/// What one process measured, and what it took.
struct Turn {
    PeerRates rates;
    double processor_s = 0;
};

class Turns {
public:
    Turns(const AgainstRequest& request, std::string devices, int n_threads, int32_t depth)
        : request_(request), devices_(std::move(devices)), n_threads_(n_threads), depth_(depth) {}

    AgainstCase measure() const {
        AgainstCase c;
        c.n_threads = n_threads_;
        c.depth = depth_;
        std::vector<Turn> ours, theirs;
        for (int i = 0; i < request_.bench.repetitions; ++i) {
            const bool ours_first = i % 2 == 0;
            for (const bool own : {ours_first, !ours_first}) {
                tell(own, i);
                (own ? ours : theirs).push_back(own ? own_turn() : their_turn());
            }
        }
        c.devices = ours.front().rates.devices;
        c.on_processors = ours.front().rates.on_processors;
        const auto of = [&](auto value) { return compare(ours, theirs, value); };
        if (request_.bench.n_prompt > 0) {
            c.prompt = of([](const Turn& turn) { return *turn.rates.prompt; });
        }
        if (request_.bench.n_generate > 0) {
            c.generation = of([](const Turn& turn) { return *turn.rates.generation; });
        }
        c.processor_s = of([](const Turn& turn) { return turn.processor_s; });
        return c;
    }

private:
    void tell(bool own, int repetition) const {
        if (request_.bench.progress) {
            request_.bench.progress((own ? "schedscope" : request_.command) +
                                    (depth_ > 0 ? "  behind " + std::to_string(depth_) : "") + "  " +
                                    std::to_string(repetition + 1) + "/" + std::to_string(request_.bench.repetitions));
        }
    }

    template <typename Value>
    static Compared compare(const std::vector<Turn>& ours, const std::vector<Turn>& theirs, Value value) {
        std::vector<double> own, other, ratios;
        for (size_t i = 0; i < ours.size(); ++i) {
            own.push_back(value(ours[i]));
            other.push_back(value(theirs[i]));
            ratios.push_back(own.back() / std::max(other.back(), 1e-6)); // the kernel counts microseconds
        }
        return {mean_of(own).value_or(Measured{}), mean_of(other).value_or(Measured{}), mean_of(ratios).value_or(Measured{})};
    }

    Turn own_turn() const {
        ChildCommand child{own_command("bench"), unlimited_seconds, {}};
        child.command.insert(child.command.end(), request_.own_arguments.begin(), request_.own_arguments.end());
        const auto add = [&](const char* option, const std::string& value) {
            child.command.emplace_back(option);
            child.command.push_back(value);
        };
        add("--n-prompt", std::to_string(request_.bench.n_prompt));
        add("--n-gen", std::to_string(request_.bench.n_generate));
        add("--n-depth", std::to_string(depth_));
        add("--threads", std::to_string(n_threads_));
        if (!devices_.empty()) {
            add("--device", devices_);
        }
        return turn(std::move(child), "bench");
    }

    Turn their_turn() const {
        ChildCommand child{{"/bin/sh", "-c", request_.command}, unlimited_seconds, {}};
        const auto set = [&](const char* name, const std::string& value) {
            child.environment.push_back(std::string(name) + "=" + value);
        };
        set("BENCH_MODEL", request_.bench.run.model);
        set("BENCH_PROMPT", std::to_string(request_.bench.n_prompt));
        set("BENCH_GEN", std::to_string(request_.bench.n_generate));
        set("BENCH_DEPTH", std::to_string(depth_));
        set("BENCH_THREADS", std::to_string(n_threads_));
        return turn(std::move(child), "--against " + visible(request_.command));
    }

    Turn turn(ChildCommand child, const std::string& who) const {
        MemoryFile in("nothing"), out("rates");
        if (!in || !out || !in.finish()) {
            throw Error(ErrorKind::device, who + ": can't be started: " + std::strerror(errno));
        }
        child.as_group = true;
        child.cancelled = [&] { return stopped() || out.size() > most_printed; };
        const ChildEnd end = run_child(child, in, out);
        check(end, who, child.environment.empty());
        if (out.size() > most_printed) {
            throw Error(ErrorKind::input, who + ": it printed more than " + words::bytes(most_printed));
        }
        std::string text(out.size(), '\0');
        if (!out.read(0, std::as_writable_bytes(std::span(text)))) {
            throw Error(ErrorKind::device, who + ": what it printed can't be read: " + std::strerror(errno));
        }
        return {read_rates(text, request_.bench.n_prompt, request_.bench.n_generate, depth_, who), end.processor_s};
    }

    bool stopped() const { return request_.bench.stop != nullptr && request_.bench.stop->load(std::memory_order_relaxed); }

    void check(const ChildEnd& end, const std::string& who, bool own) const {
        if (stopped()) {
            throw Interrupted();
        }
        const auto fail = [&](const std::string& why) { return Error(ErrorKind::device, who + ": " + why); };
        const std::string said = end.said.empty() ? "" : " (" + end.said + ")";
        if (end.how == ChildEnd::How::not_started) {
            throw fail("can't be started: " + end.said);
        }
        if (end.how == ChildEnd::How::killed) {
            throw fail("it was killed: " + end.signal_name() + said);
        }
        if (const std::string_view ours = "schedscope: "; end.code >= 2 && end.code <= 4 && end.said.starts_with(ours) && own) {
            throw Error(static_cast<ErrorKind>(end.code), end.said.substr(ours.size()));
        }
        if (end.code != 0) {
            throw fail("it failed with exit code " + std::to_string(end.code) + said);
        }
    }

    const AgainstRequest& request_;
    std::string devices_;
    int n_threads_;
    int32_t depth_;
};

} // namespace

std::vector<AgainstCase> run_against(const AgainstRequest& request) {
    std::vector<AgainstCase> cases;
    for (const std::string& devices : request.bench.devices) {
        for (const int n_threads : request.bench.threads) {
            for (const int32_t depth : request.bench.depths) {
                cases.push_back(Turns(request, devices, n_threads, depth).measure());
            }
        }
    }
    return cases;
}

} // namespace schedscope
