#include "runtime/planner/device_profile.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace schedscope {

namespace {

constexpr size_t longest_name = 24; ///< copies are named BACKEND#tensor#stage in 63 bytes

/// Bytes; 0: not understood or too many.
int64_t bytes_of(std::string_view size) {
    double n = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n, std::chars_format::fixed);
    const std::string unit = lower(size.substr(end - size.data()));
    constexpr std::array units{std::pair{"b", 0}, std::pair{"kib", 10}, std::pair{"mib", 20}, std::pair{"gib", 30}};
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) { return unit == u.first; });
    constexpr int most = 60; // bits
    const double bytes = found == units.end() ? 0 : std::ldexp(n, found->second);
    return error != std::errc() || !(bytes >= 1) || bytes > std::ldexp(1, most) ? 0 : std::llround(bytes);
}

/// One description, and how its errors begin.
class Description {
public:
    Description(std::string_view text, std::string_view option) : text_(text), option_(option) {}

    DeviceDescription parse() const {
        DeviceDescription d;
        d.text = text_;
        const size_t equals = text_.find('=');
        const size_t colon = text_.find(':', equals == std::string_view::npos ? 0 : equals);
        if (equals == std::string_view::npos || colon == std::string_view::npos) {
            refuse(lower(text_.substr(0, equals)) == "cpu"
                       ? "the host's memory is that of this machine; a device is described as in big=vulkan:24GiB"
                       : "NAME=vulkan:SIZE is wanted, as in big=vulkan:24GiB, or NAME=from:TRACE/DEVICE");
        }
        const std::string_view name = text_.substr(0, equals), value = text_.substr(colon + 1);
        const std::string kind = lower(text_.substr(equals + 1, colon - equals - 1));
        check_name(name, kind == "from");
        if (kind == "from") {
            take_trace(value, d);
        } else if (kind == "vulkan") {
            d.memory_bytes = size(value);
        } else {
            refuse("there is no kind '" + std::string(text_.substr(equals + 1, colon - equals - 1)) +
                   "' of devices that can be described; there are vulkan and from");
        }
        d.name = shown(name);
        return d;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(ErrorKind::usage, std::string(option_) + std::string(text_) + ": " + why);
    }

    void check_name(std::string_view name, bool recorded) const {
        const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
        });
        if (name.empty() || name.size() > longest_name || !plain) {
            refuse("a name has 1 to " + std::to_string(longest_name) + " letters, digits, '-' or '_'");
        }
        if (lower(name) == "blas" || (lower(name) == "cpu" && !recorded)) {
            refuse("'" + std::string(name) + "' is the name of another kind of device");
        }
    }

    /// TRACE/DEVICE[:SIZE]: the last slash, then the last colon.
    void take_trace(std::string_view value, DeviceDescription& d) const {
        const size_t slash = value.rfind('/');
        if (slash == std::string_view::npos || slash == 0) {
            refuse("NAME=from:TRACE/DEVICE is wanted, as in big=from:run.trace/CUDA0:24GiB");
        }
        d.trace = value.substr(0, slash);
        std::string_view device = value.substr(slash + 1);
        if (const size_t colon = device.rfind(':'); colon != std::string_view::npos) {
            d.memory_bytes = size(device.substr(colon + 1));
            device = device.substr(0, colon);
        }
        if (device.empty()) {
            refuse("which device of the trace? NAME=from:TRACE/DEVICE is wanted");
        }
        d.device = device;
    }

    int64_t size(std::string_view text) const {
        const int64_t bytes = bytes_of(text);
        if (bytes == 0) {
            refuse("'" + std::string(text) + "' is no size of a memory; 24GiB and 1.5GiB are, with B, KiB, MiB or GiB");
        }
        return bytes;
    }

    /// As the devices that are here are called, so that traces of both agree.
    static std::string shown(std::string_view name) {
        std::string shown(name);
        constexpr std::string_view found = "vulkan";
        if (lower(shown).starts_with(found) && shown.find_first_not_of("0123456789", found.size()) == std::string::npos) {
            shown = lower(shown);
            shown.front() = 'V';
        }
        return lower(shown) == "cpu" ? "CPU" : shown;
    }

    std::string_view text_, option_;
};

} // namespace

DeviceDescription parse_device_description(std::string_view text, std::string_view option) {
    return Description(text, option).parse();
}

OpQuestion OpQuestion::about(const GraphView& graph, TensorId id, const std::vector<BufferTypeInfo>& types) {
    OpQuestion question{&graph.tensors[id]};
    for (size_t s = 0; s < question.src.size(); ++s) {
        const TensorId source = graph.tensors[id].src[s];
        if (source != no_tensor) {
            const TensorInfo& t = graph.tensors[source];
            question.src[s] = &t;
            question.reads_host_weight |=
                t.usage == BufferUsage::weights && is_index(t.buffer_type, types) && types[t.buffer_type].is_host;
        }
    }
    return question;
}

void require_fitting_name(const DeviceDescription& d, const DeviceProfile& profile, std::string_view option) {
    const bool is_cpu = profile.backend().kind == "cpu";
    if (is_cpu != same_ignoring_case(d.name, "cpu")) {
        throw Error(ErrorKind::usage, std::string(option) + d.text + ": '" + d.device + "' is " +
                                          (is_cpu ? "a CPU, and the name of that is cpu" : "no CPU, and cpu is the name of one"));
    }
}

std::string ProfileCounts::text() const {
    if (exact + inferred + unknown + assumed == 0) {
        return "asked nothing that it had not answered in the recording";
    }
    std::string text = std::to_string(exact) + (exact == 1 ? " answer" : " answers") + " as recorded";
    text += inferred > 0 ? ", " + std::to_string(inferred) + " inferred from another size" : "";
    text += unknown > 0 ? ", " + std::to_string(unknown) + " unknown (taken as no)" : "";
    return text + (assumed > 0 ? ", " + std::to_string(assumed) + " assumed (takes work over as ggml's devices do)" : "");
}

} // namespace schedscope
