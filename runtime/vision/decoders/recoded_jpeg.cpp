#include "runtime/vision/decoders/recoded_jpeg.h"

#include "runtime/system/budget.h"
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/escape.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

namespace schedscope::vision {

namespace {

/// One recoding, as libjpeg's callbacks reach it.
struct Recoder {
    Escape escape{"JPEG"};
    jpeg_decompress_struct in{};
    jpeg_compress_struct out{};
    jpeg_error_mgr errors{};
    jpeg_source_mgr source{};
    jpeg_progress_mgr progress{};
    jpeg_destination_mgr destination{};
    std::array<jpeg_scan_info, MAX_COMPS_IN_SCAN> scans{};

    JOCTET* written = nullptr; ///< of malloc
    size_t capacity = 0, most_written = 0;

    size_t n_written() const noexcept { return capacity - destination.free_in_buffer; }
};

template <typename Codec> Recoder& recoder(Codec codec) { return *static_cast<Recoder*>(codec->client_data); }

// ---- Errors. Warnings are errors, too, but for three: libjpeg goes on with what may be left of a damaged file. ----

[[noreturn]] void leave(j_common_ptr codec, Escape::Reason reason) {
    std::array<char, JMSG_LENGTH_MAX> why{};
    codec->err->format_message(codec, why.data());
    constexpr std::string_view always = "Corrupt JPEG data: ";
    const bool has_it = std::string_view(why.data()).substr(0, always.size()) == always;
    recoder(codec).escape.leave(reason, why.data() + (has_it ? always.size() : 0));
}

void on_error(j_common_ptr codec) {
    switch (codec->err->msg_code) {
    case JERR_OUT_OF_MEMORY: leave(codec, Escape::Reason::no_memory);
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_COMPONENT_COUNT: leave(codec, Escape::Reason::unreadable);
    default: leave(codec, Escape::Reason::damaged);
    }
}

void on_message(j_common_ptr codec, int level) {
    const int code = codec->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) {
        leave(codec, Escape::Reason::damaged);
    }
}

void on_progress(j_common_ptr codec) {
    Recoder& r = recoder(codec);
    const int64_t pixels = std::max<int64_t>(int64_t{r.in.image_width} * r.in.image_height, 1);
    const int64_t most = budget::jpeg_scans_of(pixels);
    if (codec->is_decompressor != 0 && r.in.input_scan_number > most) {
        std::array<char, 64> why{};
        std::snprintf(why.data(), why.size(), "it has more than %d scans", static_cast<int>(most));
        r.escape.leave(Escape::Reason::unreadable, why.data());
    }
}

// ---- What is read: the file, which is in memory as a whole ----

boolean on_end(j_decompress_ptr codec) { recoder(codec).escape.leave(Escape::Reason::damaged, "the file ends too early"); }

void skip(j_decompress_ptr codec, long n) {
    const size_t bytes = n > 0 ? n : 0;
    if (bytes > codec->src->bytes_in_buffer) {
        on_end(codec);
    }
    codec->src->next_input_byte += bytes;
    codec->src->bytes_in_buffer -= bytes;
}

// ---- What is written ----

void grow(Recoder& r, size_t wanted) {
    const size_t next = std::min(wanted, r.most_written);
    if (next <= r.capacity) {
        r.escape.leave(Escape::Reason::too_much_memory, "");
    }
    auto* moved = static_cast<JOCTET*>(std::realloc(r.written, next));
    if (moved == nullptr) {
        r.escape.leave(Escape::Reason::no_memory, "");
    }
    r.destination.next_output_byte = moved + r.capacity;
    r.destination.free_in_buffer = next - r.capacity;
    r.written = moved;
    r.capacity = next;
}

void begin_output(j_compress_ptr codec) {
    constexpr size_t at_first = 65'536;
    grow(recoder(codec), at_first);
}

boolean on_full(j_compress_ptr codec) {
    Recoder& r = recoder(codec);
    constexpr size_t at_least = 65'536;
    grow(r, r.capacity + std::max(at_least, r.capacity / 4));
    return TRUE;
}

// ---- The work, which Escape runs ----

void read_header(Recoder& r) {
    jpeg_std_error(&r.errors);
    r.errors.error_exit = on_error;
    r.errors.emit_message = on_message;
    r.in.err = r.out.err = &r.errors;
    r.in.client_data = r.out.client_data = &r;
    jpeg_create_decompress(&r.in);
    jpeg_create_compress(&r.out);
    r.progress.progress_monitor = on_progress;
    r.in.progress = &r.progress;
    r.source.init_source = [](j_decompress_ptr) {};
    r.source.fill_input_buffer = on_end;
    r.source.skip_input_data = skip;
    r.source.resync_to_restart = jpeg_resync_to_restart;
    r.source.term_source = [](j_decompress_ptr) {};
    r.in.src = &r.source;
    jpeg_read_header(&r.in, TRUE);
}

/// Whether an image can have such a block. Coefficients have at most 10 bits besides their sign. And its samples, from −128 to
/// 127, have at most 1024 for the root of the sum of their squares, which the transform keeps, so 8 × 1024 for the sum of its
/// amounts; rounding to steps at most doubles that. Half as much again is let pass. Sums of 32 bits begin to overflow in
/// stb_image's transform above 28,000.
bool is_possible(const JCOEF* block, const UINT16* steps) {
    constexpr int largest_coefficient = 1023;
    constexpr unsigned largest_sum = 24'000;
    int largest = 0;
    unsigned sum = 0; // does not overflow where the first bound holds
    for (int i = 0; i < DCTSIZE2; ++i) {
        const int amount = block[i] < 0 ? -block[i] : block[i];
        largest = std::max(largest, i == 0 && block[i] < 0 ? amount - 1 : amount); // the first may be −1024
        sum += static_cast<unsigned>(amount) * steps[i];
    }
    return largest <= largest_coefficient && sum <= largest_sum;
}

void check_blocks(Recoder& r, jvirt_barray_ptr* coefficients) {
    for (int c = 0; c < r.in.num_components; ++c) {
        const jpeg_component_info& component = r.in.comp_info[c];
        if (component.quant_table == nullptr) {
            r.escape.leave(Escape::Reason::damaged, "a component has no data");
        }
        for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
            JBLOCKARRAY row = r.in.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&r.in), coefficients[c], y, 1, FALSE);
            for (JDIMENSION x = 0; x < component.width_in_blocks; ++x) {
                if (!is_possible(row[0][x], component.quant_table->quantval)) {
                    r.escape.leave(Escape::Reason::damaged, "a block of it has values that no image has");
                }
            }
        }
    }
}

