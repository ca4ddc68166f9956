#include "inspector/cli/run/value_printer.h"

#include "inspector/cli/output/lines.h"
#include "traces/history/words/words.h"

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
    const std::string device = v->device == 0 ? std::string() : "by " + std::string(texts_.text(v->device)) + ": ";
    OutputLine(out_) << "evaluation " << record.evaluation << "  " << names_.at(v->tensor) << "  " << device << words::value(*v);
}

} // namespace schedscope
