// The encoder and each projector against a plain computation, on the CPU and on a Vulkan device.
#include "tests/support/plain/plain_encoder.h"

#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/vision/encoder.h"
#include "runtime/vision/read_image.h"
#include "tests/support/paths.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

namespace schedscope::test {
namespace {

using vision::ImageView;
using vision::Views;

std::string as_test_name(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '-' || c == '_'; }, 'X');
    return text;
}

/// An encoder on some devices, without files.
struct Running {
    Running(const std::shared_ptr<gguf::File>& file, std::string_view list, bool fusion = true) {
        devices = registry.select(list);
        BackendOptions o;
        o.fusion = fusion;
        o.n_threads = 2;
        backends = make_backends(devices, o);
        model = std::make_unique<vision::VisionModel>(file, devices, PlacementOptions{}, LoadMode::data);
        scheduler = std::make_unique<Scheduler>(backends, SchedulerOptions{});
        encoder = std::make_unique<vision::Encoder>(*model, *scheduler, vision::EncoderOptions{}, [this] { return number++; });
    }
    std::vector<float> rows(const Views& views) {
        const Views* one[] = {&views};
        return encoder->encode(one).front();
    }

    std::vector<float> planes(const Views& views) const { return planes_of(views.views.front(), model->hparams()); }

    Registry registry;
    std::vector<Device*> devices;
    std::vector<std::unique_ptr<Backend>> backends;
    std::unique_ptr<vision::VisionModel> model;
    std::unique_ptr<Scheduler> scheduler;
    std::unique_ptr<vision::Encoder> encoder;
    EvaluationId number = 0;
};

Views noise(int width, int height, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> values(0, 255);
    vision::Image image(width, height);
    std::generate(image.rgb.begin(), image.rgb.end(), [&] { return static_cast<uint8_t>(values(random)); });
    Views views;
    views.image = {width, height};
    views.views.emplace_back(std::move(image));
    return views;
}

/// Largest difference, in parts of the largest value.
double difference(const std::vector<float>& rows, const std::vector<double>& truth) {
    EXPECT_EQ(rows.size(), truth.size());
    double most = 0, largest = 0;
    for (size_t i = 0; i < std::min(rows.size(), truth.size()); ++i) {
        const double d = std::abs(rows[i] - truth[i]);
        most = std::isfinite(d) ? std::max(most, d) : INFINITY;
        largest = std::max(largest, std::abs(truth[i]));
    }
    EXPECT_GT(largest, 0.1) << "the truth says nothing";
    return most / largest;
}

class Kinds : public ::testing::TestWithParam<std::string> {
protected:
    void compare(std::string_view devices, double tolerance, Type kernels = Type::F32) {
        for (const uint32_t seed : {1U, 2U}) {
            const PlainEncoder plain = random_encoder(GetParam(), seed);
            Running running(plain.file(kernels), devices);
            const Views views = noise(plain.image_size, plain.image_size, seed + 10);
            const auto truth = plain_rows(plain, running.planes(views), plain.image_size, plain.image_size);
            EXPECT_EQ(static_cast<size_t>(running.encoder->n_rows(views)) * static_cast<size_t>(running.model->n_embd_text()),
                      truth.size());
            EXPECT_LT(difference(running.rows(views), truth), tolerance);
        }
    }
};

TEST_P(Kinds, AgreeWithThePlainComputationOnTheCpu) { compare("cpu", 2e-6); }
TEST_P(Kinds, AgreeWithKernelsOfHalfs) { compare("cpu", 1e-3, Type::F16); }

class KindsOnVulkan : public OnVulkan<Kinds> {};

TEST_P(KindsOnVulkan, AgreeWithThePlainComputation) { compare("vulkan0,cpu", 1e-4); }
TEST_P(KindsOnVulkan, AgreeWithKernelsOfHalfs) { compare("vulkan0,cpu", 2e-3, Type::F16); }

const auto all_kinds = ::testing::Values("mlp", "mlp-linear", "mlp-gelu", "mlp-features", "mlp-siglip", "mlp-swapped", "mlp_norm",
                                         "ldp", "ldpv2", "resampler", "mlp-large", "ldp-large");
const auto kind_name = [](const auto& info) { return as_test_name(info.param); };
INSTANTIATE_TEST_SUITE_P(Encoder, Kinds, all_kinds, kind_name);
INSTANTIATE_TEST_SUITE_P(Encoder, KindsOnVulkan, all_kinds, kind_name);

