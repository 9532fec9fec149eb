// A run's inputs and outputs: a text of any bytes, and a state that must match the run.
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>

#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"
#include "day06_transformer_ops/training/checkpoint.hpp"
#include "day06_transformer_ops/training/data.hpp"
#include "day06_transformer_ops/training/model/trainer_body.hpp"
#include "day06_transformer_ops/training/sample.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct Folder {
    std::string name = (std::filesystem::temp_directory_path() / "training_XXXXXX").string();
    Folder() { REQUIRE(mkdtemp(name.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(name); }
};

}  // namespace

TEST_CASE("a text is its bytes, and each of the 256 is a token", "[day06][training][small]") {
    const Folder folder;
    const std::string path = folder.name + "/text";
    std::vector<std::byte> bytes;
    for (int i = 0; i < 512; ++i) bytes.push_back(static_cast<std::byte>(i * 7 % 256));
    write_whole(path, bytes);
    const Source text = text_source(path, {1, 511, 0});  // it can be split at one position
    CHECK(text.words == "a text of 512 tokens");
    const Batch batch = text.batch(0);
    REQUIRE(batch.ids.size() == 511);
    REQUIRE(batch.targets.size() == 511);
    CHECK(batch.counts.empty());
    std::vector<int> seen(static_cast<std::size_t>(text.vocabulary.size()));
    for (std::size_t i = 0; i < 511; ++i) {
        CHECK(batch.ids[i] == gpt2::byte_token(static_cast<std::uint8_t>(bytes[i])));
        CHECK(batch.targets[i] == gpt2::byte_token(static_cast<std::uint8_t>(bytes[i + 1])));
        ++seen[static_cast<std::size_t>(batch.ids[i])];
    }
    ++seen[static_cast<std::size_t>(batch.targets[510])];
    CHECK(std::count(seen.begin(), seen.end(), 2) == 256);  // and the end of text never occurs
    CHECK(seen.size() == 257);
    CHECK(contains(rejection([&] {
                       (void)text_source(path, {1, 512, 0});
                   }),
                   "has 512 bytes, but a context of 512 needs 513 at least"));
    bytes[0] = std::byte{1};
    write_whole(path, bytes);
    CHECK(text_source(path, {1, 1, 0}).fingerprint != text.fingerprint);
}

TEST_CASE("in a batch of lines the answer and the end count, the question does not",
          "[day06][training][small]") {
    const Source lines = line_source(2, {5, 24, 3});
    CHECK(lines.words == "lines about shapes of up to 2 dimensions");
    const std::int64_t end = lines.vocabulary.end_of_text();
    const auto& names = lines.vocabulary.tokens;
    const auto arrow =
        std::find(names.begin(), names.end(), gpt2::in_letters(" ->")) - names.begin();
    for (const std::int64_t number : {0, 1, 700}) {
        const Batch batch = lines.batch(number);
        REQUIRE(batch.ids.size() == 5 * 24);
        REQUIRE(batch.targets.size() == 5 * 24);
        REQUIRE(batch.counts.size() == 5 * 24);
        for (std::size_t line = 0; line < 5; ++line) {
            bool answers = false, ended = false;
            for (std::size_t t = 0; t < 24; ++t) {
                const std::size_t i = line * 24 + t;
                if (t + 1 < 24) CHECK(batch.targets[i] == batch.ids[i + 1]);
                answers = answers || batch.ids[i] == arrow;  // the question's last token
                ended = ended || batch.ids[i] == end;
                CHECK(batch.counts[i] == (answers && !ended));
                if (ended) CHECK(batch.targets[i] == end);
            }
            CHECK((answers && ended));
        }
        CHECK(lines.batch(number).ids == batch.ids);
    }
    CHECK(lines.batch(0).ids != lines.batch(1).ids);
    CHECK(lines.batch(0).ids != line_source(2, {5, 24, 4}).batch(0).ids);
    // A batch of 10 equals two of 5: line n does not depend on the batch size.
    const Batch both = line_source(2, {10, 24, 3}).batch(0);
    CHECK(std::equal(both.ids.begin() + 5 * 24, both.ids.end(), lines.batch(1).ids.begin()));

    CHECK(contains(rejection([] {
                       (void)line_source(5, {1, 64, 0});
                   }),
                   "--strides is 5, but must be 1 to 4"));
    CHECK(contains(rejection([] {
                       (void)line_source(0, {1, 64, 0});
                   }),
                   "--strides is 0, but must be 1 to 4"));
    CHECK(line_source(4, {1, 39, 0}).batch(0).ids.size() == 39);
    CHECK(contains(rejection([] {
                       (void)line_source(4, {1, 38, 0});
                   }),
                   "up to 40 tokens, so --context must be 39 or more, not 38"));
    CHECK(line_source(1, {1, 64, 0}).fingerprint != line_source(2, {1, 64, 0}).fingerprint);
}

