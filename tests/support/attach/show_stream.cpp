// show_stream [--sync|--children] PROGRAM ARGS…: runs a program with the library in it and prints all that it sends, a line a
// record: evaluation, kind, fields. For looking at what a new build of ggml does.
#include "tests/support/attach/recorded_stream.h"

#include <iostream>

int main(int argc, char** argv) {
    using namespace schedscope;
    AttachOptions options;
    int first = 1;
    for (; first < argc && std::string(argv[first]).starts_with("--"); ++first) {
        options.sync |= std::string(argv[first]) == "--sync";
        options.children |= std::string(argv[first]) == "--children";
    }
    const test::RecordedStream stream = test::recorded_stream({argv + first, argv + argc}, options);
    for (const test::SentRecord& record : stream.records) {
        std::cout << record.evaluation << ' ' << record.kind;
        for (const auto& [name, value] : record.fields) {
            std::cout << ' ' << name << '=' << (value.find(' ') == std::string::npos ? value : "[" + value + "]");
        }
        std::cout << '\n';
    }
    std::cout << (stream.ended ? "end" : "no end") << ", exit code " << stream.code << ", " << stream.control.loaded
              << " loaded, " << stream.control.schedulers << " schedulers " << stream.control.reason << '\n';
    return 0;
}
