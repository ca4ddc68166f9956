#include "tests/support/attach/recorded_stream.h"

#include "traces/format/schedscope_stream.h"
#include "traces/import/stream/stream_layout.h"
#include "traces/import/stream/stream_ring.h"

#include <cstring>
#include <optional>
#include <stdexcept>

namespace schedscope::test {

namespace {

using import::StreamLayout;

class Reading {
public:
    explicit Reading(RecordedStream& to) : to_(to) {}

    void take(const import::StreamBlock& block) {
        std::vector<std::string> texts;
        const std::span<const std::byte> all(block.records);
        for (size_t at = 0; at < all.size();) {
            uint32_t head[2];
            std::memcpy(head, all.data() + at, sizeof head);
            const std::span<const std::byte> record = all.subspan(at + sizeof head, head[0] - sizeof head);
            const std::string words(reinterpret_cast<const char*>(record.data()), record.size());
            if (head[1] == SSCP_TEXT) {
                texts.push_back(words);
            } else if (head[1] == SSCP_KIND) {
                uint32_t number = 0;
                std::memcpy(&number, record.data(), sizeof number);
                kinds_.emplace(number, StreamLayout(words.substr(8)));
            } else if (head[1] == SSCP_END) {
                to_.ended = true;
            } else if (head[1] >= SSCP_FIRST_KIND) {
                to_.records.push_back(decoded(kinds_.at(head[1]), record, texts, block.evaluation.value_or(-1)));
            }
            at += (head[0] + 7) / 8 * 8;
        }
    }

private:
    static size_t bytes_of(StreamLayout::Type type) {
        switch (type) {
        case StreamLayout::Type::i8:
        case StreamLayout::Type::u8: return 1;
        case StreamLayout::Type::i16:
        case StreamLayout::Type::u16: return 2;
        case StreamLayout::Type::i64:
        case StreamLayout::Type::f64: return 8;
        default: return 4;
        }
    }

    static SentRecord decoded(const StreamLayout& layout, std::span<const std::byte> record,
                              const std::vector<std::string>& texts, int64_t evaluation) {
        SentRecord out{layout.kind(), evaluation, {}};
        for (const StreamLayout::Field& field : layout.fields()) {
            std::string& text = out.fields[field.name];
            const size_t bytes = bytes_of(field.type), n = field.list ? record.size() - field.offset : field.count;
            for (size_t i = 0; i < n; ++i) {
                uint64_t bits = 0;
                std::memcpy(&bits, record.data() + field.offset + i * bytes, bytes);
                const bool negative = field.type != StreamLayout::Type::u8 && bytes < 8 && (bits >> (8 * bytes - 1)) != 0;
                const auto value = static_cast<int64_t>(negative ? bits | ~uint64_t{0} << (8 * bytes) : bits);
                text += i > 0 ? " " : "";
                if (field.type == StreamLayout::Type::text) {
                    text += bits == 0 ? "" : texts.at(bits - 1);
                } else {
                    text += std::to_string(value);
                }
            }
        }
        return out;
    }

    RecordedStream& to_;
    std::map<uint32_t, StreamLayout> kinds_;
};

} // namespace

int64_t SentRecord::number(const std::string& field) const { return std::stoll(fields.at(field)); }

std::vector<SentRecord> RecordedStream::of(const std::string& kind, int64_t evaluation) const {
    std::vector<SentRecord> found;
    for (const SentRecord& record : records) {
        if (record.kind == kind && (evaluation < 0 || record.evaluation == evaluation)) {
            found.push_back(record);
        }
    }
    return found;
}

RecordedStream recorded_stream(const std::vector<std::string>& command, const AttachOptions& options) {
    RecordedStream stream;
    const SharedPages pages;
    Reading reading(stream);
    import::StreamRing ring(pages.ring(), SharedPages::ring_bytes());
    const auto drain = [&] {
        while (const std::optional<import::StreamBlock> block = ring.next()) {
            reading.take(*block);
        }
    };
    StartedProgram program(command, pages.environment(options), {});
    while (!program.wait(5)) {
        drain();
    }
    drain();
    ring.writer_is_gone();
    drain();
    stream.code = program.code();
    stream.control = pages.control();
    return stream;
}

} // namespace schedscope::test
