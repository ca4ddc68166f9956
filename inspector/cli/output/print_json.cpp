#include "inspector/cli/output/print_json.h"

#include "runtime/system/visible_text.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace schedscope {

void print_json(const nlohmann::json& value) {
    std::cout << escape_controls(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) << '\n';
}

} // namespace schedscope
