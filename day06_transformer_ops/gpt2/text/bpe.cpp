#include "day06_transformer_ops/gpt2/text/bpe.hpp"

#include <functional>
#include <queue>
#include <tuple>

#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A token of the piece, as a node of a linked list. A token merged into its predecessor is -1.
struct Link {
    std::int64_t token;
    std::size_t before, after;
};

// A candidate pair. Its tokens may change while it is in the heap, but as long as the left one is
// the same, it has a successor.
struct Candidate {
    std::int64_t rank;
    std::size_t at;  // position of the left token
    std::int64_t left, right, result;
    bool operator>(const Candidate& other) const {
        return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
};
using Heap = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

void consider(const Vocabulary& vocabulary, const std::vector<Link>& links, std::size_t at,
              Heap& heap) {
    if (at == kNone || links[at].after == kNone) return;
    const std::int64_t left = links[at].token, right = links[links[at].after].token;
    if (const auto merge = vocabulary.merge(left, right)) {
        heap.push({merge->rank, at, left, right, merge->result});
    }
}

// The tokens before merging. Invalid UTF-8 is never a character with a token.
std::vector<std::int64_t> smallest_tokens(const Vocabulary& vocabulary, std::string_view piece) {
    std::vector<std::int64_t> tokens;
    while (!piece.empty()) {
        std::size_t bytes = 1;
        std::optional<std::int64_t> token;
        if (vocabulary.model() == TokenizerModel::sentence_piece) {
            bytes = first_character(piece).bytes;
            token = vocabulary.token_of(piece.substr(0, bytes));
        }
        for (std::size_t i = 0; !token && i < bytes; ++i) {
            tokens.push_back(vocabulary.token_of_byte(static_cast<std::uint8_t>(piece[i])));
        }
        if (token) tokens.push_back(*token);
        piece.remove_prefix(bytes);
    }
    return tokens;
}

}  // namespace

void encode_piece(const Vocabulary& vocabulary, std::string_view piece,
                  std::vector<std::int64_t>& out) {
    const auto whole = vocabulary.takes_whole_pieces() ? vocabulary.token_of(piece) : std::nullopt;
    if (whole) return out.push_back(*whole);
    std::vector<Link> links;
    for (const std::int64_t token : smallest_tokens(vocabulary, piece)) {
        const std::size_t at = links.size();
        links.push_back({token, at == 0 ? kNone : at - 1, at + 1});
    }
    if (!links.empty()) links.back().after = kNone;
    Heap heap;
    for (std::size_t i = 0; i < links.size(); ++i) consider(vocabulary, links, i, heap);

    while (!heap.empty()) {
        const Candidate best = heap.top();
        heap.pop();
        Link& left = links[best.at];
        if (left.token != best.left) continue;
        Link& right = links[left.after];
        if (right.token != best.right) continue;
        left.token = best.result;
        left.after = right.after;
        if (right.after != kNone) links[right.after].before = best.at;
        right.token = -1;
        consider(vocabulary, links, left.before, heap);
        consider(vocabulary, links, best.at, heap);
    }
    for (const Link& link : links) {
        if (link.token >= 0) out.push_back(link.token);
    }
}

}  // namespace sixdays::gpt2
