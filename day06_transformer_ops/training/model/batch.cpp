#include "day06_transformer_ops/training/model/batch.hpp"

#include <algorithm>
#include <string>

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void check_tokens(const char* name, const std::vector<std::int64_t>& tokens,
                  std::int64_t vocabulary) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] >= 0 && tokens[i] < vocabulary) continue;
        reject("a batch whose ", name, " ", i, " is ", tokens[i], ", but tokens are 0 to ",
               vocabulary - 1);
    }
}

}  // namespace

Batch check_batch(const Batch& batch, std::int64_t size, std::int64_t vocabulary) {
    const auto tokens = static_cast<std::size_t>(size);
    Batch marked = batch;
    if (marked.counts.empty()) marked.counts.assign(tokens, true);
    if (batch.ids.size() != tokens || batch.targets.size() != tokens ||
        marked.counts.size() != tokens) {
        reject("a batch of ", batch.ids.size(), " tokens, ", batch.targets.size(), " targets and ",
               marked.counts.size(), " marks which of them count; each must be ", tokens);
    }
    if (counting(marked) == 0) {
        reject("a batch without a target that counts: there is nothing to learn");
    }
    check_tokens("id", batch.ids, vocabulary);
    check_tokens("target", batch.targets, vocabulary);
    return marked;
}

double counting(const Batch& batch) {
    return static_cast<double>(std::count(batch.counts.begin(), batch.counts.end(), true));
}

Batch part_of(const Batch& batch, std::int64_t first, std::int64_t size) {
    const auto part = [&](const auto& all) {
        return std::decay_t<decltype(all)>(all.begin() + first, all.begin() + first + size);
    };
    return {part(batch.ids), part(batch.targets), part(batch.counts)};
}

}  // namespace sixdays::day06_transformer_ops
