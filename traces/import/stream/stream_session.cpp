#include "traces/import/stream/stream_session.h"

#include "runtime/numbers.h"
#include "runtime/system/budget.h"
#include "runtime/system/utf8.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>

namespace schedscope::import {

namespace {

constexpr size_t most_facts = 4096, most_uses = 1 << 16, most_own_words = 1024;
// Some keep all that was known at some time.
constexpr int64_t most_text_bytes = int64_t{1} << 20, most_kept_bytes = int64_t{64} << 20;

/// A field that is left out stays as it was.
template <typename T> void say_number(const StreamFields& f, std::string_view name, int64_t least, int64_t most, T& number) {
    if (const auto said = f.number(name, least, most)) {
        number = static_cast<typename KnownValue<T>::Type>(*said);
    }
}

/// The element that a record describes: one that is there, or the next.
template <typename T> T& described(std::vector<T>& list, const StreamFields& f, std::string_view number) {
    const int64_t next = std::ssize(list), most = std::min(next, most_backends - 1);
    const int64_t id = next == most ? f.number(number, 0, most).value_or(next) : f.needed(number, 0, most);
    if (id == next) {
        T& added = list.emplace_back();
        if constexpr (requires { added.name; }) {
            added.name = f.kind() + " " + std::to_string(id);
        }
    }
    return list[id];
}

} // namespace

/// The same for a text.
void StreamSession::say(const StreamFields& f, std::string_view name, std::string& text) {
    if (const auto said = f.text(name)) {
        if ((text_bytes_ += std::ssize(*said)) > most_text_bytes) {
            throw Damage("texts of such records have more than " + std::to_string(most_text_bytes) + " bytes");
        }
        text = as_utf8(*said);
    }
}

StreamSession::StreamSession() {
    for_each_setting(settings_, [this]<typename T>(const char* name, const T&, int64_t, int64_t) {
        if (!may_lack_setting<T>) {
            settings_to_come_.emplace_back(name);
        }
    });
}

bool StreamSession::take(const StreamFields& f, UnknownWords& unknown) {
    const std::string& kind = f.kind();
    if (kind == "meta") {
        take_meta(f);
        return true;
    }
    if (kind == "backend") {
        BackendInfo& backend = described(said_.backends, f, "id");
        say(f, "name", backend.name);
        say(f, "device", backend.device);
        if (f.text("kind")) {
            say(f, "kind", backend.kind.emplace());
        }
        say(f, "description", backend.description);
        if (const auto times = f.named("kernel_times", kernel_times_from_name, unknown)) {
            backend.kernel_times = times;
        }
        say_number(f, "keeps_order", 0, 1, backend.keeps_order);
        say_number(f, "memory_bytes", 0, most_memory, backend.memory_bytes);
        say_number(f, "default_buffer_type", -1, most_backends - 1, backend.default_buffer_type);
    } else if (kind == "buffer_type") {
        BufferTypeInfo& type = described(said_.buffer_types, f, "id");
        say(f, "name", type.name);
        say_number(f, "is_host", 0, 1, type.is_host);
        say_number(f, "alignment", 1, most_alignment, type.alignment);
        say_number(f, "max_size", -1, most_memory, type.max_size);
    } else if (kind == "backend_buffer_type") {
        uses_.emplace_back(narrow<BackendId>(f.needed("backend", 0, most_backends - 1)),
                           narrow<BufferTypeId>(f.needed("buffer_type", 0, most_backends - 1)));
    } else if (kind == "settings") {
        take_settings(f, unknown);
    } else if (kind == "device_share") {
        float& share = described(settings_.placement.tensor_split, f, "position");
        const double said = f.real("share").value_or(share);
        share = is_share(said) ? static_cast<float>(said) : throw Damage("share is " + std::to_string(said));
        has_settings_ = true;
    } else if (kind == "tensor_override") {
        TensorOverride& override = described(settings_.placement.overrides, f, "position");
        say(f, "pattern", override.pattern);
        say(f, "device", override.device);
        has_settings_ = true;
    } else if (kind == "laid_out_type") {
        LaidOutType& laid_out = described(settings_.laid_out, f, "position");
        if (settings_.laid_out.size() > most_laid_out) {
            throw Damage("more types are laid out than there are");
        }
        const auto type = f.named("type", type_from_name, unknown);
        if (!type && f.text("type")) {
            throw Damage("type is none that can be laid out");
        }
        laid_out.type = type.value_or(laid_out.type);
        say_number(f, "rows", 1, most_laid_out_rows, laid_out.rows);
        say_number(f, "longer_than", 0, most_memory, laid_out.longer_than);
        say_number(f, "is_copy", 0, 1, laid_out.is_copy);
        has_settings_ = true;
    } else {
        return false;
    }
    return changed_ = true;
}

void StreamSession::take_settings(const StreamFields& f, UnknownWords& unknown) {
    has_settings_ = true;
    for_each_setting(settings_, [&]<typename T>(const char* name, T& value, int64_t least, int64_t most) {
        const auto set = [&](const auto& said) {
            if (said) {
                value = static_cast<SettingValue<T>>(*said);
                std::erase(settings_to_come_, name);
            }
        };
        if constexpr (is_word_setting<T>) {
            set(f.named(name, setting_from_word<T>, unknown));
        } else {
            set(f.number(name, least, most));
        }
    });
}

std::vector<std::string> StreamSession::missing_settings() const {
    return has_settings_ ? settings_to_come_ : std::vector<std::string>();
}

void StreamSession::take_meta(const StreamFields& f) {
    std::string key;
    say(f, "key", key);
    const auto [found, is_new] = fact_of_.emplace(key, said_.facts.size());
    if (is_new) {
        if (said_.facts.size() == most_facts) {
            throw Damage("there are more than " + std::to_string(most_facts) + " keys");
        }
        said_.facts.emplace_back(key, "");
    }
    if (std::string& value = said_.facts[found->second].second; f.text("value")) {
        say(f, "value", value);
    } else { // it holds no more
        value.clear();
    }
}

void StreamSession::add_words(const ForeignWords& words) {
    for (const auto& [word, list] : {std::pair{&words.op, &said_.own_operators}, {&words.type, &said_.own_types}}) {
        if (word->empty() || std::find(list->begin(), list->end(), *word) != list->end()) {
            continue;
        }
        if (list->size() == most_own_words) {
            throw Damage("tensor: there are more than " + std::to_string(most_own_words) + " operators or types of its own");
        }
        list->push_back(*word);
        changed_ = true;
    }
}

bool StreamSession::settle() {
    if (!changed_) {
        return false;
    }
    if (said_.backends.size() * said_.buffer_types.size() > most_uses) {
        throw Damage("there are too many backends and buffer types");
    }
    const size_t n_elements = said_.backends.size() + said_.buffer_types.size() + said_.own_operators.size() +
                              said_.own_types.size() + settings_.placement.tensor_split.size() +
                              settings_.placement.overrides.size() + settings_.laid_out.size();
    kept_bytes_ += text_bytes_ + std::ssize(said_.backends) * std::ssize(said_.buffer_types) +
                   int64_t{sizeof(BackendInfo)} * (1 + static_cast<int64_t>(n_elements));
    if (kept_bytes_ > most_kept_bytes) {
        throw Damage("backends, buffer types, settings and words of its own change too often");
    }
    for (BackendInfo& backend : said_.backends) {
        const BufferTypeId type = backend.default_buffer_type.value_or(no_buffer_type);
        if (type != no_buffer_type && !is_index(type, said_.buffer_types)) {
            throw Damage("backend: default_buffer_type is " + std::to_string(type));
        }
        backend.device = backend.device.empty() ? backend.name : backend.device;
        backend.supports_buffer_type.resize(said_.buffer_types.size(), 0);
    }
    for (const auto& [backend, type] : uses_) {
        if (!is_index(backend, said_.backends) || !is_index(type, said_.buffer_types)) {
            throw Damage("backend_buffer_type: backend " + std::to_string(backend) + " uses buffer type " + std::to_string(type));
        }
        said_.backends[backend].supports_buffer_type[type] = 1;
    }
    uses_.clear();
    said_.settings = has_settings_ && settings_to_come_.empty() ? std::optional(settings_) : std::nullopt;
    changed_ = false;
    info_ = said_;
    info_.facts.clear();
    return true;
}

} // namespace schedscope::import
