#include "tests/support/files.h"
#include "tests/support/locked_memory.h"
#include "tests/support/models/fake_devices.h"
#include "tests/support/models/made_model.h"

#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/model/architecture.h"
#include "runtime/model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace {

struct ModelTest : ::testing::Test {
    Registry registry;
    FakeGpu gpu{"Vulkan0"};
    std::vector<Device*> devices{&gpu, &registry.cpu()};

    std::unique_ptr<Model> load(std::shared_ptr<gguf::File> file, const PlacementOptions& placement = {},
                                const LoadOptions& loading = LoadMode::data, std::vector<OverrideReport>* reports = nullptr) {
        return std::make_unique<Model>(std::move(file), devices, placement, loading, reports);
    }
    std::string refusal(const std::shared_ptr<gguf::File>& file) {
        return sentence_of(ErrorKind::input, [&] { load(file); });
    }
    static int64_t bytes_of(const gguf::File& file) {
        int64_t bytes = 0;
        for (const gguf::FileTensor& t : file.tensors()) {
            bytes += static_cast<int64_t>(t.bytes);
        }
        return bytes;
    }
    static std::string memory_of(const Tensor& t) { return std::string(t.buffer->type().name()); }
    /// Do bytes of this process's memory lie in a file?
    static bool lie_in_file(const std::byte* bytes, const std::string& path) {
        const auto address = reinterpret_cast<uintptr_t>(bytes);
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            size_t read = 0;
            const uintptr_t begin = std::stoull(line, &read, 16), end = std::stoull(line.substr(read + 1), nullptr, 16);
            if (begin <= address && address < end) {
                return line.ends_with(path);
            }
        }
        return false;
    }
};

TEST_F(ModelTest, host_weights_are_the_mapped_file_itself) {
    const auto file = made_model();
    const auto model = load(file, {.n_gpu_layers = 0});
    for (const gguf::FileTensor& info : file->tensors()) {
        if (info.name == "blk.1.attn_q.weight") {
            EXPECT_EQ(host_data(*model->weights().layers[1].attn_q.weight), info.data);
        }
    }
    EXPECT_EQ(memory_of(*model->weights().output.weight), "CPU");
    EXPECT_EQ(model->weights().output.weight->buffer->usage, BufferUsage::weights);
}

TEST_F(ModelTest, device_weights_are_uploaded) {
    const auto file = made_model();
    const auto model = load(file, {.n_gpu_layers = 2});
    EXPECT_EQ(memory_of(*model->weights().token_embedding), "CPU");
    EXPECT_EQ(memory_of(*model->weights().layers[1].attn_q.weight), "CPU");
    const Tensor& q = *model->weights().layers[2].attn_q.weight;
    EXPECT_EQ(memory_of(q), "Vulkan0");
    EXPECT_EQ(memory_of(*model->weights().output_norm.weight), "Vulkan0");
    EXPECT_EQ(q.buffer->usage, BufferUsage::weights);
    std::vector<std::byte> data(n_bytes(q));
    tensor_read(q, data.data(), 0, data.size());
    EXPECT_EQ(std::memcmp(data.data(), file->require_tensor(q.name).data, data.size()), 0);
}

TEST_F(ModelTest, weights_are_the_same_whether_the_file_is_mapped_or_read) {
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(small_shape(), Type::F32, 1, path);
    for (const auto& file : {made_model(), std::make_shared<gguf::File>(gguf::File::open(path))}) {
        for (const bool mapped : {true, false}) {
            LoadOptions loading = LoadMode::data;
            loading.mapped = mapped;
            int64_t last = 0, of = 0;
            loading.progress = [&](int64_t done, int64_t total) {
                EXPECT_GT(done, last);
                EXPECT_LE(done, total);
                last = done;
                of = total;
            };
            const auto model = load(file, {.n_gpu_layers = 2}, loading);
            EXPECT_EQ(last, of);
            EXPECT_GE(of, bytes_of(*file));
            for (const LayerWeights& layer : model->weights().layers) {
                const Tensor& q = *layer.attn_q.weight;
                const gguf::FileTensor& info = file->require_tensor(q.name);
                std::vector<std::byte> data(n_bytes(q));
                tensor_read(q, data.data(), 0, data.size());
                EXPECT_EQ(std::memcmp(data.data(), info.data, data.size()), 0) << q.name;
                EXPECT_EQ(host_data(q) == info.data, mapped && memory_of(q) == "CPU") << q.name;
            }
        }
    }
}

