#pragma once

#include "traces/history/history.h"
#include "traces/import/import_log.h"
#include "traces/store/live_store.h"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

namespace schedscope::test {

/// A log's text as a file, as long as it lives.
class LogText {
public:
    explicit LogText(std::string_view text) {
        const int file = mkstemp(path_);
        std::FILE* out = fdopen(file, "wb");
        std::fwrite(text.data(), 1, text.size(), out);
        std::fclose(out);
    }
    ~LogText() { std::remove(path_); }
    LogText(const LogText&) = delete;
    LogText& operator=(const LogText&) = delete;
    std::string path() const { return path_; }

private:
    char path_[32] = "/tmp/schedscope-log-XXXXXX";
};

/// A log imported into memory.
struct Imported {
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    ImportResult result;
    std::unique_ptr<History> history;

    static Imported file(const std::string& path, ModelGraphs* model = nullptr) {
        Imported i;
        i.result = import_file(path, *i.store, nullptr, {}, model);
        i.history = std::make_unique<History>(i.store);
        return i;
    }
    static Imported text(std::string_view text, ModelGraphs* model = nullptr) { return file(LogText(text).path(), model); }
};

} // namespace schedscope::test
