#include "inspector/cli/value_printer.h"

#include "traces/words.h"

#include <ostream>

namespace schedscope {

void ValuePrinter::graph(GraphId, const GraphView& graph, const CapabilityTable&) {
    names_.clear();
    for (const TensorInfo& tensor : graph.tensors) {
        names_.emplace_back(tensor.name);
    }
}

void ValuePrinter::keep(const Record& record) {
    const auto* v = std::get_if<record::Value>(&record.fact);
    if (v == nullptr) {
        return;
    }
    out_ << "evaluation " << record.evaluation << "  " << names_.at(static_cast<size_t>(v->tensor)) << "  ";
    if (v->device != 0) {
        out_ << "by " << texts_.text(v->device) << ": ";
    }
    out_ << words::value(*v) << '\n';
}

} // namespace schedscope
