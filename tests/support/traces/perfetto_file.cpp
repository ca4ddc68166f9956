#include "tests/support/traces/perfetto_file.h"

#include <cstring>
#include <stdexcept>

namespace schedscope::test {

namespace {

void demand(bool condition, const std::string& what) {
    if (!condition) {
        throw std::runtime_error("not a Perfetto trace: " + what);
    }
}

/// One field of a message.
struct MessageField {
    uint64_t number = 0;
    uint64_t value = 0;     ///< of a varint, of 8 bytes
    std::string_view bytes; ///< of what has a length
};

uint64_t take_varint(std::string_view& in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        demand(!in.empty(), "a number is cut off");
        const auto byte = static_cast<uint8_t>(in.front());
        in.remove_prefix(1);
        value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    throw std::runtime_error("not a Perfetto trace: a number has more than ten bytes");
}

std::vector<MessageField> fields_of(std::string_view in) {
    std::vector<MessageField> fields;
    while (!in.empty()) {
        const uint64_t tag = take_varint(in);
        MessageField f{tag >> 3, 0, {}};
        switch (tag & 7) {
        case 0: f.value = take_varint(in); break;
        case 1:
            demand(in.size() >= 8, "eight bytes are cut off");
            std::memcpy(&f.value, in.data(), 8);
            in.remove_prefix(8);
            break;
        case 2: {
            const uint64_t n = take_varint(in);
            demand(n <= in.size(), "a field is longer than what it is in");
            f.bytes = in.substr(0, n);
            in.remove_prefix(n);
            break;
        }
        default: demand(false, "wire type " + std::to_string(tag & 7));
        }
        fields.push_back(f);
    }
    return fields;
}

/// Numbers of names, per kind.
struct Interned {
    std::map<uint64_t, std::string> categories, names, arguments;

