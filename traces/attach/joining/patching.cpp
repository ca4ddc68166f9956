#include "traces/attach/joining/patching.h"

#include "traces/attach/memory.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace schedscope::attach {

namespace {

#if defined(__x86_64__)
constexpr uint32_t calls = R_X86_64_JUMP_SLOT, addresses = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t calls = R_AARCH64_JUMP_SLOT, addresses = R_AARCH64_GLOB_DAT;
#else
#error "the relocations of this machine are not known"
#endif

constexpr const char* names[] = {
#define F(name) #name,
    SCHEDSCOPE_WATCHED(F)
#undef F
};
constexpr int n_names = sizeof names / sizeof names[0];

/// An entry that leads to us, and what it held before.
struct Entry {
    void** place;
    void* before;
};
List<Entry>* entries = nullptr; ///< made once, and never destroyed

/// What the loader knows of an object, by the tables in its memory.
struct Tables {
    const ElfW(Rela) * lists[2] = {}; ///< of calls, which may be resolved when they are made first; of all else
    size_t n[2] = {};
    const ElfW(Sym) * symbols = nullptr;
    const char* texts = nullptr;
    uintptr_t begin = UINTPTR_MAX, end = 0;           ///< of the object
    uintptr_t read_only_begin = 0, read_only_end = 0; ///< once it is relocated
};

Tables tables_of(const dl_phdr_info& info) {
    Tables t;
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info.dlpi_phdr[i];
        const uintptr_t from = info.dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
        if (part.p_type == PT_LOAD) {
            t.begin = from < t.begin ? from : t.begin;
            t.end = to > t.end ? to : t.end;
        } else if (part.p_type == PT_DYNAMIC) {
            entry = reinterpret_cast<const ElfW(Dyn)*>(from); // NOLINT(performance-no-int-to-ptr)
        } else if (part.p_type == PT_GNU_RELRO) {
            t.read_only_begin = from;
            t.read_only_end = to;
        }
    }
    const auto table = [&](ElfW(Addr) at) { // the loader adds its base to most of them, and to others it does not
        return reinterpret_cast<const char*>(at < t.begin ? at + info.dlpi_addr : at); // NOLINT(performance-no-int-to-ptr)
    };
    size_t bytes[2] = {};
    bool has_addends = true;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
        case DT_JMPREL: t.lists[0] = reinterpret_cast<const ElfW(Rela)*>(table(entry->d_un.d_ptr)); break;
        case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
        case DT_PLTREL: has_addends = entry->d_un.d_val == DT_RELA; break;
        case DT_RELA: t.lists[1] = reinterpret_cast<const ElfW(Rela)*>(table(entry->d_un.d_ptr)); break;
        case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
        case DT_SYMTAB: t.symbols = reinterpret_cast<const ElfW(Sym)*>(table(entry->d_un.d_ptr)); break;
        case DT_STRTAB: t.texts = table(entry->d_un.d_ptr); break;
        default: break;
        }
    }
    for (int i = 0; i < 2; ++i) {
        const bool known = t.lists[i] != nullptr && t.symbols != nullptr && t.texts != nullptr && has_addends;
        t.n[i] = known ? bytes[i] / sizeof(ElfW(Rela)) : 0;
    }
    return t;
}

int name_number(const char* name) {
    if (strncmp(name, "ggml_", 5) != 0) {
        return -1;
    }
    for (int i = 0; i < n_names; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/// Entries of a table that the loader made read-only become writable for as long as one is changed.
bool write_entry(const Tables& t, void** place, void* value) {
    const auto at = reinterpret_cast<uintptr_t>(place);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    // Its last page is read-only only where all of it is.
    const bool read_only = at >= t.read_only_begin / page * page && at < t.read_only_end / page * page;
    auto* const begin = reinterpret_cast<void*>(at / page * page); // NOLINT(performance-no-int-to-ptr)
    if (read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
    if (read_only) {
        mprotect(begin, page, PROT_READ);
    }
    return true;
}

/// Each entry of an object through which it calls one of the functions.
template <typename F> void for_each_entry(const dl_phdr_info& info, const F& found) {
    const Tables t = tables_of(info);
    const auto ours = reinterpret_cast<uintptr_t>(&lead_calls_here);
    if (ours >= t.begin && ours < t.end) {
        return;
    }
    for (int list = 0; list < 2; ++list) {
        for (size_t i = 0; i < t.n[list]; ++i) {
            const ElfW(Rela)& entry = t.lists[list][i];
            const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
            if ((type != calls && type != addresses) || entry.r_addend != 0) {
                continue;
            }
            const int name = name_number(t.texts + t.symbols[ELF64_R_SYM(entry.r_info)].st_name);
            if (name >= 0) {
                found(t, name, reinterpret_cast<void**>(info.dlpi_addr + entry.r_offset)); // NOLINT(performance-no-int-to-ptr)
            }
        }
    }
}

int lead_here(dl_phdr_info* info, size_t /*size*/, void* data) {
    for_each_entry(*info, [&](const Tables& t, int name, void** place) {
        void *const hook = hook_of(static_cast<Fn>(name)), *const before = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (before == hook || before == nullptr || !entries->add({place, before})) {
            return;
        }
        // Where a call was not made yet, its entry leads into the object's own code, which asks the loader.
        const auto at = reinterpret_cast<uintptr_t>(before);
        if (at < t.begin || at >= t.end) {
            set_real_function(static_cast<Fn>(name), place, before);
        }
        if (write_entry(t, place, hook)) {
            ++*static_cast<int*>(data);
        } else {
            entries->shorten(entries->size() - 1);
        }
    });
    return 0;
}

int lead_back(dl_phdr_info* info, size_t /*size*/, void* /*data*/) {
    for_each_entry(*info, [&](const Tables& t, int name, void** place) {
        if (__atomic_load_n(place, __ATOMIC_ACQUIRE) != hook_of(static_cast<Fn>(name))) {
            return;
        }
        for (const Entry& entry : *entries) {
            if (entry.place == place) {
                write_entry(t, place, entry.before);
                return;
            }
        }
    });
    return 0;
}

} // namespace

int lead_calls_here() {
    entries = entries != nullptr ? entries : make_lasting<List<Entry>>();
    int n = 0;
    if (entries != nullptr) {
        dl_iterate_phdr(lead_here, &n);
    }
    return n;
}

void lead_calls_back() {
    if (entries != nullptr) {
        dl_iterate_phdr(lead_back, nullptr); // what was unloaded since is not in that list
        entries->clear();
    }
}

} // namespace schedscope::attach
