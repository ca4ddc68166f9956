#include "traces/attach/objects.h"

#include "traces/attach/handing_on.h"
#include "traces/attach/memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

// Since glibc 2.34 these are in libc under a version of their own, which an older one does not have.
#if defined(__x86_64__)
#define SCHEDSCOPE_OLDEST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SCHEDSCOPE_OLDEST_GLIBC "GLIBC_2.17"
#endif
#ifdef SCHEDSCOPE_OLDEST_GLIBC
__asm__(".symver dlsym, dlsym@" SCHEDSCOPE_OLDEST_GLIBC);
__asm__(".symver dlopen, dlopen@" SCHEDSCOPE_OLDEST_GLIBC);
#endif

namespace schedscope::attach {

namespace {

constexpr const char* names[] = {
#define F(name) #name,
    SCHEDSCOPE_INTERPOSED(F)
#undef F
};

struct KnownObject {
    uintptr_t begin, end;
    void* handle; ///< null: the program itself, which is searched as the loader does, from behind us
    char path[4096];
    void* functions[static_cast<int>(Fn::count)];
};

constexpr int most_objects = 256;
KnownObject* objects[most_objects];
int n_objects = 0;
uint32_t objects_lock = 0;

KnownObject* known(const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    const int n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n; ++i) {
        if (at >= objects[i]->begin && at < objects[i]->end) {
            return objects[i];
        }
    }
    return nullptr;
}

struct Search {
    uintptr_t at, begin, end;
    const char* path;
};

void extent_of(const dl_phdr_info* info, uintptr_t& begin, uintptr_t& end) {
    begin = UINTPTR_MAX;
    end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD) {
            const uintptr_t from = info->dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
            begin = from < begin ? from : begin;
            end = to > end ? to : end;
        }
    }
}

int holds(dl_phdr_info* info, size_t /*size*/, void* data) {
    auto* const search = static_cast<Search*>(data);
    uintptr_t begin, end;
    extent_of(info, begin, end);
    if (search->at < begin || search->at >= end) {
        return 0;
    }
    search->begin = begin;
    search->end = end;
    search->path = info->dlpi_name;
    return 1;
}

/// The reference that dlopen takes is kept: an address means the same object for as long as the program lives.
KnownObject* learn(const void* address) {
    Search search = {reinterpret_cast<uintptr_t>(address), 0, 0, nullptr};
    if (dl_iterate_phdr(holds, &search) == 0) {
        return nullptr;
    }
    Bytes bytes;
    if (!bytes.reserve(sizeof(KnownObject))) {
        return nullptr;
    }
    auto* const object = reinterpret_cast<KnownObject*>(bytes.release());
    object->begin = search.begin;
    object->end = search.end;
    const size_t n = search.path == nullptr ? 0 : strlen(search.path);
    if (n > 0 && n < sizeof object->path) {
        memcpy(object->path, search.path, n + 1);
        object->handle = dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD); // NOLINT: it is loaded
    }
    const Lock lock(objects_lock);
    if (KnownObject* const before = known(address)) {
        return before;
    }
    if (n_objects == most_objects) {
        return nullptr;
    }
    objects[n_objects] = object;
    __atomic_store_n(&n_objects, n_objects + 1, __ATOMIC_RELEASE);
    return object;
}

KnownObject* object_at(const void* address) {
    KnownObject* const object = known(address);
    return object != nullptr ? object : learn(address);
}

int copy_build_id(dl_phdr_info* info, size_t size, void* data) {
    struct Wanted {
        uintptr_t at;
        char* text;
        size_t bytes;
    };
    auto* const wanted = static_cast<Wanted*>(data);
    Search search = {wanted->at, 0, 0, nullptr};
    if (holds(info, size, &search) == 0) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type != PT_NOTE) {
            continue;
        }
        const char* at = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr); // NOLINT(performance-no-int-to-ptr)
        const char* const end = at + part.p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const auto* const id = reinterpret_cast<const unsigned char*>(at + sizeof *note + (note->n_namesz + 3) / 4 * 4);
            if (note->n_type == NT_GNU_BUILD_ID) {
                size_t used = 0;
                for (uint32_t b = 0; b < note->n_descsz && used + 2 < wanted->bytes; ++b) {
                    wanted->text[used++] = "0123456789abcdef"[id[b] >> 4];
                    wanted->text[used++] = "0123456789abcdef"[id[b] & 15];
                }
                wanted->text[used] = 0;
                return 1;
            }
            at = reinterpret_cast<const char*>(id) + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

/// Of what calls by no object of its own, in the program's order: behind us, or without us where we came last.
void* found_in_program(const char* name) { return dlsym(attachment().joined ? RTLD_DEFAULT : RTLD_NEXT, name); }

} // namespace

void set_real_function(Fn function, const void* object, void* real) {
    if (KnownObject* const known_object = object_at(object)) {
        __atomic_store_n(&known_object->functions[static_cast<int>(function)], real, __ATOMIC_RELAXED);
    }
}

void* real_function(Fn function, const void* caller) {
    KnownObject* const object = object_at(caller);
    const char* const name = names[static_cast<int>(function)];
    if (object == nullptr) {
        return found_in_program(name);
    }
    void*& known_function = object->functions[static_cast<int>(function)];
    void* found = __atomic_load_n(&known_function, __ATOMIC_RELAXED);
    if (found == nullptr) {
        // The handle of the program would give our own function back: its scope begins with us.
        found = object->handle == nullptr ? nullptr : dlsym(object->handle, name);
        const KnownObject* const ours = object_at(reinterpret_cast<const void*>(&real_function));
        const auto at = reinterpret_cast<uintptr_t>(found);
        if (found == nullptr || (ours != nullptr && at >= ours->begin && at < ours->end)) {
            found = found_in_program(name);
        }
        __atomic_store_n(&known_function, found, __ATOMIC_RELAXED);
    }
    return found;
}

Object object_of(const void* address) {
    const KnownObject* const object = object_at(address);
    return object == nullptr ? Object{nullptr, ""} : Object{object->handle, object->path};
}

void* find_in(void* handle, const char* name) { return handle == nullptr ? found_in_program(name) : dlsym(handle, name); }

void for_each_object(LookAtObject* look, void* data) {
    struct Looking {
        LookAtObject* look;
        void* data;
    } looking = {look, data};
    const auto show = [](dl_phdr_info* info, size_t /*size*/, void* of) {
        uintptr_t begin, end;
        extent_of(info, begin, end);
        const auto* const to = static_cast<const Looking*>(of);
        to->look(info->dlpi_name == nullptr ? "" : info->dlpi_name, begin, end, to->data);
        return 0;
    };
    dl_iterate_phdr(show, &looking);
}

void build_id_of(const void* address, char* text, size_t bytes) {
    struct Wanted {
        uintptr_t at;
        char* text;
        size_t bytes;
    } wanted = {reinterpret_cast<uintptr_t>(address), text, bytes};
    text[0] = 0;
    dl_iterate_phdr(copy_build_id, &wanted);
}

} // namespace schedscope::attach