TEST_F(ModelTest, weights_that_are_read_outlive_the_files_bytes) {
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(small_shape(), Type::F32, 1, path);
    const auto file = std::make_shared<gguf::File>(gguf::File::open(path));
    LoadOptions loading = LoadMode::data;
    loading.mapped = false;
    const auto model = load(file, {.n_gpu_layers = 0}, loading);
    const Tensor& q = *model->weights().layers[1].attn_q.weight;
    std::vector<std::byte> before(n_bytes(q)), after(n_bytes(q));
    tensor_read(q, before.data(), 0, before.size());
    std::filesystem::resize_file(path, 4096);
    tensor_read(q, after.data(), 0, after.size());
    EXPECT_EQ(before, after);
}

TEST_F(ModelTest, what_the_cpu_alone_multiplies_is_laid_out_for_it) {
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(small_shape(), Type::Q8_0, 1, path);
    const auto file = std::make_shared<gguf::File>(gguf::File::open(path));
    devices = {&registry.cpu()};
    for (const bool mapped : {true, false}) {
        LoadOptions loading = LoadMode::data;
        loading.repacks = true;
        loading.mapped = mapped;
        const auto model = load(file, {}, loading);
        const LayerWeights& layer = model->weights().layers[1];
        for (const Tensor* t : {layer.attn_q.weight, layer.ffn_down.weight, model->weights().output.weight}) {
            EXPECT_EQ(memory_of(*t), "CPU_Repack") << t->name;
            EXPECT_EQ(host_data(*t), nullptr);
            EXPECT_THAT(std::string(t->why_here), HasSubstr("laid out for products"));
            std::vector<std::byte> data(n_bytes(*t));
            tensor_read(*t, data.data(), 0, data.size());
            EXPECT_EQ(std::memcmp(data.data(), file->require_tensor(t->name).data, data.size()), 0) << t->name;
            tensor_read(*t, data.data(), 5, 100); // of the middle of a row
            EXPECT_EQ(std::memcmp(data.data(), file->require_tensor(t->name).data + 5, 100), 0) << t->name;
        }
        EXPECT_EQ(memory_of(*model->weights().token_embedding), "CPU") << "it is looked up";
        EXPECT_EQ(memory_of(*layer.attn_norm.weight), "CPU") << "it is no matrix of a product";
    }
}

/// Several parts of a weight, the last one smaller, by several threads: each row is where it belongs, and progress counts all.
TEST_F(ModelTest, threads_lay_out_what_one_would) {
    SynthShape shape = small_shape();
    shape.n_layer = 1;
    shape.n_embd = 1024;
    shape.n_ff = 20'000; // one weight is longer than what is laid out until progress is told
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(shape, Type::Q8_0, 1, path);
    const auto file = std::make_shared<gguf::File>(gguf::File::open(path));
    devices = {&registry.cpu()};
    ThreadPool threads(4);
    for (const bool mapped : {true, false}) {
        LoadOptions loading = LoadMode::data;
        loading.repacks = true;
        loading.mapped = mapped;
        loading.threads = &threads;
        int64_t last = 0;
        loading.progress = [&](int64_t done, int64_t total) {
            EXPECT_GT(done, last);
            EXPECT_LE(done, total);
            last = done;
        };
        const auto model = load(file, {}, loading);
        EXPECT_EQ(last, bytes_of(*file));
        const LayerWeights& layer = model->weights().layers[0];
        for (const Tensor* t : {layer.attn_q.weight, layer.ffn_up.weight, layer.ffn_down.weight}) {
            EXPECT_EQ(memory_of(*t), "CPU_Repack") << t->name;
            const gguf::FileTensor& written = file->require_tensor(t->name);
            std::vector<std::byte> read(written.bytes);
            tensor_read(*t, read.data(), 0, read.size());
            EXPECT_TRUE(std::equal(read.begin(), read.end(), written.data)) << t->name;
        }
    }
}

