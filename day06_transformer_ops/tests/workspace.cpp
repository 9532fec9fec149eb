// One workspace for all calls: softmax, attention, products and a block, of any shape and with any
// path, in any order, with garbage between them.
#include <functional>
#include <memory>

#include "common/testing/shared_workspace.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/block/block.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;
using day05_matmul::matmul_cpu, day05_matmul::matmul_cuda, day05_matmul::matmul_workspace_bytes;

namespace {

// Each operation's error has its own tests. These detect garbage: results are near 1, while
// the workspace contains NaN, or large numbers.
constexpr double kNear = 1e-4;

struct Call {
    std::string what;
    std::int64_t bytes;
    std::function<Comparison(const gpu::Workspace&)> run;
};

// Inputs on host and device, which outlive the calls.
struct Pair {
    Tensor<float> host;
    DeviceIn<float> device;
    explicit Pair(const Tensor<float>& x) : host(x), device(x) {}
};
std::shared_ptr<Pair> pair_of(const Shape& shape, std::uint64_t seed) {
    return std::make_shared<Pair>(seeded<float>(shape, seed, -1, 1));
}

Call softmax_call(std::int64_t rows, std::int64_t n, SoftmaxPath path) {
    const auto x = pair_of({rows, n}, static_cast<std::uint64_t>(n));
    Tensor<float> want({rows, n});
    softmax_cpu(x->host.view(), 1, want.view());
    return {"softmax of " + to_string(want.shape()) + " by " + name(path),
            softmax_workspace_bytes<float>(x->host.view(), 1, path),
            [=](const gpu::Workspace& memory) {
                DeviceOut<float> got({rows, n});
                softmax_cuda(x->device.view(), 1, got.view(), {.path = path, .workspace = memory});
                return got.close_to(want, kNear / static_cast<double>(n));
            }};
}

Call attention_call(std::int64_t heads, std::int64_t S, std::int64_t D, AttentionPath path) {
    const auto q = pair_of({heads, 1, D}, 1), k = pair_of({heads, S, D}, 2),
               v = pair_of({heads, S, D}, 3);
    Tensor<float> want({heads, 1, D});
    attention_cpu(q->host.view(), k->host.view(), v->host.view(), {}, want.view());
    const auto bytes =
        attention_workspace_bytes(q->host.view(), k->host.view(), v->host.view(), path);
    return {"attention against keys " + to_string(k->host.shape()) + " by " + name(path), bytes,
            [=](const gpu::Workspace& memory) {
                DeviceOut<float> got({heads, 1, D});
                attention_cuda(q->device.view(), k->device.view(), v->device.view(), {}, got.view(),
                               {}, {.path = path, .workspace = memory});
                return got.close_to(want, kNear);
            }};
}

Call matmul_call(std::int64_t M, std::int64_t K, std::int64_t N) {
    const auto a = pair_of({M, K}, 4), b = pair_of({K, N}, 5);
    Tensor<float> want({M, N});
    matmul_cpu(a->host.view(), b->host.view(), want.view());
    return {"product of " + to_string(a->host.shape()) + " and " + to_string(b->host.shape()),
            matmul_workspace_bytes(a->host.view(), b->host.view(), want.view()),
            [=](const gpu::Workspace& memory) {
                DeviceOut<float> got({M, N});
                matmul_cuda(a->device.view(), b->device.view(), got.view(), {.workspace = memory});
                return got.close_to(want, kNear);
            }};
}

Call block_call(std::int64_t T, std::int64_t C, std::int64_t F, std::int64_t heads) {
    const auto parameters = [=](auto view_of) {
        BlockParameters p;
        p.qkv = view_of(0), p.qkv_bias = view_of(1), p.attention_output = view_of(2),
        p.attention_output_bias = view_of(3);
        p.up = view_of(4), p.up_bias = view_of(5), p.down = view_of(6), p.down_bias = view_of(3);
        p.heads = heads;
        return p;
    };
    std::vector<std::shared_ptr<Pair>> all;
    for (const Shape& shape : {Shape{C, 3 * C}, Shape{3 * C}, Shape{C, C}, Shape{C}, Shape{C, F},
                               Shape{F}, Shape{F, C}}) {
        all.push_back(pair_of(shape, all.size() + 10));
    }
    const auto x = pair_of({1, T, C}, 9);
    Tensor<float> want = x->host;
    const auto host = parameters([&](std::size_t k) { return all[k]->host.view(); });
    block_cpu(host, want.view());
    Tensor<float> stream = x->host;
    return {"block of " + to_string(want.shape()), block_workspace_bytes(host, stream.view()),
            [=](const gpu::Workspace& memory) {
                DeviceOut<float> got = DeviceOut<float>::holding(x->host);
                block_cuda(parameters([&](std::size_t k) { return all[k]->device.view(); }),
                           got.view(), memory);
                return got.close_to(want, 100 * kNear);  // its numbers reach 100
            }};
}

void call_at_random(const std::vector<Call>& all, int calls) {
    std::int64_t most = 0;
    for (const Call& call : all) most = std::max(most, call.bytes);
    SharedWorkspace shared(most);
    for (int k = 0; k < calls; ++k) {
        const Call& call = all[testing::detail::random_bits(6, k) % all.size()];
        CAPTURE(k, call.what, call.bytes);
        CHECK(call.run(shared.next(call.bytes)));
        CHECK(shared.kept());
    }
}

TEST_CASE("softmax, attention, products and a block can share one workspace, in any order",
          "[day06][workspace][small]") {
    const auto split = SoftmaxPath::split;
    const auto blocks = AttentionPath::split_blocks, twin = AttentionPath::four_passes;
    call_at_random({softmax_call(1, 9000, split), softmax_call(3, 700, split),
                    softmax_call(5, 64, SoftmaxPath::registers), attention_call(2, 600, 16, blocks),
                    attention_call(2, 100, 16, blocks), attention_call(3, 130, 8, blocks),
                    attention_call(2, 50, 8, twin), attention_call(4, 30, 8, AttentionPath::fused),
                    matmul_call(4, 640, 20), matmul_call(33, 300, 40), block_call(2, 16, 24, 2),
                    block_call(3, 32, 128, 4)},
                   60);
}

}  // namespace
