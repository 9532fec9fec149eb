// The tests derived from an operation's description report every planted bug, and nothing for the
// correct operation.
#include "common/testing/operation/operation.hpp"

#include "common/gpu/device.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/names.hpp"
#include "common/testing/operation/cases.hpp"
#include "common/testing/operation/visit.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

enum class TwicePath { simple, dense };
const char* name(TwicePath path) {
    static constexpr Named<TwicePath> kNames[] = {{TwicePath::simple, "simple"},
                                                  {TwicePath::dense, "dense"}};
    return name_in(kNames, path);
}

// One bug at a time, by its name.
std::string bug;
int calls = 0;
bool has(const char* one) {
    return bug == one;
}

// One element, in host or device memory.
float load(const float* at, bool device) {
    if (!device) return *at;
    float x = 0;
    gpu::detail::copy_to_host(&x, at, sizeof x);
    return x;
}
void store(float* at, float x, bool device) {
    if (device) return gpu::detail::copy_to_device(at, &x, sizeof x);
    *at = x;
}

void check(const View<const float>& in, const View<const float>& bias, const View<float>& out,
           std::optional<TwicePath> path) {
    const std::string op = has("another name") ? "double" : "twice";
    const bool begins_alike = in.rank() > 1 && out.rank() == 2 && in.extent(0) == out.extent(0) &&
                              in.extent(1) == out.extent(1);
    const bool unchecked = has("shapes unchecked") || (has("rank unchecked") && begins_alike);
    if (!unchecked) require_same_shape(op.c_str(), "in", in, "out", out);
    require_memory(op.c_str(), "in", in);
    require_output(op.c_str(), out);
    if (!has("overlap unchecked")) require_same_or_apart(op.c_str(), "in", in, "out", out);
    if (bias.data != nullptr) {
        if (bias.shape() != out.shape()) reject(op + ": bias does not fit out");
        require_memory(op.c_str(), "bias", bias);
        require_apart(op.c_str(), "bias", bias, "out", out);
    }
    if (!has("any path")) require_known_path(op, path);
    const bool dense = is_contiguous(in.layout) && is_contiguous(out.layout);
    if (path == TwicePath::dense && !dense && !has("rejects nothing")) {
        reject(op + ": the path 'dense' needs contiguous in and out");
    }
    if (path == TwicePath::dense && has("rejects everything")) reject(op + ": no path 'dense'");
}

// out = 2 in + bias, in row-major order of the elements.
void twice(View<const float> in, View<const float> bias, View<float> out, bool device,
           const gpu::Launch<TwicePath>& how) {
    if (has("written before it is rejected") && out.data != nullptr) store(out.data, 1, device);
    if (device && has("other words") && in.shape() != out.shape()) reject("twice: in is wrong");
    if (has("null unchecked") && in.data == nullptr) return;
    check(in, bias, out, how.path);
    if (has("null needs elements") && !device && out.data == nullptr) reject("twice: out is null");
    if (out.size() == 0 || in.rank() != out.rank()) return;
    const bool dense = how.path == TwicePath::dense;
    if (has("reads a stride of 1") && in.extent(0) == 1 && in.stride(0) != in.extent(1)) in.data++;
    if (device && !how.workspace.data && dense) {
        reject("twice: a workspace of 0 bytes was given");
    }
    if (device && dense && how.workspace.bytes < gpu::Carver::kCounterBytes + 8 &&
        !has("workspace unchecked")) {
        reject("twice: the workspace is too small");
    }
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        const bool ignores = !dense && has("ignores strides");
        const float* from = ignores ? in.data + k : &in(at);
        if (has("reads backwards") && in.data == out.data)
            from = &in(unravel(out.size() - 1 - k, out.shape()));
        float x = load(from, device);
        if (has("NaN as 0") && std::isnan(x)) x = 0;
        float y = 2 * x + (bias.data == nullptr || has("no bias") ? 0 : load(&bias(at), device));
        if (bias.data == nullptr && has("needs bias")) y += 1;
        if (dense && has("one element wrong") && k == 3) y += 0.01f;
        if (has("both strided") && !is_contiguous(in.layout) && !is_contiguous(out.layout)) y += 1;
        if (has("stride of 0") && in.extent(0) > 1 && in.stride(0) == 0) y += 1;
        if (has("another time") && dense && ++calls % 5 == 0) y += 1e-4f;
        if (has("the last element forgotten") && k == out.size() - 1) break;
        store(&out(at), y, device);
    }
    if (has("input changed") && in.data != out.data) store(const_cast<float*>(in.data), 99, device);
    if (has("written past the end") && !device) store(out.data + out.size(), 99, device);
    if (device && has("counter left") && dense)
        store(static_cast<float*>(how.workspace.data), 1, device);
    if (device && has("error")) throw std::runtime_error("launch failed");
}