TEST_CASE("consecutive batches equal one long batch, and reach every position of the text",
          "[day06][training][small]") {
    std::vector<std::int64_t> text;
    for (std::int64_t i = 0; i < 500; ++i) text.push_back(i);  // each token is its position
    constexpr std::int64_t kContext = 4;
    const Batch whole = pieces_of(text, {60, kContext, 5}, 0);
    REQUIRE(whole.ids.size() == 60 * kContext);
    Batch parts;
    for (std::int64_t number = 0; number < 20; ++number) {
        const Batch part = pieces_of(text, {3, kContext, 5}, number);
        parts.ids.insert(parts.ids.end(), part.ids.begin(), part.ids.end());
        parts.targets.insert(parts.targets.end(), part.targets.begin(), part.targets.end());
    }
    CHECK(parts.ids == whole.ids);
    CHECK(parts.targets == whole.targets);
    for (std::size_t i = 0; i < whole.ids.size(); ++i) {
        CHECK(whole.targets[i] == whole.ids[i] + 1);
        if (i % kContext != 0) CHECK(whole.ids[i] == whole.ids[i - 1] + 1);
    }
    CHECK(pieces_of(text, {60, kContext, 6}, 0).ids != whole.ids);

    text.resize(kContext + 3);  // three positions
    std::vector<int> seen(3);
    const Batch few = pieces_of(text, {60, kContext, 5}, 0);
    for (std::size_t i = 0; i < few.ids.size(); i += kContext) {
        REQUIRE(few.ids[i] < 3);
        ++seen[static_cast<std::size_t>(few.ids[i])];
    }
    for (const int times : seen) CHECK(times > 5);
}

TEST_CASE("gpt2 reads the written model: sizes, matrices, vectors, and a token for each byte",
          "[day06][training][small]") {
    const Folder folder;
    TrainOptions o;
    o.out = folder.name + "/model";
    o.layers = 2, o.channels = 6, o.heads = 3, o.context = 5;
    const gpt2::NewVocabulary vocabulary = gpt2::vocabulary_of_words({});  // bytes, and the end
    const gpt2::Config wanted = o.config(vocabulary.size());
    const Parameters map(wanted);
    std::vector<float> run(static_cast<std::size_t>(map.size()));
    for (std::size_t i = 0; i < run.size(); ++i) run[i] = static_cast<float>(i);  // its index
    write_model(o, map, run, vocabulary);
    const gpt2::MappedFile mapped(o.out);
    const gpt2::Gguf file(mapped.bytes(), o.out);
    REQUIRE(file.has_checksums());
    file.check_checksums();
    const gpt2::ModelWeights model = gpt2::read_model(file);
    const gpt2::Vocabulary written(file);

    const gpt2::Config& c = model.config;
    CHECK(c.layers == wanted.layers);
    CHECK(c.context == wanted.context);
    CHECK(c.channels == wanted.channels);
    CHECK(c.heads == wanted.heads);
    CHECK(c.hidden == wanted.hidden);
    CHECK(c.vocabulary == wanted.vocabulary);
    CHECK(c.epsilon == wanted.epsilon);
    CHECK(written.size() == 257);
    CHECK(written.end_of_text() == 256);

    std::size_t compared = 0;
    const auto same = [&](const std::string& name, const View<const float>& got) {
        CAPTURE(name);
        CHECK(equal(got, map.view(static_cast<const float*>(run.data()), name)));
        ++compared;
    };
    const auto norm = [&](const std::string& name, const gpt2::NormWeights& got) {
        same(name + ".weight", got.weight.view());
        same(name + ".bias", got.bias.view());
    };
    const auto linear = [&](const std::string& name, const gpt2::LinearWeights& got) {
        same(name + ".weight", got.weight.as_f32());
        same(name + ".bias", got.bias.view());
    };
    same("token_embd.weight", model.token_embedding.as_f32());
    same("position_embd.weight", model.position_embedding.as_f32());
    for (std::size_t l = 0; l < 2; ++l) {
        const std::string name = "blk." + std::to_string(l) + ".";
        const gpt2::BlockWeights& block = model.blocks[l];
        norm(name + "attn_norm", block.attention_norm);
        linear(name + "attn_qkv", block.qkv);
        linear(name + "attn_output", block.attention_output);
        norm(name + "ffn_norm", block.mlp_norm);
        linear(name + "ffn_up", block.up);
        linear(name + "ffn_down", block.down);
    }
    norm("output_norm", model.final_norm);
    CHECK(compared == map.all().size());
}

