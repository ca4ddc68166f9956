#pragma once

#include "runtime/planner/plan.h"
#include "viz/pictures/dot_text.h"

#include <string>
#include <string_view>

/// Attributes that are the same in all views.
namespace schedscope {

class Subject;

/// Of the graph: fonts, colours, the heading as label; "" is none.
Attributes picture_attributes(const std::string& heading);

/// Of nodes that are boxes with text in them; margin: "0.15,0.06", in inches.
Attributes box_attributes(std::string_view margin);
/// The border of a shape, dark and thick where the pass that is shown changed it; thin: of what matters less.
void add_outline(Attributes& attributes, std::string_view line, bool changed, bool thin = false);
/// Of edges with text beside them.
Attributes edge_attributes();

/// Of a shape, in a picture for programs: the ids of the tensor it stands for and of the backend it has the colour of, each where
/// there is one.
Attributes numbered(const Subject& subject, Attributes attributes, BackendId backend, TensorId tensor = no_tensor);

} // namespace schedscope