Operation operation(const Shape& shape) {
    Operation op{"twice",
                 {reads<float>("in", shape), reads<float>("bias", shape).may_be_null(),
                  writes<float>("out", shape)}};
    op.cpu = [](const Call& c) {
        twice(c.in<float>(0), c.in<float>(1), c.out<float>(2), false, {});
    };
    op.cuda = [](const Call& c) {
        twice(c.in<float>(0), c.in<float>(1), c.out<float>(2), true, c.how<TwicePath>());
    };
    op.exact = [shape](const Inputs& inputs, int) {
        Expected want(shape);
        for (std::int64_t k = 0; k < size(shape); ++k) {
            want.value.data()[k] =
                2 * inputs[0]->data()[k] + (inputs[1] ? inputs[1]->data()[k] : 0);
            want.error.data()[k] = 1e-3;
        }
        return std::vector{want};
    };
    op.paths = paths_of<TwicePath>();
    op.path(TwicePath::simple).accepts = [](const Call&) { return true; };
    op.path(TwicePath::dense).accepts = [](const Call& c) {
        return is_contiguous(c.arguments[0].layout) && is_contiguous(c.arguments[2].layout);
    };
    op.needed_bytes = [](const Call& c) {
        return c.path == 1 && c.arguments[2].layout.size() > 0 ? gpu::Carver::kCounterBytes + 8 : 0;
    };
    op.in_place = {{"in", "out"}};
    op.repeated = {"dense"};
    return op;
}

using Test = Comparison (*)(const Operation&);
constexpr Test kAll[] = {
    rejects_invalid_operands,    rejects_overlaps,   rejects_unknown_paths,  computes_its_result,
    takes_or_rejects_placements, takes_every_order,  ignores_unused_strides, spreads_nans_alike,
    takes_less_memory,           takes_empty_outputs};

}  // namespace

TEST_CASE("the standard tests pass for a correct operation", "[testing][device][small]") {
    bug = "";
    for (const Shape& shape : {Shape{2, 3}, {1, 4}, {0, 4}, {2, 1, 3}}) {
        for (const Test test : kAll) CHECK(test(operation(shape)));
    }
    CHECK(covers_every_path({operation({2, 3})}));
}

TEST_CASE("each planted bug of an operation is reported", "[testing][device][small]") {
    struct Planted {
        const char* bug;
        Test test;
        const char* told;
    };
    const Planted all[] = {
        {"one element wrong", computes_its_result,
         "as it is (CUDA, path 'dense'): out: 1 of 6 elements differs. The first is (1, 0)"},
        {"the last element forgotten", computes_its_result, "1 of 6 elements differ"},
        {"input changed", computes_its_result, "in was changed"},
        {"counter left", computes_its_result, "counter 0 of the workspace was not left at 0"},
        {"workspace unchecked", computes_its_result, "workspace one byte too small"},
        {"rejects everything", computes_its_result, "twice: no path 'dense'"},
        {"error", computes_its_result, "(CUDA, path 'simple'): launch failed"},
        {"written past the end", computes_its_result, "(CPU): out: Written outside"},
        {"no bias", computes_its_result, "All 6 elements differ"},
        {"rejects nothing", takes_or_rejects_placements, "accepted, but must be rejected"},
        {"ignores strides", takes_or_rejects_placements, ""},
        {"both strided", takes_operands_placed_alike, "all with shape (2, 3), strides"},
        {"stride of 0", takes_operands_placed_alike, "in with a stride of 0"},
        {"another time", computes_its_result, "a second time (CUDA, path 'dense'): out: "},
        {"NaN as 0", spreads_nans_alike, "a NaN in element 0 of in"},
        {"needs bias", takes_less_memory, "bias left out"},
        {"reads backwards", takes_less_memory, "out is in"},
        {"null needs elements", takes_empty_outputs, "empty, out null (CPU): twice: out is null"},
        {"reads a stride of 1", ignores_unused_strides, "in with shape (1, 4), strides (7, 1)"},
        {"shapes unchecked", rejects_invalid_operands, "not rejected"},
        {"rank unchecked", rejects_invalid_operands, "in with an extra dimension: shape (2, 3, 2)"},
        {"null unchecked", rejects_invalid_operands, "in null (CPU): not rejected"},
        {"another name", rejects_invalid_operands, "rejected under another name: double: "},
        {"other words", rejects_invalid_operands, "by the CPU reference: "},
        {"written before it is rejected", rejects_invalid_operands, "after out was written"},
        {"overlap unchecked", rejects_overlaps, "in 20 bytes into out (CPU): not rejected"},
        {"any path", rejects_unknown_paths, "path 2 (CUDA): "},
    };
    for (const Planted& one : all) {
        bug = one.bug;
        CAPTURE(bug);
        const Shape shape = one.test == ignores_unused_strides ? Shape{1, 4}
                            : one.test == takes_empty_outputs  ? Shape{0, 4}
                                                               : Shape{2, 3};
        Comparison found;
        try {
            found = one.test(operation(shape));
        } catch (const std::exception& error) {
            found = {false, error.what()};
        }
        CHECK(!found.ok);
        if (*one.told != '\0') CHECK(contains(found.text, one.told));
    }
    bug = "";
}