TEST_CASE("8-bit matrices have an error of at most half a scale, and vectors are exact",
          "[day06][training][small]") {
    TrainOptions o;
    o.layers = 1, o.channels = 32, o.heads = 2, o.context = 4;
    const gpt2::NewVocabulary vocabulary = gpt2::vocabulary_of_words({});
    const Parameters map(o.config(vocabulary.size()));
    const std::vector<float> run = map.begin(3);
    const auto bytes = model_file(map, run, vocabulary, gpt2::WeightType::q8_0);
    const auto plain = model_file(map, run, vocabulary, gpt2::WeightType::f32);
    CHECK(bytes.size() < plain.size() / 2);
    const gpt2::Gguf file(bytes, "model");
    for (const Parameter& p : map.all()) {
        CAPTURE(p.name);
        const gpt2::Weight& weight = file.tensor(p.name).weight;
        REQUIRE(weight.shape == p.shape);
        CHECK((weight.type == gpt2::WeightType::q8_0) == (p.shape.rank == 2));
        Tensor<float> got(p.shape);
        gpt2::to_float_cpu(weight, got.view());
        const float* const want = run.data() + p.first;
        double worst = 0, largest = 0;
        for (std::int64_t i = 0; i < got.size(); ++i) {
            worst = std::max(worst, std::fabs(double{got.data()[i]} - double{want[i]}));
            largest = std::max(largest, std::fabs(double{want[i]}));
        }
        // Half a scale, and the roundings of the 11-bit scale and of the products.
        CHECK(worst <= (p.shape.rank == 2 ? largest / 127 * 0.5 + largest * 0x1p-11 : 0));
    }
}

TEST_CASE("a run does not overwrite its training text, whatever the path is called",
          "[day06][training][small]") {
    const Folder folder;
    const std::string out = folder.name + "/notes", link = folder.name + "/link";
    std::filesystem::create_symlink("notes", link);
    const auto parsed = [](const std::string& text, const std::string& model) {
        return parse_training({"--text", text, "--out", model});
    };
    const std::string near = std::filesystem::relative(folder.name).string() + "/notes";
    const std::string end_of_name = std::filesystem::path(folder.name).filename().string();
    const std::string round = folder.name + "/../" + end_of_name + "/./notes";
    for (const std::string end : {"", ".svg", ".state", ".new", ".svg.new", ".state.new"}) {
        const std::string text = out + end;
        CHECK(parsed(text, out).text == text);  // no file exists yet that could be lost
        write_whole(text, {std::byte{'a'}});
        for (const std::string& model : {out, near, round}) {
            const std::string said = rejection([&] { (void)parsed(text, model); });
            CHECK(contains(said, "--out " + model + " would write " + model + end +
                                     " over the text that it learns, --text " + text));
        }
        CHECK(contains(rejection([&] { (void)parsed(near + end, out); }), "--text " + near + end));
        CHECK(parsed(text, folder.name + "/model").text == text);
        CHECK(parsed(text, folder.name + "/note").text == text);
        if (end.empty())
            CHECK(contains(rejection([&] { (void)parsed(text, link); }), "over the text"));
        std::filesystem::remove(text);
    }
    CHECK(parse_training({"--strides", "2", "--out", out}).out == out);
}

