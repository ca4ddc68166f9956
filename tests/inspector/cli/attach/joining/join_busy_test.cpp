// A program is joined, left and joined again while its threads do what is in the way; it finds nothing changed.
#include "inspector/cli/attach/joining/join_process.h"
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

constexpr size_t most_counters = 16;

/// What the threads of busy_program have done.
class Counters {
public:
    explicit Counters(const std::string& path) {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        EXPECT_EQ(ftruncate(file, most_counters * sizeof(uint64_t)), 0);
        at_ = static_cast<uint64_t*>(mmap(nullptr, most_counters * sizeof(uint64_t), PROT_READ, MAP_SHARED, file, 0));
        close(file);
    }
    ~Counters() { munmap(at_, most_counters * sizeof(uint64_t)); }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    uint64_t operator[](size_t i) const { return __atomic_load_n(&at_[i], __ATOMIC_RELAXED); }

private:
    uint64_t* at_;
};

class JoinBusy : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override { NEEDS_JOINING(); }
    std::vector<std::string> command() const {
        std::vector<std::string> words = {paths::program("busy_program"), folder / "counters"};
        if (GetParam()) {
            words.emplace_back("wait");
        }
        return words;
    }
    size_t n_threads() const { return GetParam() ? 9 : 6; }
    /// Every thread goes on.
    void expect_progress(Running& program) const {
        std::array<uint64_t, most_counters> before = {};
        for (size_t i = 0; i < n_threads(); ++i) {
            before[i] = counters[i];
        }
        for (size_t i = 0; i < n_threads(); ++i) {
            while (counters[i] == before[i]) {
                ASSERT_FALSE(program.has_ended()) << program.wait();
                breathe();
            }
        }
    }
    /// Memory of ours, and descriptors, that are in it.
    static std::vector<std::string> traces_in(pid_t id, const std::string& what) {
        std::vector<std::string> found;
        std::ifstream list("/proc/" + std::to_string(id) + "/maps");
        for (std::string line; std::getline(list, line);) {
            if (line.find(what) != std::string::npos) {
                found.push_back(line);
            }
        }
        for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(id) + "/fd")) {
            std::error_code failed;
            const std::string path = std::filesystem::read_symlink(entry.path(), failed).string();
            if (path.find("memfd") != std::string::npos) {
                found.push_back(path);
            }
        }
        return found;
    }

    const Folder folder;
    const Counters counters{folder / "counters"};
};
INSTANTIATE_TEST_SUITE_P(With, JoinBusy, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "threads_that_wait" : "busy_threads_alone"; });

TEST_P(JoinBusy, ManyTimesAndNothingChanges) {
    Running program(command(), folder / "out");
    expect_progress(program);
    size_t n_ranges = 0;
    for (int round = 0; round < 30; ++round) {
        SCOPED_TRACE(round);
        const JoinedProcess joined(program.id(), {});
        EXPECT_GE(joined.calls(), 2);
        expect_progress(program);
        // It calls, and is told from what it is: no ggml that can be recorded.
        while (joined.pages().control().schedulers == 0) {
            ASSERT_FALSE(program.has_ended());
            breathe();
        }
        EXPECT_THAT(joined.pages().control().reason, HasSubstr("does not export"));
        EXPECT_EQ(joined.leave(), "");
        expect_progress(program);
        EXPECT_TRUE(traces_in(program.id(), "/memfd:schedscope").empty());
        const size_t now = traces_in(program.id(), "/memfd:libschedscope").size();
        EXPECT_TRUE(n_ranges == 0 || now == n_ranges) << "the same library again";
        n_ranges = now;
    }
    EXPECT_EQ(program.close_input_and_wait(), 0);
}

TEST_P(JoinBusy, GoesOnWhenSchedscopeIsKilledAtAnyMoment) {
    Running program(command(), folder / "out");
    expect_progress(program);
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        {
            const Program attach({"attach", std::to_string(program.id()), "-o", folder / "x.trace"});
            const uint64_t until = counters[4] + random() % 400; // a moment is some of its work long
            while (counters[4] < until && !attach.has_ended()) {
                breathe();
            }
            attach.signal(SIGKILL);
        }
        expect_progress(program);
    }
    // Nothing is in the way of who comes next, and nothing is left.
    const JoinedProcess joined(program.id(), {});
    expect_progress(program);
    EXPECT_EQ(joined.leave(), "");
    expect_progress(program); // who was within a call has ended it
    EXPECT_TRUE(traces_in(program.id(), "/memfd:schedscope").empty());
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
        EXPECT_EQ(entry.path().string().find("schedscope"), std::string::npos) << entry.path();
    }
    EXPECT_EQ(program.close_input_and_wait(), 0);
}

TEST_P(JoinBusy, IsJoinedByOneAtATime) {
    Running program(command(), folder / "out");
    expect_progress(program);
    const JoinedProcess joined(program.id(), {});
    const Outcome second = run({"attach", std::to_string(program.id()), "-o", folder / "x.trace"});
    EXPECT_EQ(second.code, 4);
    EXPECT_THAT(second.err, HasSubstr("it is recorded already"));
    EXPECT_EQ(joined.leave(), "");
    EXPECT_EQ(program.close_input_and_wait(), 0);
}

TEST_P(JoinBusy, IsLeftAsItWasOnASignal) {
    Running program(command(), folder / "out");
    expect_progress(program);
    const std::string said = folder / "said";
    const int err = open(said.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    Program attach({"attach", std::to_string(program.id()), "-o", folder / "x.trace"}, {.err_descriptor = err});
    close(err);
    while (read_bytes(said).find("joined process") == std::string::npos) {
        ASSERT_FALSE(attach.has_ended()) << read_bytes(said);
        breathe();
    }
    expect_progress(program); // what began before, and
    expect_progress(program); // what is called since
    attach.signal(SIGINT);
    EXPECT_EQ(attach.wait().code, 130) << read_bytes(said);
    EXPECT_THAT(read_bytes(said), HasSubstr("nothing was recorded: this ggml does not export"));
    expect_progress(program);
    EXPECT_TRUE(traces_in(program.id(), "/memfd:schedscope").empty());
    EXPECT_EQ(program.close_input_and_wait(), 0);
}

TEST_P(JoinBusy, IsLeftAsItWasWhenTheTimeIsOverAndNothingCame) {
    Running program(command(), folder / "out");
    expect_progress(program);
    const Outcome attach = run({"attach", std::to_string(program.id()), "-o", folder / "x.trace", "--for", "300ms"});
    EXPECT_EQ(attach.code, 4);
    EXPECT_THAT(attach.err, HasSubstr("nothing was recorded: "));
    expect_progress(program);
    EXPECT_TRUE(traces_in(program.id(), "/memfd:schedscope").empty());
    EXPECT_EQ(program.close_input_and_wait(), 0);
}

} // namespace
} // namespace schedscope::test
