// The command line: what is accepted, and the error messages.
#include "day06_transformer_ops/gpt2/options.hpp"

#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

std::string rejected(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--model", "m"});
    return rejection([&] { (void)parse(arguments); });
}

}  // namespace

TEST_CASE("all flags are accepted", "[day06][small]") {
    const Options o = parse({"--model",
                             "m.gguf",
                             "--prompt",
                             "a b",
                             "-n",
                             "7",
                             "--context",
                             "100",
                             "--temperature",
                             "0.5",
                             "--top-k",
                             "3",
                             "--top-p",
                             "0.25",
                             "--seed",
                             "18446744073709551615",
                             "--backend",
                             "cuda",
                             "--threads",
                             "4",
                             "--stats",
                             "--fast",
                             "--compare"});
    CHECK(o.model == "m.gguf");
    CHECK(o.prompt == "a b");
    CHECK(o.n == 7);
    CHECK(o.context == 100);
    CHECK(o.sampler.temperature == 0.5f);
    CHECK(o.sampler.top_k == 3);
    CHECK(o.sampler.top_p == 0.25f);
    CHECK(o.sampler.seed == ~std::uint64_t{0});
    CHECK(o.backend == "cuda");
    CHECK(o.threads == 4);
    CHECK(o.stats);
    CHECK(o.compare);
    CHECK(o.prompts == Prompts::tensor_cores);
    CHECK_FALSE(o.interactive);
    CHECK(parse({"--model", "m", "--interactive"}).interactive);
    CHECK(parse({"--model", "m", "--perplexity", "f"}).perplexity == "f");
    CHECK(parse({"--model", "m", "--chat"}).chat);
    CHECK_FALSE(parse({"--model", "m", "--chat"}).system.has_value());
    CHECK(parse({"--model", "m", "--chat", "--system", "s"}).system == "s");
    CHECK(parse({"--help"}).help);
    CHECK(parse({"--model", "m", "--interactive", "--backend", "cuda", "--floats"}).prompts ==
          Prompts::floats);
}

TEST_CASE("the minimum and maximum of each number are accepted", "[day06][small]") {
    const auto with = [](const char* flag, const char* value) {
        return parse({"--model", "m", "--prompt", "a", flag, value});
    };
    CHECK(with("-n", "1").n == 1);
    CHECK(with("--threads", "1").threads == 1);
    CHECK(with("--top-k", "0").sampler.top_k == 0);
    CHECK(with("--seed", "0").sampler.seed == 0);
    CHECK(with("--temperature", "0").sampler.temperature == 0);
    CHECK(with("--top-p", "0").sampler.top_p == 0);
    CHECK(with("--top-p", "1").sampler.top_p == 1);
    CHECK(with("--backend", "cpu").backend == "cpu");
}

