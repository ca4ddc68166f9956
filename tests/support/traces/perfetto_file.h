#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::test {

/// A Perfetto trace as its published .proto files say that its bytes are to be read; shares no code with what writes it. Throws
/// std::runtime_error for what is no such file, and for what Perfetto would complain about: an unknown track or name, times that
/// fall on a track, slices that end without having begun.
struct PerfettoFile {
    struct Track {
        std::string name;
        uint64_t parent = 0;
        bool is_process = false, is_thread = false, counts_bytes = false;
    };
    struct Event {
        uint64_t track = 0;
        int64_t start_ns = 0, end_ns = 0;
        std::string name, category;
        std::map<std::string, std::string> texts; ///< arguments
        std::map<std::string, int64_t> numbers;
        std::map<std::string, std::vector<std::string>> lists;
        std::vector<uint64_t> flows, ending_flows;
        int parent = -1; ///< the slice that it lies in
    };
    struct Count {
        uint64_t track = 0;
        int64_t time_ns = 0, value = 0;
    };
    explicit PerfettoFile(std::string_view bytes);

    std::map<uint64_t, Track> tracks;
    std::vector<Event> slices; ///< in the order in which they begin in the file
    std::vector<Event> instants;
    std::vector<Count> counts;

    const std::string& track_name(const Event& e) const { return tracks.at(e.track).name; }
    std::vector<const Event*> of_category(std::string_view category) const;
};

} // namespace schedscope::test
