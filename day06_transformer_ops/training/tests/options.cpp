// How gpt2_train parses its flags, and which values it rejects.
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

TEST_CASE("training: each flag sets its own number, and the others keep the defaults of --help",
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
        CHECK(contains(rejection([&] {
                           (void)parsed({flag.name, below});
                       }),
                       std::string(flag.name) + " is " + below + ", but must be"));
    }
    CHECK(parsed({"--seed", "18446744073709551615"}).seed == ~std::uint64_t{0});
    CHECK(parsed({"--resume"}).resume);
    CHECK_FALSE(parsed({"--resume"}).restart);
    CHECK_FALSE(none.restart);
    CHECK(parsed({"--restart"}).restart);
    CHECK(parsed({}).files() == Words{"o", "o.svg", "o.state"});
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
    const auto rejected = [](const Words& words, const char* said) {
        CHECK(contains(rejection([&] { (void)parsed(words); }), said));
    };
    rejected({"--vocab", "256"},
             "--vocab is 256, but must be bytes, or the number of tokens to learn");
    rejected({"--vocab", "words"},
             "--vocab is 'words', but must be bytes, or the number of tokens");
    rejected({"--bf16"}, "--bf16 needs --backend cuda");
    rejected({"--bf16", "--backend", "cuda", "--channels", "48"},
             "--bf16 takes eight numbers at a time, and 128 at most, but a head has 12");
    rejected({"--bf16", "--backend", "cuda", "--channels", "544"}, "but a head has 136");
    CHECK(parsed({"--bf16", "--backend", "cuda", "--channels", "512"}).bf16);
    rejected({"--gpus", "0"}, "--gpus is 0, but must be a whole number from 1 to 1024");
    rejected({"--gpus", "2"}, "--gpus is 2, but --backend is cpu; must be cuda");
    rejected({"--gpus", "3", "--backend", "cuda"},
             "--gpus is 3, which does not divide the 8 of --batch equally");
    rejected({"--sample-every", "0"},
             "--sample-every is 0, but must be a whole number from 1 to 100000000");
    rejected({"--weights", "f16"}, "--weights is 'f16', but must be f32 or q8_0");
    rejected({"--weights", "q8_0", "--channels", "48"},
             "do not divide the 48 of --channels equally");
    CHECK(contains(rejection([] {
                       (void)parse_training({"--strides", "2", "--vocab", "300", "--out", "o"});
                   }),
                   "--vocab is for --text; --strides has its own vocabulary"));
    CHECK(parse_training({"--help"}).help);  // needs no other flag

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

