#include "runtime/backend/processors.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/read_number.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

namespace schedscope {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw Error(ErrorKind::usage, visible_name(text) + ": " + why);
}

std::string beyond() { return "processors are numbered from 0 to " + std::to_string(ProcessorSet::most - 1); }

bool set_affinity(const std::bitset<ProcessorSet::most>& bits) noexcept {
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (int i = 0; i < ProcessorSet::most; ++i) {
        if (bits[i]) {
            CPU_SET(i, &wanted);
        }
    }
    return sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

} // namespace

ProcessorSet ProcessorSet::of_mask(std::string_view text) {
    const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = text.substr(has_prefix ? 2 : 0);
    ProcessorSet set;
    int first = 0; // processor of the digit's lowest bit
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, first += 4) {
        unsigned value = 0;
        if (std::from_chars(&*digit, &*digit + 1, value, 16).ec != std::errc()) {
            refuse(text, "a hexadecimal mask of processors is wanted, such as 0xff for the first eight");
        }
        for (int bit = 0; bit < 4; ++bit) {
            if ((value >> bit & 1U) != 0) {
                if (first + bit >= most) {
                    refuse(text, beyond());
                }
                set.bits_.set(first + bit);
            }
        }
    }
    if (set.empty()) {
        refuse(text, "the mask names no processor");
    }
    return set;
}

ProcessorSet ProcessorSet::of_range(std::string_view text) {
    const size_t dash = text.find('-');
    const auto end_of = [&](std::string_view number, int otherwise) -> std::optional<int> {
        return number.empty() ? otherwise : read_number<int>(number);
    };
    const auto first = dash != std::string_view::npos ? end_of(text.substr(0, dash), 0) : std::nullopt;
    const auto last = dash != std::string_view::npos ? end_of(text.substr(dash + 1), most - 1) : std::nullopt;
    if (!first || !last || text == "-") {
        refuse(text, "a range of processors is wanted, such as 0-7");
    }
    if (*first < 0 || *last < 0 || *first >= most || *last >= most) {
        refuse(text, beyond());
    }
    if (*first > *last) {
        refuse(text, "the range ends before it begins");
    }
    ProcessorSet set;
    for (int i = *first; i <= *last; ++i) {
        set.bits_.set(i);
    }
    return set;
}

ProcessorSet ProcessorSet::usable() {
    ProcessorSet set;
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
        for (int i = 0; i < most; ++i) {
            set.bits_.set(i, CPU_ISSET(i, &mine) != 0);
        }
    }
    return set;
}

int ProcessorSet::size() const noexcept { return int_of(bits_.count()); }

std::string ProcessorSet::text() const {
    std::string text;
    for (int first = 0; first < most; ++first) {
        if (!bits_[first]) {
            continue;
        }
        int last = first;
        while (last + 1 < most && bits_[last + 1]) {
            ++last;
        }
        text += (text.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
        first = last;
    }
    return text;
}

BoundThread::BoundThread(const ProcessorSet& processors) {
    if (processors.empty()) {
        return;
    }
    before_ = ProcessorSet::usable();
    if (before_ == processors) {
        before_ = {};
    } else if (!set_affinity(processors.bits_)) {
        throw Error(ErrorKind::device, "CPU: threads can't be bound to processors " + processors.text() + ": " +
                                           std::generic_category().message(errno));
    }
}

BoundThread::~BoundThread() {
    if (!before_.empty()) {
        set_affinity(before_.bits_);
    }
}

int physical_cores(const ProcessorSet& among) {
    const ProcessorSet processors = among.empty() ? ProcessorSet::usable() : among;
    if (processors.empty()) {
        return std::max(1, int_of(std::thread::hardware_concurrency()));
    }
    std::set<std::string> cores;
    for (int i = 0; i < ProcessorSet::most; ++i) {
        if (processors.has(i)) {
            std::string siblings;
            std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list");
            std::getline(file, siblings);
            cores.insert(siblings.empty() ? std::to_string(i) : siblings);
        }
    }
    return std::max(1, n_of(cores));
}

} // namespace schedscope
