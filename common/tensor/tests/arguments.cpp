// The building blocks of every check_<op>: the arguments that they reject and accept.
#include <cstring>
#include <string_view>

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using sixdays::testing::contains, sixdays::testing::rejection;

TEST_CASE("a sentence is its parts: text, characters, numbers and shapes", "[tensor][small]") {
    const std::string text = "op";
    const std::string_view view = "in ";
    CHECK(sentence(text, ": ", view, 'x', ' ', -7, " and ", std::int64_t{1} << 40, " of ",
                   Shape{2, 3}) == "op: in x -7 and 1099511627776 of (2, 3)");
    CHECK(sentence() == "");
    CHECK(rejection([] { reject("rank ", 9u, '.'); }) == "rank 9.");
}

TEST_CASE("a null pointer is rejected unless the tensor is empty", "[tensor][small]") {
    const auto memory = [](const View<float>& v) { require_memory("op", "in", v); };
    CHECK(rejection([&] {
              memory({nullptr, Shape{2, 3}});
          }) == "op: in is a null pointer, but its shape (2, 3) has 6 elements");
    CHECK(rejection([&] { memory({nullptr, Shape{2, 0}}); }) == "");
    float x[6] = {};
    CHECK(rejection([&] { memory({x, Shape{2, 3}}); }) == "");
}

TEST_CASE("a rank lower or higher than needed is rejected", "[tensor][small]") {
    float x[8] = {};
    const auto rank = [&](const Shape& shape) {
        return rejection([&] { require_rank("op", "in", View<float>(x, shape), 2); });
    };
    CHECK(rank({4}) == "op: in has shape (4) of rank 1, but rank 2 is needed");
    CHECK(rank({2, 2, 2}) == "op: in has shape (2, 2, 2) of rank 3, but rank 2 is needed");
    CHECK(rank({2, 4}) == "");
}

TEST_CASE("an input must be the output itself or not overlap it", "[tensor][small]") {
    alignas(8) std::byte bytes[64] = {};
    float* x = reinterpret_cast<float*>(bytes);
    const View<float> out(x, Shape{2, 3});
    const auto rejected = [&](const auto& in) {
        const std::string words =
            rejection([&] { require_same_or_apart("op", "in", in, "out", out); });
        if (words == "") return false;
        CHECK(contains(words,
                       "op: in and out overlap without being the same tensor; some elements would "
                       "be read after they were overwritten; in spans bytes ["));
        return true;
    };
    CHECK_FALSE(rejected(out));
    CHECK_FALSE(rejected(View<const float>(out)));
    CHECK_FALSE(rejected(View<float>(x + 6, Shape{2, 3})));
    CHECK(rejected(View<float>(x + 5, Shape{2, 3})));
    CHECK(rejected(View<float>(x, column_major({2, 3}))));  // the same memory, another layout
    CHECK(rejected(View<std::int16_t>(reinterpret_cast<std::int16_t*>(bytes), Shape{2, 3})));
    CHECK_FALSE(rejected(View<float>(nullptr, Shape{0, 3})));
}

TEST_CASE("an overlap is reported with the byte ranges of both tensors", "[tensor][small]") {
    float x[16] = {};
    const View<float> out(x + 4, Shape{2, 3});
    const auto words = [&](const auto& in) {
        return rejection([&] { require_apart("op", "in", in, "out", out); });
    };
    CHECK(words(View<float>(x + 2, Shape{3})) ==
          "op: in overlaps out, which is written; in spans bytes [0, 12), out bytes [8, 32)");
    CHECK(words(View<float>(x + 9, Layout({2}, {-2}))) ==
          "op: in overlaps out, which is written; in spans bytes [12, 24), out bytes [0, 24)");
    CHECK(words(out) ==
          "op: in overlaps out, which is written; in spans bytes [0, 24), out bytes [0, 24)");
    CHECK(words(View<float>(x + 1, Shape{3})) == "");
    CHECK(words(View<float>(x + 10, Shape{6})) == "");
    CHECK(rejection([&] {
              require_same_or_apart("op", "in", View<float>(x + 5, Shape{2}), "out", out);
          }) ==
          "op: in and out overlap without being the same tensor; some elements would be read after "
          "they were overwritten; in spans bytes [4, 12), out bytes [0, 24)");
}