TEST_CASE("training: each numeric flag has a range, which its message names",
          "[day06][training][small]") {
    const struct {
        const char *flag, *least, *most, *below, *above, *range;
    } flags[] = {
        {"--layers", "1", "10000", "0", "10001", "a whole number from 1 to 10000"},
        {"--channels", "1", "65536", "0", "1000000000", "a whole number from 1 to 65536"},
        {"--heads", "1", "65536", "0", "65537", "a whole number from 1 to 65536"},
        {"--context", "1", "1048576", "0", "1048577", "a whole number from 1 to 1048576"},
        {"--batch", "1", "65536", "0", "65537", "a whole number from 1 to 65536"},
        {"--accumulate", "1", "65536", "0", "65537", "a whole number from 1 to 65536"},
        {"--steps", "1", "100000000", "0", "100000001", "a whole number from 1 to 100000000"},
        {"--warm-up", "0", "100000000", "-1", "100000001", "a whole number from 0 to 100000000"},
        {"--save-every", "1", "100000000", "0", "100000001", "a whole number from 1 to 100000000"},
        {"--sample-every", "1", "100000000", "0", "100000001",
         "a whole number from 1 to 100000000"},
        {"--threads", "0", "1024", "-1", "100000", "a whole number from 0 to 1024"},
        {"--gpus", "1", "1024", "0", "1025", "a whole number from 1 to 1024"},
        {"--strides", "1", "4", "0", "5", "a whole number from 1 to 4"},
        {"--vocab", "257", "1000000", "256", "1000001",
         "bytes, or the number of tokens to learn, from 257 (256 bytes and the end of text) to "
         "1000000"},
        {"--seed", "0", "18446744073709551615", "-1", "18446744073709551616",
         "a whole number from 0 to 18446744073709551615"},
        {"--rate", "1e-300", "1", "0", "1.001", "a number above 0 and at most 1"},
        {"--decay", "0", "1", "-0.001", "1.001", "a number from 0 to 1"},
    };
    for (const auto& f : flags) {
        CAPTURE(f.flag);
        for (const char* good : {f.least, f.most}) {
            const std::string said = rejection([&] { (void)parsed({f.flag, good}); });
            CHECK(!contains(said, "but must be"));  // though it may conflict with other flags
        }
        const std::string long_one(100'000, '9'), letters(100'000, 'x');
        for (const std::string& wrong :
             {std::string(f.below), std::string(f.above), std::string("many"), std::string("1 "),
              std::string(" 1"), std::string("+1"), std::string("0x1"), std::string("nan"),
              std::string("inf"), std::string("-inf"), std::string(), std::string("1\n"),
              std::string("99999999999999999999999"), long_one, letters}) {
            const std::string said = rejection([&] { (void)parsed({f.flag, wrong}); });
            CAPTURE(wrong.substr(0, 80), said);
            CHECK(said.rfind(std::string(f.flag) + " is ", 0) == 0);
            CHECK(contains(said, std::string(", but must be ") + f.range));
            CHECK(said.size() < 300);
        }
    }
    for (const char* flag : {"--backend", "--weights", "--fast"}) {
        const std::string said = rejection([&] {
            (void)parsed({flag + std::string(100'000, 'x'), "x"});
        });
        CHECK(said.size() < 200);
        CHECK(rejection([&] { (void)parsed({flag, std::string(100'000, 'x')}); }).size() < 200);
    }
}

TEST_CASE("training: values at the limits of their ranges, and one step beyond",
          "[day06][training][small]") {
    CHECK(parsed({"--rate", "1"}).rate == 1);
    CHECK(parsed({"--rate", "1e-30"}).rate == 1e-30);
    CHECK(parsed({"--decay", "0"}).decay == 0);
    CHECK(parsed({"--decay", "1"}).decay == 1);
    const struct {
        Words words;
        const char* rejected;
    } wrong[] = {
        {{"--rate", "0"}, "--rate is 0, but must be a number above 0 and at most 1"},
        {{"--rate", "1.001"}, "--rate is 1.001, but must be a number above 0 and at most 1"},
        {{"--rate", "nan"}, "--rate is"},
        {{"--decay", "-0.001"}, "--decay is -0.001, but must be a number from 0 to 1"},
        {{"--decay", "1.001"}, "--decay is 1.001, but must be a number from 0 to 1"},
        {{"--decay", "nan"}, "--decay is"},
        {{"--seed", "-1"}, "--seed is"},
        {{"--backend", "tpu"}, "--backend is 'tpu', but must be cpu or cuda"},
        {{"--fast"}, "'--fast' is not a flag"},
        {{"--steps"}, "--steps needs a value"},
        {{"--resume", "--restart"}, "--resume continues a run and --restart replaces it: give one"},
        {{"--heads", "5"}, "--heads is 5, which does not divide the 64 of --channels equally"},
    };
    for (const auto& w : wrong) {
        CAPTURE(w.rejected);
        CHECK(contains(rejection([&] { (void)parsed(w.words); }), w.rejected));
    }
    CHECK(contains(rejection([] {
                       (void)parse_training({"--out", "o"});
                   }),
                   "--text FILE is missing"));
    CHECK(contains(rejection([] {
                       (void)parse_training({"--text", "t"});
                   }),
                   "--out FILE is missing"));
}

}  // namespace
