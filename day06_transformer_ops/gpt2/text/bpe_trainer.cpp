#include "day06_transformer_ops/gpt2/text/bpe_trainer.hpp"

#include <algorithm>
#include <compare>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// A token of a piece, as a node of a linked list. All distinct pieces are stored consecutively.
struct Place {
    std::int64_t token;  // -1: merged into its predecessor
    std::size_t before, after;
    std::int64_t times;  // how often the text contains this piece
};

struct Pair {
    std::int64_t left, right;
    auto operator<=>(const Pair& other) const = default;
};
struct HashOfPair {
    std::size_t operator()(const Pair& p) const noexcept {
        return std::hash<std::int64_t>()(p.left << 32 ^ p.right);
    }
};

// The count of a pair of neighbours, and the places where it was seen. Some of these may have
// changed since.
struct Seen {
    std::int64_t times = 0;
    std::vector<std::size_t> at;
};

// A pair in the heap, once. Its count may have fallen since; it cannot rise, because a merge
// creates only pairs that contain the new token.
struct Waiting {
    std::int64_t times;
    Pair pair;
    bool operator<(const Waiting& other) const {  // the largest one in this order is merged
        return std::make_tuple(times, other.pair.left, other.pair.right) <
               std::make_tuple(other.times, pair.left, pair.right);
    }
};

class Trainer {
public:
    explicit Trainer(const std::vector<std::string_view>& pieces);

    // The next pair to merge. @return false: no pair occurs twice
    bool next(Pair& found);
    void merge(const Pair& pair);
    [[nodiscard]] LearnedVocabulary learned(const std::vector<std::string_view>& pieces) const;
    [[nodiscard]] std::int64_t size() const { return vocabulary_.size() + 1; }  // with the end

private:
    void add(std::size_t at);
    void take_off(std::size_t at);
    [[nodiscard]] Pair pair_at(std::size_t at) const {
        return {places_[at].token, places_[places_[at].after].token};
    }

    NewVocabulary vocabulary_;
    std::unordered_set<std::string> spelled_;  // the tokens
    std::vector<Place> places_;
    std::unordered_map<std::string_view, std::size_t> first_;  // position of each piece
    std::unordered_map<Pair, Seen, HashOfPair> seen_;
    std::priority_queue<Waiting> waiting_;
    std::int64_t taken_ = 0;  // from the heap
};

Trainer::Trainer(const std::vector<std::string_view>& pieces) : vocabulary_{byte_tokens(), {}} {
    std::int64_t token_of[256];
    for (int byte = 0; byte < 256; ++byte) {
        token_of[byte] = byte_token(static_cast<std::uint8_t>(byte));
    }
    spelled_.insert(vocabulary_.tokens.begin(), vocabulary_.tokens.end());
    for (std::size_t n = 0; n < pieces.size(); ++n) {
        const std::string_view piece = pieces[n];
        if (piece.empty()) {
            reject("piece ", n, " of the text is empty, but each has a byte");
        }
        const auto [known, is_new] = first_.emplace(piece, places_.size());
        if (!is_new) {
            ++places_[known->second].times;
            continue;
        }
        for (std::size_t i = 0; i < piece.size(); ++i) {
            const std::size_t at = places_.size();
            places_.push_back({token_of[static_cast<std::uint8_t>(piece[i])],
                               i == 0 ? kNowhere : at - 1,
                               i + 1 == piece.size() ? kNowhere : at + 1, 1});
        }
    }
    for (std::size_t at = 0; at < places_.size(); ++at) {
        if (places_[at].before != kNowhere) places_[at].times = places_[at - 1].times;
    }
    for (std::size_t at = 0; at < places_.size(); ++at) add(at);
    for (const auto& [pair, seen] : seen_) waiting_.push({seen.times, pair});
}

// Adds or removes the pair of the token at a place and its successor.
void Trainer::add(std::size_t at) {
    if (at == kNowhere || places_[at].after == kNowhere) return;
    Seen& seen = seen_[pair_at(at)];
    seen.times += places_[at].times;
    seen.at.push_back(at);
}
void Trainer::take_off(std::size_t at) {
    if (at != kNowhere && places_[at].after != kNowhere) {
        seen_[pair_at(at)].times -= places_[at].times;
    }
}

bool Trainer::next(Pair& found) {
    while (!waiting_.empty()) {
        const Waiting best = waiting_.top();
        waiting_.pop();
        ++taken_;
        const std::int64_t times = seen_[best.pair].times;
        if (times != best.times) {
            if (times > 0) waiting_.push({times, best.pair});
            continue;
        }
        if (times < 2) return false;
        const auto letters = [&](std::int64_t token) {
            return vocabulary_.tokens[static_cast<std::size_t>(token)];
        };
        if (spelled_.contains(letters(best.pair.left) + letters(best.pair.right))) continue;
        found = best.pair;
        return true;
    }
    return false;
}

void Trainer::merge(const Pair& pair) {
    const auto& names = vocabulary_.tokens;
    const std::string left = names[static_cast<std::size_t>(pair.left)];
    const std::string right = names[static_cast<std::size_t>(pair.right)];
    const std::int64_t made = vocabulary_.size();
    vocabulary_.merges.push_back(left + " " + right);
    vocabulary_.tokens.push_back(left + right);
    spelled_.insert(left + right);

    std::vector<std::size_t> at = std::move(seen_[pair].at);
    std::sort(at.begin(), at.end());  // from left to right: "aaa" is aa and a
    std::vector<Pair> grown;
    for (const std::size_t place : at) {
        Place& first = places_[place];
        if (first.after == kNowhere || !(pair_at(place) == pair)) continue;  // changed meanwhile
        Place& second = places_[first.after];
        take_off(first.before);
        take_off(place);
        take_off(first.after);
        first.token = made;
        second.token = -1;
        first.after = second.after;
        if (first.after != kNowhere) places_[first.after].before = place;
        for (const std::size_t changed : {first.before, place}) {
            add(changed);
            if (changed != kNowhere && places_[changed].after != kNowhere) {
                grown.push_back(pair_at(changed));
            }
        }
    }
    std::sort(grown.begin(), grown.end());  // a pair grew at many places, but is in the heap once
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const Pair& p : grown) waiting_.push({seen_[p].times, p});
}

LearnedVocabulary Trainer::learned(const std::vector<std::string_view>& pieces) const {
    LearnedVocabulary made{vocabulary_, {}, taken_};
    made.vocabulary.tokens.push_back("<|endoftext|>");
    for (const std::string_view piece : pieces) {
        for (std::size_t at = first_.at(piece); at != kNowhere; at = places_[at].after) {
            made.tokens.push_back(places_[at].token);
        }
    }
    return made;
}

}  // namespace

LearnedVocabulary learn_vocabulary(const std::vector<std::string_view>& pieces, std::int64_t size) {
    if (size < kLeastVocabulary) {
        reject("a vocabulary of ", size,
               " tokens: 257 is the least, for the 256 bytes and the end of a text");
    }
    Trainer trainer(pieces);
    for (Pair pair{}; trainer.size() < size; trainer.merge(pair)) {
        if (!trainer.next(pair)) {
            reject("a vocabulary of ", size, " tokens: this text gives ", trainer.size(),
                   ", then no pair of neighbours occurs twice; a longer text, or a smaller "
                   "vocabulary");
        }
    }
    return trainer.learned(pieces);
}

}  // namespace sixdays::gpt2
