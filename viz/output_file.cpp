#include "viz/output_file.h"

#include "runtime/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

void write_output_file(const std::string& path, const std::string& bytes) {
    const auto fail = [&] { return Error(ErrorKind::device, path + ": " + std::strerror(errno)); };
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        throw fail();
    }
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t n = write(file, bytes.data() + at, bytes.size() - at);
        if (n < 0 && errno != EINTR) {
            const Error error = fail();
            struct stat status {};
            if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
                unlink(path.c_str()); // half a picture helps nobody
            }
            close(file);
            throw error;
        }
        at += n > 0 ? static_cast<size_t>(n) : 0;
    }
    if (close(file) != 0) {
        throw fail();
    }
}

} // namespace schedscope
