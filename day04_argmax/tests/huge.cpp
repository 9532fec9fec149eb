// argmax of lines that are far apart, of larger tensors, and of more than 2^31 elements.
#include "common/gpu/fill.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// The emulator's device has 8 GiB; only a GPU can hold 2^31 elements: [huge].
TEST_CASE("argmax is correct for lines that begin past 2^31 bytes", "[day04][argmax][full]") {
    const std::int64_t far = (std::int64_t{1} << 28) + 1000, n = 70;
    if (!gpu::is_emulated()) need_device_memory(4 * (2 * far + n));
    gpu::Buffer<float> memory(2 * far + n);
    const Tensor<float> x = seeded_integers<float>({3, n}, 77, 0, 200);
    for (std::int64_t r = 0; r < 3; ++r) memory.upload(x.data() + r * n, n, r * far);
    const View<const float> in(memory.data(), Layout({3, n}, {far, 1}));
    for (const LinePath path : kPaths) {
        if (!takes(path, lines_of("test", in, {1}))) continue;
        CAPTURE(name(path));
        Memory workspace(lines_of("test", in, {1}));
        DeviceOut<std::int64_t> got(Shape{3});
        argmax_cuda(in, 1, got.view(), {.path = path, .workspace = workspace.workspace()});
        CHECK(got.matches(second_formula(x.view(), 1)));
    }
    for (const LinePath path : {LinePath::one_thread, LinePath::walk, LinePath::warp,
                                LinePath::shared_tree, LinePath::strided}) {
        CAPTURE(name(path));
        DeviceOut<std::int64_t> got(Shape{n});
        argmax_cuda(in, 0, got.view(), {.path = path});
        CHECK(got.matches(second_formula(x.view(), 0)));
    }
}

TEST_CASE("every path is correct for larger shapes, over any dimension", "[day04][argmax][full]") {
    for (int dim = 0; dim < 4; ++dim) {
        check_all(seeded_integers<float>({7, 11, 13, 17}, 21, 0, 20), dim, dim);
    }
    for (int dim = 0; dim < 3; ++dim) {
        check_all(seeded_integers<float>({16, 64, 128}, 22, 0, 500), dim);
    }
    check_all(seeded_integers<float>({3, 70001}, 25, 0, 9), 0);  // past 65,535, the limit of grid.y
    check_all(seeded_integers<float>({3, 50257}, 23, 0, 100000), 1, 1);
    check_all(seeded_integers<float>({2000, 17}, 24, 0, 100), 1);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// An otherwise constant tensor with one larger element per line.
void check_planted(const Shape& shape, int dim) {
    CAPTURE(to_string(shape), dim);
    const Layout layout = row_major(shape);
    gpu::Buffer<float> memory(layout.size());
    gpu::fill(1, memory.view(layout));
    const Lines lines = lines_of("test", memory.view(layout), {dim});
    const std::int64_t count = lines.count(), n = lines.length();
    std::vector<std::int64_t> asked;
    for (const std::int64_t k : {std::int64_t{0}, count / 3, count / 2, count - 2, count - 1}) {
        if (k >= 0 && (asked.empty() || k > asked.back())) asked.push_back(k);
    }
    const auto answer = [&](std::int64_t k) { return n - 1 - k % n; };
    for (const std::int64_t k : asked) {
        const float two = 2;
        const Index at = unravel(k, lines.first.layout.shape);
        memory.upload(&two, 1, offset(lines.first.layout, at) + answer(k) * lines.stride());
    }
    gpu::Buffer<std::int64_t> out(count);
    for (const LinePath path : kPaths) {
        // One thread for 2^31 elements takes a minute and tests nothing new.
        if (!takes(path, lines) ||
            (count < 64 && (path == LinePath::one_thread || path == LinePath::walk) && n > kGiB))
            continue;
        CAPTURE(name(path));
        Memory workspace(lines);
        out.fill_bytes(0xff);
        argmax_cuda(std::as_const(memory).view(layout), dim, out.view(lines.first.layout.shape),
                    {.path = path, .workspace = workspace.workspace()});
        for (const std::int64_t k : asked) CHECK(out.download(k, 1)[0] == answer(k));
    }
}

// Outputs in two pieces: of 1 and 2, seen `count` times, the largest is 2 and the sum 3.
void check_outputs(std::int64_t count) {
    CAPTURE(count);
    const float few[] = {1, 2};
    gpu::Buffer<float> memory(2);
    memory.upload(few, 2);
    const View<const float> same(memory.data(), Layout({count, 2}, {0, 1}));
    const Shape shape{count};
    gpu::Buffer<float> out(count + 2);
    const auto at = [&](std::int64_t k) { return out.download(k, 1)[0]; };
    for (const LinePath path : kPaths) {
        if (argmax_only(path) || !takes(path, lines_of("test", same, {1}))) continue;
        Memory workspace(lines_of("test", same, {1}));
        for (const Reduction what : {Reduction::max, Reduction::sum}) {
            CAPTURE(name(path), name(what));
            out.fill_bytes(0xff);
            reduce_cuda(what, same, {1}, out.view(shape),
                        {.path = path, .workspace = workspace.workspace()});
            for (const std::int64_t k : {std::int64_t{0}, count / 2, count - 1}) {
                CHECK(at(k) == (what == Reduction::max ? 2 : 3));
            }
            CHECK(std::isnan(at(count)));
        }
    }
}

TEST_CASE("the checks of the huge tests pass at small sizes too", "[day04][argmax][small]") {
    check_planted({5, 1000}, 1);
    check_planted({300, 50}, 0);
    check_planted({200, 17}, 1);
    check_outputs(1000);
}

TEST_CASE("lines, elements and outputs are correct past 2^31", "[day04][argmax][huge]") {
    need_device_memory(40 * kGiB);
    check_planted({1, 2 * kGiB + 12345}, 1);
    check_planted({1000, 2200000}, 1);
    check_planted({2200000, 1000}, 0);
    check_planted({2 * kGiB + 777, 1}, 1);
    check_planted({2 * kGiB / 3, 5}, 1);
    check_planted({2, kGiB + 1000}, 0);
    check_outputs(2 * kGiB + 777);
}

}  // namespace
