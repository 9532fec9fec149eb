// What each way back refuses, one operand at a time, by loop and port in the same words; and that
// whoever asks how much memory it needs is refused too, not told a size.
#include "day06_transformer_ops/training/tests/refusals.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

TEST_CASE("cross-entropy's way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[4];
    struct Operands {
        Read logits;
        Ids targets;
        Read grad;
        Written out;
    };
    using O = Operands&;
    const Operands right = {r[0].of({3, 5}), r[1].ids({3}), r[2].of({3}), r[3].of({3, 5})};
    REQUIRE(refusal([&] {
                check_cross_entropy_backward(right.logits, right.targets, right.grad, right.out);
            }).empty());
    each_alone<Operands>(
        right, [](O o) { cross_entropy_backward_cpu(o.logits, o.targets, o.grad, o.out); },
        [](O o) { cross_entropy_backward_cuda(o.logits, o.targets, o.grad, o.out); },
        {{[](O o) { reshaped(o.logits, {}); }, "logits have shape ()"},
         {[](O o) {
              reshaped(o.logits, {3, 0});
          },
          "logits have shape (3, 0)"},
         {[](O o) {
              reshaped(o.logits, {3, 4});
          },
          "in has shape (3, 4)"},
         {[](O o) { o.logits.data = nullptr; }, "in is a null pointer"},
         {[](O o) { reshaped(o.targets, {2}); }, "targets has shape (2)"},
         {[](O o) { o.targets.data = nullptr; }, "targets is a null pointer"},
         {[](O o) { reshaped(o.grad, {2}); }, "grad: "},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              reshaped(o.out, {2, 5});
          },
          "out has shape (2, 5)"},
         {[](O o) { o.out.data = nullptr; }, "out is a null pointer"},
         {[](O o) { o.out = collapsed(o.out); }, "race"},
         {[](O o) { o.out.data = const_cast<float*>(o.logits.data) + 1; }, "in and out"},
         {[](O o) { o.out.data = const_cast<float*>(o.grad.data); }, "grad overlaps out"},
         {[](O o) { o.targets.data = reinterpret_cast<const std::int64_t*>(o.out.data); },
          "targets overlaps out"}});
}

TEST_CASE("cross-entropy's way back, rounded, refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[3];
    Tensor<bf16> halves({64});
    struct Operands {
        Read logits;
        Ids targets;
        Read grad;
        View<bf16> out;
    };
    using O = Operands&;
    const Operands right = {
        r[0].of({3, 5}), r[1].ids({3}), r[2].of({3}), {halves.data(), Shape{3, 5}}};
    REQUIRE(refusal([&] {
                check_cross_entropy_backward_bf16(right.logits, right.targets, right.grad,
                                                  right.out);
            }).empty());
    each_alone<Operands>(
        right, [](O o) { cross_entropy_backward_bf16_cpu(o.logits, o.targets, o.grad, o.out); },
        [](O o) { cross_entropy_backward_bf16_cuda(o.logits, o.targets, o.grad, o.out); },
        {{[](O o) { reshaped(o.logits, {}); }, "logits has rank 0"},
         {[](O o) {
              o.logits = {o.logits.data, Shape{3, 0}};
              o.out = {o.out.data, Shape{3, 0}};
          },
          "rows of at least one logit"},
         {[](O o) {
              o.logits.layout = Layout({3, 5}, {1, 3});
          },
          "rows of at least one logit"},
         {[](O o) {
              o.out.layout = Layout({3, 5}, {1, 3});
          },
          "rows of at least one logit"},
         {[](O o) { o.logits.data = nullptr; }, "logits is a null pointer"},
         {[](O o) { reshaped(o.targets, {2}); }, "targets has shape (2)"},
         {[](O o) { o.targets.data = nullptr; }, "targets is a null pointer"},
         {[](O o) { reshaped(o.grad, {2}); }, "grad: "},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              reshaped(o.out, {2, 5});
          },
          "out has shape (2, 5)"},
         {[](O o) { o.out.data = nullptr; }, "out is a null pointer"},
         {[](O o) { o.out = collapsed(o.out); }, "race"},
         {[](O o) { o.logits.data = reinterpret_cast<const float*>(o.out.data); },
          "logits overlaps out"},
         {[](O o) { o.grad.data = reinterpret_cast<const float*>(o.out.data); },
          "grad overlaps out"},
         {[](O o) { o.targets.data = reinterpret_cast<const std::int64_t*>(o.out.data); },
          "targets overlaps out"}},
        "cross_entropy_backward_bf16: ");
}