TEST_CASE("a state of another version, with a missing key, is rejected with a remedy",
          "[day06][training][small]") {
    const Folder folder;
    TrainOptions o;
    o.out = folder.name + "/model";
    o.layers = 1, o.channels = 4, o.heads = 2, o.context = 4;
    const Parameters map(o.config(257));
    const auto words = [&](const std::string& missing) {
        gpt2::GgufWriter file;
        for (const char* key : {"run.layers", "run.channels", "run.heads"}) {
            if (key != missing) file.text(key, key == std::string("run.channels") ? "4" : "1");
        }
        if (missing != "checksum.file") file.checksums();
        const std::vector<std::byte> bytes = file.bytes();
        return rejection([&] { (void)state_of(bytes, o, map, 6); });
    };
    for (const char* missing : {"checksum.file", "run.layers"}) {
        const std::string said = words(missing);
        CHECK(contains(said, "--resume: " + o.state() + " has no " + missing));
        CHECK(contains(said, "--restart starts over"));
    }
}

TEST_CASE("a flipped bit in a state is never resumed, and reported with its tensor",
          "[day06][training][small]") {
    TrainOptions o;
    o.out = "model";
    o.layers = 1, o.channels = 4, o.heads = 2, o.context = 3, o.seed = 7;
    const Parameters map(o.config(257));
    TrainingState state;
    state.step = 3;
    state.parameters = map.begin(1), state.first = map.begin(2), state.second = map.begin(3);
    state.losses = {5, 4, 3};
    std::vector<std::byte> bytes = state_file(o, state, 99);
    REQUIRE(state_of(bytes, o, map, 99).step == 3);
    const gpt2::Gguf whole(bytes, "state");
    const auto first_of = [&](const char* name) {
        return static_cast<std::size_t>(whole.tensor(name).weight.data - bytes.data());
    };
    const std::size_t data = first_of("parameters"), averages = first_of("first");
    // All bits of keys and names, and one in 61 after them.
    std::int64_t flipped = 0, of_parameters = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += bit < 8 * data ? 1 : 61) {
        bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        const std::string said = rejection([&] { (void)state_of(bytes, o, map, 99); });
        if (said.empty()) FAIL("bit " << bit % 8 << " of byte " << bit / 8 << " was accepted");
        if (bit / 8 >= data && bit / 8 < data + 4 * state.parameters.size()) {
            ++of_parameters;
            CHECK(said ==
                  "model.state: tensor 'parameters' does not match its checksum: the file is "
                  "damaged");
        }
        bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        ++flipped;
    }
    CHECK(flipped > 8'000);
    CHECK(of_parameters > 500);
    CHECK(averages > data);
    bytes.pop_back();
    CHECK(!rejection([&] { (void)state_of(bytes, o, map, 99); }).empty());
}