TEST(Encoder, TakesViewsOfAnyProportionsInMiniCpm) {
    const PlainEncoder plain = random_encoder("resampler", 3);
    Running running(plain.file(), "cpu");
    for (const auto& [width, height] : {std::pair{14, 56}, {70, 21}, {7, 7}, {77, 77}}) {
        const Views views = noise(width, height, 4);
        EXPECT_LT(difference(running.rows(views), plain_rows(plain, running.planes(views), width, height)), 2e-6)
            << width << " x " << height;
    }
}

TEST(Encoder, TakesQueriesWithSeveralHeads) {
    const PlainEncoder plain = random_encoder("resampler", 3, 256);
    Running running(plain.file(), "cpu");
    const Views views = noise(28, 28, 4);
    EXPECT_LT(difference(running.rows(views), plain_rows(plain, running.planes(views), 28, 28)), 2e-6);
}

TEST(Encoder, IsTheSameWithoutFusion) {
    const PlainEncoder plain = random_encoder("ldp", 3);
    Running running(plain.file(), "cpu", false);
    const Views views = noise(28, 28, 4);
    EXPECT_LT(difference(running.rows(views), plain_rows(plain, running.planes(views), 28, 28)), 2e-6);
}

TEST(Encoder, RunsAPlanAgainForViewsOfOneSize) {
    const PlainEncoder plain = random_encoder("mlp", 1);
    Running running(plain.file(), "cpu");
    Views views = noise(28, 28, 1);
    const Views other = noise(28, 28, 2);
    views.views.push_back(other.views.front());
    views.tiles = {1, 1};
    const std::vector<float> rows = running.rows(views);
    const std::vector<float> alone = running.rows(other);
    ASSERT_EQ(rows.size(), 2 * alone.size());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), rows.begin() + static_cast<ptrdiff_t>(alone.size())));
    EXPECT_EQ(running.number, 3);
}

// ---- the model that lies beside the repository

class TinyLlava : public ::testing::Test {
protected:
    inline static const std::string folder = paths::shared("models/llava-tiny/");
    void SetUp() override {
        if (!std::filesystem::exists(folder)) {
            GTEST_SKIP() << folder << " is not here";
        }
    }
    static Views image(const vision::EncoderHparams& h) {
        return vision::prepare(vision::read_image(std::string(folder) + "test56.ppm"), h, "test56.ppm");
    }
    static std::vector<double> stored() {
        std::ifstream in(std::string(folder) + "embeddings-16x64.f32", std::ios::binary);
        std::vector<float> values(16 * 64);
        in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
        return {values.begin(), values.end()};
    }
    static std::shared_ptr<gguf::File> file() {
        return std::make_shared<gguf::File>(gguf::File::open(std::string(folder) + "mmproj-tiny-f32.gguf"));
    }
    static double largest_difference(const std::vector<float>& rows) {
        const auto truth = stored();
        double most = 0;
        for (size_t i = 0; i < truth.size(); ++i) {
            most = std::max(most, std::abs(rows.at(i) - truth[i]));
        }
        return most;
    }
};

TEST_F(TinyLlava, HasTheStoredEmbeddings) {
    Running running(file(), "cpu");
    EXPECT_LT(largest_difference(running.rows(image(running.model->hparams()))), 1e-3);
}

TEST_F(TinyLlava, AgreesWithThePlainComputation) {
    Running running(file(), "cpu");
    const Views views = image(running.model->hparams());
    const auto truth = plain_rows(PlainEncoder::from(*file()), running.planes(views), 56, 56);
    EXPECT_LT(difference(running.rows(views), truth), 2e-6);
    const auto kept = stored();
    double most = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
        most = std::max(most, std::abs(kept[i] - truth.at(i)));
    }
    EXPECT_LT(most, 1e-5); // the file beside the repository comes from another program
}

class TinyLlavaOnVulkan : public OnVulkan<TinyLlava> {
protected:
    void SetUp() override {
        TinyLlava::SetUp();
        if (!IsSkipped()) {
            OnVulkan<TinyLlava>::SetUp();
        }
    }
};

TEST_F(TinyLlavaOnVulkan, HasTheStoredEmbeddings) {
    Running running(file(), "vulkan0,cpu");
    EXPECT_LT(largest_difference(running.rows(image(running.model->hparams()))), 1e-3);
}

} // namespace
} // namespace schedscope::test
