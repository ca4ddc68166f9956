// Landlock, which Linux has since 5.13 and has extended since. Bits and fields that the headers of Debian 12 lack are named here.
#include "runtime/system/process/kernel_filters.h"

#include "runtime/numbers.h"
#include "runtime/system/descriptor.h"

#include <array>
#include <cstddef>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace schedscope {

namespace {

/// What a set of rules takes away unless a rule gives it back. A kernel knows a beginning of it, and says by its version how
/// much.
struct Restrictions {
    uint64_t files = 0;
    uint64_t network = 0; ///< since version 4
    uint64_t scopes = 0;  ///< since version 6
};

/// All rights that there are in a version.
Restrictions all_of(long version, size_t& known_bytes) {
    constexpr uint64_t bind_and_connect = 3, sockets_and_signals = 3;
    // LANDLOCK_ACCESS_FS_EXECUTE … MAKE_SYM, then REFER, TRUNCATE, IOCTL_DEV
    constexpr std::array<unsigned, 6> n_file_rights{0, 13, 14, 15, 15, 16};
    const size_t known = version < 5 ? version : 5;
    known_bytes = sizeof(uint64_t) * (version >= 6 ? 3 : version >= 4 ? 2 : 1);
    return {(uint64_t{1} << n_file_rights.at(known)) - 1, version >= 4 ? bind_and_connect : 0,
            version >= 6 ? sockets_and_signals : 0};
}

bool let_files_be_read(int rules) {
    const Descriptor root(open("/", O_PATH | O_CLOEXEC | O_DIRECTORY));
    landlock_path_beneath_attr below{};
    below.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    below.parent_fd = root.get();
    return root && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0U) == 0;
}

} // namespace

bool restrict_files(SandboxNeeds needs) {
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) {
        return false;
    }
    size_t known_bytes = 0;
    const Restrictions all = all_of(version, known_bytes);
    const Descriptor rules(int_of(syscall(SYS_landlock_create_ruleset, &all, known_bytes, 0U)));
    if (!rules || (needs == SandboxNeeds::files && !let_files_be_read(rules.get()))) {
        return false;
    }
    return syscall(SYS_landlock_restrict_self, rules.get(), 0U) == 0;
}

} // namespace schedscope
