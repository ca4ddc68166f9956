#include "inspector/cli/run/run_model.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/output/text_input.h"
#include "inspector/cli/run/device_profiles.h"
#include "inspector/cli/run/fit_advice.h"
#include "inspector/cli/run/logits_file.h"
#include "inspector/cli/run/memory_warning.h"
#include "runtime/backend/registry.h"
#include "runtime/numbers.h"
#include "runtime/session/memory_need.h"
#include "runtime/session/perplexity.h"
#include "runtime/session/session.h"
#include "runtime/session/warm_up.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>

#include <unistd.h>

namespace schedscope {

namespace {

void print_notes(const Session& session) {
    for (const std::string& note : session.notes()) {
        tell(note);
    }
}

std::string text_of(const GenerateResult& result) {
    if (result.sequences.size() == 1) {
        return result.sequences.front().text + '\n';
    }
    std::string text;
    for (const Generated& s : result.sequences) {
        text += '[' + std::to_string(s.sequence) + "]\n" + s.text + '\n';
    }
    return text;
}

void print_rate(const std::string& what, int64_t tokens, int64_t nanoseconds) {
    std::cerr << what << words::counted(tokens, "token") << " in " << words::duration(nanoseconds);
    if (tokens > 0 && nanoseconds > 0) {
        std::cerr << ", " << std::fixed << std::setprecision(1) << 1e9 * to_double(tokens) / to_double(nanoseconds)
                  << " tokens/s";
    }
    std::cerr << '\n';
}

void print_stats(Session& session, const GenerateResult& result) {
    print_rate("prompt      ", result.n_prompt, result.prompt_ns);
    // which chose the first token of each sequence; the last is never decoded
    print_rate("generated   " + words::counted(result.n_generated, "token") + "; decoded ", result.n_decoded, result.generate_ns);
    std::cerr << "graphs      " << session.context().n_evaluations() << " evaluations, " << session.context().n_reused()
              << " reused a graph; the last plan has " << words::counted(session.scheduler().n_splits(), "split") << " with "
              << words::counted(session.scheduler().n_split_inputs(), "input") << '\n';
    const auto bytes = session.scheduler().compute_buffer_bytes();
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            std::cerr << "compute     " << session.scheduler().session().buffer_types[i].name << ' ' << words::bytes(bytes[i])
                      << '\n';
        }
    }
}

std::vector<Token> scored_tokens(const RunArguments& arguments, const Session& session) {
    return session.tokenizer().encode(read_file(arguments.scored_file), true, false);
}

/// What `--ppl` prints.
std::string score_file(const RunArguments& arguments, Session& session, const RunOutput& output) {
    const std::vector<Token> tokens = scored_tokens(arguments, session);
    if (!arguments.no_warmup && !tokens.empty()) {
        const auto first = std::min<size_t>(tokens.size(), session.context().options().n_ubatch);
        warm_up(session, {.prompts = {{0, {tokens.begin(), tokens.begin() + first}}}, .all_logits = true, .stop = output.stop});
    }
    const Perplexity p = perplexity(session, tokens, output.stop);
    std::ostringstream line;
    line << std::fixed << std::setprecision(4) << "perplexity " << p.value << " ± " << p.error << " over "
         << words::counted(p.n_tokens, "token") << '\n';
    if (!output.quiet) {
        std::cout << line.str() << std::flush;
    }
    return line.str();
}

std::string words_of(const GenerateRequest& request) {
    int64_t n = 0;
    for (const SequencePrompt& p : request.prompts) {
        n += std::ssize(p.tokens);
    }
    return words::counted(n, "token") + (request.n_predict == 0 ? "" : " of prompt and the one behind");
}

/// Of devices that have what they were given: "fits: a 21.3 GiB of 24.0 GiB (40 blocks, the output)"; of the host where there are
/// none.
std::string room_of(std::vector<MemoryNeed> needs) {
    const bool at_once = all_fit_at_once(needs);
    const bool host_alone = std::all_of(needs.begin(), needs.end(), [](const MemoryNeed& need) { return need.is_host; });
    const std::string what = at_once ? "fits: " : "what lies on devices fits: ";
    std::erase_if(needs, [&](const MemoryNeed& need) { return (need.is_host && !(host_alone && at_once)) || need.memory == 0; });
    const auto text_of = [](const MemoryNeed& need) {
        return need.buffer_type + ' ' + need.room() + (need.holds.empty() ? "" : " (" + need.holds + ')');
    };
    return needs.empty() ? "" : what + joined(needs, ", ", text_of);
}

} // namespace

