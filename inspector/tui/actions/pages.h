#pragma once

#include "inspector/manual/manual.h"
#include "inspector/tui/state/settings.h"
#include "inspector/tui/state/trail.h"
#include "inspector/tui/views/view.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// What the pages (page_stack.h) say.

/// The keys that do something: of `where`, as far as they work now; and the language of queries.
std::vector<Line> keys_page(const KeyMap& keys, KeyContext where, const std::function<bool(Action)>& works);
/// Everything that is recorded of a tensor, each line leading to its step. What lies after the present step is dim.
std::vector<Line> story_page(InspectorSession& session, TensorId id, int width);
/// Some tensors to choose from.
std::vector<Line> tensors_page(InspectorSession& session, const std::vector<TensorId>& tensors);
std::vector<Line> breakpoints_page(const Breakpoints& breakpoints);
std::vector<Line> marks_page(InspectorSession& session, const Trail& trail);
/// A topic of the manual; the topics there are.
std::vector<Line> topic_page(const manual::Topic& topic, int width);
std::vector<Line> topics_page();
std::vector<Line> settings_page(const Settings& settings, const std::string& path);

/// The nodes that read a tensor, each once; of a copy, those that were turned to it.
std::vector<TensorId> readers_of(InspectorSession& session, TensorId id);
/// What a tensor is made of, each once: its sources, the copies that stand for them, and what it is a view of.
std::vector<TensorId> sources_of(InspectorSession& session, TensorId id);

} // namespace schedscope::tui
