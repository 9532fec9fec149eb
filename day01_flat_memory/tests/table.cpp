// What must hold for every operation of Day 01, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/indices.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

using Path = ElementwisePath;

// One input or two, and how it is called.
template <class T, class Cpu, class Cuda>
Operation elementwise(const char* name, const std::vector<std::string>& inputs, const Shape& shape,
                      const Cpu& cpu, const Cuda& cuda) {
    Operation op{name, {writes<T>("out", shape)}};
    for (const std::string& input : inputs) {
        op.operands.push_back(reads<T>(input, shape).with([](std::int64_t k) {
            return std::is_same_v<T, float> ? eighths(k) : static_cast<double>(k % 251);
        }));
        op.in_place.emplace_back(input, "out");
    }
    op.cpu = cpu;
    op.cuda = cuda;
    op.paths = paths_of<Path>();
    return op;
}

Operation indices_of(const Shape& shape) {
    Operation op{"indices", {writes<float>("out", shape)}};
    op.operands[0].broadcasts().free_dims({0, 1, 2, 3});  // of any shape of rank 2 to 4
    op.cpu = [](const Call& c) { indices_cpu(10, c.out<float>(0)); };
    op.cuda = [](const Call& c) { indices_cuda(10, c.out<float>(0), c.how<IndicesPath>()); };
    op.paths = paths_of<IndicesPath>();
    return op;
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    for (const Shape& shape : {Shape{3, 5}, {64}, {1, 1}, {2, 1, 8}, {0, 4}}) {
        all.push_back(elementwise<float>(
            "square", {"in"}, shape,
            [](const Call& c) { square_cpu(c.in<float>(1), c.out<float>(0)); },
            [](const Call& c) { square_cuda(c.in<float>(1), c.out<float>(0), c.how<Path>()); }));
        all.push_back(elementwise<float>(
            "scale", {"in"}, shape,
            [](const Call& c) { scale_cpu(3, c.in<float>(1), c.out<float>(0)); },
            [](const Call& c) { scale_cuda(3, c.in<float>(1), c.out<float>(0), c.how<Path>()); }));
        all.push_back(elementwise<float>(
            "saxpy", {"x", "y"}, shape,
            [](const Call& c) { saxpy_cpu(3, c.in<float>(1), c.in<float>(2), c.out<float>(0)); },
            [](const Call& c) {
                saxpy_cuda(3, c.in<float>(1), c.in<float>(2), c.out<float>(0), c.how<Path>());
            }));
        all.push_back(elementwise<float>(
            "add", {"a", "b"}, shape,
            [](const Call& c) { add_cpu(c.in<float>(1), c.in<float>(2), c.out<float>(0)); },
            [](const Call& c) {
                add_cuda(c.in<float>(1), c.in<float>(2), c.out<float>(0), c.how<Path>());
            }));
        using Byte = std::uint8_t;
        all.push_back(elementwise<Byte>(
            "invert", {"in"}, shape,
            [](const Call& c) { invert_cpu(c.in<Byte>(1), c.out<Byte>(0)); },
            [](const Call& c) { invert_cuda(c.in<Byte>(1), c.out<Byte>(0), c.how<Path>()); }));
    }
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 1, 4}, {2, 3, 5}, {1, 2, 1, 8}, {0, 4}}) {
        all.push_back(indices_of(shape));
    }
    return all;
}

}  // namespace

TEST_CASE("Day 01: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day01][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 01: layouts, unused strides and NaNs make no path differ",
          "[day01][small][kernels]") {
    check_results(operations());
}
