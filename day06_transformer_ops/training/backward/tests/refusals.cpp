// What the ways back of norms, activations, a gate and the embedding refuse, one operand at a time,
// by loop and port in the same words; and that who asks how much memory it needs is refused too,
// not told a size.
#include "day06_transformer_ops/training/tests/refusals.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

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

TEST_CASE("activations' backward pass refuses each operand that does not fit, alone",
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
          "the backward pass takes 'one element' or 'quads'");
}

TEST_CASE("a gate's backward pass refuses each operand that does not fit, alone",
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

TEST_CASE("the embedding's backward pass refuses each operand that does not fit, alone",
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
         {[](O o) { reshaped(o.d.tokens, {28}); }, "d_tokens has shape (28) of rank 1"},
         {[](O o) {
              reshaped(o.d.tokens, {7, 5});
          },
          "d_tokens has shape (7, 5)"},
         {[](O o) { o.d.tokens.data = nullptr; }, "d_tokens is a null pointer"},
         {[](O o) { o.d.tokens = collapsed(o.d.tokens); }, "d_tokens"},
         {[](O o) { reshaped(o.d.positions, {20}); }, "d_positions has shape (20) of rank 1"},
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
