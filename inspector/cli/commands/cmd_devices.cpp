#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "runtime/backend/registry.h"
#include "runtime/system/joined.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace schedscope {

namespace {

nlohmann::json devices_json(const Registry& registry) {
    nlohmann::json devices = nlohmann::json::array();
    for (const auto& device : registry.devices()) {
        devices.push_back({{"name", device->name()},
                           {"kind", device_kind_name(device->kind())},
                           {"description", device->description()},
                           {"memory_bytes", device->memory_bytes()},
                           {"features", device->features()}});
    }
    return {{"devices", std::move(devices)}, {"missing", registry.missing()}};
}

void devices_text(const Registry& registry, std::ostream& out) {
    TextTable table({{"device"}, {"kind"}, {"memory", TextTable::Align::right}, {"description"}, {"can do"}});
    for (const auto& device : registry.devices()) {
        const int64_t memory = device->memory_bytes();
        table.row({std::string(device->name()), std::string(device_kind_name(device->kind())),
                   memory > 0 ? words::bytes(memory) : "-", device->description(), joined(device->features(), ", ")});
    }
    table.print(out);
    for (const std::string& what : registry.missing()) {
        OutputLine(out) << "missing: " << what;
    }
}

} // namespace

CommandAction add_devices(CommandOptions& app) {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "Print JSON");
    return [json] {
        const Registry registry;
        if (*json) {
            print_json(devices_json(registry));
        } else {
            devices_text(registry, std::cout);
        }
        return 0;
    };
}

} // namespace schedscope
