#pragma once

#include "inspector/tui/input/prompt.h"
#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/views/view.h"

#include <span>
#include <string_view>

namespace schedscope::tui {

/// What Tab can offer, from what is being looked at: names of tensors, backends, operators, passes, causes, views, columns,
/// commands, files.
class Completions {
public:
    Completions(InspectorSession& session, std::span<const tables::Column> columns) : session_(session), columns_(columns) {}

    /// A query: fields, then values of the field before the sign.
    Completion query(std::string_view before);
    /// A line of ':': a command or an action, then its argument.
    Completion command(std::string_view before);
    /// Settings of a what-if.
    Completion what_if(std::string_view before);

    // Arguments of commands
    Completion tensor(std::string_view typed);
    Completion pass(std::string_view typed);
    Completion view(std::string_view typed);
    Completion column(std::string_view typed);
    Completion file(std::string_view typed);
    Completion picture(std::string_view typed); ///< "FILE" or "VIEW FILE"
    Completion topic(std::string_view typed);   ///< of the manual
    Completion setting(std::string_view typed); ///< "NAME VALUE"

private:
    std::vector<std::string> backends() const;
    std::vector<std::string> operators() const;
    std::vector<std::string> tensors() const;
    std::vector<std::string> unique_tensors() const; ///< those that several have with their ids: as find_tensor takes them
    std::vector<std::string> values(Field field);

    InspectorSession& session_;
    std::span<const tables::Column> columns_;
};

} // namespace schedscope::tui
