#include "inspector/cli/commands/commands.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/run/deferred_session.h"
#include "inspector/cli/run/device_profiles.h"
#include "inspector/cli/run/logits_file.h"
#include "inspector/cli/run/memory_warning.h"
#include "inspector/cli/run/run_arguments.h"
#include "runtime/error.h"
#include "runtime/session/encoder_session.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "runtime/vision/read_image.h"
#include "traces/history/words/unknown.h"
#include "traces/store/output.h"
#include "traces/store/writer.h"

#include <iostream>
#include <optional>

namespace schedscope {

namespace {

struct EmbedImageArguments {
    EncoderSessionOptions encoder;
    std::string mmproj, image, output, record;
    std::string products = "int8";
    bool no_repack = false;
    bool no_fusion = false, force = false, dry_run = false;
};

int embed_image(EmbedImageArguments& o) {
    if (o.output.empty() && !o.dry_run) {
        throw Error(ErrorKind::usage, "embed-image: name the file to write with -o");
    }
    if (o.dry_run && o.record.empty()) {
        throw Error(ErrorKind::usage, "--dry-run: goes with --record, for a trace of the plan");
    }
    NamedFiles files;
    files.reads_model("--mmproj", o.mmproj);
    files.reads("--image", o.image);
    add_described(files, o.encoder.devices);
    files.writes("--record", o.record);
    files.writes("-o", o.output);
    files.check();
    catch_interrupts();
    o.encoder.fusion = !o.no_fusion;
    o.encoder.products = products_from(o.products);
    o.encoder.repack = !o.no_repack;
    o.encoder.header_only = o.dry_run;
    DeviceProfiles profiles;
    o.encoder.profiles = profiles.source();
    std::optional<TraceWriter> writer;
    std::optional<DeferredSession> deferred;
    if (!o.record.empty()) {
        check_output(o.record, o.force);
        deferred.emplace(writer.emplace(o.record));
    }
    const vision::Image image = vision::read_image(o.image, {.cancelled = interrupted});
    auto file = vision::open_encoder(o.mmproj);
    const Registry registry; // behind what may be refused: drivers take memory
    EncoderSession session(registry, std::move(file), o.encoder, deferred ? &*deferred : nullptr);
    for (const std::string& note : session.notes()) {
        tell(note);
    }
    const vision::Views views = vision::prepare(image, session.model().hparams(), o.image);
    const int32_t n_rows = session.encoder().n_rows(views);
    const vision::Views* const one[] = {&views};
    if (o.dry_run) {
        session.encoder().plan_only(one);
        const auto add_fact = [&](std::string what, std::string value) { session.add_fact(std::move(what), std::move(value)); };
        add_fact(dry_run_fact, "nothing ran");
        profiles.report(add_fact);
        warn_of_memory(memory_needs(session), add_fact);
    } else {
        LogitsFile file(o.output, true); // rows of another kind, in the same form
        file.row(0, session.encoder().encode(one).front());
        file.close();
    }
    if (writer) {
        deferred->finish();
        writer->close();
    }
    std::cout << visible(o.image) << ": " << vision::description(views, n_rows) << " of "
              << words::counted(session.model().n_embd_text(), "value") << '\n';
    return 0;
}

} // namespace

CommandAction add_embed_image(CommandOptions& app) {
    auto o = std::make_shared<EmbedImageArguments>();
    app.add_option("--mmproj", o->mmproj, "GGUF file of the image encoder and its projector").required();
    app.add_option("--image", o->image, "Image: PNG, JPEG, WebP, BMP, GIF or PNM").required();
    app.add_option("-o,--output", o->output, "File to write: rows of little-endian float32");
    app.add_flag("--image-newline", o->encoder.image_newline,
                 "Of tiled images: leave out the padding, and mark the ends of rows");
    app.add_option("--device", o->encoder.devices, "Devices by priority: vulkan0,blas,cpu (default: every GPU found, then cpu)");
    app.add_option("--ngl,--gpu-layers,--n-gpu-layers", o->encoder.n_gpu_layers, "0: the encoder stays on the host")
        .show_default()
        .within(0, 1 << 30);
    app.add_option("--ot,--override-tensor", o->encoder.overrides,
                   "PATTERN=DEVICE, a regular expression on tensor names (repeatable)")
        .one_value_each();
    app.add_option("-t,--threads", o->encoder.n_threads, "Threads (default: physical cores)").within(0, 4096);
    app.add_flag("--no-fusion", o->no_fusion, "Run each node as a kernel of its own");
    add_products_option(app, o->products);
    add_repack_option(app, o->no_repack);
    app.add_option("--record", o->record, "Record to this trace");
    app.add_flag("--force", o->force, "The trace may replace a file that is no trace");
    app.add_flag("--dry-run", o->dry_run, "With --record: plan from the file's header; nothing is computed");
    return [o] { return embed_image(*o); };
}

} // namespace schedscope