TEST_CASE("a helper's rejection starts with the operation's name", "[tensor][small]") {
    CHECK(with_prefix("op: in", [] { return 3; }) == 3);
    CHECK(rejection([] { with_prefix("op: in", [] { reject("helper: no"); }); }) ==
          "op: in: helper: no");
}

TEST_CASE("without, only and outer keep each dimension's extent and stride", "[tensor][small]") {
    const Layout x({2, 3, 4, 5}, {-7, 0, 100, 1});
    const auto is = [](const Layout& layout, const Shape& shape, const Strides& strides) {
        CAPTURE(to_string(layout));
        return layout.shape == shape && layout.strides == strides;
    };
    CHECK(is(without(x, {1}), {2, 4, 5}, {-7, 100, 1}));
    CHECK(is(without(x, {-1, 0}), {3, 4}, {0, 100}));  // in any order, also negative
    CHECK(is(without(x, {}), x.shape, x.strides));
    CHECK(is(without(x, {3, 2, 1, 0}), {}, {}));
    CHECK(is(only(x, {1}), {3}, {0}));
    CHECK(is(only(x, {-1, 0}), {2, 5}, {-7, 1}));  // in the layout's order
    CHECK(is(only(x, {}), {}, {}));
    CHECK(is(outer(x, 0), {}, {}));
    CHECK(is(outer(x, 2), {2, 3}, {-7, 0}));
    CHECK(is(outer(x, 4), x.shape, x.strides));
    CHECK(checked_dims("op", {-1, 1, 0}, 4) == Dims{0, 1, 3});
    CHECK(rejection([&] {
              (void)without(x, {1, -3});
          }) == "without: dim 1 is named twice in (1, -3)");
    CHECK(
        rejection([&] { (void)only(x, {4}); }) ==
        "only: dim 4 asked for, but a tensor of rank 4 has dims 0 to 3, or -4 to -1 from the back");
    CHECK(contains(rejection([&] { (void)without(x, {std::int64_t{1} << 32}); }),
                   "without: dim 4294967296 asked for"));
    CHECK(rejection([&] { (void)outer(x, 5); }) ==
          "outer: the first 5 dims asked for, but shape (2, 3, 4, 5) has 4");
    CHECK(rejection([&] { (void)outer(x, -1); }) != "");
}

TEST_CASE("name_in finds a value's name, whatever the table's order", "[tensor][small]") {
    enum class Colour { red, green, blue };
    static constexpr Named<Colour> names[] = {{Colour::blue, "blue"}, {Colour::red, "red"}};
    CHECK(std::string(name_in(names, Colour::red)) == "red");
    CHECK(std::string(name_in(names, Colour::blue)) == "blue");
    CHECK(std::string(name_in(names, Colour::green)) == "");
}

namespace {

enum class Gear { first, second };
const char* name(Gear gear) {
    static constexpr Named<Gear> kNames[] = {{Gear::first, "first"}, {Gear::second, "second"}};
    return name_in(kNames, gear);
}

}  // namespace

TEST_CASE("an unknown enum value is rejected with a list of the valid ones", "[tensor][small]") {
    const auto words = [](std::optional<Gear> gear) {
        return rejection([&] { require_known_path("op", gear); });
    };
    CHECK(words({}) == "");
    CHECK(words(Gear::first) == "");
    CHECK(words(Gear::second) == "");
    CHECK(words(Gear{2}) == "op: path 2 does not exist; it must be one of: first, second");
    CHECK(words(Gear{-1}) == "op: path -1 does not exist; it must be one of: first, second");
    CHECK(rejection([] { require_known("op", "gear", Gear{7}); }) ==
          "op: gear 7 does not exist; it must be one of: first, second");
}