TEST_CASE("an existing run or model is replaced only by --restart", "[day06][training][small]") {
    const Folder folder;
    TrainOptions o;
    o.out = folder.name + "/model";
    o.layers = 1, o.channels = 4, o.heads = 2, o.context = 3, o.steps = 9;
    const auto words = [&](bool resume, bool restart) {
        TrainOptions asked = o;
        asked.resume = resume, asked.restart = restart;
        return rejection([&] { reject_to_replace(asked); });
    };
    CHECK(words(false, false).empty());
    write_whole(o.out, {std::byte{1}});
    CHECK(words(false, false) == o.out +
                                     " already exists, but the state of its run is missing, "
                                     "which is " +
                                     o.state() + "; --restart starts over and replaces it");
    const Parameters map(o.config(257));
    TrainingState state;
    state.parameters = state.first = state.second = map.begin(3);
    for (const std::int64_t step : {1, 8, 9}) {
        state.step = step, state.losses.assign(static_cast<std::size_t>(step), 1);
        write_state(o, state, 6);
        CHECK(words(false, false) == o.state() + " holds a run that has done " +
                                         std::to_string(step) +
                                         " of 9 steps: --resume continues it" +
                                         (step == 9 ? ", up to a larger --steps" : "") +
                                         "; --restart starts over and replaces it");
    }
    write_whole(o.state(), {std::byte{1}});
    CHECK(contains(words(false, false), "holds no run of this version of gpt2_train; --restart"));
    CHECK(words(true, false).empty());
    CHECK(words(false, true).empty());
}