TEST_CASE("each numeric flag has a range, which its message names without repeating a long value",
          "[day06][small]") {
    const struct {
        const char *flag, *least, *most, *below, *above, *range;
    } flags[] = {
        {"-n", "1", "16777216", "0", "16777217", "a whole number from 1 to 16777216"},
        {"--context", "1", "16777216", "0", "16777217", "a whole number from 1 to 16777216"},
        {"--threads", "1", "1024", "0", "1025", "a whole number from 1 to 1024"},
        {"--top-k", "0", "16777216", "-1", "16777217", "a whole number from 0 to 16777216"},
        {"--seed", "0", "18446744073709551615", "-1", "18446744073709551616",
         "a whole number from 0 to 18446744073709551615"},
        {"--temperature", "0", "1000", "-0.001", "1000.1", "a number from 0 to 1000"},
        {"--top-p", "0", "1", "-0.001", "1.001", "a number from 0 to 1"},
    };
    for (const auto& f : flags) {
        CAPTURE(f.flag);
        CHECK(rejected({"--prompt", "a", f.flag, f.least}).empty());
        CHECK(rejected({"--prompt", "a", f.flag, f.most}).empty());
        const std::string long_one(100'000, '9'), letters(100'000, 'x');
        for (const std::string& wrong :
             {std::string(f.below), std::string(f.above), std::string("99999999999999999999999"),
              std::string("-99999999999999999999999"), std::string("many"), std::string("1 "),
              std::string(" 1"), std::string("+1"), std::string("0x1"), std::string("nan"),
              std::string("inf"), std::string(), std::string("1\n"), long_one, letters}) {
            const std::string said = rejected({"--prompt", "a", f.flag, wrong});
            CAPTURE(wrong.substr(0, 80), said);
            CHECK(said.rfind(std::string(f.flag) + " is ", 0) == 0);
            CHECK(contains(said, std::string(", but must be ") + f.range));
            CHECK(said.size() < 300);
        }
    }
    CHECK(rejected({std::string(100'000, '-')}).size() < 200);
    CHECK(rejected({"--backend", std::string(100'000, 'c')}).size() < 200);
}

TEST_CASE("the defaults are those that --help lists", "[day06][small]") {
    const Options o = parse({"--model", "m", "--prompt", ""});
    CHECK(o.prompt == "");
    CHECK_FALSE(o.n.has_value());
    CHECK_FALSE(o.context.has_value());
    CHECK(Options::kContext == 4096);
    CHECK(o.sampler.temperature == 1);
    CHECK(o.sampler.top_k == 40);
    CHECK(o.sampler.top_p == 1);
    CHECK(o.sampler.seed == 0);
    CHECK(o.backend == "cpu");
    CHECK(o.threads == 0);
    CHECK(o.prompts == Prompts::as_weights);
    for (const char* flag : {"--model", "--prompt", "--interactive", "--perplexity", "-n",
                             "--temperature", "--top-k", "--top-p", "--seed", "--backend",
                             "--threads", "--stats", "--compare", "--fast", "--floats", "--help"}) {
        CHECK(contains(usage(), std::string("  ") + flag + " "));
    }
}

TEST_CASE("--compare computes in floats, whatever the file's type, unless --fast is given",
          "[day06][small]") {
    const auto cuda = [](const char* flag) {
        return parse({"--model", "m", "--prompt", "a", "--backend", "cuda", "--compare", flag});
    };
    CHECK(cuda("--stats").prompts == Prompts::floats);
    CHECK(cuda("--floats").prompts == Prompts::floats);
    CHECK(cuda("--fast").prompts == Prompts::tensor_cores);
}

TEST_CASE("an invalid command line is rejected, and the message names the word at fault",
          "[day06][small]") {
    CHECK(rejected({"--quick"}) == "'--quick' is not a flag");
    CHECK(rejected({"text"}) == "'text' is not a flag");
    CHECK(rejected({"--promt", "a"}) == "'--promt' is not a flag; did you mean --prompt?");
    CHECK(rejected({"--state"}) == "'--state' is not a flag; did you mean --stats?");
    CHECK(rejected({"--top_q"}) == "'--top_q' is not a flag; did you mean --top-k?");
    CHECK(rejected({"--hlep"}) == "'--hlep' is not a flag; did you mean --help?");
    CHECK(rejected({"--seeds"}) == "'--seeds' is not a flag; did you mean --seed?");
    CHECK(rejected({"-k"}) == "'-k' is not a flag");  // one letter of two
    CHECK(rejected({"--modellll", "m"}) == "'--modellll' is not a flag");
    CHECK(rejected({"--prompt", "a", "--fast"}) ==
          "--fast and --floats need --backend cuda: they say how a GPU reads prompts");
    CHECK(contains(rejected({"--prompt", "a", "--floats"}), "need --backend cuda"));
    for (const char* first : {"--fast", "--floats"}) {
        const char* const second = first[3] == 'a' ? "--floats" : "--fast";
        CHECK(rejected({"--backend", "cuda", "--prompt", "a", first, second}) ==
              "--fast rounds prompts and --floats does not: give one of them, or neither");
    }
    CHECK(rejected({"--prompt"}) == "--prompt needs a value");
    CHECK(rejected({"-n", "many"}) ==
          "-n is 'many', but must be a whole number from 1 to 16777216");
    CHECK(rejected({"-n", "0"}) == "-n is 0, but must be a whole number from 1 to 16777216");
    CHECK(rejected({"-n", "4x"}) == "-n is '4x', but must be a whole number from 1 to 16777216");
    CHECK(rejected({"-n", ""}) == "-n is '', but must be a whole number from 1 to 16777216");
    CHECK(contains(rejected({"-n", "99999999999999999999"}), "'99999999999999999999'"));
    CHECK(rejected({"--threads", "0"}) ==
          "--threads is 0, but must be a whole number from 1 to 1024");
    CHECK(rejected({"--top-k", "-1"}) ==
          "--top-k is -1, but must be a whole number from 0 to 16777216");
    CHECK(rejected({"--seed", "-1"}) ==
          "--seed is '-1', but must be a whole number from 0 to 18446744073709551615");
    CHECK(rejected({"--backend", "gpu"}) == "--backend is 'gpu', but must be cpu or cuda");
    CHECK(rejected({"--temperature", "hot"}) ==
          "--temperature is 'hot', but must be a number from 0 to 1000");
    CHECK(contains(rejected({"--prompt", "a", "--temperature", "-1"}),
                   "--temperature is -1, but must be a number from 0 to 1000"));
    CHECK(contains(rejected({"--prompt", "a", "--temperature", "nan"}), "--temperature is nan"));
    CHECK(contains(rejected({"--prompt", "a", "--top-p", "1.5"}),
                   "--top-p is 1.5, but must be a number from 0 to 1"));
    const std::string one =
        "exactly one of --prompt TEXT, --interactive, --chat and --perplexity FILE is needed";
    CHECK(rejected({}) == one);
    CHECK(rejected({"--chat", "--interactive"}) == one);
    CHECK(rejected({"--chat", "--prompt", "a"}) == one);
    CHECK(rejected({"--chat", "--perplexity", "f"}) == one);
    CHECK(rejected({"--interactive", "--system", "s"}) ==
          "--system needs --chat: it tells the model how to answer in a conversation");
    CHECK(contains(rejected({"--chat", "--compare"}), "--compare needs the --prompt TEXT"));
    CHECK(rejected({"--prompt", "a", "--interactive"}) == one);
    CHECK(rejected({"--interactive", "--perplexity", "f"}) == one);
    CHECK(contains(rejected({"--compare"}), "--compare needs the --prompt TEXT"));
    CHECK(rejection([] {
              (void)parse({"--prompt", "a"});
          }) == "--model FILE is missing: a model as a GGUF file");
}
