#include "traces/import/stream/stream_ring.h"

#include "runtime/error.h"
#include "traces/format/schedscope_stream.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace schedscope::import {

static_assert(sizeof(sscp_ring) == SSCP_RING_HEADER && offsetof(sscp_ring, reserved) == 64 && offsetof(sscp_ring, taken) == 128);

StreamRing::StreamRing(void* memory, size_t bytes)
    : ring_(static_cast<sscp_ring*>(memory)), data_(static_cast<std::byte*>(memory) + SSCP_RING_HEADER),
      capacity_((bytes - SSCP_RING_HEADER) & ~uint64_t{7}) {
    if (bytes < SSCP_RING_HEADER + 1024) {
        throw Error(ErrorKind::usage, "shared memory for a stream: " + std::to_string(bytes) + " bytes are too few");
    }
}

bool StreamRing::has_begun() noexcept { return __atomic_load_n(&ring_->mark, __ATOMIC_ACQUIRE) == SSCP_RING_MARK; }

uint64_t StreamRing::dropped() const noexcept { return __atomic_load_n(&ring_->dropped, __ATOMIC_RELAXED); }

/// The end of what writers took.
uint64_t StreamRing::reserved() const {
    const uint64_t end = __atomic_load_n(&ring_->reserved, __ATOMIC_SEQ_CST);
    if (end < taken_ || end - taken_ > capacity_ || end % 8 != 0) {
        throw Damage("it can't be in the shared memory");
    }
    return end;
}

uint64_t StreamRing::mark() const noexcept {
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(data_ + taken_ % capacity_), __ATOMIC_SEQ_CST);
}

void StreamRing::copy(uint64_t place, std::span<std::byte> into) const noexcept {
    const size_t at = place % capacity_, first = std::min<size_t>(into.size(), capacity_ - at);
    std::memcpy(into.data(), data_ + at, first);
    std::memcpy(into.data() + first, data_, into.size() - first);
}

/// `used`: of these bytes, those that somebody wrote to.
void StreamRing::give_back(uint64_t bytes, uint64_t used) noexcept {
    const size_t at = taken_ % capacity_, first = std::min<size_t>(used, capacity_ - at);
    std::memset(data_ + at, 0, first);
    std::memset(data_, 0, used - first);
    taken_ += bytes;
    __atomic_store_n(&ring_->taken, taken_, __ATOMIC_RELEASE);
}

std::optional<StreamBlock> StreamRing::next() {
    try {
        return has_begun() ? find_next() : std::nullopt;
    } catch (const Damage& damage) {
        throw Damage(block_name(taken_) + ": " + damage.what());
    }
}

std::optional<StreamBlock> StreamRing::find_next() {
    for (const uint64_t end = reserved(); taken_ < end;) {
        const uint64_t now = mark();
        if (now == (SSCP_MARK ^ taken_) && end - taken_ >= SSCP_BLOCK_HEADER) {
            std::byte header[SSCP_BLOCK_HEADER];
            copy(taken_, header);
            std::memcpy(header, &now, sizeof now);
            StreamBlock block = block_of_header(header, taken_);
            if (SSCP_BLOCK_HEADER + block.record_bytes > end - taken_) {
                throw Damage("it is longer than what was written");
            }
            block.records.resize(block.record_bytes);
            copy(taken_ + SSCP_BLOCK_HEADER, block.records);
            give_back(SSCP_BLOCK_HEADER + block.records.size(), SSCP_BLOCK_HEADER + block.records.size());
            in_hole_ = false;
            return block;
        }
        if (now == (SSCP_SKIP ^ taken_)) {
            const uint64_t rest = capacity_ - taken_ % capacity_;
            if (rest > end - taken_) {
                throw Damage("more is passed over than what was written");
            }
            give_back(rest, sizeof now);
            in_hole_ = false;
            continue;
        }
        if (now != 0 && !in_hole_) {
            throw Damage("no block begins there");
        }
        if (!gone_) {
            return std::nullopt; // a thread is copying it
        }
        lost_ += in_hole_ ? 0 : 1;
        in_hole_ = true;
        give_back(8, 8);
    }
    return std::nullopt;
}

StreamRing::Woken StreamRing::wait(int wake, int timeout_ms) {
    __atomic_store_n(&ring_->waiting, 1, __ATOMIC_SEQ_CST);
    if (has_begun() && reserved() != taken_ && mark() != 0) {
        __atomic_store_n(&ring_->waiting, 0, __ATOMIC_SEQ_CST);
        return Woken::looks;
    }
    pollfd socket{wake, POLLIN, 0};
    const int ready = poll(&socket, 1, timeout_ms);
    __atomic_store_n(&ring_->waiting, 0, __ATOMIC_SEQ_CST);
    if (ready == 0) {
        return Woken::late;
    }
    char bytes[64];
    const ssize_t n = ready < 0 ? 1 : recv(wake, bytes, sizeof bytes, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ? Woken::gone : Woken::looks;
}

} // namespace schedscope::import
