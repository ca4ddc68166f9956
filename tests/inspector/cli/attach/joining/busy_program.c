/* busy_program COUNTERS [wait]: threads that do all the time what is in the way of somebody who wants to join: they allocate,
 * load and unload libraries, throw nothing away of what their registers and errno hold, and with "wait" also wait for what may be
 * interrupted. Each counts in the file COUNTERS what it did. A thread that finds something changed ends the program with a code
 * of its own. Ends when its standard input does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void* ggml_backend_sched_new(void** backends);
void ggml_backend_sched_synchronize(void* sched);
int ggml_backend_sched_graph_compute_async(void* sched, void* graph);

enum { n_counters = 16, changed_memory = 20, changed_registers, changed_errno, interrupted, changed_calls };
static uint64_t* counters;

static void count(int thread) { __atomic_fetch_add(&counters[thread], 1, __ATOMIC_RELAXED); }

static void* allocate(void* number) {
    const int thread = (int)(intptr_t)number;
    unsigned seed = (unsigned)thread;
    unsigned char* blocks[64] = {0};
    size_t sizes[64] = {0};
    for (;;) {
        const int i = rand_r(&seed) % 64;
        for (size_t b = 0; b < sizes[i]; b += 1021) {
            if (blocks[i][b] != (unsigned char)i) {
                _exit(changed_memory);
            }
        }
        sizes[i] = (size_t)rand_r(&seed) % (rand_r(&seed) % 16 == 0 ? 400000 : 2000);
        blocks[i] = realloc(blocks[i], sizes[i] + 1);
        memset(blocks[i], i, sizes[i]);
        count(thread);
    }
    return NULL;
}

static void* load(void* number) {
    for (;;) {
        void* const handle = dlopen("libm.so.6", RTLD_NOW);
        if (handle == NULL || dlsym(handle, "cos") == NULL) {
            _exit(changed_memory);
        }
        dlclose(handle);
        count((int)(intptr_t)number);
    }
    return NULL;
}

/* The sum stays in registers of both kinds. */
static void* compute(void* number) {
    for (;;) {
        double a = 1.0, b = 2.0, c = 3.0, d = 4.0;
        uint64_t n = 0;
        for (; n < 100000; ++n) {
            a += 1.0;
            b += 1.0;
            c += 1.0;
            d += 1.0;
            __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
        }
        if (a != (double)n + 1.0 || b != (double)n + 2.0 || c != (double)n + 3.0 || d != (double)n + 4.0) {
            _exit(changed_registers);
        }
        count((int)(intptr_t)number);
    }
    return NULL;
}

static void* keep_errno(void* number) {
    for (;;) {
        errno = 77;
        for (volatile int i = 0; i < 100000; ++i) {
            if (errno != 77) {
                _exit(changed_errno);
            }
        }
        count((int)(intptr_t)number);
    }
    return NULL;
}

static void* call_ggml(void* number) {
    int calls = 0;
    void* const sched = ggml_backend_sched_new((void**)&calls);
    for (int expected = 0;;) {
        ggml_backend_sched_synchronize(sched);
        expected += 2;
        if (ggml_backend_sched_graph_compute_async(sched, NULL) != expected) {
            _exit(changed_calls);
        }
        count((int)(intptr_t)number);
    }
    return NULL;
}

static void* wait_for_events(void* number) {
    const int events = epoll_create1(0);
    struct epoll_event event;
    for (;;) {
        if (epoll_wait(events, &event, 1, 20) != 0) {
            _exit(interrupted);
        }
        count((int)(intptr_t)number);
    }
    return NULL;
}

static void* wait_for_time(void* number) {
    for (;;) {
        const struct timespec some = {0, 15000000};
        if (nanosleep(&some, NULL) != 0 || poll(NULL, 0, 15) != 0) {
            _exit(interrupted);
        }
        count((int)(intptr_t)number);
    }
    return NULL;
}

static void* wait_for_a_condition(void* number) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&mutex);
        if (pthread_cond_timedwait(&condition, &mutex, &until) != ETIMEDOUT) {
            _exit(interrupted);
        }
        pthread_mutex_unlock(&mutex);
        count((int)(intptr_t)number);
    }
    return NULL;
}

int main(int argc, char** argv) {
    typedef void* Work(void*);
    static Work* const busy[] = {call_ggml, allocate, allocate, load, compute, keep_errno};
    static Work* const waiting[] = {wait_for_events, wait_for_time, wait_for_a_condition};
    const int waits = argc > 2 && strcmp(argv[2], "wait") == 0;
    const int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, n_counters * sizeof(uint64_t)) != 0) {
        return 1;
    }
    counters = mmap(NULL, n_counters * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int n = 0;
    pthread_t thread;
    for (size_t i = 0; i < sizeof busy / sizeof *busy; ++i) {
        pthread_create(&thread, NULL, busy[i], (void*)(intptr_t)n++);
    }
    for (size_t i = 0; waits && i < sizeof waiting / sizeof *waiting; ++i) {
        pthread_create(&thread, NULL, waiting[i], (void*)(intptr_t)n++);
    }
    if (!waits) { /* no thread may be found waiting: this one is busy, too */
        fcntl(0, F_SETFL, O_NONBLOCK);
    }
    for (char c; read(0, &c, 1) != 0;) {
        free(malloc(100));
    }
    _exit(0);
}
