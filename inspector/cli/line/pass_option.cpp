#include "inspector/cli/line/pass_option.h"

#include "runtime/error.h"

namespace schedscope {

Pass parse_pass(const std::string& text) {
    const Pass pass = pass_from_name(text);
    if (pass == Pass::count || pass == Pass::none) {
        throw Error(ErrorKind::usage,
                    "--pass " + text + ": not a pass; passes are 1 2a 2b 2c 2d 3 4 5 optimise allocate execute");
    }
    return pass;
}

CLI::Option* add_pass_option(CLI::App& app, std::string& text, const char* help) { return app.add_option("--pass", text, help); }

} // namespace schedscope
