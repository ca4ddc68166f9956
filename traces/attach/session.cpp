#include "traces/attach/session.h"

#include "traces/attach/attach_control.h"
#include "traces/attach/channel.h"
#include "traces/attach/objects.h"

#include <stdio.h>

namespace schedscope::attach {

namespace {

constexpr int most_backends = 64, most_buffer_types = 256, name_bytes = 128;
constexpr int64_t most_bytes = int64_t{1} << 60; ///< larger: there is no limit

struct KnownBackend {
    int copy, twin, type;
    char name[name_bytes], device[name_bytes], description[name_bytes];
    const char* kind;
    const char* times; ///< "splits" or "none"
    int64_t memory;
    const void* home; ///< an address in the library that it is of; null: not known
};
struct KnownType {
    BufferType* object;
    int copy;
    char name[name_bytes];
    int is_host;
    int64_t alignment, max_size;
};
enum Use : uint8_t { not_asked, no, yes, yes_sent };

uint32_t session_lock = 0;
KnownBackend backends[most_backends];
KnownType types[most_buffer_types];
uint8_t uses[most_backends][most_buffer_types];
int n_backends = 0, n_types = 0, n_backends_sent = 0, n_types_sent = 0;
bool has_news = false;
char idle_told[512] = "";
Block* lasting_block = nullptr;

/// Of the session's own records, while the lock is held.
Block* own_block() {
    if (lasting_block == nullptr) {
        lasting_block = make_lasting<Block>();
    }
    return lasting_block;
}

void copy_text(char (&to)[name_bytes], const char* from) { snprintf(to, sizeof to, "%s", from == nullptr ? "" : from); }

int number_of(const GgmlCopy& ggml, BufferType* type) {
    if (type == nullptr) {
        return -1;
    }
    for (int i = 0; i < n_types; ++i) {
        if (types[i].object == type && types[i].copy == ggml.index) {
            return i;
        }
    }
    if (n_types == most_buffer_types) {
        return -1;
    }
    KnownType& known = types[n_types];
    known.object = type;
    known.copy = ggml.index;
    copy_text(known.name, ggml.call.ggml_backend_buft_name(type));
    known.is_host = ggml.call.ggml_backend_buft_is_host(type) ? 1 : 0;
    known.alignment = static_cast<int64_t>(ggml.call.ggml_backend_buft_get_alignment(type));
    const size_t size = ggml.call.ggml_backend_buft_get_max_size(type);
    known.max_size = size > static_cast<size_t>(most_bytes) ? -1 : static_cast<int64_t>(size);
    has_news = true;
    return n_types++;
}

void describe(const GgmlCopy& ggml, Backend* backend, KnownBackend& known) {
    Device* const device = ggml.call.ggml_backend_get_device == nullptr ? nullptr : ggml.call.ggml_backend_get_device(backend);
    known.memory = SSCP_UNKNOWN_64;
    const bool is_cpu = strcmp(known.name, "CPU") == 0; // numbers of device types moved
    if (device != nullptr && ggml.call.ggml_backend_dev_name != nullptr) {
        copy_text(known.device, ggml.call.ggml_backend_dev_name(device));
        copy_text(known.description, ggml.call.ggml_backend_dev_description(device));
        size_t free = 0, total = 0;
        ggml.call.ggml_backend_dev_memory(device, &free, &total);
        known.memory = total > 0 && total < static_cast<size_t>(most_bytes) ? static_cast<int64_t>(total) : SSCP_UNKNOWN_64;
    }
    const bool is_blas = strncmp(known.name, "BLAS", 4) == 0;
    const char* const memory_name = known.type < 0 ? "" : types[known.type].name; // older ones are named after the device
    const bool is_software = strstr(known.description, "llvmpipe") != nullptr || strstr(memory_name, "llvmpipe") != nullptr;
    known.kind = is_cpu ? "cpu" : is_blas ? "blas" : is_software ? "software" : "gpu";
    known.times = waits_exactly() || is_cpu || is_blas ? "splits" : "none";
}

/// What is loaded of ggml, each for a backend: "libggml-vulkan.so".
struct BackendLibraries {
    struct Library {
        char name[64];
        uintptr_t begin, end;
    } all[32];
    int n;
};

void add_library(const char* path, uintptr_t begin, uintptr_t end, void* data) {
    auto* const libraries = static_cast<BackendLibraries*>(data);
    const char* const slash = strrchr(path, '/');
    const char* const name = slash == nullptr ? path : slash + 1;
    if (strncmp(name, "libggml-", 8) == 0 && strncmp(name, "libggml-base", 12) != 0 && libraries->n < 32) {
        BackendLibraries::Library& library = libraries->all[libraries->n++];
        snprintf(library.name, sizeof library.name, "%s", name);
        library.begin = begin;
        library.end = end;
    }
}

/// Is it there for devices that a machine may lack? Not the host's, and not RPC's, whose devices a user names.
bool brings_devices(const char* name) {
    return strncmp(name, "libggml-cpu", 11) != 0 && strncmp(name, "libggml-blas", 12) != 0 &&
           strncmp(name, "libggml-rpc", 11) != 0;
}

/// A sentence about those that bring devices and of which no backend is; "": there is none. While the lock is held.
void describe_idle(const BackendLibraries& libraries, char* words, size_t bytes) {
    char names[256] = "";
    int n_idle = 0, n_placed = 0; // n_placed: backends whose library was seen
    for (int l = 0; l < libraries.n; ++l) {
        const BackendLibraries::Library& library = libraries.all[l];
        const int n_before = n_placed;
        for (int i = 0; i < n_backends; ++i) {
            const auto home = reinterpret_cast<uintptr_t>(backends[i].home);
            n_placed += home >= library.begin && home < library.end ? 1 : 0;
        }
        if (n_placed == n_before && brings_devices(library.name)) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", n_idle++ > 0 ? ", " : "", library.name);
        }
    }
    words[0] = 0;
    if (n_idle > 0 && n_placed == n_backends) { // a backend of elsewhere may stand for devices of any of them
        snprintf(words, bytes, "%s %s loaded, but the program uses no device of %s (schedscope help llama.cpp)", names,
                 n_idle > 1 ? "were" : "was", n_idle > 1 ? "them" : "it");
    }
}

/// Whatever is not in the stream yet goes there; it is said again until there is room.
bool send() {
    if (!has_news) {
        return true;
    }
    Block* const own = own_block();
    if (own == nullptr) {
        return false;
    }
    Block& block = *own;
    block.begin(SSCP_UNKNOWN_64);
    for (int i = n_types_sent; i < n_types; ++i) {
        const KnownType& t = types[i];
        SCHEDSCOPE_PUT(block, buffer_type, i, block.text(t.name), t.is_host, t.alignment, t.max_size);
    }
    for (int i = n_backends_sent; i < n_backends; ++i) {
        const KnownBackend& b = backends[i];
        SCHEDSCOPE_PUT(block, backend, i, block.text(b.name), block.text(b.device), block.text(b.kind), block.text(b.description),
                       b.memory, b.type, block.text(b.times));
    }
    for (int b = 0; b < n_backends; ++b) {
        for (int t = 0; t < n_types; ++t) {
            if (uses[b][t] == yes) {
                SCHEDSCOPE_PUT(block, backend_buffer_type, b, t);
            }
        }
    }
    if (!block.commit()) {
        return false;
    }
    n_types_sent = n_types;
    n_backends_sent = n_backends;
    for (auto& of_backend : uses) {
        for (uint8_t& use : of_backend) {
            use = use == yes ? uint8_t{yes_sent} : use;
        }
    }
    has_news = false;
    return true;
}

} // namespace