/// Tables of steps may change between scans: each component keeps those that it was read with.
void keep_steps(Recoder& r) {
    std::array<JQUANT_TBL*, NUM_QUANT_TBLS> steps{};
    for (int c = 0; c < r.in.num_components; ++c) {
        steps.at(c) = r.in.comp_info[c].quant_table;
        r.in.comp_info[c].quant_tbl_no = c;
    }
    std::copy(steps.begin(), steps.end(), r.in.quant_tbl_ptrs);
}

/// One scan of all components, or one of each where they are too many blocks for one.
void choose_scans(Recoder& r) {
    int blocks = 0;
    for (int c = 0; c < r.in.num_components; ++c) {
        blocks += r.in.comp_info[c].h_samp_factor * r.in.comp_info[c].v_samp_factor;
        jpeg_scan_info& scan = r.scans.at(c);
        scan.comps_in_scan = 1;
        scan.component_index[0] = c;
        scan.Se = DCTSIZE2 - 1;
    }
    if (blocks > C_MAX_BLOCKS_IN_MCU) {
        r.out.scan_info = r.scans.data();
        r.out.num_scans = r.in.num_components;
    }
}

/// What Adobe's programs say about colours: "Adobe", u16 version, u16 and u16 flags, u8 transform.
void write_adobe_segment(Recoder& r) {
    const std::array<JOCTET, 12> segment{'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, r.in.Adobe_transform};
    jpeg_write_marker(&r.out, JPEG_APP0 + 14, segment.data(), segment.size());
}

void read_and_write(Recoder& r) {
    jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&r.in);
    check_blocks(r, coefficients);
    keep_steps(r);
    r.destination.init_destination = begin_output;
    r.destination.empty_output_buffer = on_full;
    r.destination.term_destination = [](j_compress_ptr) {};
    r.out.dest = &r.destination;
    jpeg_copy_critical_parameters(&r.in, &r.out);
    choose_scans(r);
    r.out.write_JFIF_header = r.in.saw_JFIF_marker;
    r.out.write_Adobe_marker = FALSE; // its transform would be what libjpeg makes of it
    jpeg_write_coefficients(&r.out, coefficients);
    if (r.in.saw_Adobe_marker) {
        write_adobe_segment(r);
    }
    jpeg_finish_compress(&r.out);
}

