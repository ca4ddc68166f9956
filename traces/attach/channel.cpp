#include "traces/attach/channel.h"

#include "traces/attach/attach_control.h"
#include "traces/attach/handing_on.h"
#include "traces/attach/scheduler.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

namespace schedscope::attach {

namespace {

enum class State : uint32_t { not_asked, open, closed };

sscp_stream stream;
Control* control = nullptr;
uint32_t kinds[static_cast<int>(Kind::count)];
uint32_t state = static_cast<uint32_t>(State::not_asked), opening_lock = 0;
int64_t n_numbers = 0;
void* memory = nullptr; ///< shared: the page of control, and the ring
size_t memory_bytes = 0;
uint32_t n_recordings = 0, ending_lock = 0;

constexpr const char* words[] = {
#define F(name, fields) #name " " fields,
    SCHEDSCOPE_SENT(F)
#undef F
};

void set_state(State to) { __atomic_store_n(&state, static_cast<uint32_t>(to), __ATOMIC_SEQ_CST); }
State get_state() { return static_cast<State>(__atomic_load_n(&state, __ATOMIC_SEQ_CST)); }

/// The kernel takes the owner's number out of a robust lock when the owner dies; whoever goes on purpose unlocks it.
bool recorder_lives() {
    constexpr uint32_t owner = 0x3fffffff;
    return (static_cast<uint32_t>(__atomic_load_n(&control->recorder.__data.__lock, __ATOMIC_RELAXED)) & owner) != 0;
}

/// The shared memory is the parent's too: it goes on writing, the child never does.
void in_child_after_fork() { set_state(State::closed); }

/// Memory of its own for a process that is not the first. −1: none is offered.
int take_offer(uint32_t self) {
    for (Offer& offer : control->offers) {
        Offer now = __atomic_load_n(&offer, __ATOMIC_ACQUIRE);
        if (now != 0 && now >> owner_shift == 0 &&
            __atomic_compare_exchange_n(&offer, &now, now | Offer{self} << owner_shift, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            return static_cast<int>(now);
        }
    }
    return -1;
}

bool take_stream() {
    uint32_t no_owner = 0;
    char path[sizeof attachment().path + 16];
    snprintf(path, sizeof path, "%s", attachment().path);
    const auto self = static_cast<uint32_t>(getpid());
    if (!__atomic_compare_exchange_n(&control->owner, &no_owner, self, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        const int file = take_offer(self);
        char* const number = strrchr(path, '/');
        if (file < 0 || number == nullptr) {
            __atomic_fetch_add(&control->refused, 1, __ATOMIC_RELAXED);
            return false;
        }
        snprintf(number + 1, static_cast<size_t>(path + sizeof path - number - 1), "%d", file);
    }
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END); // fstat has been an export of libc since 2.33 alone
    const bool known = end > static_cast<off_t>(control_bytes);
    const size_t bytes = known ? static_cast<size_t>(end) : 0;
    void* const mapped = known ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) {
        close(fd);
    }
    if (mapped == MAP_FAILED) {
        return false;
    }
    memory = mapped;
    memory_bytes = bytes;
    if (sscp_open_ring(&stream, static_cast<char*>(memory) + control_bytes, bytes - control_bytes, -1) == 0) {
        return false;
    }
    for (int i = 0; i < static_cast<int>(Kind::count); ++i) {
        kinds[i] = sscp_kind(&stream, words[i]);
        if (kinds[i] == 0) {
            return false;
        }
    }
    static bool watches_forks = false;
    if (!watches_forks) {
        watches_forks = true;
        pthread_atfork(nullptr, nullptr, in_child_after_fork);
    }
    return true;
}

} // namespace

bool open_channel() {
    if (get_state() == State::not_asked) {
        const Lock lock(opening_lock);
        if (get_state() == State::not_asked) {
            control = attachment().control;
            set_state(control != nullptr && take_stream() ? State::open : State::closed);
        }
    }
    return is_open();
}

bool is_open() {
    if (get_state() != State::open) {
        return false;
    }
    if (!recorder_lives()) {
        set_state(State::closed);
        return false;
    }
    return true;
}

void close_channel() {
    const Lock lock(ending_lock);
    if (is_open()) {
        set_state(State::closed);
        end_all_evaluations([](Block& block) { block.commit_to(stream); });
        sscp_close(&stream);
    }
}

bool release_channel() {
    const Lock lock(ending_lock);
    if (memory == nullptr) {
        return true;
    }
    if (get_state() != State::closed || __atomic_load_n(&n_recordings, __ATOMIC_SEQ_CST) != 0) {
        return false;
    }
    forget_schedulers();
    Session::forget();
    munmap(memory, memory_bytes);
    memory = nullptr;
    let_control_go();
    return true;
}

bool open_channel_again() {
    n_numbers = 0;
    set_state(State::not_asked);
    return open_channel();
}

Recording::Recording() {
    __atomic_fetch_add(&n_recordings, 1, __ATOMIC_SEQ_CST);
    open_ = attach::is_open();
}

Recording::~Recording() {
    const uint32_t others = __atomic_sub_fetch(&n_recordings, 1, __ATOMIC_SEQ_CST);
    if (others == 0 && attachment().joined && get_state() == State::closed) {
        release_channel();
    }
}

void count(Count what) {
    if (control != nullptr) {
        uint32_t* const counter = what == Count::adopted      ? &control->adopted
                                  : what == Count::unverified ? &control->unverified
                                                              : &control->unplanned;
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    }
}

bool waits_exactly() { return attachment().sync; }
int64_t next_number() { return __atomic_fetch_add(&n_numbers, 1, __ATOMIC_RELAXED); }

void note_scheduler() {
    if (control != nullptr) {
        __atomic_fetch_add(&control->schedulers, 1, __ATOMIC_RELAXED);
    }
}

void give_reason(const char* why) {
    if (control != nullptr && control->reason[0] == 0) {
        snprintf(control->reason, sizeof control->reason, "%s", why);
    }
}

/// At a clean end. What threads of the program still do is not recorded.
__attribute__((destructor)) void leave() { close_channel(); }

void Block::make_room(size_t bytes) {
    const size_t wanted = block_.used + bytes + 64;
    if (wanted > block_.capacity && bytes_.reserve(wanted)) {
        block_.bytes = reinterpret_cast<unsigned char*>(bytes_.data());
        block_.capacity = bytes_.size();
    }
}

void Block::begin(int64_t evaluation) {
    bytes_.reserve(SSCP_BLOCK_HEADER);
    sscp_begin(&block_, bytes_.data(), bytes_.size(), evaluation, now_ns());
    begun_ = true;
}

uint32_t Block::text(const char* text) {
    const size_t n = text == nullptr ? 0 : strlen(text);
    make_room(n);
    return sscp_text_n(&block_, text, n);
}

void Block::put_bytes(Kind kind, const void* fields, size_t n, const void* list, size_t n_list) {
    make_room(n + n_list);
    sscp_put_bytes(&block_, kinds[static_cast<int>(kind)], fields, n, list, n_list);
}

bool Block::commit_to(sscp_stream& to) {
    const bool sent = begun_ && sscp_commit(&to, &block_) != 0;
    begun_ = false;
    return sent;
}

bool Block::commit() {
    begun_ = begun_ && is_open();
    return commit_to(stream);
}

} // namespace schedscope::attach
