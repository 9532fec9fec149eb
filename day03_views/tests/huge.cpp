// Beyond 2^31 elements, and beyond 2^31 elements of distance, on a GPU: [huge]. The same functions
// run with small sizes on the emulator, which tests the checks themselves.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/gpu/different.hpp"
#include "common/gpu/fill.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

using In = View<const std::uint8_t>;
using Out = View<std::uint8_t>;

// Byte number k of a long array: it repeats, but after a prime number of bytes.
class Noise {
public:
    std::uint8_t operator()(std::int64_t k) const { return bytes_(k % bytes_.size()); }
    gpu::Buffer<std::uint8_t> of_size(std::int64_t n) const {
        gpu::Buffer<std::uint8_t> buffer(n);
        const std::int64_t period = bytes_.size();
        for (std::int64_t at = 0; at < n; at += period) {
            buffer.upload(bytes_.data(), std::min(period, n - at), at);
        }
        return buffer;
    }

private:
    Tensor<std::uint8_t> bytes_ = seeded_integers<std::uint8_t>({1000003}, 1, 0, 0xFE);
};

// (M, N) transposed, flipped, copied, there and back: every byte must match the original, and
// in between some rows are compared with their expected values.
void move_there_and_back(std::int64_t M, std::int64_t N) {
    const Noise noise;
    const gpu::Buffer<std::uint8_t> a = noise.of_size(M * N);
    gpu::Buffer<std::uint8_t> b(M * N), back(M * N);
    const In in = a.view({M, N});
    const auto check = [&](const char* what, const Shape& shape, const auto& move,
                           const auto& in_at) {
        CAPTURE(what, M, N);
        b.fill_bytes(0xff);
        back.fill_bytes(0xff);
        move(in, b.view(shape));
        move(std::as_const(b).view(shape), back.view({M, N}));
        CHECK(gpu::count_different(a, back) == 0);
        bool ok = true;
        for (std::int64_t k = 0; k < 64; ++k) {
            const std::int64_t r = k * (shape[0] - 1) / 63;
            const std::int64_t from = std::max<std::int64_t>(shape[1] - 50000, 0);  // end of a row
            const auto got = b.download(r * shape[1] + from, shape[1] - from);
            for (std::int64_t c = from; c < shape[1]; ++c) {
                ok &= got[static_cast<std::size_t>(c - from)] == noise(in_at(r, c));
            }
        }
        CHECK(ok);
    };
    const auto same = [&](std::int64_t r, std::int64_t c) { return r * N + c; };
    const auto flipped = [&](std::int64_t r, std::int64_t c) { return r * N + N - 1 - c; };
    const auto transposed = [&](std::int64_t r, std::int64_t c) { return c * N + r; };
    check(
        "transpose", {N, M}, [](In from, Out to) { transpose_cuda(from, to); }, transposed);
    check(
        "copy of a transpose", {N, M}, [](In from, Out to) { copy_cuda(transpose(from), to); },
        transposed);
    check(
        "one run", {M, N}, [](In from, Out to) { copy_cuda(from, to); }, same);
    for (const CopyPath path : {CopyPath::any_layout, CopyPath::one_element}) {
        check(
            name(path), {M, N},
            [&](In from, Out to) { copy_cuda(flip(from, 1), to, {.path = path}); }, flipped);
    }
}