TEST_CASE("a disk without room for a run's files is reported before the first step",
          "[day06][training][small]") {
    const Folder folder;
    TrainOptions o;
    o.out = folder.name + "/model";
    const Parameters map(o.config(257));
    CHECK(rejection([&] { check_room(o, map); }).empty());
    CHECK(std::filesystem::is_empty(folder.name));
    // State and model, and not much more; a resumed run already has the space of its state.
    o.steps = 100'000;
    TrainingState state;
    state.parameters = state.first = state.second = map.begin(3);
    state.losses.assign(100'000, 1);
    const auto of_state = static_cast<std::int64_t>(state_file(o, state, 6).size());
    const auto of_model = static_cast<std::int64_t>(
        model_file(map, state.parameters, gpt2::vocabulary_of_words({}), gpt2::WeightType::f32)
            .size());
    const std::int64_t room = room_of(o, map);
    CHECK(room >= of_state + of_model);
    CHECK(room <= of_state + of_model + 150'000);
    write_state(o, state, 6);
    CHECK(room_of(o, map) >= of_state);
    CHECK(room_of(o, map) < room);
}

TEST_CASE("the reported memory of a run is at most, and close to, what it takes",
          "[day06][training][small]") {
    const struct {  // each size dominates once
        const char* most;
        gpt2::Config config;
        std::int64_t batch, operand_bytes;
    } cases[] = {
        {"square matrices", {2, 8, 256, 2, 256, 2, 1e-5f}, 1, 2},
        {"matrices of the MLP", {2, 8, 64, 2, 4096, 2, 1e-5f}, 1, 2},
        {"the vocabulary's rows", {1, 4, 64, 1, 64, 100'000, 1e-5f}, 1, 2},
        {"rows of channels", {50, 64, 64, 1, 64, 2, 1e-5f}, 64, 2},
        {"rows of hidden channels", {50, 64, 64, 1, 2048, 2, 1e-5f}, 64, 2},
        {"logits", {1, 64, 8, 1, 8, 50'257, 1e-5f}, 64, 4},
    };
    for (const auto& c : cases) {
        CAPTURE(c.most);
        const std::int64_t floats =
            4 * Parameters(c.config).size() + activations_of(c.config, c.batch, c.operand_bytes);
        const double said = training_bytes(c.config, c.batch), taken = 4.0 * double(floats);
        CHECK(said <= taken);
        CHECK(said >= 0.96 * taken);
    }
    gpt2::Config huge = cases[0].config;
    huge.layers = 10'000, huge.channels = 65'536, huge.hidden = 4 * huge.channels;
    huge.context = 1 << 20;
    CHECK(training_bytes(huge, 65'536) > 1e20);  // beyond 63 bits
}

TEST_CASE("a sample: the prompt and the model's continuation, reproducible for a seed, in one line",
          "[day06][training][small]") {
    CHECK(in_one_line("caf\u00e9 \u20ac\n\t\x01\xff\x7f~") ==
          "caf\u00e9 \u20ac\\n\\t\\x01\\xff\\x7f~");
    CHECK(in_one_line("\u0085") == "\\xc2\\x85");  // a control character of two bytes
    CHECK(in_one_line("\xe2\x82") == "\\xe2\\x82");
    CHECK(in_one_line("\\n") == "\\\\n");  // not a line end
    const Folder folder;
    const std::string path = folder.name + "/text";
    const std::string text = "six days from flat memory";
    const auto* const of_text = reinterpret_cast<const std::byte*>(text.data());
    write_whole(path, {of_text, of_text + text.size()});
    TrainOptions o;
    o.channels = 8, o.heads = 2, o.layers = 1, o.context = 20;
    const auto with = [&](const Source& source, std::uint64_t seed) {
        const Parameters map(o.config(source.vocabulary.size()));
        const std::vector<float> run = map.begin(4);
        return sample_of(model_file(map, run, source.vocabulary, gpt2::WeightType::f32), source,
                         seed, 1);
    };
    const Source source = text_source(path, o.batching());
    const std::string said = with(source, 1);
    CHECK(said.starts_with("six days"));  // and 13 random bytes
    CHECK(said.size() > 8);
    CHECK(with(source, 1) == said);
    CHECK(with(source, 2) != said);
    // A model that always predicts "b" continues with 32 of them.
    TrainOptions wide = o;
    wide.context = 60;
    write_whole(path, std::vector<std::byte>(100, std::byte{'b'}));
    const Source bs = text_source(path, wide.batching());
    const Parameters map(wide.config(bs.vocabulary.size()));
    std::vector<float> run(static_cast<std::size_t>(map.size()));
    const View<float> table = map.view(run.data(), "token_embd.weight");
    for (std::int64_t c = 0; c < wide.channels; ++c) {
        map.view(run.data(), "output_norm.bias")(c) = 10, table(bs.prompt[0], c) = 1;
    }
    CHECK(sample_of(model_file(map, run, bs.vocabulary, gpt2::WeightType::f32), bs, 1, 1) ==
          std::string(bs.prompt.size() + 32, 'b'));
    write_whole(path, {of_text, of_text + text.size()});
    // A short context: half of it is the prompt, which leaves room for the continuation.
    TrainOptions narrow = o;
    narrow.context = 5;
    CHECK(text_source(path, narrow.batching()).prompt.size() == 3);
    narrow.context = 1;
    CHECK(text_source(path, narrow.batching()).prompt.size() == 1);
    const Source lines = line_source(2, o.batching());
    const std::string answer = with(lines, 1);
    CHECK(answer.starts_with("shape 3 4 index 2 1 ->"));
    CHECK(with(lines, 2) == answer);  // the likeliest tokens, whatever the seed

    // It may use one thread, so there is never a second one, except the one that counts.
    const auto threads = [] {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    };
    std::atomic<bool> ended = false;
    const auto before = threads();
    auto most = std::async(std::launch::async, [&] {
        auto seen = threads();
        while (!ended) seen = std::max(seen, threads());
        return seen;
    });
    for (int i = 0; i < 20; ++i) (void)with(source, 1);
    ended = true;
    CHECK(most.get() == before + 1);
}

TEST_CASE("a written file is closed, and one that cannot be renamed is removed",
          "[day06][training][small]") {
    const Folder folder;
    const auto open_files = [] {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    const std::vector<std::byte> bytes(3);
    const auto before = open_files();
    write_whole(folder.name + "/file", bytes);
    CHECK(std::filesystem::file_size(folder.name + "/file") == 3);
    CHECK(open_files() == before);
    const std::string taken = folder.name + "/taken";  // by a folder
    std::filesystem::create_directory(taken);
    CHECK_THROWS_AS(write_whole(taken, bytes), std::invalid_argument);
    CHECK(open_files() == before);
    CHECK(std::filesystem::is_directory(taken));
    CHECK_FALSE(std::filesystem::exists(taken + ".new"));
    CHECK_FALSE(std::filesystem::exists(folder.name + "/file.new"));
}

TEST_CASE("a saved state is read back, and rejected by a run with other options",
          "[day06][training][small]") {
    const Folder folder;
    TrainOptions o;
    o.out = folder.name + "/model";
    o.layers = 1, o.channels = 4, o.heads = 2, o.context = 3, o.seed = 7, o.warm_up = 0;
    const Parameters map(o.config(257));
    TrainingState state;
    state.step = 5;
    state.parameters = map.begin(1), state.first = map.begin(2), state.second = map.begin(3);
    state.losses = {5, 4, 3, 2.5f, 2};
    write_state(o, state, 99);
    const TrainingState back = read_state(o, map, 99);
    CHECK(back.step == 5);
    CHECK(back.parameters == state.parameters);
    CHECK(back.first == state.first);
    CHECK(back.second == state.second);
    CHECK(back.losses == state.losses);

    const auto rejected = [&](const auto& change, const char* words) {
        TrainOptions other = o;
        change(other);
        CHECK(contains(rejection([&] { (void)read_state(other, map, 99); }), words));
    };
    rejected([](TrainOptions& x) { x.layers = 2; }, "whose --layers was 1, but this one has 2");
    rejected([](TrainOptions& x) { x.channels = 8; }, "whose --channels was 4, but this one has 8");
    rejected([](TrainOptions& x) { x.heads = 1; }, "whose --heads was 2, but this one has 1");
    rejected([](TrainOptions& x) { x.context = 4; }, "whose --context was 3, but this one has 4");
    rejected([](TrainOptions& x) { x.batch = 9; }, "whose --batch was 8, but this one has 9");
    rejected([](TrainOptions& x) { x.accumulate = 2; }, "whose --accumulate was 1");
    rejected([](TrainOptions& x) { x.bf16 = true; }, "whose --bf16 was off, but this one has on");
    rejected([](TrainOptions& x) { x.warm_up = 1; }, "whose --warm-up was 0, but this one has 1");
    rejected([](TrainOptions& x) { x.vocab = 300; },
             "whose --vocab was bytes, but this one has 300");
    rejected([](TrainOptions& x) { x.seed = ~std::uint64_t{0}; },
             "whose --seed was 7, but this one has 18446744073709551615");
    rejected([](TrainOptions& x) { x.rate = 4e-3; },
             "whose --rate was 0.003, but this one has 0.004");
    rejected([](TrainOptions& x) { x.decay = 0.2f; },
             "whose --decay was 0.1, but this one has 0.2");
    CHECK(contains(rejection([&] { (void)read_state(o, map, 101); }),
                   "whose text's checksum was 99, but this one has 101"));
    // Every bit of a rate and a decay matters.
    rejected([&](TrainOptions& x) { x.rate = std::nextafter(o.rate, 1); },
             "whose --rate was 0.003,");
    rejected([&](TrainOptions& x) { x.decay = std::nextafter(o.decay, 1.f); }, "whose --decay was");
    TrainOptions slow = o;
    slow.rate = 1e-7;
    write_state(slow, state, 99);
    CHECK(read_state(slow, map, 99).step == 5);
    slow.rate = 4e-7;
    CHECK(contains(rejection([&] { (void)read_state(slow, map, 99); }),
                   "whose --rate was 1e-07, but this one has 4e-07"));
    write_state(o, state, 99);
    // A run may become longer, or shorter, but not shorter than its progress.
    for (const std::int64_t steps : {5, 199, 200, 201}) {
        TrainOptions other = o;
        other.steps = steps;
        const TrainingState longer = read_state(other, map, 99);
        CHECK((longer.step == 5 && longer.steps == 200));
    }
    rejected([](TrainOptions& x) { x.steps = 4; },
             "is of a run that has done 5 steps, but --steps is 4");
    const Parameters larger({1, 3, 4, 2, 16, 300, 1e-5f});
    CHECK(contains(rejection([&] { (void)read_state(o, larger, 99); }),
                   "parameters has shape (" + std::to_string(map.size()) + "), but the model has " +
                       std::to_string(larger.size()) + " numbers"));
}
