// Tests of inputs and outputs: a stray write, an untouched element and a changed input are
// rejected, in host and in device memory, and a right result is not.
#include "common/testing/testing.hpp"

#include "common/gpu/device.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

// Writes one element at `offset` from index (0, 0, ...), as a mistaken loop or kernel would.
template <class T>
void poke(const View<T>& view, std::int64_t offset, std::remove_const_t<T> value, HostMemory*) {
    std::memcpy(const_cast<std::remove_const_t<T>*>(view.data) + offset, &value, sizeof value);
}
template <class T>
void poke(const View<T>& view, std::int64_t offset, std::remove_const_t<T> value, DeviceMemory*) {
    gpu::detail::copy_to_device(const_cast<std::remove_const_t<T>*>(view.data) + offset, &value,
                                sizeof value);
}

// Writes all elements, by index.
template <class T, class Memory>
void write(Out<T, Memory>& out, const Tensor<T>& values) {
    Index index = Dims::filled(values.shape().rank, 0);
    for (std::int64_t k = 0; k < values.size(); ++k, advance(index, values.shape())) {
        poke(out.view(), offset(out.view().layout, index), values.data()[k],
             static_cast<Memory*>(nullptr));
    }
}

// Device memory on the emulator has no bands to write to.
template <class Memory>
bool has_bands() {
    return Memory::band() > 0;
}

}  // namespace

TEMPLATE_TEST_CASE("a right output is accepted, in any layout", "[testing][small][device]",
                   HostMemory, DeviceMemory) {
    const Tensor<float> want = distinct<float>({3, 4});
    for (const Layout& layout : {row_major({3, 4}), column_major({3, 4}), Layout({3, 4}, {9, 2}),
                                 Layout({3, 4}, {-4, -1}), Layout({3, 4}, {-1, 5})}) {
        for (const std::int64_t lead : {0, 1, 3}) {
            Out<float, TestType> got(layout, Lead{lead});
            write(got, want);
            CHECK(got.matches(want));
            CHECK(got.close_to(want, 0.0));
            CHECK(got.intact());
            CHECK(equal(got.values(), want));
        }
    }
}

TEMPLATE_TEST_CASE("an untouched output is rejected, and so is one untouched element",
                   "[testing][small][device]", HostMemory, DeviceMemory) {
    const Tensor<float> want = distinct<float>({3, 4});
    Out<float, TestType> got({3, 4});
    CHECK_FALSE(got.matches(want));
    CHECK_FALSE(got.close_to(want, 1e9));
    CHECK(contains(got.matches(want).text, "Never written: 12 elements still hold the poison"));
    CHECK(contains(got.matches(want).text, "Or they were only added to"));
    CHECK(got.untouched());

    write(got, want);
    CHECK_FALSE(got.untouched());
    CHECK(contains(got.untouched().text, "The output was written. All 12 elements differ"));
    Out<float, TestType> hole({3, 4});
    for (std::int64_t k = 0; k < 12; ++k) {
        if (k != 7) poke(hole.view(), k, want.data()[k], static_cast<TestType*>(nullptr));
    }
    CHECK_FALSE(hole.matches(want));
    CHECK(contains(hole.matches(want).text,
                   "The first is (1, 3), at offset 7: expected 8, got nan (0xffffffff).\n"
                   "Never written: 1 element still holds"));
    CHECK_FALSE(contains(hole.matches(want).text, "only added to"));
    Out<int, TestType> whole({3, 4});
    CHECK_FALSE(contains(whole.matches(distinct<int>({3, 4})).text, "only added to"));
}