int Session::backend(const GgmlCopy& ggml, Backend* backend, int twin, BufferType* type) {
    const char* const name = ggml.call.ggml_backend_name(backend);
    const Lock lock(session_lock);
    const int type_number = number_of(ggml, type);
    int same_name = 0;
    for (int i = 0; i < n_backends; ++i) {
        const KnownBackend& known = backends[i];
        const bool named_so =
            strncmp(known.name, name, strlen(name)) == 0 && (known.name[strlen(name)] == 0 || known.name[strlen(name)] == '.');
        if (known.copy == ggml.index && known.twin == twin && known.type == type_number && named_so) {
            return i;
        }
        same_name += named_so ? 1 : 0;
    }
    if (n_backends == most_backends) {
        return -1;
    }
    KnownBackend& known = backends[n_backends];
    known.copy = ggml.index;
    known.twin = twin;
    known.type = type_number;
    copy_text(known.name, name);
    describe(ggml, backend, known);
    known.home = ggml.call.ggml_backend_guid == nullptr ? nullptr : ggml.call.ggml_backend_guid(backend);
    if (same_name > 0) { // as the second backend of a device is called everywhere
        snprintf(known.name, sizeof known.name, "%.100s.%d", name, same_name);
    }
    has_news = true;
    return n_backends++;
}

int Session::buffer_type(const GgmlCopy& ggml, BufferType* type) {
    const Lock lock(session_lock);
    return number_of(ggml, type);
}

bool Session::settle(const GgmlCopy& ggml, Backend* const* objects, const int* numbers, int n) {
    const Lock lock(session_lock);
    for (int b = 0; b < n; ++b) {
        for (int t = 0; t < n_types; ++t) {
            uint8_t& use = uses[numbers[b]][t];
            if (use == not_asked && types[t].copy == ggml.index) {
                const bool can = ggml.call.ggml_backend_supports_buft(objects[b], types[t].object);
                use = can ? Use::yes : Use::no;
                has_news = has_news || use == yes;
            }
        }
    }
    return send();
}

bool Session::ends_with_its_call(int number) { return backends[number].times[0] == 's'; }

void Session::forget() {
    const Lock lock(session_lock);
    n_backends = n_types = n_backends_sent = n_types_sent = 0;
    memset(uses, 0, sizeof uses);
    has_news = false;
    idle_told[0] = 0;
}

void Session::tell_of_idle_libraries() {
    BackendLibraries libraries = {};
    for_each_object(add_library, &libraries); // with no lock held: the loader has one of its own
    char words[sizeof idle_told];
    {
        const Lock lock(session_lock);
        describe_idle(libraries, words, sizeof words);
        if (strcmp(words, idle_told) == 0) {
            return;
        }
        memcpy(idle_told, words, sizeof words);
    }
    fact(SSCP_FACT_IDLE_LIBRARIES, words);
}

void Session::fact(const char* key, const char* value) {
    const Lock lock(session_lock);
    if (Block* const block = own_block()) {
        block->begin(SSCP_UNKNOWN_64);
        SCHEDSCOPE_PUT(*block, meta, block->text(key), block->text(value));
        block->commit();
    }
}

} // namespace schedscope::attach