// (R, C) whose columns are `far` apart, written to a small tensor, and back again.
void move_from_afar(std::int64_t R, std::int64_t C, std::int64_t step, std::int64_t far) {
    const Noise noise;
    const gpu::Buffer<std::uint8_t> a = noise.of_size((C - 1) * far + (R - 1) * step + 1);
    gpu::Buffer<std::uint8_t> again(a.size());
    const Layout layout({R, C}, {step, far});
    for (const CopyPath path : {plan_copy(In(a.data(), layout), Out(again.data(), {R, C})).path,
                                CopyPath::any_layout, CopyPath::one_element}) {
        CAPTURE(name(path), R, C, step, far);
        DeviceOut<std::uint8_t> got({R, C});
        copy_cuda(In(a.data(), layout), got.view(), {.path = path});
        Tensor<std::uint8_t> want({R, C});
        for (std::int64_t r = 0; r < R; ++r) {
            for (std::int64_t c = 0; c < C; ++c) want(r, c) = noise(r * step + c * far);
        }
        CHECK(got.matches(want));
        again.fill_bytes(0xff);
        const In small = got.view();
        copy_cuda(small, Out(again.data(), layout));
        DeviceOut<std::uint8_t> twice({R, C});
        copy_cuda(In(again.data(), layout), twice.view(), {.path = CopyPath::one_element});
        CHECK(twice.matches(want));
    }
}

// Rows of 7 floats, all 2, added to or selected from in place.
void broadcast_many(std::int64_t rows) {
    gpu::Buffer<float> memory(7 * rows);
    const View<float> matrix = memory.view({rows, 7});
    const gpu::Buffer<float> bias(Tensor<float>({7}, {10, 20, 30, 40, 50, 60, 70}));
    const gpu::Buffer<std::uint8_t> mask(Tensor<std::uint8_t>({7}, {1, 0, 0, 1, 0, 1, 0}));
    const auto check = [&](const char* what, const auto& want) {
        const std::int64_t n = 7 * rows;
        for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2 - 1, n / 2,
                                     n / 2 + 1, n - 9, n - 8, n - 2, n - 1}) {
            CAPTURE(what, rows, k);
            CHECK(memory.download(k, 1)[0] == want(k % 7));
        }
    };
    const auto bias_of = [](std::int64_t c) { return 10 * static_cast<float>(c + 1); };
    const auto chosen = [](std::int64_t c) { return c == 0 || c == 3 || c == 5; };
    for (const AddBroadcastPath path :
         {AddBroadcastPath::any_layout, AddBroadcastPath::one_element}) {
        gpu::fill(2, matrix);
        add_broadcast_cuda(matrix, bias.view({7}), matrix, {.path = path});
        check(name(path), [&](std::int64_t c) { return 2 + bias_of(c); });
    }
    for (const WherePath path : {WherePath::any_layout, WherePath::one_element}) {
        gpu::fill(2, matrix);
        where_cuda(mask.view({7}), matrix, bias.view({7}), matrix, {.path = path});
        check("where", [&](std::int64_t c) { return chosen(c) ? 2 : bias_of(c); });
    }
    // One contiguous run, as float4.
    gpu::fill(2, matrix);
    add_broadcast_cuda(matrix, matrix, matrix);
    check("add, one run", [&](std::int64_t) { return 4.0f; });
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST_CASE("the checks of the tests past 2^31 pass at small sizes too", "[day03][small]") {
    move_there_and_back(33, 70);
    move_there_and_back(2, 1029);
    move_from_afar(40, 3, 1, 5000);
    move_from_afar(40, 3, 2, 5000);
    broadcast_many(36);
    broadcast_many(301);
}

TEST_CASE("transpose and copy are correct past 2^31 elements", "[day03][huge]") {
    need_device_memory(8 * kGiB);
    move_there_and_back(46349, 46399);  // 2.15e9 bytes
}

TEST_CASE("copies are correct up to the limit of fast division and past it", "[day03][huge]") {
    need_device_memory(8 * kGiB);
    move_there_and_back(2, kGiB);
    move_there_and_back(2, kGiB + 1);
}

TEST_CASE("copies are correct for elements more than 2^31 apart", "[day03][huge]") {
    need_device_memory(14 * kGiB);
    move_from_afar(1000, 3, 1, 3 * kGiB);
    move_from_afar(1000, 3, 2, 3 * kGiB);
    move_from_afar(100, 100, 1, kGiB / 16 + 3);
}

TEST_CASE("add_broadcast and where are correct past 2^31 elements", "[day03][huge]") {
    need_device_memory(10 * kGiB);
    broadcast_many(306783380);  // 2^31 + 12 floats
}

}  // namespace
