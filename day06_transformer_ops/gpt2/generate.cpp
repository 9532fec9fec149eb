#include "day06_transformer_ops/gpt2/generate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::gpt2 {
namespace {

View<const std::int64_t> view_of(const std::vector<std::int64_t>& ids) {
    return {ids.data(), Shape{static_cast<std::int64_t>(ids.size())}};
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::int64_t most_tokens(std::int64_t capacity, const std::vector<std::int64_t>& prompt) {
    return capacity - std::max<std::int64_t>(1, static_cast<std::int64_t>(prompt.size())) + 1;
}

void check_room(std::int64_t capacity, const std::vector<std::int64_t>& prompt, std::int64_t n,
                std::int64_t length) {
    if (n < 1) reject(n, " tokens to generate; the minimum is 1");
    if (n > most_tokens(capacity - length, prompt)) {
        reject("a prompt of ", std::max<std::size_t>(1, prompt.size()), " tokens",
               length > 0 ? sentence(" after ", length) : "", " and ", n,
               " more do not fit: the context ends at ", capacity);
    }
}

Generated generate(Engine& engine, const Vocabulary& vocabulary,
                   const std::vector<std::int64_t>& prompt, std::int64_t n,
                   const std::function<void(std::string_view)>& print,
                   const std::function<bool()>& stop, bool measure) {
    check_room(engine.capacity(), prompt, n);
    engine.forget();
    // In a model for conversations the end-of-text token is the end of a turn.
    const std::vector<std::int64_t> nothing = {
        vocabulary.special("<|endoftext|>").value_or(vocabulary.end_of_text())};
    return continue_text(engine, vocabulary, prompt.empty() ? nothing : prompt, n, print, stop,
                         measure);
}

Generated continue_text(Engine& engine, const Vocabulary& vocabulary,
                        const std::vector<std::int64_t>& ids, std::int64_t n,
                        const std::function<void(std::string_view)>& print,
                        const std::function<bool()>& stop, bool measure) {
    check_room(engine.capacity(), ids, n, engine.length());
    Generated made;
    made.prompt = static_cast<std::int64_t>(ids.size());
    engine.measure(measure ? &made.prompt_parts : nullptr);
    made.prompt_seconds = seconds_of([&] {
        engine.read(view_of(ids));
        (void)engine.chosen();  // waits for the token
    });
    engine.measure(measure ? &made.parts : nullptr);
    Utf8Stream text;
    while (!stop()) {
        const std::int64_t token = engine.chosen();
        made.ended = vocabulary.ends(token);
        if (made.ended) break;
        print(text.push(vocabulary.bytes(token)));
        if (++made.tokens == n) {
            made.unread = token;
            break;
        }
        made.seconds += seconds_of([&] {
            engine.next();
            (void)engine.chosen();
        });
    }
    engine.measure(nullptr);
    print(text.finish());
    return made;
}

// With a beginning before each window of `capacity` tokens.
std::vector<std::int64_t> in_windows(const std::vector<std::int64_t>& tokens,
                                     std::optional<std::int64_t> beginning, std::int64_t capacity) {
    if (!beginning) return tokens;
    std::vector<std::int64_t> text;
    for (const std::int64_t token : tokens) {
        if (std::ssize(text) % capacity == 0) text.push_back(*beginning);
        if (capacity > 1) text.push_back(token);
    }
    return text;
}

Perplexity perplexity(Engine& engine, const std::vector<std::int64_t>& tokens,
                      std::optional<std::int64_t> beginning) {
    const std::vector<std::int64_t> text = in_windows(tokens, beginning, engine.capacity());
    const auto size = static_cast<std::int64_t>(text.size());
    if (size < 2 || engine.capacity() < 2) {
        reject("perplexity: a text of ", size, " tokens in windows of ", engine.capacity(),
               "; 2 are the least, for the first is given");
    }
    double surprise = 0;
    std::int64_t foreseen = 0;
    for (std::int64_t begin = 0; begin + 1 < size; begin += engine.capacity()) {
        const std::int64_t end = std::min(size, begin + engine.capacity());
        const auto see = [&](std::int64_t first, View<const float> logits) {
            for (std::int64_t r = 0; r < logits.extent(0); ++r) {
                const std::int64_t at = begin + first + r + 1;  // position of the token to predict
                if (at >= end) continue;
                const View<const float> row = select(logits, 0, r);
                float largest = row(0);
                for (std::int64_t v = 1; v < row.size(); ++v) largest = std::max(largest, row(v));
                double sum = 0;
                for (std::int64_t v = 0; v < row.size(); ++v)
                    sum += std::exp(double{row(v)} - largest);
                if (!std::isfinite(sum)) {  // +infinity gives NaN, too: inf - inf
                    reject("perplexity: a logit after token ", at - 1, " is NaN or infinite",
                           engine.backend().advice());
                }
                surprise += std::log(sum) + largest - row(text[static_cast<std::size_t>(at)]);
                ++foreseen;
            }
        };
        engine.forget();
        engine.score(slice(view_of(text), 0, begin, end), see);
    }
    return {std::exp(surprise / static_cast<double>(foreseen)), foreseen};
}

namespace {

// The output of each layer, and the last token's logits: of all ids in one pass, then of each of
// `more` in a separate pass.
std::vector<Tensor<float>> outputs(const Sizes& sizes, Engine& engine, View<const std::int64_t> ids,
                                   View<const std::int64_t> more) {
    std::vector<Tensor<float>> seen;
    std::int64_t T = ids.size();
    SamplerOptions likeliest;
    likeliest.temperature = 0;
    engine.backend().set_sampler(likeliest);
    engine.forget();
    engine.watch([&](std::int64_t) {
        seen.emplace_back(Shape{T, sizes.channels});
        engine.backend().read_stream(seen.back().view());
    });
    Tensor<float> last({1, sizes.vocabulary});
    engine.score(ids, [&](std::int64_t, View<const float> logits) {
        const std::int64_t rows = logits.extent(0);
        day03_views::copy_cpu(slice(logits, 0, rows - 1, rows), last.view());
    });
    seen.push_back(std::move(last));
    T = 1;
    const auto no_choice = [](float logit) { return !(logit < INFINITY); };  // also true for NaN
    for (std::int64_t i = 0; i < more.size(); ++i) {
        const Tensor<float>& logits = seen.back();
        if (std::any_of(logits.data(), logits.data() + logits.size(), no_choice)) break;
        engine.read(slice(more, 0, i, i + 1));
        seen.emplace_back(Shape{1, sizes.vocabulary});
        engine.backend().read_logits(seen.back().view());
    }
    engine.watch({});
    return seen;
}

}  // namespace

std::vector<LayerDifference> compare(const Sizes& sizes, Engine& got, Engine& expected,
                                     const std::vector<std::int64_t>& ids) {
    const auto T = static_cast<std::int64_t>(ids.size());
    const std::int64_t tokens =
        std::clamp<std::int64_t>(got.capacity() - T, 0, std::min<std::int64_t>(T, 4));
    const View<const std::int64_t> more = slice(view_of(ids), 0, 0, tokens);
    const std::vector<Tensor<float>> a = outputs(sizes, got, view_of(ids), more);
    const std::vector<Tensor<float>> b = outputs(sizes, expected, view_of(ids), more);
    const auto rows = static_cast<std::size_t>(sizes.layers) + 2;
    std::vector<LayerDifference> all;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const std::size_t layer = i % rows;
        if (i < 2 * rows) {  // later tokens go to the rows of the first
            std::string name = "block " + std::to_string(layer - 1);
            if (layer == 0) name = "embedding";
            if (layer + 1 == rows) name = "logits";
            all.push_back({name + (i < rows ? "" : ", one token"), 0, 0});
        }
        LayerDifference& found = all[i < rows ? layer : rows + layer];
        for (std::int64_t n = 0; n < a[i].size(); ++n) {
            if (std::isnan(found.difference)) break;  // the next comparison would hide it
            const double want = b[i].data()[n];
            const double difference = std::abs(a[i].data()[n] - want);
            found.largest = std::max(found.largest, std::abs(want));
            if (!(difference <= found.difference)) found.difference = difference;
        }
    }
    return all;
}

}  // namespace sixdays::gpt2
