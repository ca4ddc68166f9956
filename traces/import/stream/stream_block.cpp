#include "traces/import/stream/stream_block.h"

#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "traces/format/schedscope_stream.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <cstring>

namespace schedscope::import {

namespace {

std::optional<int64_t> known(int64_t value) noexcept { return value == SSCP_UNKNOWN_64 ? std::nullopt : std::optional(value); }

} // namespace

bool is_stream(std::string_view head) noexcept {
    const uint64_t mark = SSCP_MARK;
    return head.size() >= sizeof mark && std::memcmp(head.data(), &mark, sizeof mark) == 0;
}

std::string block_name(uint64_t place) { return "the block at byte " + words::count(static_cast<int64_t>(place)); }

StreamBlock block_of_header(std::span<const std::byte> header, uint64_t place) {
    StreamBlock block;
    block.place = place;
    if (number_at<uint64_t>(header, 0) != (SSCP_MARK ^ place)) {
        throw Damage("no block begins there");
    }
    const auto bytes = number_at<uint32_t>(header, 8);
    if (bytes < SSCP_BLOCK_HEADER || bytes % 8 != 0 || bytes > budget::stream_block_bytes) {
        throw Damage("it has " + std::to_string(bytes) + " bytes");
    }
    if (number_at<uint32_t>(header, 12) != 0) {
        throw Damage("its header is of a later version");
    }
    block.evaluation = known(number_at<int64_t>(header, 16));
    block.time_ns = known(number_at<int64_t>(header, 24));
    block.dropped = number_at<uint64_t>(header, 32);
    if (block.evaluation.value_or(0) < 0) {
        throw Damage("its evaluation is " + std::to_string(*block.evaluation));
    }
    if (std::abs(block.time_ns.value_or(0)) > farthest_number) {
        throw Damage("its time is " + std::to_string(*block.time_ns));
    }
    block.record_bytes = bytes - SSCP_BLOCK_HEADER;
    return block;
}

std::optional<StreamBlock> StreamFile::next() {
    constexpr size_t part = size_t{1} << 20; // memory is for what is there
    std::byte header[SSCP_BLOCK_HEADER];
    const size_t n = input_.read(header, sizeof header);
    cut_ = n > 0;
    if (n < sizeof header) {
        return std::nullopt;
    }
    try {
        StreamBlock block = block_of_header(header, place_);
        for (size_t have = 0; have < block.record_bytes; have = block.records.size()) {
            block.records.resize(std::min(block.record_bytes, have + part));
            if (input_.read(block.records.data() + have, block.records.size() - have) < block.records.size() - have) {
                return std::nullopt;
            }
        }
        cut_ = false;
        place_ += sizeof header + block.records.size();
        return block;
    } catch (const Damage& damage) {
        throw Damage(block_name(place_) + ": " + damage.what());
    }
}

} // namespace schedscope::import