TEMPLATE_TEST_CASE("if only a corner was written, the report asks if x and y are swapped",
                   "[testing][small][device]", HostMemory, DeviceMemory) {
    const Tensor<float> want = distinct<float>({3, 4});
    Out<float, TestType> got({3, 4});
    const auto put = [&](std::int64_t k) {
        poke(got.view(), k, want.data()[k], static_cast<TestType*>(nullptr));
    };
    for (const std::int64_t k : {0, 1, 2, 4, 5, 6, 8, 9}) put(k);
    CHECK_FALSE(contains(got.matches(want).text, " is written:"));  // no rectangle yet
    put(10);
    CHECK(
        contains(got.matches(want).text,
                 "Never written: 3 elements still hold the poison value that the output was "
                 "filled with. Only [0, 3) x [0, 3) is written: are the thread's x and y swapped "
                 "(x belongs to the last dimension), is blockIdx.y multiplied by blockDim.x, does "
                 "the grid have too few blocks along one of them, or should each block compute "
                 "more?"));

    Out<float, TestType> row({12});
    for (std::int64_t k = 0; k < 8; ++k) {
        poke(row.view(), k, want.data()[k], static_cast<TestType*>(nullptr));
    }
    CHECK(contains(row.matches(distinct<float>({12})).text,
                   "was filled with. Only the first 8 are written: are there too few blocks, or "
                   "does a guard or a loop leave out the last, partial one?"));
}

TEMPLATE_TEST_CASE("an expected value equal to the poison is rejected", "[testing][small][device]",
                   HostMemory, DeviceMemory) {
    const Tensor<std::int32_t> want({2}, {-1, 5});
    Out<std::int32_t, TestType> got({2});
    write(got, want);
    CHECK_FALSE(got.matches(want));
    CHECK(contains(got.matches(want).text, "choose another Poison"));

    Out<std::int32_t, TestType> other({2}, Lead{}, Poison{0x7E});
    write(other, want);
    CHECK(other.matches(want));
}

TEMPLATE_TEST_CASE("close_to with NaNs expected still rejects an untouched element",
                   "[testing][small][device]", HostMemory, DeviceMemory) {
    const Tensor<float> want({2}, {1.0f, std::numeric_limits<float>::quiet_NaN()});
    Out<float, TestType> got({2});
    poke(got.view(), 0, 1.0f, static_cast<TestType*>(nullptr));
    CHECK_FALSE(got.close_to(want, 0.0, Nans::where_expected));
    write(got, want);
    CHECK(got.close_to(want, 0.0, Nans::where_expected));
}

TEMPLATE_TEST_CASE("a write past the end or before the start is rejected",
                   "[testing][small][device]", HostMemory, DeviceMemory) {
    TestType* memory = nullptr;
    if (!has_bands<TestType>()) {
        CHECK(gpu::is_emulated());  // which rejects such a write itself
        return;
    }
    const Tensor<float> want = distinct<float>({3, 4});
    Out<float, TestType> got({3, 4});
    write(got, want);
    CHECK(got.matches(want));

    SECTION("one past the end") {
        poke(got.view(), 12, 0.0f, memory);
        CHECK_FALSE(got.matches(want));
        CHECK_FALSE(got.close_to(want, 1.0));
        CHECK_FALSE(got.intact());
        CHECK(
            contains(got.matches(want).text,
                     "The output: Written outside the elements: 4 bytes, 1 element past the end."));
    }
    SECTION("a whole block past the end, and the values are wrong too") {
        for (std::int64_t k = 11; k < 20; ++k) poke(got.view(), k, 0.0f, memory);
        CHECK(contains(got.matches(want).text,
                       "32 bytes, 1 to 8 elements past the end.\n1 of 12 elements differs"));
    }
    SECTION("one before the start") {
        poke(got.view(), -1, 0.0f, memory);
        CHECK_FALSE(got.matches(want));
        CHECK(contains(got.matches(want).text, "4 bytes, 1 element before the start."));
    }
    SECTION("the last and the first element that the bands can hold") {
        const std::int64_t room = TestType::band() / 4;
        poke(got.view(), 12 + room - 1, 0.0f, memory);
        CHECK_FALSE(got.intact());
        Out<float, TestType> other({3, 4});
        poke(other.view(), -room, 0.0f, memory);
        CHECK_FALSE(other.untouched());
        CHECK(contains(other.untouched().text, "1024 elements before the start"));
    }
    SECTION("an output without elements is written") {
        Out<float, TestType> none({0, 4});
        CHECK(none.matches(Tensor<float>({0, 4})));
        poke(none.view(), 0, 0.0f, memory);
        CHECK_FALSE(none.matches(Tensor<float>({0, 4})));
        CHECK_FALSE(none.untouched());
    }
}