TEST_F(ModelTest, what_is_looked_up_and_multiplied_is_laid_out_for_products_by_itself) {
    SynthShape tied = small_shape();
    tied.tied = true;
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(tied, Type::Q8_0, 1, path);
    const auto file = std::make_shared<gguf::File>(gguf::File::open(path));
    devices = {&registry.cpu()};
    LoadOptions loading = LoadMode::data;
    loading.repacks = true;
    const auto both = load(file, {}, loading);
    const Tensor &rows = *both->weights().token_embedding, &matrix = *both->weights().output.weight;
    EXPECT_EQ(memory_of(rows), "CPU");
    EXPECT_EQ(memory_of(matrix), "CPU_Repack");
    EXPECT_EQ(rows.part(), (ModelPart{Role::embedding, -1}));
    EXPECT_EQ(matrix.part(), (ModelPart{Role::output, tied.n_layer}));
    for (const Tensor* t : {&rows, &matrix}) {
        std::vector<std::byte> data(n_bytes(*t));
        tensor_read(*t, data.data(), 0, data.size());
        EXPECT_EQ(std::memcmp(data.data(), file->require_tensor("token_embd.weight").data, data.size()), 0);
    }
    const auto expect_one = [&](const LoadOptions& options) {
        const auto model = load(file, {}, options);
        EXPECT_EQ(model->weights().token_embedding, model->weights().output.weight);
        EXPECT_EQ(memory_of(*model->weights().output.weight), "CPU");
    };
    loading.mapped = false;
    expect_one(loading); // else it would be in memory twice
    loading.mapped = true;
    loading.repacks = false;
    expect_one(loading);
}

TEST_F(ModelTest, what_has_no_layout_is_moved_out_of_the_file_for_products) {
    const files::Folder folder;
    const std::string path = folder / "made.gguf";
    synthesise(small_shape(), Type::F16, 1, path);
    const auto file = std::make_shared<gguf::File>(gguf::File::open(path));
    devices = {&registry.cpu()};
    ThreadPool threads(3);
    LoadOptions loading = LoadMode::data;
    const auto is_moved = [&](const Model& model) {
        const Tensor& q = *model.weights().layers[1].attn_q.weight;
        const gguf::FileTensor& written = file->require_tensor(q.name);
        EXPECT_EQ(memory_of(q), "CPU");
        EXPECT_EQ(host_data(q), written.data) << "addresses stay";
        const std::vector<std::byte> before(written.data, written.data + written.bytes);
        model.move_to_large_pages(threads);
        EXPECT_EQ(std::memcmp(written.data, before.data(), before.size()), 0);
        for (const Tensor* t : {model.weights().token_embedding, model.weights().layers[1].attn_norm.weight}) {
            EXPECT_EQ(host_data(*t), file->require_tensor(t->name).data) << t->name << " stays in the file";
        }
        EXPECT_EQ(model.loaded().bytes_in_file < bytes_of(*file) / 2, loading.repacks && !loading.locked);
        return !lie_in_file(written.data, path);
    };
    EXPECT_FALSE(is_moved(*load(file, {}, loading))) << "nothing may be copied";
    loading.repacks = true;
    loading.locked = true;
    EXPECT_FALSE(is_moved(*load(file, {}, loading)));
    loading.locked = false;
    EXPECT_TRUE(is_moved(*load(file, {}, loading)));
    EXPECT_TRUE(is_moved(*load(file, {}, loading))) << "and it stays there";
}

