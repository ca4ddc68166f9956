// A decoding loop plans graphs of the same form again and again: that must not touch the heap.
#include "tests/runtime/planner/three_backends.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
long n_allocations = 0;
} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++n_allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++n_allocations;
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

using namespace schedscope;
using namespace schedscope::test;

TEST(SteadyLoop, PlanningTheSameShapesAgainAllocatesNothing) {
    for (const int n_stages : {1, 4}) {
        Sketch s = on_three_backends(3);
        PlanOptions options;
        options.n_stages = n_stages;
        Carry carry;
        Plan plan;
        MemoryPlanner planner;
        const auto round = [&](int number) {
            options.current_stage = number % n_stages;
            make_plan(s.graph.view(), s, options, carry, plan, nullptr);
            planner.place(s.graph.view(), plan, s.graph.nodes, s, s.session.buffer_types, nullptr);
        };
        for (int number = 0; number < 2 * n_stages; ++number) {
            round(number);
        }
        const long before = n_allocations;
        for (int number = 0; number < 2 * n_stages; ++number) {
            round(number);
        }
        EXPECT_EQ(n_allocations, before) << n_stages << " stages";
    }
}

TEST(SteadyLoop, TheCountSeesAllocations) {
    const long before = n_allocations;
    const std::vector<int> some(100);
    const int* volatile seen = some.data(); // or a compiler leaves it out
    EXPECT_NE(seen, nullptr);
    EXPECT_GT(n_allocations, before);
}
