#include "traces/private_copy.h"

#include "traces/trace_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdlib.h>
#include <sys/stat.h>

namespace schedscope {

namespace fs = std::filesystem;

namespace {

/// A folder of our own that goes away with everything in it.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& for_whom) {
        std::error_code error;
        const fs::path parent = fs::temp_directory_path(error);
        std::string name = (error ? fs::path(".") : parent) / "schedscope-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) {
            refuse(for_whom, std::string("has a journal beside it, and no private copy can be made: ") + std::strerror(errno));
        }
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

/// Changes whenever the file was written to.
struct Stamp {
    bool operator==(const Stamp& o) const {
        return exists == o.exists && size == o.size && modified.tv_sec == o.modified.tv_sec &&
               modified.tv_nsec == o.modified.tv_nsec;
    }
    bool exists = false;
    off_t size = 0;
    timespec modified{};
};

Stamp stamp(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        return {};
    }
    return {true, status.st_size, status.st_mtim};
}

void copy_file(const std::string& original, const std::string& from, const fs::path& to) {
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (!error) { // the copy takes the original's permissions along, and must be written
        fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
    }
    if (error) {
        refuse(original, "has a journal beside it, and no private copy can be made: " + error.message());
    }
}

/// A writer appends to the journal all the time, which does no harm: what is cut off at the end is not committed. But while it works the journal into the
/// trace, the two don't fit together.
void copy_both(const std::string& path, const fs::path& target) {
    constexpr int attempts = 20;
    for (int i = 0; i < attempts; ++i) {
        const Stamp before = stamp(path);
        std::error_code ignored;
        for (const char* suffix : {"-wal", "-journal"}) {
            fs::remove(target.string() + suffix, ignored);
            if (stamp(path + suffix).size > 0) {
                copy_file(path, path + suffix, target.string() + suffix);
            }
        }
        copy_file(path, path, target);
        if (stamp(path) == before) {
            return;
        }
    }
    refuse(path, "is being written faster than it can be copied; try again when the recording is done");
}

} // namespace

sqlite::Database open_private_copy(const std::string& path) {
    const TemporaryFolder folder(path);
    const fs::path target = folder.path() / "trace";
    copy_both(path, target);
    {
        sqlite::Database recovering(target.string(), sqlite::Database::Mode::recover);
        recovering.execute("PRAGMA trusted_schema = OFF");
        recovering.execute("PRAGMA journal_mode = DELETE");
    }
    // The folder goes away now; the open file stays until the database is closed.
    return {target.string(), sqlite::Database::Mode::read_immutable};
}

} // namespace schedscope
