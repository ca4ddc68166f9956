#pragma once

#include "traces/attach/ggml_copy.h"

/// Backends and buffer types of all schedulers, in the numbers that the trace has for them. A backend is known by its name: each
/// context of a program makes its own object of it.
namespace schedscope::attach {

constexpr int most_sched_backends = 32;

/// Numbers are given here, and told to the recorder before anything names them. All of it may be called from any thread.
class Session {
public:
    /// A backend of a scheduler, the `twin`th of its name there, whose tensors it puts into `type`. −1: there are too many.
    static int backend(const GgmlCopy& ggml, Backend* backend, int twin, BufferType* type);
    static int buffer_type(const GgmlCopy& ggml, BufferType* type); ///< −1: null, or there are too many
    /// Asks these backends about all buffer types that they were not asked about, and sends what is new. False: no room.
    static bool settle(const GgmlCopy& ggml, Backend* const* backends, const int* numbers, int n);
    /// Is the work of a backend done when the call returns that began it, so that its time is exact?
    static bool ends_with_its_call(int number);
    /// Says which libraries are loaded that bring devices, where no backend that is known is of theirs.
    static void tell_of_idle_libraries();
    static void fact(const char* key, const char* value); ///< for people; sent at once
    static void forget();                                 ///< all of it: the next reader is told again
};

} // namespace schedscope::attach
