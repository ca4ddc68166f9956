#include "traces/export/perfetto_writer.h"

#include "runtime/system/utf8.h"

#include <algorithm>

namespace schedscope {

namespace {

// The field numbers of the messages that are written, as in Perfetto's .proto files.
namespace trace {
constexpr uint32_t packet = 1;
}
namespace trace_packet {
constexpr uint32_t timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
                   previous_packet_dropped = 42, track_descriptor = 60, first_packet_on_sequence = 87;
constexpr uint64_t state_cleared = 1, needs_state = 2; // of sequence_flags
} // namespace trace_packet
namespace interned {
constexpr uint32_t iid = 1, name = 2; // of EventCategory, EventName and DebugAnnotationName
}
namespace track_descriptor {
constexpr uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
}
namespace process_descriptor {
constexpr uint32_t pid = 1, process_name = 6;
}
namespace thread_descriptor {
constexpr uint32_t pid = 1, tid = 2, thread_name = 5;
}
namespace counter_descriptor {
constexpr uint32_t unit = 3;
constexpr uint64_t size_bytes = 3; // of Unit
} // namespace counter_descriptor
namespace event_field {
constexpr uint32_t category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11, name = 23,
                   counter_value = 30, flow_ids = 47, terminating_flow_ids = 48;
constexpr int slice_begin = 1, slice_end = 2, instant = 3, counter = 4; // of Type
} // namespace event_field
namespace debug_annotation {
constexpr uint32_t name_iid = 1, bool_value = 2, int_value = 4, string_value = 6, array_values = 12;
}

constexpr PerfettoWriter::Track process_track = 1;
constexpr uint64_t pid = 1, sequence = 1;

} // namespace

void PerfettoWriter::process(std::string_view name) {
    last_track_ = process_track;
    ProtobufMessage about, track;
    about.number(process_descriptor::pid, pid).text(process_descriptor::process_name, as_utf8(name));
    track.number(track_descriptor::uuid, process_track).message(track_descriptor::process, about);
    write_descriptor(track);
}

PerfettoWriter::Track PerfettoWriter::thread(std::string_view name) {
    ProtobufMessage about, track;
    // Threads are shown by their number; the one that has the process's own comes first.
    about.number(thread_descriptor::pid, pid)
        .number(thread_descriptor::tid, pid + n_threads_++)
        .text(thread_descriptor::thread_name, as_utf8(name));
    track.number(track_descriptor::uuid, ++last_track_)
        .number(track_descriptor::parent_uuid, process_track)
        .message(track_descriptor::thread, about);
    write_descriptor(track);
    return last_track_;
}

PerfettoWriter::Track PerfettoWriter::counter_of_bytes(std::string_view name) {
    ProtobufMessage about, track;
    about.number(counter_descriptor::unit, counter_descriptor::size_bytes);
    track.number(track_descriptor::uuid, ++last_track_)
        .number(track_descriptor::parent_uuid, process_track)
        .text(track_descriptor::name, as_utf8(name))
        .message(track_descriptor::counter, about);
    write_descriptor(track);
    return last_track_;
}

void PerfettoWriter::begin(Track track, int64_t time_ns, const PerfettoEvent& event) {
    write_event(time_ns, described(track, event_field::slice_begin, event));
}
void PerfettoWriter::end(Track track, int64_t time_ns) { write_event(time_ns, track_event(track, event_field::slice_end)); }
void PerfettoWriter::instant(Track track, int64_t time_ns, const PerfettoEvent& event) {
    write_event(time_ns, described(track, event_field::instant, event));
}
void PerfettoWriter::count(Track track, int64_t time_ns, int64_t value) {
    ProtobufMessage event = track_event(track, event_field::counter);
    event.number(event_field::counter_value, value);
    write_event(time_ns, event);
}

uint64_t PerfettoWriter::intern(Names& names, std::string_view text) {
    if (const auto found = names.known.find(text); found != names.known.end()) {
        return found->second;
    }
    const uint64_t id = names.known.size() + 1;
    names.known.emplace(text, id);
    ProtobufMessage entry;
    entry.number(interned::iid, id).text(interned::name, as_utf8(text));
    new_names_.message(names.field, entry);
    return id;
}

ProtobufMessage PerfettoWriter::track_event(Track track, int type) const {
    ProtobufMessage event;
    event.number(event_field::type, type).number(event_field::track_uuid, track);
    return event;
}

ProtobufMessage PerfettoWriter::described(Track track, int type, const PerfettoEvent& event) {
    ProtobufMessage message = track_event(track, type);
    message.number(event_field::category_iids, intern(categories_, event.category));
    if (event.name_repeats) {
        message.number(event_field::name_iid, intern(events_, event.name));
    } else {
        message.text(event_field::name, as_utf8(event.name));
    }
    for (const PerfettoArgument& argument : event.arguments) {
        message.message(event_field::debug_annotations, annotation(argument));
    }
    for (const uint64_t flow : event.flows) {
        message.fixed64(event_field::flow_ids, flow);
    }
    for (const uint64_t flow : event.ending_flows) {
        message.fixed64(event_field::terminating_flow_ids, flow);
    }
    return message;
}

ProtobufMessage PerfettoWriter::annotation(const PerfettoArgument& argument) {
    using namespace debug_annotation;
    ProtobufMessage message;
    message.number(name_iid, intern(arguments_, argument.name));
    std::visit(
        [&]<typename V>(const V& value) {
            if constexpr (std::is_same_v<V, bool>) {
                message.number(bool_value, value ? 1 : 0);
            } else if constexpr (std::is_same_v<V, int64_t>) {
                message.number(int_value, value);
            } else if constexpr (std::is_same_v<V, std::string>) {
                message.text(string_value, as_utf8(value));
            } else {
                for (const std::string& one : value) {
                    ProtobufMessage element;
                    element.text(string_value, as_utf8(one));
                    message.message(array_values, element);
                }
            }
        },
        argument.value);
    return message;
}

void PerfettoWriter::write_event(int64_t time_ns, const ProtobufMessage& event) {
    ProtobufMessage packet;
    packet.number(trace_packet::timestamp, std::max<int64_t>(time_ns, 0)).message(trace_packet::track_event, event);
    write_packet(packet);
}

void PerfettoWriter::write_descriptor(const ProtobufMessage& descriptor) {
    ProtobufMessage packet;
    packet.message(trace_packet::track_descriptor, descriptor);
    write_packet(packet);
}

void PerfettoWriter::write_packet(ProtobufMessage& packet) {
    packet.number(trace_packet::trusted_packet_sequence_id, sequence);
    if (!new_names_.empty()) {
        packet.message(trace_packet::interned_data, new_names_);
        new_names_.clear();
    }
    packet.number(trace_packet::sequence_flags, trace_packet::needs_state | (first_ ? trace_packet::state_cleared : uint64_t{0}));
    if (first_) {
        packet.number(trace_packet::previous_packet_dropped, 1).number(trace_packet::first_packet_on_sequence, 1);
        first_ = false;
    }
    ProtobufMessage framed;
    framed.message(trace::packet, packet);
    out_.write(framed.bytes().data(), framed.bytes().size());
}

} // namespace schedscope