// ---- Around it ----

/// Frees what libjpeg took, and what was written unless it was handed on.
class Owner {
public:
    explicit Owner(Recoder& r) : recoder_(r) {}
    ~Owner() {
        jpeg_destroy_compress(&recoder_.out);
        jpeg_destroy_decompress(&recoder_.in);
        std::free(recoder_.written);
    }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

private:
    Recoder& recoder_;
};

void check_components(const jpeg_decompress_struct& in) {
    if (in.arith_code != 0) {
        unreadable("JPEG", "arithmetic coding is not supported");
    }
    const int n = in.num_components;
    if (n != 1 && n != 3 && n != 4) {
        unreadable("JPEG", "it has " + std::to_string(n) + " components");
    }
    for (int i = 0; i < n; ++i) {
        const jpeg_component_info& c = in.comp_info[i];
        if (in.max_h_samp_factor % c.h_samp_factor != 0 || in.max_v_samp_factor % c.v_samp_factor != 0) {
            unreadable("JPEG", "the sizes of its components are no multiples of each other");
        }
        for (int j = 0; j < i; ++j) {
            if (in.comp_info[j].component_id == c.component_id) {
                damaged("JPEG", "two of its components have the same number");
            }
        }
    }
}

/// Bytes at once, besides the file that is written: of the coefficients while that is made, then of stb_image's planes and
/// pixels.
int64_t memory_need(const jpeg_decompress_struct& in) {
    constexpr int64_t block_samples = DCTSIZE2;
    const auto blocks_of = [](int64_t side, int64_t factor, int64_t most) { // whole units of all components
        return (side + most * DCTSIZE - 1) / (most * DCTSIZE) * factor;
    };
    int64_t samples = 0;
    for (int i = 0; i < in.num_components; ++i) {
        const jpeg_component_info& c = in.comp_info[i];
        samples += blocks_of(in.image_width, c.h_samp_factor, in.max_h_samp_factor) *
                   blocks_of(in.image_height, c.v_samp_factor, in.max_v_samp_factor) * block_samples;
    }
    const int64_t rgb = int64_t{3} * in.image_width * in.image_height;
    return std::max(samples * static_cast<int64_t>(sizeof(JCOEF)), std::max(samples + rgb, rgb + rgb));
}

} // namespace

RecodedJpeg recode_jpeg(std::span<const std::byte> file) {
    Recoder r;
    const Owner owner(r);
    r.source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
    r.source.bytes_in_buffer = file.size();
    r.escape.run(read_header, r);
    check_size(r.in.image_width, r.in.image_height);
    check_components(r.in);
    const int64_t need = memory_need(r.in);
    check_memory(need);
    r.most_written = budget::image_memory_bytes - need;
    r.escape.run(read_and_write, r);
    RecodedJpeg recoded;
    recoded.size = r.n_written();
    recoded.data.reset(reinterpret_cast<std::byte*>(std::exchange(r.written, nullptr)));
    return recoded;
}

} // namespace schedscope::vision
