// A workspace: one list counts the bytes and hands them out, and no byte is handed out twice.
#include "common/gpu/workspace.hpp"
#include "common/gpu/tests/kernels.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::Buffer;
using gpu::Carver;
using gpu::Workspace;

namespace {

struct Parts {
    View<float> sums;
    View<unsigned char> flags;
    View<float> square;
    View<float> scalar;
};

Parts parts(Carver& carver, std::int64_t n) {
    return {carver.take<float>({n}), carver.take<unsigned char>({3}), carver.take<float>({2, 5}),
            carver.take<float>({})};
}

Parts carved(const Workspace& workspace, std::int64_t n) {
    return gpu::carve("mean", workspace, [&](Carver& c) { return parts(c, n); });
}

std::int64_t counted(std::int64_t n) {
    return gpu::bytes_to_carve([&](Carver& c) { return parts(c, n); });
}

}  // namespace

// The size of the counters at the start of every workspace.
constexpr std::int64_t kFront = Carver::kCounterBytes;
constexpr std::int64_t k65 = kFront + 1028;  // the bytes of 65 sums and the rest

TEST_CASE("bytes_to_carve adds counters, and each array at a multiple of 256", "[gpu][small]") {
    CHECK(kFront == 16384);
    CHECK(counted(0) == kFront + 512 + 4);   // flags at 0, square at 256, scalar at 512
    CHECK(counted(1) == kFront + 768 + 4);   // sums at 0, flags at 256, 512, 768
    CHECK(counted(64) == kFront + 768 + 4);  // 64 floats are 256 bytes
    CHECK(counted(65) == k65);
    CHECK(gpu::bytes_to_carve([](Carver& c) { return c.take<double>({3}); }) == kFront + 24);
    CHECK(gpu::bytes_to_carve([](Carver& c) { return c.counters(1); }) == kFront);
    CHECK(gpu::bytes_to_carve([](Carver&) { return 0; }) == 0);
}

TEST_CASE("arrays follow the counters, do not overlap, and end with the workspace",
          "[gpu][small]") {
    const std::int64_t n = 65;
    Buffer<std::byte> memory(counted(n));
    memory.fill_bytes(0);
    const Workspace workspace = memory;
    CHECK(workspace);
    CHECK(workspace.data == memory.data());
    CHECK(workspace.bytes == k65);
    const Parts p = carved(workspace, n);
    CHECK(p.sums.layout.shape == Shape{65});
    CHECK(p.square.layout.strides == Strides{5, 1});
    CHECK(p.scalar.rank() == 0);
    const auto place = [&](const auto& view) {
        return reinterpret_cast<const std::byte*>(view.data) - memory.data() - kFront;
    };
    CHECK(place(p.sums) == 0);
    CHECK(place(p.flags) == 512);
    CHECK(place(p.square) == 768);
    CHECK(place(p.scalar) == 1024);

    // A kernel fills each array completely; the emulator reports a store past the last byte.
    gpu::tests::fill(p.sums, 1.0f);
    gpu::tests::fill({p.square.data, Shape{10}}, 2.0f);
    gpu::tests::fill({p.scalar.data, Shape{1}}, 3.0f);
    const std::vector<std::byte> bytes = memory.download();
    const auto at = [&](std::int64_t byte) {
        float x = 0;
        std::memcpy(&x, bytes.data() + byte, sizeof x);
        return x;
    };
    std::int64_t counters_written = 0;
    for (std::int64_t byte = 0; byte < kFront; byte += 4) counters_written += at(byte) != 0;
    CHECK(counters_written == 0);
    for (std::int64_t byte = 0; byte < 1028; byte += 4) {
        CAPTURE(byte);
        CHECK(at(kFront + byte) == (byte < 260                  ? 1.0f
                                    : byte >= 768 && byte < 808 ? 2.0f
                                    : byte == 1024              ? 3.0f
                                                                : 0.0f));
    }
}