TEST_CASE("cross-entropy's way back from the losses refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[5];
    Tensor<bf16> halves({64});
    const Read logits = r[0].of({3, 5}), losses = r[2].of({3}), grad = r[3].of({3});
    const Ids targets = r[1].ids({3});
    const auto says = [&](const Read& of_rows, const auto& out, const char* words) {
        CAPTURE(words);
        CHECK(contains(refusal([&] {
                           cross_entropy_backward_from_losses_cuda(logits, targets, of_rows, grad,
                                                                   out);
                       }),
                       words));
    };
    const auto each = [&](const auto& right) {
        auto out = right;
        Read wrong = losses;
        reshaped(wrong, {2});
        says(wrong, right, "losses has shape (2)");
        wrong = losses, wrong.data = nullptr;
        says(wrong, right, "losses is a null pointer");
        wrong = losses, wrong.data = reinterpret_cast<const float*>(right.data);
        says(wrong, right, "losses overlaps out");
        out.layout = Layout({3, 5}, {1, 3});
        says(losses, out, "along memory");
    };
    each(r[4].of({3, 5}));
    each(View<bf16>(halves.data(), Shape{3, 5}));
}

TEST_CASE("both norms' ways back refuse each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[7];
    struct Operands {
        Read in;
        NormParameters p;
        Read grad;
        Written d_in;
        NormGradients d;
    };
    using O = Operands&;
    const Operands right = {r[0].of({3, 5}),
                            {r[1].of({5}), r[2].of({5}), 1e-5f},
                            r[3].of({3, 5}),
                            r[4].of({3, 5}),
                            {r[5].of({5}), r[6].of({5})}};
    REQUIRE(refusal([&] {
                check_layer_norm_backward(right.in, right.p, right.grad, right.d_in, right.d);
            }).empty());
    gpu::Buffer<std::byte> memory(layer_norm_backward_workspace_bytes(right.in));
    const std::vector<Change<Operands>> rows = {
        {[](O o) { reshaped(o.in, {}); }, "in has rank 0"},
        {[](O o) {
             reshaped(o.in, {3, 4});
         },
         "in has shape (3, 4)"},
        {[](O o) { o.in.data = nullptr; }, "in is a null pointer"},
        {[](O o) { reshaped(o.p.weight, {4}); }, "weight has shape (4)"},
        {[](O o) { o.p.eps = -1; }, "eps is -1"},
        {[](O o) { o.p.eps = NAN; }, "eps is nan"},
        {[](O o) {
             reshaped(o.grad, {5, 3});
         },
         "grad has shape (5, 3)"},
        {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
        {[](O o) {
             reshaped(o.d_in, {3, 4});
         },
         "(3, 4)"},
        {[](O o) { o.d_in.data = nullptr; }, "d_in is a null pointer"},
        {[](O o) { o.d_in = collapsed(o.d_in); }, "race"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.in.data); }, "in overlaps d_in"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_in"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.p.weight.data); }, "weight overlaps d_in"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.p.bias.data); }, "bias overlaps d_in"},
        {[](O o) { reshaped(o.p.bias, {4}); }, "bias has shape (4)"},
        {[](O o) { reshaped(o.d.weight, {4}); }, "d_weight has shape (4)"},
        {[](O o) { o.d.weight = collapsed(o.d.weight); }, "d_weight"},
        {[](O o) { o.d.weight.data = const_cast<float*>(o.in.data); }, "in overlaps d_weight"},
        {[](O o) { o.d.weight.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_weight"},
        {[](O o) { o.d.weight.data = o.d_in.data; }, "d_in overlaps d_weight"},
        {[](O o) { o.d.weight.data = const_cast<float*>(o.p.weight.data); },
         "weight overlaps d_weight"},
        {[](O o) { o.d.weight.data = const_cast<float*>(o.p.bias.data); },
         "bias overlaps d_weight"},
        {[](O o) { reshaped(o.d.bias, {6}); }, "d_bias has shape (6)"},
        {[](O o) { o.d.bias = collapsed(o.d.bias); }, "d_bias"},
        {[](O o) { o.d.bias.data = const_cast<float*>(o.in.data); }, "in overlaps d_bias"},
        {[](O o) { o.d.bias.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_bias"},
        {[](O o) { o.d.bias.data = o.d_in.data; }, "d_in overlaps d_bias"},
        {[](O o) { o.d.bias.data = const_cast<float*>(o.p.weight.data); },
         "weight overlaps d_bias"},
        {[](O o) { o.d.bias.data = const_cast<float*>(o.p.bias.data); }, "bias overlaps d_bias"},
        {[](O o) { o.d.bias.data = o.d.weight.data; }, "d_bias overlaps d_weight"}};
    each_alone<Operands>(
        right, [](O o) { layer_norm_backward_cpu(o.in, o.p, o.grad, o.d_in, o.d); },
        [&](O o) {
            layer_norm_backward_cuda(o.in, o.p, o.grad, o.d_in, o.d, {.workspace = memory});
        },
        rows, "layer_norm_backward: ");
    each_alone<Operands>(
        right, [](O o) { rms_norm_backward_cpu(o.in, o.p, o.grad, o.d_in, o.d); },
        [&](O o) { rms_norm_backward_cuda(o.in, o.p, o.grad, o.d_in, o.d, memory); }, rows,
        "rms_norm_backward: ");
    CHECK(contains(refusal([&] {
                       layer_norm_backward_cuda(right.in, right.p, right.grad, right.d_in, right.d,
                                                {});
                   }),
                   "layer_norm_backward: a workspace of 0 bytes"));
    CHECK(contains(refusal([] {
                       (void)layer_norm_backward_workspace_bytes({nullptr, Shape{}});
                   }),
                   "layer_norm_backward: in has rank 0"));
    CHECK(contains(refusal([&] {
                       rms_norm_backward_cuda(right.in, right.p, right.grad, right.d_in, right.d,
                                              {});
                   }),
                   "rms_norm_backward: a workspace of 0 bytes"));
    CHECK(refusal([] {
              (void)rms_norm_backward_workspace_bytes({nullptr, Shape{}});
          }) == "rms_norm_backward: in has rank 0, but rows lie along the last dim");
}

TEST_CASE("activations' way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[3];
    struct Operands {
        Read in, grad;
        Written out;
    };
    using O = Operands&;
    const Operands right = {r[0].of({3, 5}), r[1].of({3, 5}), r[2].of({3, 5})};
    const Operands in_place = {right.in, right.grad, r[1].of({3, 5})};
    for (const Operands& o : {right, in_place}) {
        REQUIRE(refusal([&] { check_activate_backward(o.in, o.grad, o.out); }).empty());
    }
    const auto what = Activation::gelu_tanh;
    each_alone<Operands>(
        right, [&](O o) { activate_backward_cpu(what, o.in, o.grad, o.out); },
        [&](O o) { activate_backward_cuda(what, o.in, o.grad, o.out); },
        {{[](O o) {
              reshaped(o.in, {5, 3});
          },
          "in has shape (5, 3)"},
         {[](O o) { o.in.data = nullptr; }, "in is a null pointer"},
         {[](O o) { reshaped(o.grad, {15}); }, "grad has shape (15)"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) { o.out.data = nullptr; }, "out is a null pointer"},
         {[](O o) { o.out = collapsed(o.out); }, "race"},
         {[](O o) { o.out.data = const_cast<float*>(o.in.data) + 1; }, "in and out"},
         {[](O o) { o.out.data = const_cast<float*>(o.grad.data) + 1; }, "grad and out"}});
    CHECK(refusal([&] {
              activate_backward_cuda(what, right.in, right.grad, right.out,
                                     {.path = ActivationBackwardPath::tile});
          }) ==
          "activate_backward: the path 'tile' is there for the way forward only; without a path "
          "the way back takes 'one element' or 'quads'");
}

TEST_CASE("a gate's way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[5];
    struct Operands {
        Read gate, in, grad;
        Written d_gate, d_in;
    };
    using O = Operands&;
    const Operands right = {r[0].of({3, 5}), r[1].of({3, 5}), r[2].of({3, 5}), r[3].of({3, 5}),
                            r[4].of({3, 5})};
    REQUIRE(refusal([&] {
                check_activate_gated_backward(right.gate, right.in, right.grad, right.d_gate,
                                              right.d_in);
            }).empty());
    const std::vector<Change<Operands>> rows = {
        {[](O o) {
             reshaped(o.gate, {5, 3});
         },
         "in has shape (3, 5), but must have (5, 3)"},
        {[](O o) { o.gate.data = nullptr; }, "gate is a null pointer"},
        {[](O o) { reshaped(o.in, {15}); }, ": in has shape (15), but must have (3, 5)"},
        {[](O o) { o.in.data = nullptr; }, ": in is a null pointer"},
        {[](O o) {
             reshaped(o.grad, {5, 3});
         },
         "grad has shape (5, 3), but must have (3, 5)"},
        {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
        {[](O o) { reshaped(o.d_gate, {5}); }, "d_gate has shape (5), but must have (3, 5)"},
        {[](O o) { o.d_gate.data = nullptr; }, "d_gate is a null pointer"},
        {[](O o) { o.d_gate = collapsed(o.d_gate); }, "d_gate has "},
        {[](O o) { reshaped(o.d_in, {}); }, "d_in has shape (), but must have (3, 5)"},
        {[](O o) { o.d_in.data = nullptr; }, "d_in is a null pointer"},
        {[](O o) { o.d_in = collapsed(o.d_in); }, "d_in has "},
        {[](O o) { o.d_in.data = o.d_gate.data; }, "d_gate overlaps d_in"},
        {[](O o) { o.d_gate.data = const_cast<float*>(o.gate.data); }, "gate overlaps d_gate"},
        {[](O o) { o.d_gate.data = const_cast<float*>(o.in.data); }, "in overlaps d_gate"},
        {[](O o) { o.d_gate.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_gate"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.gate.data); }, "gate overlaps d_in"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.in.data); }, ": in overlaps d_in"},
        {[](O o) { o.d_in.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_in"}};
    const auto what = Activation::silu;
    each_alone<Operands>(
        right,
        [](O o) { activate_gated_backward_cpu(what, o.gate, o.in, o.grad, o.d_gate, o.d_in); },
        [](O o) { activate_gated_backward_cuda(what, o.gate, o.in, o.grad, o.d_gate, o.d_in); },
        rows, "activate_gated_backward: ");
}

TEST_CASE("a linear layer's way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[6];
    struct Operands {
        Read in, weight, grad;
        Written d_in;
        LinearGradients d;
    };
    using O = Operands&;
    const Operands right = {r[0].of({2, 3, 4}),
                            r[1].of({4, 5}),
                            r[2].of({2, 3, 5}),
                            r[3].of({2, 3, 4}),
                            {r[4].of({4, 5}), r[5].of({5})}};
    REQUIRE(refusal([&] {
                check_linear_backward(right.in, right.weight, right.grad, right.d_in, right.d);
            }).empty());
    gpu::Buffer<std::byte> memory(
        linear_backward_workspace_bytes(right.in, right.weight, right.grad, right.d));
    const auto port = [&](O o) {
        linear_backward_cuda(o.in, o.weight, o.grad, o.d_in, o.d, memory);
    };
    each_alone<Operands>(
        right, [](O o) { linear_backward_cpu(o.in, o.weight, o.grad, o.d_in, o.d); }, port,
        {{[](O o) { reshaped(o.weight, {20}); }, "weight has shape (20)"},
         {[](O o) { o.weight.data = nullptr; }, "weight is a null pointer"},
         {[](O o) { reshaped(o.in, {}); }, "in has shape ()"},
         {[](O o) {
              reshaped(o.in, {2, 4, 3});
          },
          "in has shape (2, 4, 3)"},
         {[](O o) { o.in.data = nullptr; }, "in is a null pointer"},
         {[](O o) {
              o.in = {o.in.data, Layout({2, 3, 4}, {20, 4, 1})};
          },
          "(2, 3, 4)"},
         {[](O o) {
              reshaped(o.grad, {6, 5});
          },
          "grad has shape (6, 5)"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              o.grad = {o.grad.data, Layout({2, 3, 5}, {20, 5, 1})};
          },
          "(2, 3, 5)"},
         {[](O o) {
              reshaped(o.d_in, {2, 3, 5});
          },
          "d_in has shape (2, 3, 5)"},
         {[](O o) { o.d_in.data = nullptr; }, "d_in is a null pointer"},
         {[](O o) { o.d_in = collapsed(o.d_in); }, "d_in"},
         {[](O o) {
              o.d_in = {o.d_in.data, Layout({2, 3, 4}, {20, 4, 1})};
          },
          "(2, 3, 4)"},
         {[](O o) {
              reshaped(o.d.weight, {5, 4});
          },
          "d_weight has shape (5, 4)"},
         {[](O o) { o.d.weight.data = nullptr; }, "d_weight is a null pointer"},
         {[](O o) { o.d.weight = collapsed(o.d.weight); }, "d_weight"},
         {[](O o) { reshaped(o.d.bias, {4}); }, "d_bias has shape (4)"},
         {[](O o) { o.d.bias = collapsed(o.d.bias); }, "d_bias"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.in.data); }, "in overlaps d_in"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.weight.data); }, "weight overlaps d_in"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_in"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.in.data); }, "in overlaps d_weight"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.weight.data); },
          "weight overlaps d_weight"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_weight"},
         {[](O o) { o.d.weight.data = o.d_in.data; }, "d_in overlaps d_weight"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.in.data); }, "in overlaps d_bias"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.weight.data); }, "weight overlaps d_bias"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_bias"},
         {[](O o) { o.d.bias.data = o.d_in.data; }, "d_in overlaps d_bias"},
         {[](O o) { o.d.bias.data = o.d.weight.data; }, "d_weight overlaps d_bias"}});
    CHECK(contains(refusal([&] {
                       linear_backward_cuda(right.in, right.weight, right.grad, right.d_in, right.d,
                                            {});
                   }),
                   "linear_backward: a workspace of 0 bytes"));
    const auto bytes = [&](const std::function<void(O)>& change) {
        Operands o = right;
        change(o);
        return refusal([&] { (void)linear_backward_workspace_bytes(o.in, o.weight, o.grad, o.d); });
    };
    CHECK(contains(bytes([](O o) { o.in = {o.in.data, Shape{}}; }), "in has shape ()"));
    CHECK(contains(bytes([](O o) { o.in = {o.in.data, Shape{6, 5}}; }), "in has shape (6, 5)"));
    CHECK(contains(bytes([](O o) { o.weight = {o.weight.data, Shape{5}}; }), "weight has shape"));
    CHECK(contains(bytes([](O o) { o.grad = {o.grad.data, Shape{}}; }), "grad has shape ()"));
    CHECK(contains(bytes([](O o) {
                       o.d.weight = {o.d.weight.data, Shape{5, 4}};
                   }),
                   "d_weight has shape (5, 4)"));
    CHECK(bytes([](O o) { o.in.data = o.weight.data = o.grad.data = nullptr; }).empty());
}

TEST_CASE("a bias' way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[2];
    struct Operands {
        Read grad;
        Written d_bias;
    };
    using O = Operands&;
    const Operands right = {r[0].of({2, 3, 5}), r[1].of({5})};
    gpu::Buffer<std::byte> memory(bias_backward_workspace_bytes(right.grad));
    const auto port = [&](O o) { bias_backward_cuda(o.grad, o.d_bias, memory); };
    const auto check = [](O o) { check_bias_backward(o.grad, o.d_bias); };
    each_alone<Operands>(
        right, check, port,
        {{[](O o) { reshaped(o.grad, {}); }, "grad has rank 0"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              o.grad = {o.grad.data, Layout({2, 3, 5}, {20, 5, 1})};
          },
          "(2, 3, 5)"},
         {[](O o) { reshaped(o.d_bias, {4}); }, "d_bias has shape (4)"},
         {[](O o) { o.d_bias.data = nullptr; }, "d_bias is a null pointer"},
         {[](O o) { o.d_bias = collapsed(o.d_bias); }, "d_bias has "},
         {[](O o) { o.d_bias.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_bias"}});
    CHECK(refusal([&] { check_bias_backward(right.grad, right.d_bias); }).empty());
    CHECK(contains(refusal([&] { bias_backward_cuda(right.grad, right.d_bias, {}); }),
                   "bias_backward: a workspace of 0 bytes"));
}

TEST_CASE("attention's way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[7];
    Tensor<std::int64_t> counted(Shape{}, {6});
    struct Operands {
        Read q, k, v;
        AttentionOptions options;
        Read grad;
        AttentionGradients d;
    };
    using O = Operands&;
    const Operands right = {
        r[0].of({2, 3, 4}), r[1].of({2, 6, 4}),
        r[2].of({2, 6, 4}), {},
        r[3].of({2, 3, 4}), {r[4].of({2, 3, 4}), r[5].of({2, 6, 4}), r[6].of({2, 6, 4})}};
    REQUIRE(refusal([&] {
                check_attention_backward(right.q, right.k, right.v, right.options, right.grad,
                                         right.d);
            }).empty());
    gpu::Buffer<std::byte> memory(attention_backward_workspace_bytes(right.q));
    const auto loop = [](O o) { attention_backward_cpu(o.q, o.k, o.v, o.options, o.grad, o.d); };
    const auto port = [&](O o) {
        attention_backward_cuda(o.q, o.k, o.v, o.options, o.grad, o.d, {.workspace = memory});
    };
    each_alone<Operands>(right, loop, port,
                         {{[](O o) {
                               reshaped(o.q, {3, 4});
                           },
                           "k: broadcast of shape (2, 6, 4) to (6, 4)"},
                          {[](O o) { o.q.data = nullptr; }, "q is a null pointer"},
                          {[](O o) {
                               reshaped(o.k, {2, 5, 4});
                           },
                           "k has shape (2, 5, 4)"},
                          {[](O o) { o.k.data = nullptr; }, "k is a null pointer"},
                          {[](O o) {
                               reshaped(o.v, {2, 5, 4});
                           },
                           "v "},
                          {[](O o) { o.v.data = nullptr; }, "v is a null pointer"},
                          {[](O o) {
                               o.k = {o.k.data, Shape{6, 4}}, o.v = {o.v.data, Shape{6, 4}};
                           },
                           "k has shape (6, 4), but q (2, 3, 4); give it the same rank"},
                          {[&](O o) { o.options.length = counted.view(); }, "a length was given"},
                          {[](O o) { o.options.scale = INFINITY; }, "scale is inf"},
                          {[](O o) {
                               reshaped(o.grad, {2, 4, 3});
                           },
                           "grad has shape (2, 4, 3)"},
                          {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
                          {[](O o) {
                               reshaped(o.d.q, {2, 4, 3});
                           },
                           "(2, 4, 3)"},
                          {[](O o) { o.d.q.data = nullptr; }, "out is a null pointer"},
                          {[](O o) { o.d.q = collapsed(o.d.q); }, "race"},
                          {[](O o) {
                               reshaped(o.d.k, {2, 5, 4});
                           },
                           "d_k has shape (2, 5, 4)"},
                          {[](O o) { o.d.k.data = nullptr; }, "d_k is a null pointer"},
                          {[](O o) { o.d.k = collapsed(o.d.k); }, "d_k"},
                          {[](O o) {
                               reshaped(o.d.v, {2, 5, 4});
                           },
                           "d_v has shape (2, 5, 4)"},
                          {[](O o) { o.d.v.data = nullptr; }, "d_v is a null pointer"},
                          {[](O o) { o.d.v = collapsed(o.d.v); }, "d_v"}});
    // Each of what is read with each of what is written, and these with each other.
    const std::pair<const char*, Read Operands::*> read[] = {
        {"q", &Operands::q}, {"k", &Operands::k}, {"v", &Operands::v}, {"grad", &Operands::grad}};
    const std::pair<const char*, Written AttentionGradients::*> written[] = {
        {"d_q", &AttentionGradients::q},
        {"d_k", &AttentionGradients::k},
        {"d_v", &AttentionGradients::v}};
    for (const auto& [name, out] : written) {
        for (const auto& [from, in] : read) {
            CAPTURE(name, from);
            Operands o = right;
            (o.d.*out).data = const_cast<float*>((o.*in).data);
            CHECK(both_refuse([&] { loop(o); }, [&] { port(o); }, "overlap"));
        }
        for (const auto& [other, too] : written) {
            if (out == too) continue;
            CAPTURE(name, other);
            Operands o = right;
            (o.d.*out).data = (o.d.*too).data;
            CHECK(both_refuse([&] { loop(o); }, [&] { port(o); }, "overlap"));
        }
    }
    // What the way there left.
    Room more[2];
    const AttentionLeft left = {more[0].of({2, 3, 4}), more[1].of({2, 3})};
    const auto says = [&](const AttentionLeft& wrong, const char* words) {
        CAPTURE(words);
        CHECK(contains(refusal([&] {
                           attention_backward_from_left_cuda(right.q, right.k, right.v, {}, wrong,
                                                             right.grad, right.d,
                                                             {.workspace = memory});
                       }),
                       words));
    };
    AttentionLeft wrong = left;
    reshaped(wrong.out, {2, 4, 3}), says(wrong, "out has shape (2, 4, 3)");
    wrong = left, reshaped(wrong.log_sums, {3, 2}), says(wrong, "log_sums has shape (3, 2)");
    wrong = left, wrong.out.data = nullptr, says(wrong, "out is a null pointer");
    wrong = left, wrong.log_sums.data = nullptr, says(wrong, "log_sums is a null pointer");
    for (const auto& [name, out] : written) {
        CAPTURE(name);
        wrong = left, wrong.out.data = (right.d.*out).data, says(wrong, "out overlaps");
        wrong = left, wrong.log_sums.data = (right.d.*out).data, says(wrong, "log_sums overlaps");
    }
    CHECK(contains(refusal([&] {
                       attention_backward_cuda(right.q, right.k, right.v, {}, right.grad, right.d,
                                               {});
                   }),
                   "attention_backward: a workspace of 0 bytes"));
    for (const Shape& shape : {Shape{}, Shape{4}}) {
        CHECK(contains(refusal([&] {
                           (void)attention_backward_workspace_bytes({nullptr, shape});
                       }),
                       "attention_backward: q has shape " + to_string(shape)));
    }
}

TEST_CASE("the embedding's way back refuses each operand that does not fit, alone",
          "[day06][training][small]") {
    Room r[5];
    struct Operands {
        Read grad;
        Ids ids, places;
        EmbedGradients d;
    };
    using O = Operands&;
    const Operands right = {
        r[0].of({2, 3, 4}), r[1].ids({2, 3}), r[2].ids({3}), {r[3].of({7, 4}), r[4].of({5, 4})}};
    REQUIRE(refusal([&] {
                check_embed_backward(right.grad, right.ids, right.places, right.d);
            }).empty());
    const auto as_ids = [](const Written& v) {
        return reinterpret_cast<const std::int64_t*>(v.data);
    };
    each_alone<Operands>(
        right, [](O o) { embed_backward_cpu(o.grad, o.ids, o.places, o.d); },
        [](O o) { embed_backward_cuda(o.grad, o.ids, o.places, o.d); },
        {{[](O o) { reshaped(o.grad, {}); }, "but grad ()"},
         {[](O o) {
              reshaped(o.grad, {3, 4});
          },
          "but grad (3, 4)"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) { reshaped(o.ids, {6}); }, "ids have shape (6)"},
         {[](O o) { o.ids.data = nullptr; }, "ids is a null pointer"},
         {[](O o) { reshaped(o.places, {2}); }, "places: "},
         {[](O o) { o.places.data = nullptr; }, "places is a null pointer"},
         {[](O o) { reshaped(o.d.tokens, {28}); }, "d_tokens has shape (28)"},
         {[](O o) {
              reshaped(o.d.tokens, {7, 5});
          },
          "d_tokens has shape (7, 5)"},
         {[](O o) { o.d.tokens.data = nullptr; }, "d_tokens is a null pointer"},
         {[](O o) { o.d.tokens = collapsed(o.d.tokens); }, "d_tokens"},
         {[](O o) { reshaped(o.d.positions, {20}); }, "d_positions has shape"},
         {[](O o) {
              reshaped(o.d.positions, {5, 3});
          },
          "d_positions has shape (5, 3)"},
         {[](O o) { o.d.positions.data = nullptr; }, "d_positions is a null pointer"},
         {[](O o) { o.d.positions = collapsed(o.d.positions); }, "d_positions"},
         {[](O o) { o.d.tokens.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_tokens"},
         {[&](O o) { o.ids.data = as_ids(o.d.tokens); }, "ids overlaps d_tokens"},
         {[&](O o) { o.places.data = as_ids(o.d.tokens); }, "places overlaps d_tokens"},
         {[](O o) { o.d.positions.data = const_cast<float*>(o.grad.data); },
          "grad overlaps d_positions"},
         {[&](O o) { o.ids.data = as_ids(o.d.positions); }, "ids overlaps d_positions"},
         {[&](O o) { o.places.data = as_ids(o.d.positions); }, "places overlaps d_positions"},
         {[](O o) { o.d.positions.data = o.d.tokens.data; }, "d_tokens overlaps d_positions"}});
}
