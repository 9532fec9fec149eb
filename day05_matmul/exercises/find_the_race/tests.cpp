// The cases that `common/learn check` runs for find_the_race. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day05_matmul/exercises/find_the_race/find_the_race.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// Which elements are multiplied.
std::string cause(std::int64_t N) {
    const auto in_a = [=](const Index& i, std::int64_t k) { return i[0] * N + k; };
    const auto in_b = [=](const Index& i, std::int64_t k) { return k * N + i[1]; };
    return summed_wrongly({"out", "mn", {N, N}, N, {{"a", N * N, in_a}, {"b", N * N, in_b}}},
                          [=](const auto& in, float* out) {
                              const Shape shape{N, N};
                              find_the_race_cuda({in[0], shape}, {in[1], shape}, {out, shape});
                          });
}

void check_port(std::int64_t N) {
    CAPTURE(N);
    const Tensor<float> a = seeded_integers<float>({N, N}, 1, -9, 9);
    const Tensor<float> b = seeded_integers<float>({N, N}, 2, -9, 9);
    HostOut<float> want({N, N});
    find_the_race_cpu(a.view(), b.view(), want.view());
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got({N, N});
    practise_port([&] { find_the_race_cuda(da.view(), db.view(), got.view()); }, got, want,
                  [=] { return cause(N); });
    REQUIRE(da.unchanged());
    REQUIRE(db.unchanged());
}

TEST_CASE("find_the_race: the example of the statement", "[day05][find_the_race][small]") {
    const Tensor<float> a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {5, 6, 7, 8});
    const Tensor<float> answer({2, 2}, {19, 22, 43, 50});
    HostOut<float> loop({2, 2});
    find_the_race_cpu(a.view(), b.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got({2, 2});
    practise_port([&] { find_the_race_cuda(da.view(), db.view(), got.view()); }, got, answer,
                  [] { return cause(2); });
}

TEST_CASE("find_the_race: one tile and several", "[day05][find_the_race][small]") {
    check_port(16);
    check_port(48);
}

TEST_CASE("find_the_race: partial tiles", "[day05][find_the_race][small]") {
    for (const std::int64_t N : {0, 1, 15, 17, 37}) check_port(N);
}

TEST_CASE("find_the_race: operands are loaded by tiles", "[day05][find_the_race][small]") {
    DeviceIn<float> a(distinct<float>({32, 32})), b(distinct<float>({32, 32}, 3));
    DeviceOut<float> got({32, 32});
    const auto touched = gpu::touched([&] { find_the_race_cuda(a.view(), b.view(), got.view()); });
    // 4 tiles of outputs, 2 of each operand for each of them: 32 sectors a tile.
    REQUIRE(touched.has_value() == gpu::is_emulated());
    REQUIRE_NOTHROW(gpu::synchronize());
    if (!touched) return;  // counted by the emulator only
    const std::int64_t enough = 4 * (2 * 2 + 1) * 32, b_twice = enough + 4 * 2 * 32;
    INFO("Memory moved "
         << touched->sectors << " sectors of 32 bytes where " << enough << " suffice: "
         << (touched->sectors == b_twice
                 ? "b is loaded twice per round; the first store to tile_b is overwritten: "
                   "remove it together with its load."
                 : "are the products computed from the tiles, and is each tile loaded once? "
                   "Without tiles, reading a and b for every product moves 4,224."));
    REQUIRE(touched->sectors == enough);
}

TEST_CASE("find_the_race: rejects what the CPU reference rejects",
          "[day05][find_the_race][small]") {
    Tensor<float> a({4, 4}), out({4, 4}), wide({2, 8});
    REQUIRE(both_reject([&] { find_the_race_cpu(wide.view(), a.view(), out.view()); },
                        [&] { find_the_race_cuda(wide.view(), a.view(), out.view()); },
                        "but it must be square"));
}

}  // namespace
