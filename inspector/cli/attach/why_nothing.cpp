#include "inspector/cli/attach/why_nothing.h"

#include "runtime/system/visible_text.h"

#include <array>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <vector>

#include "runtime/system/descriptor.h"

namespace schedscope {

namespace {

#if defined(__x86_64__)
constexpr uint16_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t own_machine = EM_AARCH64;
#else
constexpr uint16_t own_machine = EM_NONE;
#endif

template <typename T> bool read_from(int file, off_t at, T& value) {
    return pread(file, &value, sizeof value, at) == static_cast<ssize_t>(sizeof value);
}

} // namespace

std::string why_not_loaded(const std::string& path) {
    struct stat status = {};
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || fstat(file.get(), &status) != 0) {
        return "its file can't be read";
    }
    const bool has_capabilities = fgetxattr(file.get(), "security.capability", nullptr, 0) > 0;
    if ((status.st_mode & (S_ISUID | S_ISGID)) != 0 || has_capabilities) {
        return "it runs with rights of its own, and such programs are started without libraries of others (AT_SECURE)";
    }
    ElfW(Ehdr) header = {};
    if (!read_from(file.get(), 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return "it is no program of this machine, but what another one runs: name that one";
    }
    if (header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) || header.e_machine != own_machine) {
        return "it is made for another machine: use a schedscope that is made for that one";
    }
    for (int i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part = {};
        if (read_from(file.get(), static_cast<off_t>(header.e_phoff) + i * off_t{header.e_phentsize}, part) &&
            part.p_type == PT_INTERP) {
            return "";
        }
    }
    return "it is linked statically, and nothing can be put in front of its functions: use one with shared libraries of ggml";
}

std::string why_nothing(const std::string& path, const attach::Control& control, bool children) {
    std::array<char, attach::reason_bytes> reason = {};
    std::memcpy(reason.data(), control.reason, reason.size() - 1);
    if (reason[0] != 0) {
        return visible(reason.data());
    }
    if (control.loaded == 0) {
        const std::string why = why_not_loaded(path);
        return why.empty() ? "the loader did not take schedscope's library into it" : why;
    }
    const std::string also = "or has ggml within itself without its names (linked statically, stripped)";
    return children ? "neither it nor what it started made a scheduler of ggml, " + also
                    : "it made no scheduler of ggml, " + also + "; if a program that it starts does: --children";
}

} // namespace schedscope
