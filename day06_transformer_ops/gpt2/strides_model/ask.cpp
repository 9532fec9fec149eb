#include "day06_transformer_ops/gpt2/strides_model/ask.hpp"

#include <algorithm>

#include "day06_transformer_ops/gpt2/text/bpe.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

namespace sixdays::gpt2 {

std::vector<std::int64_t> tokens_of(const Vocabulary& vocabulary, const Question& question) {
    const std::string text = text_of(question);
    std::vector<std::int64_t> tokens;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin + 1), text.size());
        encode_piece(vocabulary, std::string_view(text).substr(begin, end - begin), tokens);
        begin = end;
    }
    return tokens;
}

Asker::Asker(const Gguf& file, const MakeBackend& make)
    : vocabulary_(file),
      model_(read_model(file)),
      backend_(make(model_, model_.config.context)),
      engine_(model_.config, *backend_, model_.config.context) {
    SamplerOptions likeliest;
    likeliest.temperature = 0;
    backend_->set_sampler(likeliest);
}

std::string Asker::operator()(const Question& question) {
    const std::vector<std::int64_t> tokens = tokens_of(vocabulary_, question);
    engine_.forget();
    engine_.read({tokens.data(), {static_cast<std::int64_t>(tokens.size())}});
    std::vector<std::int64_t> said;
    while (engine_.chosen() != vocabulary_.end_of_text()) {
        said.push_back(engine_.chosen());
        if (engine_.length() == engine_.capacity()) break;
        engine_.next();
    }
    return decode(vocabulary_, said);
}

Scores score_held_out(Asker& ask, std::int64_t count, std::uint64_t seed,
                      const std::function<void(const Question&, const std::string&)>& each) {
    Scores scores{};
    for (const Asked asked : kAsked) {
        for (int rank = 1; rank <= kMostDims; ++rank) {
            Score& score =
                scores[static_cast<std::size_t>(asked)][static_cast<std::size_t>(rank - 1)];
            for (const Question& question : held_out_questions(asked, rank, count, seed)) {
                const std::string said = ask(question);
                ++score.asked;
                score.right += said == answer_to(question);
                if (each) each(question, said);
            }
        }
    }
    return scores;
}

}  // namespace sixdays::gpt2
