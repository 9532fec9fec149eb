// Which path attention takes, what it rejects, and how much workspace it needs. The calls
// that each path accepts are in attention.op.hpp.
#include <array>

#include "common/testing/operation/operation.hpp"
#include "day06_transformer_ops/attention/attention.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("a GPU with little shared memory gets a kernel that needs less",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t D, std::size_t shared) {
        const View<const float> x(nullptr, Shape{64, D});
        return choose_attention(x, x, x, shared);
    };
    // For 64 queries, 64 keys, 64 values and 64 x 64 weights, with pitches of 68 and 72 floats, or
    // 132 and 80.
    const std::size_t narrow = 4 * (3 * 64 * 68 + 64 * 72), wide = 4 * (3 * 64 * 132 + 64 * 80);
    CHECK(path(64, narrow) == AttentionPath::tiles);
    CHECK(path(64, narrow - 1) == AttentionPath::fused);
    CHECK(path(65, wide) == AttentionPath::tiles);
    CHECK(path(128, wide - 1) == AttentionPath::fused);
}

TEST_CASE("attention's path changes at the right numbers of queries and head widths",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t T, std::int64_t D, std::int64_t S = 9) {
        return choose_attention({nullptr, Shape{2, T, D}}, {nullptr, Shape{2, S, D}},
                                {nullptr, Shape{2, S, D}});
    };
    CHECK(path(1, 8) == AttentionPath::split_blocks);
    CHECK(path(4, 8) == AttentionPath::split_blocks);
    CHECK(path(5, 8) == AttentionPath::fused);
    CHECK(path(63, 8) == AttentionPath::fused);
    CHECK(path(64, 8) == AttentionPath::tiles);
    CHECK(path(4, 7) == AttentionPath::split_keys);  // rows are not whole vectors
    CHECK(path(4, 128) == AttentionPath::split_blocks);
    CHECK(path(64, 128) == AttentionPath::tiles);
    for (const std::int64_t T : {1, 5, 64}) CHECK(path(T, 129) == AttentionPath::wide_heads);
    for (const auto& [T, S, D] : std::vector<std::array<std::int64_t, 3>>{
             {5, 5, 8}, {64, 64, 8}, {4, 9, 8}, {4, 9, 7}, {2, 3, 129}}) {
        CHECK(computes_its_result(attention_operation({{2}, T, S, D})));
    }
}

TEST_CASE("a path that rejects a call of attention says why", "[day06][attention][small]") {
    alignas(16) static float memory[5][4096];
    const auto says = [&](AttentionPath path, const Layout& q, const Layout& k,
                          const View<float>& log_sums = {}) {
        return rejection([&] {
            (void)plan_attention({memory[0], q}, {memory[1], k}, {memory[2], k}, {}, {memory[3], q},
                                 log_sums, {.path = path});
        });
    };
    CHECK(contains(rejection([&] {
                       const View<const float> x(memory[0], Shape{2, 5, 8});
                       attention_cuda(x, x, x, {}, {memory[3], Shape{2, 5, 8}}, {},
                                      {.path = AttentionPath::four_passes});
                   }),
                   "attention: a workspace of 0 bytes at a null pointer was given, but 16584 are"));
    CHECK(contains(
        says(AttentionPath::split_blocks, row_major({5, 6}), row_major({5, 6})),
        "attention: the path 'split blocks' needs keys and values of whole vectors along memory"));
    CHECK(says(AttentionPath::fused, row_major({2, 129}), row_major({3, 129})) ==
          "attention: a head of 129 numbers; 128 is the most that the path 'fused' takes. 'wide "
          "heads' takes any");
    CHECK(says(AttentionPath::fused, row_major({2, 8}), row_major({3, 8}), {memory[4], Shape{2}}) ==
          "attention: the path 'fused' does not write log_sums; 'tiles' does");
    // Three stack dimensions: two of them merge, or none do.
    const auto tile = AttentionPath::tile;
    const Layout merges({2, 2, 3, 4, 8}, {768, 384, 128, 16, 1}),
        stays({2, 2, 3, 4, 8}, {800, 392, 128, 16, 1});
    CHECK(says(tile, merges, merges) == "");
    CHECK(says(tile, merges, stays) != "");
    CHECK(contains(says(tile, stays, merges),
                   "attention: the path 'tile' needs stacks of at most two dimensions, once "
                   "simplified, and no negative stride, for CUDA Tile C++ takes strides for sizes; "
                   "q has "));
}