TEST_F(ModelTest, weights_stay_as_they_are_where_they_are_not_to_be_laid_out_and_say_why) {
    const auto made = [](Type type) {
        return std::make_shared<gguf::File>(synthesise_in_memory(small_shape(), type, 1, "made"));
    };
    const auto expect_as_it_lies = [&](const std::unique_ptr<Model>& model, const std::string& why) {
        const Tensor& q = *model->weights().layers[1].attn_q.weight;
        EXPECT_EQ(memory_of(q), "CPU");
        EXPECT_THAT(std::string(q.why_here), EndsWith("; not laid out: " + why));
    };
    LoadOptions repacks = LoadMode::data;
    repacks.repacks = true;
    expect_as_it_lies(load(made(Type::Q8_0), {.n_gpu_layers = 0}, repacks), "another device could not read it");
    devices = {&registry.cpu()};
    expect_as_it_lies(load(made(Type::Q8_0)), "as asked for (--no-repack, --cpu-products float)");
    expect_as_it_lies(load(made_model(), {}, repacks), "rows of f32 with up to 4096 numbers are read as fast as they lie");
    expect_as_it_lies(load(made(Type::Q5_0), {}, repacks), "rows of q5_0 have no layout");
    SynthShape odd = small_shape();
    odd.n_vocab = 321;
    const auto file = std::make_shared<gguf::File>(synthesise_in_memory(odd, Type::Q8_0, 1, "made"));
    EXPECT_THAT(std::string(load(file, {}, repacks)->weights().output.weight->why_here),
                EndsWith("; not laid out: its 321 rows are no multiple of 16"));
    repacks.mode = LoadMode::header;
    EXPECT_EQ(memory_of(*load(made(Type::Q8_0), {}, repacks)->weights().layers[1].attn_q.weight), "CPU_Repack");
    repacks.bytes_beside = int64_t{1} << 50; // no machine has as much
    expect_as_it_lies(load(made(Type::Q8_0), {}, repacks), "memory is short");
}

TEST_F(ModelTest, the_hosts_weights_are_locked_or_it_says_why_not) {
    if (mlock_only_pretends()) {
        GTEST_SKIP() << "a sanitizer's mlock locks nothing";
    }
    const auto file = made_model();
    for (const bool mapped : {true, false}) {
        LoadOptions loading = LoadMode::data;
        loading.locked = true;
        loading.mapped = mapped;
        const int64_t before = locked_bytes();
        {
            const auto model = load(file, {.n_gpu_layers = 0}, loading);
            if (model->loaded().notes.empty()) {
                EXPECT_GE(locked_bytes() - before, bytes_of(*file));
            } else {
                EXPECT_THAT(model->loaded().notes[0], AllOf(HasSubstr("--mlock: of "), HasSubstr(" are locked in memory: ")));
            }
        }
        EXPECT_EQ(locked_bytes(), before);
    }
}

TEST_F(ModelTest, a_device_that_limits_buffers_gets_several) {
    gpu.own_memory().max = 40000; // the largest weight has 320 × 64 × 4 bytes, more than this: it gets a buffer of its own
    const auto model = load(made_model(), {.n_gpu_layers = 99});
    int of_device = 0;
    for (const auto& b : model->loaded().buffers) {
        if (b->type().name() == "Vulkan0") {
            ++of_device;
        }
    }
    EXPECT_GT(of_device, 3);
    const Tensor& down = *model->weights().layers[2].ffn_down.weight;
    std::vector<std::byte> data(n_bytes(down));
    tensor_read(down, data.data(), 0, data.size());
    EXPECT_EQ(std::memcmp(data.data(), model->file().require_tensor(down.name).data, data.size()), 0);
}

TEST_F(ModelTest, a_tied_output_on_a_device_is_a_second_copy) {
    SynthShape shape = small_shape();
    shape.tied = true;
    const auto offloaded = load(made_model(shape), {.n_gpu_layers = 1});
    EXPECT_NE(offloaded->weights().output.weight, offloaded->weights().token_embedding);
    EXPECT_EQ(offloaded->weights().output.weight->name, "token_embd.weight");
    EXPECT_EQ(memory_of(*offloaded->weights().output.weight), "Vulkan0");
    const auto on_host = load(made_model(shape), {.n_gpu_layers = 0});
    EXPECT_EQ(on_host->weights().output.weight, on_host->weights().token_embedding);
}

