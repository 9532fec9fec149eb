#include "day06_transformer_ops/gpt2/backend/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "common/tensor/arguments.hpp"
#include "day04_argmax/argmax.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

namespace sixdays::gpt2 {
namespace {

// A candidate token. Weights are not divided by their sum: the draw is scaled instead.
struct Candidate {
    std::int64_t token;
    float logit;
    double weight;  // exp((logit - largest) / temperature)
};
using Candidates = std::vector<Candidate>;

// Formats a number: -1, 0.95, nan.
std::string text_of(float number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

bool likelier(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

double total(const Candidates& candidates) {
    double sum = 0;
    for (const Candidate& c : candidates) sum += c.weight;
    return sum;
}

void check_each_logit(const View<const float>& logits) {
    require_rank("sample", "logits", logits, 1);
    require_memory("sample", "logits", logits);
    bool any = false;
    for (std::int64_t v = 0; v < logits.extent(0); ++v) {
        if (std::isnan(logits(v)) || logits(v) == std::numeric_limits<float>::infinity()) {
            reject("sample: the logit of token ", v, " is ",
                   (std::isnan(logits(v)) ? "NaN" : "infinite"),
                   "; a finite number or -inf is needed");
        }
        any = any || std::isfinite(logits(v));
    }
    if (!any) {
        reject("sample: none of ", logits.extent(0), " logits is finite, so no token is left");
    }
}

Candidates with_temperature(const View<const float>& logits, float largest, float temperature) {
    Candidates all;
    all.reserve(static_cast<std::size_t>(logits.extent(0)));
    for (std::int64_t v = 0; v < logits.extent(0); ++v) {
        const double distance = double{logits(v)} - double{largest};
        all.push_back({v, logits(v), std::exp(distance / double{temperature})});
    }
    return all;
}

void keep_top_k(Candidates& candidates, std::int64_t k) {
    if (k == 0 || k >= static_cast<std::int64_t>(candidates.size())) return;
    std::nth_element(candidates.begin(), candidates.begin() + k, candidates.end(), likelier);
    candidates.resize(static_cast<std::size_t>(k));
}

// Sorts the likeliest 64, 256, 1024, ... until that is enough; usually 64 is.
void keep_top_p(Candidates& candidates, float p) {
    if (p == 1) return;
    const double enough = double{p} * total(candidates);
    double sum = 0;
    std::size_t sorted = 0, kept = 0;
    while (kept < candidates.size() && (kept == 0 || sum < enough)) {
        if (kept == sorted) {
            const std::size_t goal = std::min(candidates.size(), sorted == 0 ? 64 : sorted * 4);
            const auto at = [&](std::size_t i) {
                return candidates.begin() + static_cast<long>(i);
            };
            std::partial_sort(at(sorted), at(goal), candidates.end(), likelier);
            sorted = goal;
        }
        sum += candidates[kept++].weight;
    }
    candidates.resize(kept);
}

// Inverse transform sampling: candidates are intervals on a line, as long as their weights; the one
// at u times the total length is drawn. u < 1, so u * total < total, even rounded: one is found.
std::int64_t at_place(const Candidates& candidates, double u) {
    const double place = u * total(candidates);
    std::size_t i = 0;
    double end = candidates[0].weight;
    while (place >= end) end += candidates[++i].weight;
    return candidates[i].token;
}

}  // namespace

void check_sampler(const SamplerOptions& options) {
    if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
        reject("sample: a temperature of ", text_of(options.temperature),
               "; 0 or a finite number above it is needed");
    }
    if (options.top_k < 0) {
        reject("sample: a top_k of ", options.top_k, "; 0 or more is needed");
    }
    if (!(options.top_p >= 0 && options.top_p <= 1)) {
        reject("sample: a top_p of ", text_of(options.top_p), "; 0 to 1 is needed");
    }
}

// [sample]
std::int64_t sample(View<const float> logits, const SamplerOptions& options, std::uint64_t step) {
    check_sampler(options);
    check_each_logit(logits);
    std::int64_t best = 0;
    day04_argmax::argmax_cpu(logits, 0, {&best, Shape{}});
    if (options.temperature == 0) return best;

    Candidates candidates = with_temperature(logits, logits(best), options.temperature);
    keep_top_k(candidates, options.top_k);
    keep_top_p(candidates, options.top_p);

    // Restore the vocabulary's order: a filter that drops nothing must not change the draw.
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
    return at_place(candidates, uniform(options.seed, step));
}
// [sample]

}  // namespace sixdays::gpt2
