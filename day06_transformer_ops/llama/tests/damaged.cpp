// Damaged files of the Llama family: each must be read or rejected with an error message.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/damage.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"
#include "day06_transformer_ops/llama/tests/small_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::llama::tests;
using gpt2::Bytes;

namespace {

// A model with every optional key and tensor of `llama`.
SmallLlama full() {
    SmallLlama small;
    small.set("attention.key_length", 4u).set("attention.value_length", 4u);
    small.set("rope.dimension_count", 4u).set("rope.scaling.type", "linear");
    small.set("rope.scaling.factor", 2.0f).set("vocab_size", 5u).set("attention.causal", true);
    small.set("attention.sliding_window", 0u).set("expert_count", 0u);
    small.tensor("rope_freqs.weight", {2}).tensor("blk.0.attn_q.bias", {8});
    small.tokens = {"a", "b", "c", "d", "e"};
    return small;
}

std::string read_all(const Bytes& bytes) {
    return testing::rejection([&] { (void)read_llama(Gguf(bytes, "damaged")); });
}

}  // namespace

TEST_CASE("24,000 damaged files of the Llama family are read or rejected with an error message",
          "[day06][small]") {
    gpt2::tests::Outcome sum;
    std::uint64_t seed = 1000000;
    for (const Bytes& good :
         {full().bytes(), SmallLlama("qwen2").bytes(), SmallLlama("qwen3").bytes()}) {
        REQUIRE(read_all(good).empty());
        const std::size_t head = good.size() - Gguf(good, "good").tensors().back().offset;
        for (const std::size_t reach : {head, good.size()}) {
            const auto one =
                gpt2::tests::damage_often(good, reach, 4000, seed += 1000000, read_all);
            sum.whole += one.whole, sum.rejected += one.rejected, sum.silent += one.silent;
        }
    }
    CHECK(sum.whole + sum.rejected == 24000);
    CHECK(sum.silent == 0);
    CHECK(sum.whole > 300);  // a changed weight is still valid
    CHECK(sum.rejected > 15000);
}

TEST_CASE("every byte of a Llama's keys and tensor list, inverted", "[day06][small]") {
    const Bytes good = full().bytes();
    const Gguf file(good, "good");
    const std::size_t last = file.tensors().back().at + 60;
    std::size_t rejected = 0;
    for (std::size_t at = 0; at < last; ++at) {
        Bytes bytes = good;
        bytes[at] ^= std::byte{0xFF};
        rejected += read_all(bytes).empty() ? 0 : 1;
    }
    CAPTURE(rejected, last);
    CHECK(rejected > last * 9 / 10);
}
