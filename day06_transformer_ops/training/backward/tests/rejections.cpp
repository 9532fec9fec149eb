// Argument checks of the backward passes beyond those that table.cpp tests for every operation:
// eps, a path of the forward pass only, a workspace that is too small, and the workspace size of
// invalid arguments.
#include "day06_transformer_ops/training/tests/rejections.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

TEST_CASE("an activation's backward pass has no path 'tile', and checks its function",
          "[day06][training][small]") {
    Room r[5];
    const Read in = r[0].of({3, 5}), grad = r[1].of({3, 5}), gate = r[2].of({3, 5});
    const Written out = r[3].of({3, 5}), d_in = r[4].of({3, 5});
    CHECK(rejection([&] {
              activate_backward_cuda(Activation::gelu_tanh, in, grad, out,
                                     {.path = ActivationBackwardPath::tile});
          }) ==
          "activate_backward: the path 'tile' exists only for the forward pass; without a path "
          "the backward pass takes 'one element' or 'vectorized'");
    const Activation none{4};
    const char* words = "activation 4 does not exist; it must be one of: relu, gelu_erf, gelu_tanh";
    CHECK(both_reject([&] { activate_backward_cpu(none, in, grad, out); },
                      [&] { activate_backward_cuda(none, in, grad, out); }, words));
    CHECK(both_reject([&] { activate_gated_backward_cpu(none, gate, in, grad, out, d_in); },
                      [&] { activate_gated_backward_cuda(none, gate, in, grad, out, d_in); },
                      words));
}

TEST_CASE("a gate's two gradients may be halves of one tensor's rows, but not overlap",
          "[day06][training][small]") {
    Room r[4];
    const Read gate = r[0].of({3, 5}), in = r[1].of({3, 5}), grad = r[2].of({3, 5});
    const Written rows = r[3].of({3, 12});
    const auto rejected = [&](std::int64_t first) {
        return rejection([&] {
            check_activate_gated_backward(gate, in, grad, slice(rows, 1, 0, 5),
                                          slice(rows, 1, first, first + 5));
        });
    };
    for (const std::int64_t first : {5, 6, 7}) CHECK(rejected(first) == "");
    for (const std::int64_t first : {0, 1, 4}) {
        CHECK(contains(rejected(first), "activate_gated_backward: d_gate overlaps d_in"));
    }
}
