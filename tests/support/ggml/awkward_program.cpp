// A program on a released ggml that does what few do, and what nobody who looks on may change:
//
//     awkward_program throw|meet|fork|flood READY GO LIBRARY…
//
// throw: its callback throws, past ggml's calls, and it computes on, from other depths of its stack. meet: two threads, each of
// which waits within its computation until the other is within its own. fork: a child without a program of its own computes as
// well. flood: makes READY, waits until GO is there, and plans more than anybody keeps who does not look. Says what comes out.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Parameters {
    size_t bytes;
    void* memory;
    bool no_alloc;
};

/// A function of ggml, found when it is first called.
template <typename Result, typename... Arguments> struct Ggml {
    const char* name;
    Result operator()(Arguments... arguments) const {
        void* const found = dlsym(RTLD_DEFAULT, name);
        if (found == nullptr) {
            std::fprintf(stderr, "%s is not there\n", name);
            _exit(2);
        }
        return reinterpret_cast<Result (*)(Arguments...)>(found)(arguments...);
    }
};
using Callback = bool(void*, bool, void*);
constexpr Ggml<void*, Parameters> init{"ggml_init"};
constexpr Ggml<void, void*> free_context{"ggml_free"};
constexpr Ggml<void*, void*, int, int64_t> new_tensor_1d{"ggml_new_tensor_1d"};
constexpr Ggml<void*, void*, void*, void*> add{"ggml_add"}, mul{"ggml_mul"};
constexpr Ggml<void*, void*, const char*> set_name{"ggml_set_name"};
constexpr Ggml<const char*, const void*> get_name{"ggml_get_name"};
constexpr Ggml<void, void*> set_input{"ggml_set_input"};
constexpr Ggml<void*, void*, size_t, bool> new_graph{"ggml_new_graph_custom"};
constexpr Ggml<void, void*, void*> expand{"ggml_build_forward_expand"};
constexpr Ggml<void*> cpu{"ggml_backend_cpu_init"};
constexpr Ggml<void*, void**, void**, int, size_t, bool, bool> new_scheduler{"ggml_backend_sched_new"};
constexpr Ggml<void, void*> free_scheduler{"ggml_backend_sched_free"}, reset{"ggml_backend_sched_reset"};
constexpr Ggml<bool, void*, void*> alloc_graph{"ggml_backend_sched_alloc_graph"};
constexpr Ggml<int, void*, void*> compute{"ggml_backend_sched_graph_compute"};
constexpr Ggml<void, void*, Callback*, void*> set_callback{"ggml_backend_sched_set_eval_callback"};
constexpr Ggml<void, void*, const void*, size_t, size_t> set_values{"ggml_backend_tensor_set"};
constexpr Ggml<void, const void*, void*, size_t, size_t> get_values{"ggml_backend_tensor_get"};

/// A chain of additions on the CPU, with a product in its midst.
class Program {
public:
    explicit Program(int n_additions) : memory_((n_additions + 16) * size_t{1024}), n_(n_additions) {
        sched_ = new_scheduler(&backend_, nullptr, 1, static_cast<size_t>(n_) + 64, false, false);
    }
    ~Program() { free_scheduler(sched_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void look(Callback* callback, void* data) { set_callback(sched_, callback, data); }

    bool plan() {
        if (context_ != nullptr) {
            free_context(context_);
        }
        context_ = init({memory_.size(), memory_.data(), true});
        input_ = new_tensor_1d(context_, 0, 4);
        set_input(input_);
        void* const product = mul(context_, add(context_, input_, input_), input_);
        set_name(product, "product");
        last_ = product;
        for (int i = 0; i < n_; ++i) {
            last_ = add(context_, last_, input_);
        }
        graph_ = new_graph(context_, static_cast<size_t>(n_) + 16, false);
        expand(graph_, last_);
        reset(sched_);
        return alloc_graph(sched_, graph_);
    }
    std::string run() {
        const float numbers[4] = {1, 2, 3, 4};
        float result[4] = {};
        set_values(input_, numbers, 0, sizeof numbers);
        const int status = compute(sched_, graph_);
        get_values(last_, result, 0, sizeof result);
        return std::to_string(status) + ": " + std::to_string(result[0]) + " " + std::to_string(result[3]);
    }

private:
    void *backend_ = cpu(), *sched_ = nullptr, *context_ = nullptr, *graph_ = nullptr, *input_ = nullptr, *last_ = nullptr;
    std::vector<char> memory_;
    int n_;
};

bool is_product(const void* node) { return std::strcmp(get_name(node), "product") == 0; }

int throw_past() {
    bool throws = false;
    for (int round = 0; round < 8; ++round) {
        Program program(3);
        program.look(
            [](void* node, bool ask, void* data) {
                if (!ask && *static_cast<bool*>(data)) {
                    throw std::runtime_error("thrown");
                }
                return is_product(node);
            },
            &throws);
        for (int i = 0; i < 6; ++i) {
            throws = i % 3 == 1;
            // From deeper and deeper, and in the second half from where it was.
            char* const deeper = static_cast<char*>(alloca(round < 4 ? 3000 : 16));
            deeper[0] = 1;
            if (!program.plan()) {
                return 3;
            }
            try {
                std::printf("%s\n", program.run().c_str());
            } catch (const std::exception& error) {
                std::printf("%s\n", error.what());
            }
        }
    }
    return 0;
}

int meet() {
    pthread_barrier_t both;
    pthread_barrier_init(&both, nullptr, 2);
    std::string said[2];
    const auto work = [&](int number) {
        Program program(3);
        program.look(
            [](void* node, bool ask, void* data) {
                if (!ask) {
                    pthread_barrier_wait(static_cast<pthread_barrier_t*>(data));
                }
                return is_product(node);
            },
            &both);
        for (int i = 0; i < 50; ++i) {
            said[number] = program.plan() ? program.run() : "none";
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::printf("%s\n%s\n", said[0].c_str(), said[1].c_str());
    return 0;
}

int fork_within() {
    Program program(3);
    for (int i = 0; i < 3; ++i) {
        if (!program.plan()) {
            return 3;
        }
        std::printf("%s\n", program.run().c_str());
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            const bool planned = program.plan();
            std::printf("child %s\n", planned ? program.run().c_str() : "");
            std::fflush(stdout);
            _exit(planned ? 0 : 3);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) {
            return 4;
        }
    }
    return 0;
}

int flood(const char* ready, const char* go) {
    Program program(2000);
    if (!program.plan()) {
        return 3;
    }
    close(open(ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(go, F_OK) != 0) {
        std::this_thread::yield();
    }
    for (int i = 0; i < 1000; ++i) {
        if (!program.plan()) {
            return 3;
        }
    }
    std::printf("%s\n", program.run().c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    for (int i = 4; i < argc; ++i) {
        if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    const std::string way = argc > 4 ? argv[1] : "";
    return way == "throw"   ? throw_past()
           : way == "meet"  ? meet()
           : way == "fork"  ? fork_within()
           : way == "flood" ? flood(argv[2], argv[3])
                            : 2;
}
