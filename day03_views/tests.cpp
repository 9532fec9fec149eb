// The proof of Day 03's sets copy and transpose. Loops against answers from outside the code, ports
// against loops, over every element. Tags: [small] runs everywhere, [full] not under sanitizers,
// [huge] on a GPU only.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// --- transpose: the loop -------------------------------------------------------------------------

TEST_CASE("a transpose worked by hand", "[day03][transpose][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> out({3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6})));
}

TEST_CASE("a stack of matrices is transposed matrix by matrix", "[day03][transpose][small]") {
    const Tensor<float> in({2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
    HostOut<float> out({2, 3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({2, 3, 2}, {1, 4, 2, 5, 3, 6, 10, 40, 20, 50, 30, 60})));
}

// --- transpose: every kernel against the loop ----------------------------------------------------

using Move = std::function<void(const BytesIn&, const BytesOut&, gpu::Stream)>;

template <class F>
Move of_floats(F step) {
    return [step](const BytesIn& in, const BytesOut& out, gpu::Stream stream) {
        step(in.as<float>(), out.as<float>(), stream);
    };
}

struct Step {
    const char* kernel;
    Move move;
    int smallest, largest;  // bytes of an element
    bool sixteen;           // rows must begin at multiples of 16 bytes
};
const std::vector<Step> kSteps = {
    {"transpose_read_coalesced_kernel", of_floats(transpose_read_coalesced), 4, 4, false},
    {"transpose_write_coalesced_kernel", of_floats(transpose_write_coalesced), 4, 4, false},
    {"transpose_shared_tile_kernel", of_floats(transpose_shared_tile), 4, 4, false},
    {"transpose_padded_kernel", of_floats(transpose_padded), 4, 4, false},
    {"transpose_in_flight_kernel", transpose_in_flight, 1, 16, false},
    {"transpose_sixteen_bytes_kernel", of_floats(transpose_sixteen_bytes), 4, 4, true},
    {"transpose_packed_bytes_kernel", transpose_packed_bytes, 1, 2, true},
};

// Elements of every size, all bits of which count.
template <class T>
Tensor<T> patterns(const Shape& shape) {
    Tensor<T> x(shape);
    auto* bytes = reinterpret_cast<unsigned char*>(x.data());
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()) * sizeof(T); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = static_cast<unsigned char>((state >> 33) % 251);  // never the poison, 0xFF
    }
    return x;
}

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

// A matrix (..., M, N) whose rows are `pitch` apart.
Layout pitched(const Shape& shape, std::int64_t pitch) {
    Shape room = shape;
    room[shape.rank - 1] = pitch;
    return {shape, row_major(room).strides};
}

template <class T>
void check_step(const Step& step, const Shape& shape, bool gaps, Lead lead = {}) {
    const int r = shape.rank;
    Shape turned = shape;
    std::swap(turned[r - 1], turned[r - 2]);
    const std::int64_t quad = 16 / static_cast<std::int64_t>(sizeof(T));
    const auto layout = [&](const Shape& s) {
        const std::int64_t row = s[s.rank - 1];
        if (step.sixteen) return pitched(s, round_up(row, quad) + (gaps ? quad : 0));
        return pitched(s, row + (gaps ? 3 : 0));
    };
    CAPTURE(step.kernel, sizeof(T), to_string(shape), gaps, lead.elements);
    const Tensor<T> in = patterns<T>(shape);
    HostOut<T> want(turned);
    transpose_cpu(in.view(), want.view());
    DeviceIn<T> from(in, layout(shape), lead);
    DeviceOut<T> got(layout(turned), lead);
    step.move(bytes_in(from.view()), bytes_out(got.view()), {});
    CHECK(got.matches(want));
    CHECK(from.unchanged());
    if (in.size() > 0) CHECK(std::string(gpu::last_kernel()) == step.kernel);
}

template <class T>
void check_steps(const Shape& shape, bool gaps = false, Lead lead = {}) {
    for (const Step& step : kSteps) {
        const int bytes = static_cast<int>(sizeof(T));
        if (bytes < step.smallest || bytes > step.largest) continue;
        check_step<T>(step, shape, gaps, step.sixteen ? Lead{} : lead);
    }
}

TEST_CASE("every step of the ladder equals the loop around its tile", "[day03][transpose][small]") {
    for (const std::int64_t M : {1, 2, 31, 33, 64, 65}) {
        for (const std::int64_t N : {1, 3, 32, 63, 64, 67}) check_steps<float>({M, N});
    }
}
}  // namespace
