#pragma once

#include "traces/export/protobuf.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace schedscope {

/// What is told about an event when it is clicked on.
struct PerfettoArgument {
    std::string_view name; ///< a literal
    std::variant<int64_t, bool, std::string, std::vector<std::string>> value;
};

/// A slice or an instant on a track.
struct PerfettoEvent {
    std::string name;
    std::string_view category; ///< a literal
    bool name_repeats = true;  ///< one of few names: kept once in the file
    std::vector<PerfettoArgument> arguments = {};
    std::vector<uint64_t> flows = {};        ///< arrows that begin here or pass through
    std::vector<uint64_t> ending_flows = {}; ///< arrows that end here
};

/// Writes a file that Perfetto opens: a list of TracePackets with TrackEvents (protos/perfetto/trace/ of the Perfetto project
/// says what each field number means; its reference page on synthetic track events how they are put together). Protobuf, not
/// Chrome's JSON, because times stay whole nanoseconds, names that repeat are written once, and counters have units; all that it
/// takes of protobuf is in protobuf.h. Each packet goes out at once; only names are kept.
class PerfettoWriter {
public:
    using Track = uint64_t;
    explicit PerfettoWriter(std::ostream& out) : out_(out) {}

    /// The one process that all tracks belong to; comes first.
    void process(std::string_view name);
    Track thread(std::string_view name); ///< shown in the order they are made
    Track counter_of_bytes(std::string_view name);

    /// On one track times never fall, and slices nest: what begins last ends first. Times below 0 are written as 0.
    void begin(Track track, int64_t time_ns, const PerfettoEvent& event);
    void end(Track track, int64_t time_ns);
    void instant(Track track, int64_t time_ns, const PerfettoEvent& event);
    void count(Track track, int64_t time_ns, int64_t value);

private:
    /// Numbers for texts of one kind, from 1.
    struct Names {
        uint32_t field; ///< of InternedData
        std::map<std::string, uint64_t, std::less<>> known = {};
    };
    uint64_t intern(Names& names, std::string_view text);
    ProtobufMessage track_event(Track track, int type) const;
    ProtobufMessage described(Track track, int type, const PerfettoEvent& event);
    ProtobufMessage annotation(const PerfettoArgument& argument);
    void write_event(int64_t time_ns, const ProtobufMessage& event);
    void write_descriptor(const ProtobufMessage& descriptor);
    void write_packet(ProtobufMessage& packet);

    std::ostream& out_;
    bool first_ = true;
    Track last_track_ = 0;
    uint64_t n_threads_ = 0;
    Names categories_{1}, events_{2}, arguments_{3};
    ProtobufMessage new_names_; ///< InternedData of the next packet
};

} // namespace schedscope
