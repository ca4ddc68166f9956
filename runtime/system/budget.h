#pragma once

#include <cstdint>

/// What reading another program's file may cost at most: memory, time and temporary space. Whoever reads such a file takes its
/// bounds from here, and says in one line when one is reached; the manual (schedscope --man, LIMITS) tells each of them.
namespace schedscope::budget {

constexpr int64_t kib = int64_t{1} << 10, mib = int64_t{1} << 20, gib = int64_t{1} << 30;

// Traces
constexpr int64_t trace_scratch_bytes = 256 * mib; ///< memory for rolling back or replaying a journal, and for sorting
constexpr int64_t trace_copy_bytes = 8 * gib;      ///< temporary space: the copy of a trace that is still being recorded

// Images. A child decodes them, whose memory is what it takes beyond the file: 1.5 GiB is enough for the most pixels in JPEG,
// whose coefficients take 6 bytes each.
constexpr int64_t image_file_bytes = 512 * mib;    ///< as many as the largest image has pixels' bytes
constexpr int64_t image_longest_side = 65'535;     ///< pixels
constexpr int64_t image_pixels = 178'956'970;      ///< where Pillow, too, takes an image for a bomb
constexpr int64_t image_memory_bytes = 1536 * mib; ///< of one that is being decoded
constexpr int64_t image_processor_seconds = 30;    ///< the slowest sound one takes a fifth of it
constexpr int64_t image_seconds = 120;             ///< the same by the clock, when other programs run as well
constexpr int64_t jpeg_scans = 100;                ///< times that a JPEG goes over its pixels; encoders write about ten
constexpr int64_t jpeg_scanned_pixels = 2 * gib;   ///< over all scans: twelve of the largest image
constexpr int64_t png_chunk_bytes = mib;           ///< of a chunk that is kept in memory: a palette, transparency

// Pictures of plans. A child lays them out: Graphviz draws a PNG in one piece of up to 32,767² pixels, which take 4 GiB, and has
// the layout beside it.
constexpr int64_t layout_memory_bytes = 6 * gib;   ///< of Graphviz
constexpr int64_t layout_picture_bytes = gib;      ///< of what it draws
constexpr int64_t layout_seconds = 60;             ///< by the clock, unless another limit is asked for
constexpr int64_t layout_processor_seconds = 3600; ///< of its processor, should a long one be asked for

// Logs of other programs
constexpr int64_t log_bytes = 2 * gib;  ///< of a log; a pipe is kept in a temporary file of this size at most
constexpr int64_t log_line_bytes = mib; ///< of a line, with what continues it where it was wrapped; a longer one is read in parts
constexpr int64_t log_endless_line_bytes = 64 * mib;    ///< without an end of line: no log
constexpr int64_t log_graph_tensors = int64_t{1} << 20; ///< of one graph, splits included: a hundred times the largest known
constexpr int64_t log_records = int64_t{64} << 20;      ///< that are made of a log

// Streams of other programs
constexpr int64_t stream_block_bytes = 256 * mib;         ///< of a block, which is kept while it is read
constexpr int64_t stream_text_bytes = mib;                ///< of a text
constexpr int64_t stream_kinds = 4096;                    ///< numbers of kinds that a stream may say
constexpr int64_t stream_evaluations = int64_t{4} << 20;  ///< of one stream
constexpr int64_t stream_open_evaluations = 64;           ///< that wait for the one before them to end
constexpr int64_t stream_held_records = int64_t{2} << 20; ///< of those; and of one block

// Texts
constexpr int64_t text_bytes = 64 * mib; ///< of a prompt, or a text to score: hundreds of times what fills the longest context
constexpr int64_t settings_bytes = 256 * kib; ///< of the inspector's settings, and of what it kept of a trace

// Models. Nothing is kept of a file that it does not hold, so its size bounds keys, tensors and arrays.
constexpr int64_t model_entries = 100'000;             ///< keys, and tensors, of one file
constexpr int64_t model_elements = int64_t{4} << 20;   ///< of an array in the metadata, and strings in all of them
constexpr int64_t model_parts = 65'535;                ///< split.count has 16 bits
constexpr int64_t model_vocabulary = int64_t{1} << 20; ///< tokens: four times the largest known vocabulary

/// Scans that a JPEG of so many pixels (1 or more) may have.
constexpr int64_t jpeg_scans_of(int64_t pixels) {
    const int64_t most = jpeg_scanned_pixels / pixels;
    return most < jpeg_scans ? most : jpeg_scans;
}

} // namespace schedscope::budget
