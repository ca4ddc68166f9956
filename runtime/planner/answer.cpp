#include "runtime/planner/answer.h"

namespace schedscope {

std::string_view refusal_name(Refusal reason) noexcept {
    switch (reason) {
    case Refusal::none: return "";
    case Refusal::op: return "op";
    case Refusal::type: return "type";
    case Refusal::shape: return "shape";
    case Refusal::size_limit: return "size limit";
    case Refusal::layout: return "layout";
    case Refusal::memory: return "memory";
    case Refusal::feature: return "missing device feature";
    case Refusal::not_asked: return "not asked";
    }
    return "";
}

} // namespace schedscope
