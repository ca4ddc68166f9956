// export: the same facts as `show` tells, in formats that other programs read.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/paths.h"
#include "tests/support/traces/perfetto_file.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using test::PerfettoFile;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

using paths::sample;

json shown(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"show", sample(name), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
}

PerfettoFile exported(const std::string& name) {
    const Outcome outcome = run({"export", sample(name), "--perfetto", "-"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return PerfettoFile(outcome.out);
}

std::vector<std::string> list_of(const PerfettoFile::Event& event, const std::string& argument) {
    const auto found = event.lists.find(argument);
    return found == event.lists.end() ? std::vector<std::string>() : found->second;
}

/// What a report's page is given.
json report_data(const std::string& name) {
    const Folder folder;
    const Outcome outcome = run({"export", sample(name), "--html", folder / "report.html"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string page = read_bytes(folder / "report.html"), begins = "id=\"data\">";
    const size_t first = page.find(begins) + begins.size();
    return json::parse(page.substr(first, page.find("</script>", first) - first));
}

/// "Vulkan0 computing" → ns, of an evaluation.
using DeviceTimes = std::map<std::string, int64_t>;
DeviceTimes times_shown(const json& time) {
    DeviceTimes times;
    for (const json& device : time["devices"]) {
        for (const char* activity : {"computing", "copying", "waiting", "idle"}) {
            times[device["backend"].get<std::string>() + " " + activity] = device[activity + std::string("_ns")];
        }
    }
    return times;
}

class Perfetto : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, Perfetto,
                         ::testing::Values("all-cpu", "partial-offload", "experts-offload", "llava-1.6", "mixed-sampling",
                                           "pipeline"),
                         [](const auto& info) { return as_test_name(info.param); });

/// The account of an evaluation's time is one: `show`, the export and the report say the same nanoseconds of each device, which
/// sum to the evaluation, and so do the rows by whatever they are told apart.
TEST_P(Perfetto, EveryFaceHasTheSameTimes) {
    const PerfettoFile file = exported(GetParam());
    const json report = report_data(GetParam());
    const auto& columns = report["columns"]["devices"];
    const auto place = [&](const char* key) {
        return std::find_if(columns.begin(), columns.end(), [&](const json& c) { return c["key"] == key; }) - columns.begin() + 3;
    };
    int compared = 0;
    for (const PerfettoFile::Event* evaluation : file.of_category("evaluation")) {
        const int64_t id = evaluation->numbers.at("evaluation");
        const json time = shown(GetParam(), {"--what", "time", "--eval", std::to_string(id)});
        const DeviceTimes times = times_shown(time);
        std::map<std::string, int64_t> sums;
        for (const auto& [what, ns] : times) {
            sums[what.substr(0, what.find(' '))] += ns;
        }
        for (const auto& [device, sum] : sums) {
            EXPECT_EQ(sum, time["time_ns"]) << device << " in evaluation " << id;
        }
        for (const char* by : {"role", "layer", "op", "split", "device", "kernel"}) {
            const json parts = shown(GetParam(), {"--what", "time", "--by", by, "--eval", std::to_string(id)});
            DeviceTimes of_parts;
            double percent = 0;
            for (const json& row : parts["time"]) {
                if (!row["time_ns"].is_null()) {
                    of_parts[row["backend"].get<std::string>() + " " + row["activity"].get<std::string>()] +=
                        row["time_ns"].get<int64_t>();
                    percent += row["share"].get<double>();
                }
            }
            for (const auto& [what, ns] : of_parts) {
                EXPECT_EQ(ns, times.at(what)) << "by " << by << ", " << what << " in evaluation " << id;
            }
            EXPECT_NEAR(percent, 100.0 * static_cast<double>(sums.size()), 0.01) << "by " << by << " in evaluation " << id;
        }
        EXPECT_EQ(evaluation->numbers.at("time ns"), time["time_ns"]);
        for (const char* activity : {"computing", "copying", "waiting", "idle"}) {
            for (std::string line : evaluation->lists.at(activity)) { // "Vulkan0: 12,345 ns"
                std::erase(line, ',');
                const size_t colon = line.find(':');
                EXPECT_EQ(std::stoll(line.substr(colon + 2)), times.at(line.substr(0, colon) + " " + activity)) << id;
            }
        }
        for (const json& e : report["evaluations"]) {
            if (e["id"] != id || !e["tables"].contains("devices")) {
                continue;
            }
            DeviceTimes of_report;
            for (const json& row : e["tables"]["devices"]) {
                of_report[report["backends"][row[place("backend")].get<size_t>()]["name"].get<std::string>() + " " +
                          report["texts"][row[place("activity")].get<size_t>()].get<std::string>()] +=
                    row[place("time_ns")].get<int64_t>();
            }
            for (const auto& [what, ns] : of_report) {
                EXPECT_EQ(ns, times.at(what)) << "in the report, evaluation " << id;
            }
            EXPECT_FALSE(of_report.empty());
            ++compared;
        }
    }
    EXPECT_GT(compared, 0);
}

TEST_P(Perfetto, HasTheKernelsThatShowHas) {
    const PerfettoFile file = exported(GetParam());
    std::vector<const PerfettoFile::Event*> kernels = file.of_category("kernel");
    for (const PerfettoFile::Event* fused : file.of_category("fused kernel")) {
        EXPECT_EQ(fused->lists.at("fused").size(), static_cast<size_t>(fused->numbers.at("fused nodes"))) << fused->name;
        kernels.push_back(fused);
    }
    std::multiset<std::string> there, expected;
    for (const PerfettoFile::Event* k : kernels) {
        there.insert(json({file.track_name(*k), k->name, k->texts.at("node"), k->start_ns, k->end_ns, k->numbers.at("bytes"),
                           k->numbers.at("flops")})
                         .dump());
    }
    const int n = shown(GetParam(), {})["evaluations"];
    for (int i = 0; i < n; ++i) {
        const json table = shown(GetParam(), {"--what", "kernels", "--eval", std::to_string(i)});
        for (const json& k : table["kernels"]) {
            expected.insert(
                json({k["backend"], k["kernel"], k["node"], k["start_ns"], k["end_ns"], k["bytes"], k["flops"]}).dump());
        }
    }
    EXPECT_GT(expected.size(), 100U);
    EXPECT_EQ(there, expected);
}

TEST_P(Perfetto, NestsKernelsInSplitsAndPassesInEvaluations) {
    const PerfettoFile file = exported(GetParam());
    size_t passes = 0;
    for (const PerfettoFile::Event& e : file.slices) {
        const std::string inside = e.parent < 0 ? "" : file.slices[static_cast<size_t>(e.parent)].category;
        const std::string& track = file.track_name(e);
        EXPECT_TRUE(file.tracks.at(e.track).is_thread);
        if (e.parent >= 0) {
            const PerfettoFile::Event& parent = file.slices[static_cast<size_t>(e.parent)];
            EXPECT_LE(parent.start_ns, e.start_ns) << e.name;
            EXPECT_GE(parent.end_ns, e.end_ns) << e.name;
        }
        if (e.category == "kernel" || e.category == "fused kernel") {
            EXPECT_EQ(inside, "split") << e.name;
        } else if (e.category == "evaluation") {
            EXPECT_EQ(inside, "");
            EXPECT_EQ(track, "scheduler");
        } else if (e.category == "planning") {
            EXPECT_EQ(inside, e.name == "plan" ? "evaluation" : "planning") << e.name;
            passes += e.name == "plan" ? 0 : 1;
        } else if (e.category == "stage") {
            EXPECT_EQ(inside, "evaluation") << e.name;
        } else if (e.category == "copy") {
            EXPECT_EQ(track, "copies");
        } else {
            EXPECT_TRUE(e.category == "split" || e.category == "wait") << e.category;
        }
    }
    const json summary = shown(GetParam(), {});
    EXPECT_EQ(file.of_category("evaluation").size(), summary["evaluations"]);
    EXPECT_EQ(passes, 8U * summary["plans"].get<size_t>()) << "1 2a 2b 2c 2d 3 4 5";
}

TEST_P(Perfetto, DrawsAnArrowForEveryCopyThatASplitNeeds) {
    const PerfettoFile file = exported(GetParam());
    struct Arrow {
        const PerfettoFile::Event* from = nullptr;
        const PerfettoFile::Event* copy = nullptr;
        const PerfettoFile::Event* to = nullptr;
    };
    std::map<uint64_t, Arrow> arrows;
    for (const PerfettoFile::Event& e : file.slices) {
        for (const uint64_t flow : e.flows) {
            (e.category == "copy" ? arrows[flow].copy : arrows[flow].from) = &e;
        }
        for (const uint64_t flow : e.ending_flows) {
            EXPECT_EQ(arrows[flow].to, nullptr) << "ends twice";
            arrows[flow].to = &e;
        }
    }
    EXPECT_EQ(arrows.size(), file.of_category("copy").size());
    size_t from_splits = 0;
    for (const auto& [flow, arrow] : arrows) {
        ASSERT_NE(arrow.copy, nullptr);
        ASSERT_NE(arrow.to, nullptr) << arrow.copy->name;
        EXPECT_EQ(arrow.to->category, "split");
        EXPECT_EQ(arrow.to->numbers.at("split"), arrow.copy->numbers.at("for split"));
        EXPECT_EQ(file.track_name(*arrow.to), arrow.copy->texts.at("to"));
        EXPECT_LE(arrow.copy->start_ns, arrow.to->start_ns);
        if (arrow.from != nullptr) {
            ++from_splits;
            EXPECT_EQ(arrow.from->category, "split");
            EXPECT_EQ(file.track_name(*arrow.from), arrow.copy->texts.at("from"));
            EXPECT_LE(arrow.from->start_ns, arrow.copy->start_ns);
            EXPECT_LT(arrow.from->numbers.at("split"), arrow.to->numbers.at("split"));
        }
    }
    EXPECT_EQ(from_splits > 0, !arrows.empty());
}

TEST_P(Perfetto, CountsWhatIsCopiedAndWhatMemoryHolds) {
    const PerfettoFile file = exported(GetParam());
    std::map<std::string, int64_t> last, most, copied;
    for (const PerfettoFile::Count& c : file.counts) {
        const std::string& name = file.tracks.at(c.track).name;
        EXPECT_GE(c.value, 0) << name;
        if (name.starts_with("copied")) {
            EXPECT_GT(c.value, last[name]);
        }
        last[name] = c.value;
        most[name] = std::max(most[name], c.value);
    }
    for (const PerfettoFile::Event* copy : file.of_category("copy")) {
        copied["copied " + copy->texts.at("from") + " → " + copy->texts.at("to")] += copy->numbers.at("bytes");
    }
    for (const auto& [name, bytes] : copied) {
        EXPECT_EQ(last[name], bytes) << name;
    }
    const json table = shown(GetParam(), {"--what", "memory"});
    for (const json& row : table["memory"]) {
        const auto type = row["buffer_type"].get<std::string>();
        EXPECT_EQ(last[type + " compute buffers"], row["size"]) << type;
        EXPECT_LE(most[type + " in use"], row["size"]) << type;
        EXPECT_EQ(last[type + " in use"], 0) << type;
    }
    EXPECT_TRUE(std::any_of(most.begin(), most.end(), [](const auto& m) { return m.first.ends_with("in use") && m.second > 0; }));
}

TEST_P(Perfetto, HasAnInstantForEveryToken) {
    const PerfettoFile file = exported(GetParam());
    const json table = shown(GetParam(), {"--what", "tokens"});
    std::vector<const PerfettoFile::Event*> tokens;
    for (const PerfettoFile::Event& e : file.instants) {
        if (e.category == "token") {
            EXPECT_EQ(file.track_name(e), "tokens");
            tokens.push_back(&e);
        }
    }
    ASSERT_EQ(tokens.size(), table["tokens"].size());
    for (size_t i = 0; i < tokens.size(); ++i) {
        const json& row = table["tokens"][i];
        EXPECT_EQ(tokens[i]->numbers.at("token"), row["id"]);
        EXPECT_EQ(tokens[i]->numbers.at("sequence"), row["seq"]);
        EXPECT_EQ(list_of(*tokens[i], "samplers"), row["samplers"].get<std::vector<std::string>>());
        if (!row["text"].get<std::string>().empty()) {
            EXPECT_EQ(tokens[i]->name, row["text"].get<std::string>());
        }
    }
}

TEST(PerfettoExport, TellsWhyEachThingIsThere) {
    const PerfettoFile file = exported("partial-offload");
    const json splits = shown("partial-offload", {"--what", "splits", "--eval", "0"});
    std::map<std::string, const PerfettoFile::Event*> first; // of each name
    for (const PerfettoFile::Event& e : file.slices) {
        first.emplace(e.name, &e);
    }
    for (const json& split : splits["splits"]) {
        const auto found = first.find("split " + split["index"].dump());
        ASSERT_NE(found, first.end());
        EXPECT_EQ(file.track_name(*found->second), split["backend"].get<std::string>());
        EXPECT_EQ(found->second->texts.at("begins here because of"), split["why"].get<std::string>());
        EXPECT_EQ(list_of(*found->second, "inputs").size(), split["inputs"].size());
    }
    const PerfettoFile::Event& kernel = *first.at("mul_f32");
    EXPECT_EQ(kernel.texts.at("op"), "MUL");
    EXPECT_EQ(kernel.texts.at("cause"), "1.off");
    EXPECT_EQ(kernel.texts.at("by"), "blk.0.attn_norm.weight");
    EXPECT_THAT(kernel.lists.at("sources"), Contains("blk.0.attn_norm.weight f32 [64]"));
    EXPECT_THAT(first, Contains(::testing::Key("wait for Vulkan0")));
    std::set<std::string> names;
    for (const auto& [uuid, track] : file.tracks) {
        names.insert(track.name);
    }
    EXPECT_THAT(names, IsSupersetOf({"scheduler", "CPU", "Vulkan0", "copies", "tokens", "copied CPU → Vulkan0"}));
}

TEST(PerfettoExport, TakesNoMoreMemoryForALongRun) {
    const Folder folder;
    const auto exported_after = [&](const char* n_tokens) {
        const std::string trace = folder / n_tokens;
        EXPECT_EQ(run({"record", "-m", model(), "-p", "", "-n", n_tokens, "--ignore-eos", "--context-shift", "--temp", "0",
                       "--device", "cpu", "-o", trace})
                      .code,
                  0);
        const Outcome outcome = run({"export", trace, "--perfetto", folder / "out"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.peak_bytes;
    };
    const long long few = exported_after("20");
    const size_t few_bytes = read_bytes(folder / "out").size();
    const long long many = exported_after("1000");
    const size_t many_bytes = read_bytes(folder / "out").size();
    EXPECT_GT(many_bytes, 20 * few_bytes);
    EXPECT_LT(many, few + (16LL << 20)) << "bytes at once, of a file of " << many_bytes;
}

TEST(Export, ReplacesOnlyWhatIsAnExport) {
    const Folder folder;
    for (const char* format : {"--perfetto", "--jsonl"}) {
        const std::string path = folder / "out";
        const std::vector<std::string> arguments{"export", sample("all-cpu"), format, path};
        write_bytes(path, "my notes\n");
        const Outcome refused = run(arguments);
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, AllOf(HasSubstr(path), HasSubstr("--force")));
        EXPECT_EQ(count(refused.err, "\n"), 1U);
        EXPECT_EQ(read_bytes(path), "my notes\n");

        std::vector<std::string> forced = arguments;
        forced.emplace_back("--force");
        EXPECT_EQ(run(forced).code, 0);
        const std::string written = read_bytes(path);
        EXPECT_EQ(run(arguments).code, 0) << "an earlier export";
        EXPECT_TRUE(read_bytes(path) == written) << "the same each time";
        write_bytes(path, "");
        EXPECT_EQ(run(arguments).code, 0) << "an empty file";
    }
}

TEST(Export, NeverReplacesTheTraceThatItReads) {
    const Folder folder;
    const std::string bytes = read_bytes(sample("all-cpu"));
    write_bytes(folder / "t.trace", bytes);
    for (const char* format : {"--perfetto", "--jsonl"}) {
        const Outcome refused = run({"export", folder / "t.trace", format, folder / "t.trace", "--force"});
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, HasSubstr("this file is read (trace)"));
    }
    EXPECT_TRUE(read_bytes(folder / "t.trace") == bytes);
}

TEST(Export, SaysWhatAFileIsThatIsNamedAsAnother) {
    const Folder folder;
    const auto said = [&](const char* format, const std::string& name) {
        const Outcome outcome = run({"export", sample("all-cpu"), format, folder / name});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    EXPECT_EQ(said("--perfetto", "own.json"),
              "schedscope: " + (folder / "own.json") + ": is a Perfetto trace of this program, whose names end in .pftrace\n");
    EXPECT_THAT(said("--jsonl", "own.html"), HasSubstr("own.html: is a file of records, whose names end in .jsonl\n"));
    EXPECT_THAT(said("--html", "other.json"), HasSubstr("whose names end in .html\n"));
    for (const auto& [format, name] : {std::pair{"--perfetto", "a.pftrace"},
                                       {"--perfetto", "a.perfetto-trace"},
                                       {"--jsonl", "a.jsonl"},
                                       {"--html", "a.html"},
                                       {"--html", "a.htm"},
                                       {"--jsonl", "a"}}) {
        EXPECT_EQ(said(format, name), "") << name;
    }
}

TEST(Export, WritesOneFormatAloneToStandardOutput) {
    const Outcome outcome = run({"export", sample("all-cpu"), "--html", "-", "--jsonl", "-"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "schedscope: export: standard output takes one of them: name a file for the others\n");
}

TEST(Export, AsksForAFormat) {
    const Outcome none = run({"export", sample("all-cpu")});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, AllOf(HasSubstr("--perfetto"), HasSubstr("--jsonl")));
    EXPECT_EQ(run({"export", sample("all-cpu"), "--perfetto", ""}).code, 2);
    EXPECT_EQ(run({"export", "/nowhere.trace", "--perfetto", "-"}).code, 3);
    const Folder folder;
    EXPECT_EQ(run({"export", sample("all-cpu"), "--perfetto", folder / "missing/f"}).code, 4);
    const Outcome full = run({"export", sample("all-cpu"), "--perfetto", "-"}, {.out_to = "/dev/full"});
    EXPECT_EQ(full.code, 4);
    EXPECT_EQ(count(full.err, "\n"), 1U);
}

} // namespace
} // namespace schedscope::test