TEST_CASE("a path that accepts no call is reported, and one that launches another kernel",
          "[testing][device][small]") {
    bug = "rejects everything";
    CHECK(contains(covers_every_path({operation({2, 3})}).text, "twice: 'dense' accepted no call"));
    Operation op = operation({2, 3});
    op.not_taken = {"dense"};
    CHECK(covers_every_path({op}));
    bug = "";
    CHECK(contains(covers_every_path({op}).text, "'dense' accepted this call"));
    op.path(TwicePath::simple).kernel = "simple_kernel";
    CHECK(contains(computes_its_result(op).text, "instead of simple_kernel"));
    CHECK(contains(takes_less_memory(op).text, "instead of simple_kernel"));
    op.path(TwicePath::simple).kernel_of = [](const Call& c) {
        return "kernel_of_rank_" + std::to_string(c.arguments[0].layout.rank());
    };
    CHECK(contains(computes_its_result(op).text, "instead of kernel_of_rank_2"));
}

TEST_CASE("a call without a path is compared with the results of the path that it must take",
          "[testing][device][small]") {
    bug = "one element wrong";
    Operation op = operation({2, 3});
    op.exact = [exact = op.exact](const Inputs& inputs, int path) {
        std::vector<Expected> all = exact(inputs, path);
        if (path == 1) all[0].value(1, 0) += 0.01;
        return all;
    };
    op.cuda = [cuda = op.cuda](Call c) {
        if (!c.path) c.path = 1;
        cuda(c);
    };
    op.needed_bytes = {}, op.workspace_bytes = gpu::Carver::kCounterBytes + 8;
    op.best = [](const Call&) { return 1; };
    CHECK(computes_its_result(op));
    op.best = {};  // then those of path 0
    CHECK(contains(computes_its_result(op).text, "as it is (CUDA, the best path): out: 1 of 6"));
}

TEST_CASE("an operation without paths that ignores its workspace is reported",
          "[testing][device][small]") {
    Operation op = operation({2, 3});
    op.paths.clear();
    CHECK(computes_its_result(op));
    op.needed_bytes = [](const Call&) { return 64; };
    CHECK(contains(computes_its_result(op).text, "workspace one byte too small"));
}

TEST_CASE("tensors are visited with the fewest loops, in the output's memory order",
          "[testing][small]") {
    alignas(16) std::byte memory[2][256] = {};
    const Shape shape{2, 1, 3, 4};  // every second block of (4, 3, 4), to a reversed tensor
    const std::vector<Call::Argument> tensors = {
        {memory[0] + 4 * 12, Layout(shape, {-12, 99, 4, 1})},
        {memory[1], Layout(shape, {24, -7, 4, 1})}};
    const Visit there = visit(tensors, 4, true), back = visit(tensors, 4, false);
    CHECK(there.loops.size() == 2);
    CHECK((there.loops[0].extent == 12 && there.loops[0].steps[1] == 1));
    CHECK((there.loops[1].extent == 2 && there.loops[1].steps[1] == -24));
    CHECK(there.address[1] == reinterpret_cast<std::uintptr_t>(memory[1] + 4 * 24));
    CHECK((back.loops[1].steps[0] == -12 && back.loops[1].steps[1] == 24));
    CHECK((there.has_groups(0, 16) && there.has_groups(1, 16) && !there.has_groups(1, 32)));
    CHECK((!there.takes_tiles() && !back.takes_tiles()));
}

TEST_CASE("copying half of a 16-byte element is reported", "[testing][device][small]") {
    struct Two {
        std::int64_t low, high;
    };
    Operation op{"move", {reads<Two>("in", {3}), writes<Two>("out", {3})}};
    bool both = true;
    op.cpu = [&](const Call& c) {
        for (std::int64_t k = 0; k < 3; ++k) {
            c.out<Two>(1)(k).high = c.in<Two>(0)(k).high;
            if (both) c.out<Two>(1)(k).low = c.in<Two>(0)(k).low;
        }
    };
    op.exact = [](const Inputs& inputs, int) {
        Expected want({3});
        want.value = *inputs[0];
        return std::vector{want};
    };
    CHECK(computes_its_result(op));
    both = false;
    CHECK(contains(computes_its_result(op).text, "All 3 elements differ"));
}