TEST_CASE("attention reports how much workspace each path can use", "[day06][attention][small]") {
    const auto bytes = [](std::int64_t queries, std::int64_t S, std::optional<AttentionPath> path,
                          std::int64_t T = 1, std::int64_t D = 8) {
        return attention_workspace_bytes({nullptr, Shape{queries, T, D}},
                                         {nullptr, Shape{queries, S, D}},
                                         {nullptr, Shape{queries, S, D}}, path);
    };
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    const auto split = AttentionPath::split_blocks;
    CHECK(bytes(10, 5, AttentionPath::four_passes) == counters + 4 * 10 * 5);
    CHECK(bytes(10, 0, AttentionPath::four_passes) == 0);
    for (const auto path : {AttentionPath::fused, AttentionPath::split_keys, AttentionPath::tiles,
                            AttentionPath::wide_heads, AttentionPath::tile}) {
        CHECK(bytes(10, 500, path) == 0);
    }
    CHECK(bytes(2, 64, split) == 0);  // at least 64 keys per part
    CHECK(bytes(2, 65, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 128, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 129, split) == counters + 4 * 2 * 3 * 10);
    CHECK(bytes(2, 64 * 300, split) == counters + 4 * 2 * 256 * 10);  // at most 512 blocks
    CHECK(bytes(256, 6400, split) == counters + 4 * 256 * 2 * 10);
    CHECK(bytes(257, 6400, split) == 0);  // so a workspace always has enough counters
    CHECK(bytes(2, 200, {}) == bytes(2, 200, split));
    CHECK(bytes(2, 200, {}, 5) == 0);
    CHECK(bytes(2, 200, {}, 1, 7) == 0);
    CHECK(contains(rejection([] {
                       (void)attention_workspace_bytes(
                           {nullptr, Shape{2, 3}}, {nullptr, Shape{5, 4}}, {nullptr, Shape{5, 4}});
                   }),
                   "attention: q has shape (2, 3), but k (5, 4)"));
}

TEST_CASE("an invalid length: the CPU reference reports it, the CUDA version gives NaN",
          "[day06][attention][small]") {
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{6}, INT64_MIN, INT64_MAX}) {
        const Tensor<std::int64_t> length(Shape{}, {bad});
        const Tensor<float> q({2, 2, 8}), k({2, 5, 8});
        HostOut<float> h({2, 2, 8});
        CHECK(rejection([&] {
                  attention_cpu(q.view(), k.view(), k.view(), {true, 0, length.view()}, h.view());
              }) == "attention: length is " + std::to_string(bad) + ", but there are 5 keys");
        CHECK(h.untouched());
        const DeviceIn<std::int64_t> dl(length);
        for (const bool log_sums : {false, true}) {
            const Attending a{{2}, 2, 5, 8};
            Operation op = attention_operation(a, log_sums);
            op.cpu = {};
            op.cuda = [&](const Call& c) {
                attention_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2), {true, 0, dl.view()},
                               c.out<float>(3), log_sums_of(a, c), c.how<AttentionPath>());
            };
            op.exact = [](const Inputs&, int) {
                std::vector<Expected> nothing = {Expected({2, 2, 8}), Expected({2, 2})};
                for (Expected& x : nothing)
                    std::fill_n(x.value.data(), x.value.size(), double(NAN));
                return nothing;
            };
            CHECK(computes_its_result(op));
        }
    }
}

