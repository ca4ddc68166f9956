#include "inspector/cli/attach/joining/other_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <link.h>
#include <sstream>

namespace schedscope {

namespace {

uint64_t hexadecimal(std::string_view text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
}

/// "55d0-55d8 r-xp 00001000 fe:00 1234   /usr/lib/libc.so.6"
MappedRange parsed(const std::string& line) {
    std::istringstream words(line);
    std::string place, rights, offset, device;
    MappedRange range;
    words >> place >> rights >> offset >> device >> range.inode;
    std::getline(words >> std::ws, range.path);
    const size_t dash = std::min(place.find('-'), place.size() - 1);
    range.begin = hexadecimal(std::string_view(place).substr(0, dash));
    range.end = hexadecimal(std::string_view(place).substr(dash + 1));
    range.executable = rights.find('x') != std::string::npos;
    range.offset = hexadecimal(offset);
    return range;
}

uint32_t gnu_hash(std::string_view name) {
    uint32_t hash = 5381;
    for (const char c : name) {
        hash = hash * 33 + static_cast<unsigned char>(c);
    }
    return hash;
}

/// Tables of one file in memory.
struct Dynamic {
    uintptr_t bias = 0, symbols = 0, texts = 0, hash = 0, old_hash = 0;
};

std::optional<Dynamic> dynamic_of(const OtherProcess& process, const LoadedFile& file) {
    const auto header = process.read<ElfW(Ehdr)>(file.base);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr)) ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
        return std::nullopt;
    }
    std::vector<ElfW(Phdr)> parts(std::min<size_t>(header->e_phnum, 64));
    if (!process.read(file.base + header->e_phoff, std::as_writable_bytes(std::span(parts)))) {
        return std::nullopt;
    }
    Dynamic d;
    uintptr_t at = 0;
    bool has_first = false;
    for (const ElfW(Phdr) & part : parts) {
        if (part.p_type == PT_LOAD && !has_first) {
            has_first = true;
            d.bias = file.base - (part.p_vaddr - part.p_offset);
        } else if (part.p_type == PT_DYNAMIC) {
            at = part.p_vaddr;
        }
    }
    if (!has_first || at == 0) {
        return std::nullopt;
    }
    at += d.bias;
    const auto table = [&](ElfW(Addr) place) { return place < d.bias ? place + d.bias : place; }; // the loader may have added it
    constexpr int most_entries = 256;
    for (int i = 0; i < most_entries; ++i, at += sizeof(ElfW(Dyn))) {
        const auto entry = process.read<ElfW(Dyn)>(at);
        if (!entry || entry->d_tag == DT_NULL) {
            break;
        }
        switch (entry->d_tag) {
        case DT_SYMTAB: d.symbols = table(entry->d_un.d_ptr); break;
        case DT_STRTAB: d.texts = table(entry->d_un.d_ptr); break;
        case DT_GNU_HASH: d.hash = table(entry->d_un.d_ptr); break;
        case DT_HASH: d.old_hash = table(entry->d_un.d_ptr); break;
        default: break;
        }
    }
    return d.symbols != 0 && d.texts != 0 ? std::optional(d) : std::nullopt;
}

} // namespace

std::string proc_path(pid_t id, const std::string& what) { return "/proc/" + std::to_string(id) + "/" + what; }

std::string status_of(pid_t process, const std::string& name, pid_t thread) {
    std::ifstream file(proc_path(process, thread == 0 ? "status" : "task/" + std::to_string(thread) + "/status"));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name + ":")) {
            return line.substr(std::min(line.find_first_not_of(" \t", name.size() + 1), line.size()));
        }
    }
    return "";
}

SystemCall system_call_of(pid_t process, pid_t thread) {
    std::ifstream file(proc_path(process, "task/" + std::to_string(thread) + "/syscall"));
    SystemCall call; // "NUMBER ARGUMENTS… STACK PLACE", "running"
    if (int number = 0; file >> number) {
        call.number = number;
        for (uint64_t& argument : call.arguments) {
            std::string word;
            file >> word;
            argument = hexadecimal(std::string_view(word).substr(std::min<size_t>(word.size(), 2)));
        }
    }
    return call;
}

bool LoadedFile::holds(uintptr_t address) const {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const MappedRange& range) { return address >= range.begin && address < range.end; });
}

OtherProcess::OtherProcess(pid_t id) : id_(id) {}