TEST_CASE("leaving out an optional output must not change the others", "[testing][device][small]") {
    bug = "";
    Operation op = operation({2, 3});
    op.operands.push_back(writes<float>("copy", {2, 3}).may_be_null());
    op.exact = [exact = op.exact](const Inputs& inputs, int path) {
        std::vector<Expected> all = exact(inputs, path);
        return all.push_back(all[0]), all;
    };
    op.cuda = {};
    const auto calls = [](bool needs_copy) {
        return [needs_copy](const Call& c) {
            const View<const float> in = c.in<float>(0), bias = c.in<float>(1);
            const bool copies = c.arguments[3].data != nullptr;
            if (copies) twice(in, bias, c.out<float>(3), false, {});
            if (copies || !needs_copy) twice(in, bias, c.out<float>(2), false, {});
        };
    };
    op.cpu = calls(false);
    CHECK(computes_its_result(op));
    CHECK(takes_less_memory(op));
    op.cpu = calls(true);
    CHECK(contains(takes_less_memory(op).text, "copy left out (CPU): out: All 6 elements differ"));
}

TEST_CASE("rejects_as_it_is requires the exact message", "[testing][device][small]") {
    bug = "another name";
    CHECK_FALSE(rejects_as_it_is(operation({2, 3}), "in is a null pointer").ok);
    bug = "";
    Operation op = operation({2, 3});
    op.operands[0].shape = {3, 2};
    CHECK(
        rejects_as_it_is(op, "in has shape (3, 2), but out has shape (2, 3); they must be equal"));
    CHECK_FALSE(rejects_as_it_is(op, "in has shape (3, 2)").ok);
    CHECK_FALSE(rejects_as_it_is(operation({2, 3}), "in has shape (3, 2)").ok);
}

TEST_CASE("vectors and tiles are excluded by each violated condition alone", "[testing][small]") {
    alignas(16) static float memory[64];
    const auto at = [&](const Layout& layout, int lead = 0) {
        return Call::Argument{reinterpret_cast<std::byte*>(memory + lead), layout};
    };
    const Layout rows = row_major({4, 8}), columns = column_major({4, 8});
    const auto are_vectors = [](const std::vector<Call::Argument>& all, int bytes) {
        return visit(all, bytes, false).all_have_groups(16);
    };
    const auto are_tiles = [](const std::vector<Call::Argument>& all) {
        return visit(all, 4, false).takes_tiles();
    };
    const auto vectors = [&](const Call::Argument& x) { return are_vectors({at(rows), x}, 4); };
    CHECK(vectors(at(rows)));
    CHECK(vectors(at(Layout({4, 8}, {12, 1}))));
    CHECK(vectors(at(Layout({4, 8}, {0, 1}))));
    CHECK(vectors(at(Layout({4, 8}, {-8, 1}), 24)));
    for (const int off : {1, 2}) {
        CHECK_FALSE(vectors(at(rows, off)));
        CHECK_FALSE(vectors(at(Layout({4, 8}, {8 + off, 1}))));
    }
    CHECK_FALSE(vectors(at(columns)));
    CHECK_FALSE(vectors(at(Layout({4, 8}, {8, -1}), 8)));
    CHECK_FALSE(vectors(at(Layout({4, 8}, {1, 0}))));
    CHECK(are_vectors({at(columns), at(columns)}, 4));
    const Layout odd = row_major({4, 7}), odd_pitch({4, 7}, {8, 1});
    CHECK(are_vectors({at(odd), at(odd)}, 4));  // one run of 28
    CHECK_FALSE(are_vectors({at(odd), at(odd_pitch)}, 4));
    CHECK_FALSE(are_vectors({at(row_major({3, 3})), at(row_major({3, 3}))}, 4));
    CHECK_FALSE(are_vectors({at(Layout()), at(Layout())}, 4));

    const Shape five = {2, 2, 1, 2, 2, 2};
    const Layout apart(five, {101, 50, -7, 21, 9, 2}), merging(five, {101, 50, -7, 21, 4, 2});
    CHECK_FALSE(are_tiles({at(row_major(five)), at(apart)}));
    CHECK(are_tiles({at(row_major(five)), at(merging)}));
    CHECK_FALSE(are_tiles({at(apart), at(merging)}));
    CHECK(are_tiles({at(rows), at(columns)}));
    CHECK_FALSE(are_tiles({at(rows), at(Layout({4, 8}, {-8, 1}), 24)}));
}
