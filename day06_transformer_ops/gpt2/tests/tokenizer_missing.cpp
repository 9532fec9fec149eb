// Built without PCRE2: everything but splitting text works, and that reports why.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;

TEST_CASE("without PCRE2 decoding works, and encoding says what to install", "[day06][small]") {
    const Bytes bytes = real_vocabulary().bytes();
    const Vocabulary vocabulary{Gguf(bytes, "gpt2")};
    CHECK(decode(vocabulary, {15496, 995}) == "Hello world");
    std::string sentence;
    try {
        (void)encode(vocabulary, "Hello world");
    } catch (const std::runtime_error& error) {
        sentence = error.what();
    }
    CHECK(sixdays::testing::contains(sentence, "built without PCRE2"));
    CHECK(sixdays::testing::contains(sentence, "apt install libpcre2-dev"));
}
