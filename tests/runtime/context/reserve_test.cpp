// Memory for the largest graphs is there before the first evaluation: nothing grows or moves as a context fills.
#include "tests/support/models/reference.h"
#include "tests/support/traces/plan_record.h"

#include "tests/support/models/made_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace {

struct DevicesCase {
    std::string devices;
    int32_t n_gpu_layers;
    bool one_backend; ///< whatever the batch
};
void PrintTo(const DevicesCase& place, std::ostream* out) { *out << place.devices << ", " << place.n_gpu_layers << " layers"; }

class Reserve : public ::testing::TestWithParam<DevicesCase> {
protected:
    static constexpr int32_t n_ctx = 1024, n_ubatch = 64;

    Reserve() {
        options_.devices = GetParam().devices;
        options_.n_gpu_layers = GetParam().n_gpu_layers;
        options_.n_threads = 2;
        options_.n_ctx = n_ctx;
        options_.n_ubatch = n_ubatch;
    }
    static void decode(Session& session, int32_t first, int32_t n_tokens, bool all_outputs) {
        Batch batch;
        for (int32_t i = 0; i < n_tokens; ++i) {
            batch.add(1 + i, first + i, only_sequence(0), all_outputs || i + 1 == n_tokens);
        }
        session.context().decode(batch);
    }
    int64_t bytes_in_all(Session& session) {
        int64_t sum = 0;
        for (const int64_t bytes : session.scheduler().compute_buffer_bytes()) {
            sum += bytes;
        }
        return sum;
    }

    Registry registry_;
    RunOptions options_;
    PlanRecord record_;
};

TEST_P(Reserve, NothingGrowsWhileTheContextFills) {
    NEEDS_DEVICES(registry_, GetParam().devices);
    for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
        options_.flash_attention = flash;
        PlanRecord record;
        Session session(registry_, made_model(), options_, &record);
        EXPECT_EQ(bytes_in_all(session), 0);
        decode(session, 0, 1, true); // from the smallest
        const int64_t reserved = bytes_in_all(session);
        EXPECT_GT(reserved, 0);
        const std::vector<record::Reserve> reserves = record.all<record::Reserve>();
        EXPECT_THAT(reserves, Each(Field(&record::Reserve::error, 0U)));
        ASSERT_THAT(reserves, SizeIs(2));
        EXPECT_EQ(reserves[0].n_tokens, 1);
        EXPECT_EQ(reserves[1].n_tokens, n_ubatch);
        EXPECT_EQ(record.plans, 1) << "what only reserves is no plan";
        int64_t recorded = 0;
        for (const record::BufferSize& size : record.all<record::BufferSize>()) {
            recorded += size.size - *size.before;
        }
        EXPECT_EQ(recorded, reserved);

        const size_t before = record.all<record::BufferSize>().size(), plans = record.plans;
        int32_t at = 1;
        for (const int32_t n : {7, 31, 32, 64, 1, 63}) {
            decode(session, at, n, false);
            at += n;
        }
        for (; at + n_ubatch <= n_ctx; at += n_ubatch) {
            decode(session, at, n_ubatch, true);
        }
        EXPECT_GT(record.plans, plans + 5) << "longer contexts are other graphs";
        EXPECT_EQ(bytes_in_all(session), reserved);
        EXPECT_EQ(record.all<record::BufferSize>().size(), before);
        if (GetParam().one_backend) { // else places change where a longer batch is offloaded; what it needs is there
            EXPECT_THAT(record.all<record::Reallocation>(), IsEmpty());
        }
    }
}

// Sizes as large as the largest evaluation needs, and no larger: one that is as large from the start takes as much.
TEST_P(Reserve, TakesWhatTheLargestEvaluationNeeds) {
    NEEDS_DEVICES(registry_, GetParam().devices);
    options_.n_ctx = 256; // all cells are in every graph
    Session session(registry_, made_model(), options_, &record_);
    decode(session, 0, 1, true);
    const int64_t reserved = bytes_in_all(session);
    int64_t needed = 0;
    record_.records.clear();
    decode(session, 1, n_ubatch, true);
    std::map<std::pair<BufferTypeId, int16_t>, int64_t> ends;
    for (const record::Placement& p : record_.all<record::Placement>()) {
        int64_t& end = ends[{p.buffer_type, p.chunk}];
        end = std::max(end, p.offset + p.size);
    }
    for (const auto& [where, end] : ends) {
        needed += end;
    }
    EXPECT_LE(needed, reserved);
    EXPECT_GE(needed + needed / 2, reserved) << "a decode may need some memory where a prompt needs none";
}

// What a run without records reserves is the same.
TEST_P(Reserve, DoesNotDependOnARecorder) {
    NEEDS_DEVICES(registry_, GetParam().devices);
    Session recorded(registry_, made_model(), options_, &record_), plain(registry_, made_model(), options_);
    decode(recorded, 0, 3, false);
    decode(plain, 0, 3, false);
    EXPECT_EQ(bytes_in_all(recorded), bytes_in_all(plain));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Reserve,
                         ::testing::Values(DevicesCase{"cpu", 0, true}, DevicesCase{"blas,cpu", 0, false},
                                           DevicesCase{"vulkan0,cpu", 99, true}, DevicesCase{"vulkan0,cpu", 2, false},
                                           DevicesCase{"vulkan0,cpu", 0, false}));

} // namespace