TEST_CASE("copies that one launch never waits for do not affect the next launch",
          "[day06][attention][small]") {
    // With heads of 128, tiles have 256 threads, all of which start copies of keys before they find
    // that none are valid. Four passes have 128; heads of 127 are copied one element at a time.
    const auto by = [](AttentionPath path, std::int64_t D, std::int64_t counted) {
        Operation op = attention_operation({{}, 3, 70, D, false, 0, counted});
        op.cuda = [cuda = op.cuda, path](Call c) {
            c.path = static_cast<int>(path);
            cuda(c);
        };
        op.paths = {op.path(path)};
        op.cpu = {};
        op.best = {};
        op.needed_bytes = {};
        op.workspace_bytes = 1 << 16;
        op.without_path = false;
        CHECK(computes_its_result(op));
    };
    for (const std::int64_t D : {127, 128, 64, 61}) {
        by(AttentionPath::tiles, 128, 0);
        by(AttentionPath::four_passes, 128, 70);
        by(AttentionPath::tiles, D, 70);
    }
}

TEST_CASE("attention's error messages name what does not fit", "[day06][attention][small]") {
    const auto says = [](const Shape& q, const Shape& k, const Shape& v, const std::string& words) {
        Operation op = attention_operation({{2}, 3, 5, 4});
        const Shape shapes[] = {q, k, v};
        for (std::size_t i = 0; i < 3; ++i) op.operands[i].shape = shapes[i];
        for (PathOf& path : op.paths) path.accepts = {};
        op.best = {};
        CHECK(rejects_as_it_is(op, words));
    };
    says({2, 2, 4}, {2, 5, 4}, {2, 5, 4},
         "q has shape (2, 2, 4), but out has shape (2, 3, 4); they must be equal");
    says({4}, {2, 5, 4}, {2, 5, 4}, "q has shape (4), but needs tokens and a head: (..., T, D)");
    says({2, 3, 4}, {2, 5, 3}, {2, 5, 4},
         "q has shape (2, 3, 4), but k (2, 5, 3); the last dimensions, of one head, must be equal");
    says({2, 3, 4}, {2, 5, 4}, {2, 4, 4},
         "k has shape (2, 5, 4), but v (2, 4, 4); there must be a value for each key");
    CHECK(rejects_as_it_is(attention_operation({{2}, 3, 5, 4, true, NAN}),
                           "scale is nan, but must be a finite number"));
    Operation sums = attention_operation({{2}, 3, 5, 4}, true);
    sums.operands[4].shape = {3, 2};
    CHECK(rejects_as_it_is(sums,
                           "log_sums has shape (3, 2), but there is one for each query: (2, 3)"));
    sums = attention_operation({{2}, 3, 5, 129}, true);
    sums.paths.clear(), sums.best = {};
    CHECK(rejects_as_it_is(sums,
                           "a head of 129 numbers; 128 is the most that the path 'tiles' takes, "
                           "and only it writes log_sums"));
    const Tensor<float> q({2, 3, 4}), odd({3, 5, 4});
    Tensor<float> out({2, 3, 4});
    const auto rejected = [&](View<const float> k, const AttentionOptions& options,
                              const std::string& words) {
        CHECK(contains(rejection([&] { attention_cpu(q.view(), k, k, options, out.view()); }),
                       words));
    };
    rejected(odd.view(), {}, "attention: k: broadcast of shape (3, 5, 4) to (2, 5, 4)");
    const std::int64_t two[2] = {1, 2};
    rejected(q.view(), {true, 0, {two, Shape{2}}}, "length has shape (2) of rank 1");
    CHECK(contains(rejection([&] { (void)heads_of(q.view(), 1); }),
                   "heads_of: a shape (2, 3, 4) is not (B, T, 3 C)"));
    const Tensor<float> qkv({1, 2, 12});
    CHECK(contains(rejection([&] { (void)heads_of(qkv.view(), 3); }),
                   "heads: 3 heads do not divide the last dim of shape (1, 2, 4), (B, T, C)"));
}

}  // namespace
