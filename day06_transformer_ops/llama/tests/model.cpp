// Files of any architecture, opened by the architecture that they name.
#include "day06_transformer_ops/llama/model.hpp"

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/llama/tests/small_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::testing;

TEST_CASE("a model is opened by the architecture that its file names", "[day06][small]") {
    const Model llama(tests::file_of_tests("llama.gguf"));
    CHECK(std::holds_alternative<ModelWeights>(llama.weights));
    CHECK(summary(llama) ==
          "llama, 2 layers, 32 channels, 300 tokens, context 64, weights in Q8_0, 0.0 MB");
    CHECK(llama.sizes().heads == 4);
    CHECK(llama.vocabulary.size() == 300);
    const Model gpt2(gpt2::tests::file_of_tests("tiny.gguf"));
    CHECK(std::holds_alternative<gpt2::ModelWeights>(gpt2.weights));
    CHECK(summary(gpt2) ==
          "gpt2, 2 layers, 32 channels, 300 tokens, context 24, weights in Q8_0, 0.1 MB");
    CHECK(contains(rejection([] { Model(tests::file_of_tests("expected.gguf")); }),
                   "the architecture is 'expected', but this engine runs 'gpt2', 'llama', 'qwen2' "
                   "and 'qwen3'"));
}

TEST_CASE("loading reports every byte of the file", "[day06][small]") {
    const Model model(tests::file_of_tests("llama.gguf"));
    std::size_t last = 0;
    model.files.load([&](std::size_t bytes) {
        CHECK(bytes >= last);
        last = bytes;
    });
    CHECK(last == model.files.size());
}
