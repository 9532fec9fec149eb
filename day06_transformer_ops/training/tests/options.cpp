// What gpt2_train makes of its flags, and which values it refuses.
#include "day06_transformer_ops/training/options.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using Words = std::vector<std::string>;

TrainOptions parsed(const Words& more) {
    Words all = {"--text", "t", "--out", "o"};
    all.insert(all.end(), more.begin(), more.end());
    return parse_training(all);
}

TEST_CASE("training: each flag says its own number, and the others stay as --help lists them",
          "[day06][training][small]") {
    const TrainOptions none = parsed({});
    CHECK(none.text == "t");
    CHECK(none.out == "o");
    CHECK(none.state() == "o.state");
    CHECK(none.backend == "cpu");
    CHECK_FALSE(none.resume);
    CHECK_FALSE(none.help);
    CHECK(none.seed == 0);
    CHECK(none.rate == 0.003);
    CHECK(none.decay == 0.1f);
    struct Flag {
        const char* name;
        std::int64_t TrainOptions::*number;
        std::int64_t usual;
    };
    const Flag flags[] = {
        {"--layers", &TrainOptions::layers, 2},
        {"--channels", &TrainOptions::channels, 64},
        {"--heads", &TrainOptions::heads, 4},
        {"--context", &TrainOptions::context, 64},
        {"--batch", &TrainOptions::batch, 8},
        {"--accumulate", &TrainOptions::accumulate, 1},
        {"--steps", &TrainOptions::steps, 200},
        {"--warm-up", &TrainOptions::warm_up, 20},
        {"--save-every", &TrainOptions::save_every, 100},
    };
    for (const Flag& flag : flags) {
        CAPTURE(flag.name);
        const TrainOptions o = parsed({flag.name, "16"});
        for (const Flag& other : flags) {
            CHECK(none.*other.number == other.usual);
            CHECK(o.*other.number == (other.name == flag.name ? 16 : other.usual));
        }
        const std::string least = flag.number == &TrainOptions::warm_up ? "0" : "1";
        CHECK(parsed({"--heads", "1", flag.name, least}).*flag.number == std::stoll(least));
        const std::string below = least == "0" ? "-1" : "0";
        CHECK(contains(refusal([&] {
                           (void)parsed({flag.name, below});
                       }),
                       std::string(flag.name) + " is " + below + ", but must be"));
    }
    CHECK(parsed({"--seed", "18446744073709551615"}).seed == ~std::uint64_t{0});
    CHECK(parsed({"--resume"}).resume);
    CHECK(parsed({"--backend", "cuda"}).backend == "cuda");
    CHECK(none.gpus == 1);
    CHECK(parsed({"--gpus", "2", "--backend", "cuda"}).gpus == 2);
    CHECK_FALSE(none.bf16);
    CHECK(parsed({"--bf16", "--backend", "cuda"}).bf16);
    CHECK_FALSE(parsed({"--backend", "cuda"}).bf16);
    CHECK(none.vocab == 0);
    CHECK(none.sample_every == 0);
    CHECK(none.weights == gpt2::WeightType::f32);
    CHECK(parsed({"--vocab", "bytes"}).vocab == 0);
    CHECK(parsed({"--vocab", "257"}).vocab == 257);
    CHECK(parsed({"--sample-every", "1"}).sample_every == 1);
    CHECK(parsed({"--weights", "f32"}).weights == gpt2::WeightType::f32);
    CHECK(parsed({"--weights", "q8_0"}).weights == gpt2::WeightType::q8_0);
    const auto refused = [](const Words& words, const char* said) {
        CHECK(contains(refusal([&] { (void)parsed(words); }), said));
    };
    refused({"--vocab", "256"},
            "--vocab is 256, but must be bytes, or how many tokens are learned");
    refused({"--vocab", "words"}, "--vocab is 'words', but must be bytes, or how many tokens");
    refused({"--bf16"}, "--bf16 needs --backend cuda");
    refused({"--bf16", "--backend", "cuda", "--channels", "48"},
            "--bf16 takes eight numbers at a time, and 128 at most, but a head has 12");
    refused({"--bf16", "--backend", "cuda", "--channels", "544"}, "but a head has 136");
    CHECK(parsed({"--bf16", "--backend", "cuda", "--channels", "512"}).bf16);
    refused({"--gpus", "0"}, "--gpus is 0, but must be a whole number, 1 or more");
    refused({"--gpus", "2"}, "--gpus is 2, but --backend is cpu; must be cuda");
    refused({"--gpus", "3", "--backend", "cuda"},
            "--gpus is 3, which does not divide the 8 of --batch equally");
    refused({"--sample-every", "0"}, "--sample-every is 0, but must be a whole number, 1 or more");
    refused({"--weights", "f16"}, "--weights is 'f16', but must be f32 or q8_0");
    refused({"--weights", "q8_0", "--channels", "48"},
            "do not divide the 48 of --channels equally");
    CHECK(contains(refusal([] {
                       (void)parse_training({"--strides", "2", "--vocab", "300", "--out", "o"});
                   }),
                   "--vocab is of a text, but --strides brings a vocabulary of its own"));
    CHECK(parse_training({"--help"}).help);  // asks for nothing else

    const gpt2::Config c = parsed({"--channels", "24", "--heads", "3"}).config(257);
    CHECK(c.layers == 2);
    CHECK(c.context == 64);
    CHECK(c.channels == 24);
    CHECK(c.heads == 3);
    CHECK(c.hidden == 96);
    CHECK(c.vocabulary == 257);
    CHECK(c.epsilon == 1e-5f);
    const Schedule s = parsed({"--rate", "0.5", "--warm-up", "7", "--steps", "9"}).schedule();
    CHECK(s.most == 0.5);
    CHECK(s.least == 0);
    CHECK(s.warm_up == 7);
    CHECK(s.steps == 9);
}

TEST_CASE("training: values at the edges of what is allowed, and one step beyond",
          "[day06][training][small]") {
    CHECK(parsed({"--rate", "1"}).rate == 1);
    CHECK(parsed({"--rate", "1e-30"}).rate == 1e-30);
    CHECK(parsed({"--decay", "0"}).decay == 0);
    CHECK(parsed({"--decay", "1"}).decay == 1);
    const struct {
        Words words;
        const char* refused;
    } wrong[] = {
        {{"--rate", "0"}, "--rate is 0, but must be a number above 0, and 1 at most"},
        {{"--rate", "1.001"}, "--rate is 1.001, but must be a number above 0, and 1 at most"},
        {{"--rate", "nan"}, "--rate is"},
        {{"--decay", "-0.001"}, "--decay is -0.001, but must be a number from 0 to 1"},
        {{"--decay", "1.001"}, "--decay is 1.001, but must be a number from 0 to 1"},
        {{"--decay", "nan"}, "--decay is"},
        {{"--seed", "-1"}, "--seed is"},
        {{"--backend", "tpu"}, "--backend is 'tpu', but must be cpu or cuda"},
        {{"--fast"}, "'--fast' is not a flag"},
        {{"--steps"}, "--steps is the last word, but a value must follow it"},
        {{"--heads", "5"}, "--heads is 5, which does not divide the 64 of --channels equally"},
    };
    for (const auto& w : wrong) {
        CAPTURE(w.refused);
        CHECK(contains(refusal([&] { (void)parsed(w.words); }), w.refused));
    }
    CHECK(contains(refusal([] {
                       (void)parse_training({"--out", "o"});
                   }),
                   "--text FILE is missing"));
    CHECK(contains(refusal([] {
                       (void)parse_training({"--text", "t"});
                   }),
                   "--out FILE is missing"));
}

}  // namespace