TEST_CASE("counters are the first words of a workspace, whatever else is taken", "[gpu][small]") {
    Buffer<std::byte> memory(kFront + 4096);
    const auto at = [&](const auto& view) {
        return reinterpret_cast<const std::byte*>(view.data) - memory.data();
    };
    Carver before(memory.data());
    CHECK(at(before.counters(7)) == 0);
    CHECK(at(before.take<float>({3})) == kFront);
    Carver behind(memory.data());
    CHECK(at(behind.take<double>({100})) == kFront);
    CHECK(at(behind.counters(4096)) == 0);
    CHECK(behind.counters(4096).shape() == Shape{4096});
    CHECK(behind.bytes() == kFront + 800);  // they do not overlap the arrays
    CHECK(Carver().counters(5).data == nullptr);
    Carver none(memory.data());
    CHECK(none.counters(0).size() == 0);
    CHECK(none.bytes() == 0);
    CHECK(rejection([&] { (void)none.counters(4097); }) ==
          "4097 counters asked for, but a workspace has 4096");
}

TEST_CASE("the front is lent to called operations, and own arrays follow it", "[gpu][small]") {
    Buffer<std::byte> memory(kFront + 8192);
    const auto at = [&](const auto* data) {
        return reinterpret_cast<const std::byte*>(data) - memory.data();
    };
    Carver inner;
    (void)inner.take<float>({100});
    Carver outer(memory.data());
    const Workspace lent = outer.lend(inner.bytes());
    CHECK(lent.data == memory.data());  // the same address, so the same counters
    CHECK(lent.bytes == kFront + 400);
    CHECK(at(outer.take<float>({1}).data) == kFront + 512);
    CHECK(outer.bytes() == kFront + 516);
    CHECK(rejection([&] { (void)outer.lend(500); }) ==
          "the front of a workspace is lent before arrays are taken, not after 16900 bytes");

    Carver counters_only(memory.data());  // an operation that needs only counters
    CHECK(counters_only.lend(kFront).bytes == kFront);
    CHECK(at(counters_only.take<float>({1}).data) == kFront);
    Carver nothing(memory.data());  // or none
    CHECK_FALSE(nothing.lend(0));
    CHECK(nothing.bytes() == 0);
    CHECK(at(nothing.take<float>({1}).data) == kFront);
}

TEST_CASE("a workspace that is too small, null or misaligned is rejected", "[gpu][small]") {
    Buffer<std::byte> memory(kFront + 2000);
    std::byte* data = memory.data();
    CHECK(rejection([&] { (void)carved({data, k65}, 65); }) == "");
    CHECK(rejection([&] {
              (void)carved({data, k65 - 1}, 65);
          }) == "mean: a workspace of 17411 bytes was given, but 17412 are needed");
    CHECK(rejection([&] { (void)carved({}, 65); }) ==
          "mean: a workspace of 0 bytes at a null pointer was given, but 17412 are needed");
    CHECK(rejection([&] {
              (void)carved({nullptr, 20000}, 65);
          }) ==
          "mean: a workspace of 20000 bytes at a null pointer was given, but 17412 are needed");
    CHECK(rejection([&] {
              (void)carved({data + 16, k65}, 65);
          }) == "mean: the workspace begins 16 bytes past a multiple of 256");
    CHECK(rejection([&] { (void)carved({data + 256, k65}, 65); }) == "");
}

TEST_CASE("an operation that takes nothing needs no workspace", "[gpu][small]") {
    CHECK_FALSE(Workspace());
    CHECK_FALSE(Workspace(nullptr, 0));
    const auto nothing = [](Carver& c) { return c.take<float>({0, 3}); };
    CHECK(gpu::bytes_to_carve(nothing) == 0);
    CHECK(gpu::carve("none", {}, nothing).size() == 0);
}

TEST_CASE("arrays beyond 64 bits are rejected before anything is taken", "[gpu][small]") {
    const std::int64_t huge = std::int64_t{1} << 62;
    const auto bytes_of = [](Carver& c, const Shape& shape) { (void)c.take<float>(shape); };
    Carver carver;
    CHECK(contains(rejection([&] { bytes_of(carver, {huge}); }),
                   "an array of shape (4611686018427387904) after 16384 bytes of a workspace"));
    bytes_of(carver, {huge / 4 + huge / 8});
    CHECK(carver.bytes() == kFront + huge + huge / 2);
    CHECK(rejection([&] { bytes_of(carver, {huge / 4}); }) != "");  // 2^62 more are too many
    CHECK(carver.bytes() == kFront + huge + huge / 2);
    Carver full;
    (void)full.take<unsigned char>({INT64_MAX - kFront});
    CHECK(rejection([&] { bytes_of(full, {1}); }) != "");  // no multiple of 256 left
}
