#pragma once

#include "runtime/planner/device_profile.h"
#include "traces/store/record_source.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// A device as a trace knows it: its answers about the graphs that were recorded, of whatever program.
///
/// What the device was asked there is answered so. A question of the same form (op_form.h) at another size has the answer of the
/// nearest size, and says so in the answer's detail. Leafs and views, which compute nothing, are answered as any that were asked.
/// All else is "no", and says that it is not known. Whether it takes work over follows from the batches of which it did.
///
/// `description` names it and is the beginning of errors. Throws Error(usage) where the trace has no such device, Error(input)
/// where it has no answers of its.
std::shared_ptr<const DeviceProfile> recorded_profile(std::shared_ptr<const RecordSource> source,
                                                      const DeviceDescription& description,
                                                      const std::string& option = "--device ");

/// The same of each backend that holds layers and has answers, in the session's order; the others have none. The source must
/// outlive them.
std::vector<std::shared_ptr<const DeviceProfile>> recorded_profiles(const RecordSource& source);

/// The same of the trace that the description names.
std::shared_ptr<const DeviceProfile> read_profile(const DeviceDescription& description, const std::string& option = "--device ");

} // namespace schedscope
