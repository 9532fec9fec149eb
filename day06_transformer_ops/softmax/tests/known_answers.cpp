// softmax(1, 2, 3, 4), an answer that every text on softmax prints.
#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/softmax/tests/bound.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("softmax(1, 2, 3, 4) is 0.0320586 0.0871443 0.236883 0.643914",
          "[day06][softmax][small]") {
    // NumPy, in float64: e = numpy.exp(x - 4); e / e.sum()
    const Tensor<double> want(
        {4}, {0.03205860328008499, 0.08714431874203257, 0.23688281808991013, 0.6439142598879724});
    const Tensor<float> x({4}, {1, 2, 3, 4});
    // x - 4 is exact. exp is off by 2 units in the last place, 4 of 2^-24; so is a sum of exps, by 3
    // additions more; a division: 1. And once more where a sum was corrected (chain()).
    const auto bound = [&](SoftmaxPath path) {
        return [&want, units = 12 + chain(path, 4)](const Index& i) {
            return units * kU * want.view()(i);
        };
    };
    HostOut<float> reference({4});
    softmax_cpu<float>(x.view(), 0, reference.view());
    CHECK(reference.close_to(want, bound(SoftmaxPath::thread_a_row)));
    const DeviceIn<float> in(x);
    for (const SoftmaxPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got({4});
        if (!takes<float>(path, in.view(), 0, got.view())) continue;
        SharedWorkspace memory(softmax_workspace_bytes<float>(in.view(), 0, path));
        softmax_cuda<float>(
            in.view(), 0, got.view(),
            {.path = path,
             .workspace = memory.next(softmax_workspace_bytes<float>(in.view(), 0, path))});
        CHECK(got.close_to(want, bound(path)));
    }
}

}  // namespace
