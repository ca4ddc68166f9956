// The library is put into a process that runs already, and taken out of its way again. It stays loaded: a thread may be within
// it.

#include "traces/attach/attach_control.h"
#include "traces/attach/channel.h"
#include "traces/attach/handing_on.h"
#include "traces/attach/joining/adoption.h"
#include "traces/attach/joining/patching.h"
#include "traces/attach/objects.h"
#include "traces/attach/optimiser_slot.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace schedscope::attach {

namespace {

uint32_t joining_lock = 0;
bool leads_here = false;
pid_t joined_process = 0; ///< a child after fork has the entries, too, and leaves them: they lead on

bool end() {
    if (leads_here && getpid() == joined_process) {
        leads_here = false;
        close_channel();
        lead_calls_back();
        lead_optimisers_back();
    }
    return release_channel();
}

bool begin(Join& join) {
    const char* why = nullptr;
    if (getauxval(AT_SECURE) != 0) {
        why = "it runs with rights of its own (AT_SECURE)";
    } else if (is_open()) {
        why = "it is recorded already";
    } else if (!end()) { // a recorder that was killed has left all as it was
        why = "a computation that was recorded before has not ended yet; try again when it has";
        join.busy = 1;
    } else if (!attach_to(join.file, join.sync != 0) || !open_channel_again()) {
        why = "the shared memory can't be used";
    }
    close(join.file);
    if (why != nullptr) {
        snprintf(join.why, sizeof join.why, "%s", why);
        return false;
    }
    forget_refused();
    joined_process = getpid();
    leads_here = true;
    join.calls = lead_calls_here();
    return true;
}

} // namespace

bool leave_process() {
    const Lock lock(joining_lock);
    return end();
}

extern "C" {

SCHEDSCOPE_EXPORTED int schedscope_join(Join* join) {
    const Lock lock(joining_lock);
    return begin(*join) ? 0 : 1;
}

SCHEDSCOPE_EXPORTED int schedscope_leave() { return leave_process() ? 0 : 1; }

} // extern "C"

} // namespace schedscope::attach