    void add(std::string_view data) {
        for (const MessageField& f : fields_of(data)) {
            std::map<uint64_t, std::string>* table = f.number == 1   ? &categories
                                                     : f.number == 2 ? &names
                                                     : f.number == 3 ? &arguments
                                                                     : nullptr;
            demand(table != nullptr, "InternedData field " + std::to_string(f.number));
            uint64_t id = 0;
            std::string text;
            for (const MessageField& entry : fields_of(f.bytes)) {
                (entry.number == 1) ? void(id = entry.value) : void(text = entry.bytes);
            }
            demand(id != 0 && table->emplace(id, text).second, "the number of " + text + " is taken");
        }
    }
};

const std::string& look_up(const std::map<uint64_t, std::string>& table, uint64_t id) {
    const auto found = table.find(id);
    demand(found != table.end(), "no name has the number " + std::to_string(id));
    return found->second;
}

void read_argument(std::string_view bytes, const Interned& known, PerfettoFile::Event& event) {
    std::string name;
    for (const MessageField& f : fields_of(bytes)) {
        switch (f.number) {
        case 1: name = look_up(known.arguments, f.value); break;
        case 2:
        case 4: event.numbers[name] = static_cast<int64_t>(f.value); break;
        case 6: event.texts[name] = f.bytes; break;
        case 12: {
            const std::vector<MessageField> element = fields_of(f.bytes);
            demand(element.size() == 1 && element[0].number == 6, "an element that is no text");
            event.lists[name].emplace_back(element[0].bytes);
            break;
        }
        default: demand(false, "DebugAnnotation field " + std::to_string(f.number));
        }
    }
    demand(!name.empty(), "an argument without a name");
}

void read_descriptor(std::string_view bytes, PerfettoFile& file) {
    PerfettoFile::Track track;
    uint64_t uuid = 0;
    for (const MessageField& f : fields_of(bytes)) {
        switch (f.number) {
        case 1: uuid = f.value; break;
        case 2: track.name = f.bytes; break;
        case 3:
        case 4:
            (f.number == 3 ? track.is_process : track.is_thread) = true;
            for (const MessageField& part : fields_of(f.bytes)) {
                if (part.number == (f.number == 3 ? 6U : 5U)) {
                    track.name = part.bytes;
                }
            }
            break;
        case 5: track.parent = f.value; break;
        case 8:
            for (const MessageField& part : fields_of(f.bytes)) {
                track.counts_bytes = part.number == 3 && part.value == 3;
            }
            break;
        default: demand(false, "TrackDescriptor field " + std::to_string(f.number));
        }
    }
    demand(uuid != 0 && file.tracks.emplace(uuid, track).second, "track " + std::to_string(uuid) + " is described twice");
    demand(track.parent == 0 || file.tracks.contains(track.parent), "the parent of " + track.name + " is unknown");
}

} // namespace

PerfettoFile::PerfettoFile(std::string_view bytes) {
    Interned known;
    std::map<uint64_t, std::vector<size_t>> open; // by track
    std::map<uint64_t, int64_t> last;
    bool first = true;
    for (const MessageField& packet : fields_of(bytes)) {
        demand(packet.number == 1 && !packet.bytes.empty(), "Trace field " + std::to_string(packet.number));
        int64_t time = -1;
        uint64_t flags = 0;
        std::string_view event_bytes;
        // Names count for the packet that brings them, wherever in it they stand.
        for (const MessageField& f : fields_of(packet.bytes)) {
            switch (f.number) {
            case 8: time = static_cast<int64_t>(f.value); break;
            case 10: demand(f.value != 0, "a sequence of number 0"); break;
            case 11: event_bytes = f.bytes; break;
            case 12: known.add(f.bytes); break;
            case 13: flags = f.value; break;
            case 60: read_descriptor(f.bytes, *this); break;
            case 42:
            case 87: demand(first, "a first packet that is not the first"); break;
            default: demand(false, "TracePacket field " + std::to_string(f.number));
            }
        }
        demand(flags == (first ? 3U : 2U), "sequence flags " + std::to_string(flags));
        first = false;
        if (event_bytes.empty()) {
            continue;
        }
        Event e;
        uint64_t type = 0;
        int64_t value = 0;
        for (const MessageField& f : fields_of(event_bytes)) {
            switch (f.number) {
            case 3: e.category = look_up(known.categories, f.value); break;
            case 4: read_argument(f.bytes, known, e); break;
            case 9: type = f.value; break;
            case 10: e.name = look_up(known.names, f.value); break;
            case 11: e.track = f.value; break;
            case 23: e.name = f.bytes; break;
            case 30: value = static_cast<int64_t>(f.value); break;
            case 47: e.flows.push_back(f.value); break;
            case 48: e.ending_flows.push_back(f.value); break;
            default: demand(false, "TrackEvent field " + std::to_string(f.number));
            }
        }
        demand(tracks.contains(e.track), "track " + std::to_string(e.track) + " was not described");
        demand(time >= 0 && time >= last[e.track], "times fall on " + tracks[e.track].name);
        last[e.track] = time;
        e.start_ns = e.end_ns = time;
        std::vector<size_t>& stack = open[e.track];
        switch (type) {
        case 1:
            e.parent = stack.empty() ? -1 : static_cast<int>(stack.back());
            stack.push_back(slices.size());
            slices.push_back(std::move(e));
            break;
        case 2:
            demand(!stack.empty(), "something ends on " + tracks[e.track].name + " that did not begin");
            slices[stack.back()].end_ns = time;
            stack.pop_back();
            break;
        case 3: instants.push_back(std::move(e)); break;
        case 4:
            demand(tracks[e.track].counts_bytes, "a count on a track that counts nothing");
            counts.push_back({e.track, time, value});
            break;
        default: demand(false, "an event of type " + std::to_string(type));
        }
    }
    for (const auto& [track, stack] : open) {
        demand(stack.empty(), "something does not end on " + tracks[track].name);
    }
}

std::vector<const PerfettoFile::Event*> PerfettoFile::of_category(std::string_view category) const {
    std::vector<const Event*> found;
    for (const Event& e : slices) {
        if (e.category == category) {
            found.push_back(&e);
        }
    }
    return found;
}

} // namespace schedscope::test