std::string run_model(const RunArguments& arguments, Recorder* recorder, const RunOutput& output) {
    ModelFiles files = open_models(arguments.run);
    const Registry registry;
    RunOptions options = arguments.run;
    ProgressLine line;
    if (!output.quiet) {
        options.on_load = [&line](int64_t done, int64_t total) { line.say("reading weights", done, total); };
    }
    Session session(registry, std::move(files), options, recorder);
    line.clear();
    const bool scores = !arguments.scored_file.empty();
    GenerateRequest request = scores ? GenerateRequest{} : make_request(arguments, session); // may refuse: in one line
    if (!output.quiet) {
        print_notes(session);
    }
    if (scores) {
        return score_file(arguments, session, output);
    }
    request.stop = output.stop;
    check_request(session, request); // before a file is made

    std::optional<LogitsFile> logits;
    if (!arguments.logits_out.empty()) {
        logits.emplace(arguments.logits_out, request.prompts.size() == 1);
        request.on_logits = [&](int32_t sequence, int32_t, std::span<const float> row) { logits->row(sequence, row); };
    }
    // At a terminal the text appears as it is made; elsewhere at the end, in one piece.
    const bool streams = !output.quiet && request.prompts.size() == 1 && isatty(STDOUT_FILENO) != 0;
    if (streams) {
        request.on_token = [](const Choice& choice) { std::cout << choice.piece << std::flush; };
    }
    const GenerateResult result = generate(session, request);
    std::string text = text_of(result);
    if (!output.quiet) {
        std::cout << (streams ? "\n" : text) << std::flush;
        for (const Generated& s : result.sequences) {
            if (s.reason == StopReason::context_full) {
                tell("the context of " + std::to_string(session.context().options().n_ctx) +
                     " tokens is full: stopped (a larger -c, or --context-shift, goes on)");
            }
        }
    }
    if (logits) {
        logits->close();
    }
    if (arguments.stats && !output.quiet) {
        print_stats(session, result);
    }
    return text;
}

std::string plan_model(const RunArguments& arguments, Recorder& recorder) {
    RunOptions options = arguments.run;
    options.header_only = true;
    DeviceProfiles profiles;
    options.profiles = profiles.source();
    const ModelFiles files = open_models(options);
    const Registry registry;
    Session session(registry, files, options, &recorder);
    const bool scores = !arguments.scored_file.empty();
    GenerateRequest request;
    if (scores) {
        request.prompts.push_back({0, scored_tokens(arguments, session)});
        request.all_logits = true;
        request.n_predict = 0;
    } else {
        request = make_request(arguments, session);
    }
    print_notes(session);
    if (request.n_predict != 0 && fill_context(session, request)) {
        request.n_predict = 0;
        tell("the prompt fills the context of " + std::to_string(session.context().options().n_ctx) +
             " tokens: it is planned alone, without a token behind it (a larger -c has room for one)");
    }
    const auto add_fact = [&](std::string what, std::string value) { session.add_fact(std::move(what), std::move(value)); };
    add_fact(dry_run_fact, "nothing ran; planned for " + words_of(request));
    if (!has_prompt(arguments)) {
        tell("no prompt is given, and one of 1 token is planned; a longer one offloads and copies more: --n-prompt 512");
    }
    if (scores) {
        plan_perplexity(session, request.prompts.front().tokens);
    } else {
        plan_generation(session, request);
    }
    profiles.report(add_fact);
    const std::vector<MemoryNeed> needs = memory_needs(session);
    warn_of_memory(needs, add_fact, all_fit(needs) ? "" : what_would_fit(request, options, files, registry));
    return all_fit(needs) ? room_of(needs) : "";
}

} // namespace schedscope