TEST_F(ModelTest, what_a_device_can_not_multiply_stays_on_the_host) {
    gpu.refused = Op::MUL_MAT;
    const auto model = load(made_model(), {.n_gpu_layers = 99});
    EXPECT_EQ(memory_of(*model->weights().layers[2].attn_q.weight), "CPU");
    EXPECT_EQ(memory_of(*model->weights().layers[2].attn_norm.weight), "Vulkan0");
    ASSERT_EQ(model->loaded().notes.size(), 1U);
    EXPECT_EQ(model->loaded().notes[0], "22 weights of type f32 stay on the CPU: Vulkan0 can't run the operators that read them");
}

TEST_F(ModelTest, overrides_move_tensors_and_are_counted) {
    std::vector<OverrideReport> reports;
    const auto model =
        load(made_model(), {.n_gpu_layers = 99, .overrides = {{"ffn_(up|down)", "cpu"}, {"token_embd", "vulkan0"}}},
             LoadMode::data, &reports);
    EXPECT_EQ(memory_of(*model->weights().layers[0].ffn_up.weight), "CPU");
    EXPECT_EQ(memory_of(*model->weights().layers[0].ffn_gate.weight), "Vulkan0");
    EXPECT_EQ(memory_of(*model->weights().token_embedding), "Vulkan0");
    EXPECT_EQ(reports[0].matched, 6);
    EXPECT_EQ(reports[1].matched, 1);
}

TEST_F(ModelTest, from_the_header_alone_weights_have_a_place_but_no_data) {
    const auto model = load(made_model(), {.n_gpu_layers = 2}, LoadMode::header);
    EXPECT_EQ(memory_of(*model->weights().layers[0].attn_q.weight), "CPU");
    EXPECT_EQ(memory_of(*model->weights().layers[2].attn_q.weight), "Vulkan0");
    EXPECT_EQ(model->weights().layers[2].attn_q.weight->buffer->usage, BufferUsage::weights);
    EXPECT_EQ(host_data(*model->weights().layers[0].attn_q.weight), nullptr);
}

TEST_F(ModelTest, a_missing_tensor_is_named) {
    EXPECT_THAT(refusal(changed_model([](gguf::Writer&) {}, {"blk.1.ffn_up.weight"})),
                AllOf(HasSubstr("made.gguf"), HasSubstr("blk.1.ffn_up.weight"), HasSubstr("missing")));
}

TEST_F(ModelTest, a_tensor_of_another_shape_is_named_with_both_shapes) {
    EXPECT_THAT(refusal(changed_model([](gguf::Writer&) {}, {}, {"blk.0.attn_k.weight"})),
                AllOf(HasSubstr("blk.0.attn_k.weight"), HasSubstr("[64, 31]"), HasSubstr("[64, 32]")));
}

TEST_F(ModelTest, a_type_that_no_operator_takes_is_named) {
    const std::vector<float> ones(64, 1.0F);
    EXPECT_THAT(refusal(changed_model(
                    [&](gguf::Writer& w) {
                        w.add("blk.0.attn_norm.weight", {64, 1, 1, 1}, ones, Type::Q8_0);
                    },
                    {"blk.0.attn_norm.weight"})),
                AllOf(HasSubstr("blk.0.attn_norm.weight"), HasSubstr("q8_0")));
}

TEST_F(ModelTest, an_unknown_architecture_is_named_with_those_known) {
    EXPECT_THAT(refusal(changed_model([](gguf::Writer& w) { w.set("general.architecture", "gpt5"); })),
                AllOf(HasSubstr("gpt5"), HasSubstr("llama")));
}

TEST_F(ModelTest, every_architecture_has_its_parts) {
    for (const Architecture* a : architectures()) {
        EXPECT_FALSE(a->name.empty());
        EXPECT_NE(a->weights, nullptr) << a->name;
        EXPECT_NE(a->graph, nullptr) << a->name;
    }
}

} // namespace