bool OtherProcess::look() {
    if (!memory_) {
        memory_ = Descriptor(open(proc_path(id_, "mem").c_str(), O_RDWR | O_CLOEXEC));
        if (!memory_) {
            return false;
        }
    }
    errno = EACCES;
    std::ifstream list(proc_path(id_, "maps"));
    if (!list) {
        return false;
    }
    ranges_.clear();
    files_.clear();
    for (std::string line; std::getline(list, line);) {
        ranges_.push_back(parsed(line));
    }
    for (const MappedRange& range : ranges_) {
        if (range.inode == 0) {
            continue;
        }
        const auto same = [&](const LoadedFile& file) { return file.inode == range.inode && file.path == range.path; };
        if (range.offset == 0 && (files_.empty() || !same(files_.back()) || files_.back().ranges.back().offset != 0)) {
            files_.push_back({range.begin, range.path, range.inode, {}});
        }
        const auto of = std::find_if(files_.rbegin(), files_.rend(), same);
        if (of != files_.rend()) {
            of->ranges.push_back(range);
        }
    }
    std::erase_if(files_, [](const LoadedFile& file) {
        return std::none_of(file.ranges.begin(), file.ranges.end(), [](const MappedRange& range) { return range.executable; });
    });
    return true;
}

const MappedRange* OtherProcess::range_of(uintptr_t address) const {
    const auto found =
        std::find_if(ranges_.begin(), ranges_.end(), [&](const MappedRange& r) { return address >= r.begin && address < r.end; });
    return found == ranges_.end() ? nullptr : &*found;
}

bool OtherProcess::read(uintptr_t at, std::span<std::byte> into) const noexcept {
    return pread(memory_.get(), into.data(), into.size(), static_cast<off_t>(at)) == std::ssize(into);
}

bool OtherProcess::write(uintptr_t at, std::span<const std::byte> bytes) const noexcept {
    return pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) == std::ssize(bytes);
}

std::string OtherProcess::text(uintptr_t at, size_t most) const {
    std::string text;
    while (text.size() < most) {
        const auto c = read<char>(at + text.size());
        if (!c || *c == 0) {
            break;
        }
        text += *c;
    }
    return text;
}

std::optional<FoundFunction> OtherProcess::function(const LoadedFile& file, std::string_view name) const {
    const std::optional<Dynamic> d = dynamic_of(*this, file);
    if (!d) {
        return std::nullopt;
    }
    const auto is_it = [&](uint32_t index) -> std::optional<FoundFunction> {
        const auto symbol = read<ElfW(Sym)>(d->symbols + index * sizeof(ElfW(Sym)));
        const bool is_function = symbol && symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
        if (!is_function || text(d->texts + symbol->st_name, name.size() + 1) != name) {
            return std::nullopt;
        }
        return FoundFunction{d->bias + symbol->st_value, symbol->st_size};
    };
    if (d->hash != 0) {
        const auto head = read<std::array<uint32_t, 4>>(d->hash); // buckets, first symbol, words of the filter, shift
        if (!head || (*head)[0] == 0) {
            return std::nullopt;
        }
        const uint32_t hash = gnu_hash(name);
        const uintptr_t buckets = d->hash + 16 + uintptr_t{(*head)[2]} * sizeof(uintptr_t);
        const uintptr_t chains = buckets + uintptr_t{(*head)[0]} * 4;
        const auto first = read<uint32_t>(buckets + hash % (*head)[0] * uintptr_t{4});
        for (uint32_t i = first.value_or(0); i >= (*head)[1] && i != 0; ++i) {
            const auto of = read<uint32_t>(chains + uintptr_t{i - (*head)[1]} * 4);
            if (!of) {
                break;
            }
            if ((*of | 1) == (hash | 1)) {
                if (const auto found = is_it(i)) {
                    return found;
                }
            }
            if ((*of & 1) != 0) {
                break;
            }
        }
        return std::nullopt;
    }
    const auto n = d->old_hash == 0 ? std::nullopt : read<uint32_t>(d->old_hash + 4);
    for (uint32_t i = 1; i < std::min<uint32_t>(n.value_or(0), 1 << 20); ++i) {
        if (const auto found = is_it(i)) {
            return found;
        }
    }
    return std::nullopt;
}

uintptr_t OtherProcess::find_code(const LoadedFile& file, std::span<const std::byte> bytes) const {
    for (const MappedRange& range : file.ranges) {
        std::vector<std::byte> code(range.executable ? range.end - range.begin : 0);
        if (code.empty() || !read(range.begin, code)) {
            continue;
        }
        const auto found = std::search(code.begin(), code.end(), bytes.begin(), bytes.end());
        if (found != code.end()) {
            return range.begin + (found - code.begin());
        }
    }
    return 0;
}

} // namespace schedscope