TEMPLATE_TEST_CASE("a write into a gap or into the lead is rejected", "[testing][small][device]",
                   HostMemory, DeviceMemory) {
    TestType* memory = nullptr;
    const Tensor<float> want = distinct<float>({3, 4});
    Out<float, TestType> pitched(Layout({3, 4}, {6, 1}));
    write(pitched, want);
    CHECK(pitched.matches(want));
    poke(pitched.view(), 4, 0.0f, memory);  // right after the first row
    CHECK_FALSE(pitched.matches(want));
    CHECK(contains(pitched.matches(want).text, "4 bytes, 4 elements from the start, in a gap."));

    Out<float, TestType> misaligned({3, 4}, Lead{1});
    write(misaligned, want);
    CHECK(misaligned.matches(want));
    CHECK(reinterpret_cast<std::uintptr_t>(misaligned.view().data) % 256 == 4);
    poke(misaligned.view(), -1, 0.0f, memory);
    CHECK_FALSE(misaligned.matches(want));
    CHECK(contains(misaligned.matches(want).text, "4 bytes, 1 element before the start."));
}

TEST_CASE("the guards of the expected output are checked with it", "[testing][small]") {
    const Tensor<float> values = distinct<float>({4});
    HostOut<float> want({4}), got({4});
    write(want, values);
    write(got, values);
    CHECK(got.matches(want));
    poke(want.view(), 4, 0.0f, static_cast<HostMemory*>(nullptr));
    CHECK_FALSE(got.matches(want));
    CHECK_FALSE(got.close_to(want, 1.0));
    CHECK(contains(got.matches(want).text, "The expected output: Written outside the elements"));
}

TEST_CASE("two unwritten outputs do not match", "[testing][small]") {
    HostOut<float> want({4}), got({4});
    CHECK_FALSE(got.matches(want));
    HostOut<std::int64_t> want64({4}), got64({4});
    CHECK_FALSE(got64.matches(want64));
}

TEMPLATE_TEST_CASE("an in-place output starts with given values", "[testing][small][device]",
                   HostMemory, DeviceMemory) {
    const Tensor<float> before = distinct<float>({4}), after = distinct<float>({4}, 3);
    auto got = Out<float, TestType>::holding(before);
    CHECK(got.matches(before));
    CHECK(got.untouched());
    CHECK_FALSE(got.matches(after));
    write(got, after);
    CHECK(got.matches(after));
}

TEMPLATE_TEST_CASE("a changed input is rejected", "[testing][small][device]", HostMemory,
                   DeviceMemory) {
    TestType* memory = nullptr;
    const Tensor<float> values = distinct<float>({3, 4});
    In<float, TestType> in(values);
    CHECK(in.unchanged());
    poke(in.view(), 5, 6.0f, memory);  // what it was
    CHECK(in.unchanged());
    poke(in.view(), 5, 7.0f, memory);
    CHECK_FALSE(in.unchanged());
    CHECK(contains(in.unchanged().text,
                   "The input was changed. 1 of 12 elements differs. The first is (1, 1), at "
                   "offset 5: expected 6, got 7."));

    In<float, TestType> pitched(values, Layout({3, 4}, {6, 1}), Lead{2});
    CHECK(pitched.unchanged());
    poke(pitched.view(), 5, 0.0f, memory);
    CHECK_FALSE(pitched.unchanged());
    CHECK(contains(pitched.unchanged().text, "The input: Written outside the elements"));
}

TEST_CASE("an input is stored in its layout", "[testing][small]") {
    const Tensor<float> values = distinct<float>({2, 3});
    HostIn<float> columns(values, column_major({2, 3}), Lead{3});
    CHECK(reinterpret_cast<std::uintptr_t>(columns.view().data) % 256 == 12);
    for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) CHECK(columns.view().data[i + 2 * j] == values(i, j));
    }
    HostIn<float> same(Tensor<float>({2, 3}, {1, 2, 3, 1, 2, 3}), Layout({2, 3}, {0, 1}));
    CHECK(same.view()(1, 2) == 3);
    CHECK(contains(rejection([&] {
                       HostIn<float>(values, Layout({2, 3}, {0, 1}));
                   }),
                   "shares its position"));
    CHECK(rejection([&] {
              HostIn<float>(values, row_major({3, 2}));
          }) == "values of shape (2, 3) for a layout of shape (3, 2)");
    CHECK(rejection([&] { HostIn<float>(values, Lead{-1}); }) == "a lead of -1 elements");
}
