#include "inspector/tui/background/file_run.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"
#include "runtime/system/output_file.h"
#include "traces/history/words/words.h"
#include "traces/store/reading/copy_records.h"
#include "traces/store/writer.h"

#include <filesystem>
#include <utility>

#include <unistd.h>

namespace schedscope::tui {
namespace {

namespace fs = std::filesystem;

/// A trace that is made beside its place under a hidden name, and removed unless it takes it.
class TraceInTheMaking {
public:
    explicit TraceInTheMaking(const std::string& path)
        : place_(without_links(path)),
          made_(place_.parent_path() / ("." + place_.filename().string() + "." + std::to_string(getpid()))) {}
    ~TraceInTheMaking() {
        for (const char* beside : {"", "-wal", "-shm"}) {
            std::error_code none;
            fs::remove(made_.string() + beside, none);
        }
    }
    TraceInTheMaking(const TraceInTheMaking&) = delete;
    TraceInTheMaking& operator=(const TraceInTheMaking&) = delete;

    std::string path() const { return made_.string(); }
    void take_its_place() const { fs::rename(made_, place_); }

private:
    const fs::path place_, made_;
};

/// A writer adds how long it was waited for to what is recorded; nothing runs here that could wait.
class Unheard final : public Recorder {
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view) override { return 0; }
    void keep(const Record&) override {}
};

} // namespace

void start_save(FileRun& run, std::shared_ptr<const RecordSource> source, const std::string& path, bool texts) {
    const Step end = source->n_steps(); // what comes while it is written is left to the next one
    run.start(path, [source = std::move(source), path, texts, end](std::stop_token stop) -> std::string {
        const TraceInTheMaking file(path);
        Unheard waits;
        try {
            TraceWriter writer(file.path(), {.texts = texts, .whole = true});
            writer.attach_to(waits);
            if (!copy_records(*source, end, writer, [&] { return !stop.stop_requested() && !writer.error(); })) {
                writer.close(); // throws what went wrong
                throw Error(ErrorKind::usage, "stopped");
            }
            writer.close();
            file.take_its_place();
        } catch (const Error& error) {
            const std::string why = error.what(), made = file.path();
            throw Error(ErrorKind::device, why.starts_with(made) ? path + why.substr(made.size()) : why);
        } catch (const fs::filesystem_error& error) {
            throw Error(ErrorKind::device, path + " can't be written: " + error.code().message());
        }
        return ": " + counted(end, "record") + (source->n_steps() > end ? " so far" : "") +
               " are written; schedscope inspect opens it";
    });
}

} // namespace schedscope::tui
