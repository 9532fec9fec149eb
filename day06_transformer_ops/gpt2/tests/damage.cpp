#include "day06_transformer_ops/gpt2/tests/damage.hpp"

#include "common/testing/testing.hpp"

namespace sixdays::gpt2::tests {
namespace {

// A random number generator.
struct Random {
    std::uint64_t seed;
    std::int64_t k = 0;
    std::uint64_t operator()(std::uint64_t below) {
        return testing::detail::random_bits(seed, k++) % below;
    }
};

// Numbers that break parsers: near 0, and near the limits of 8, 16, 32, 63 and 64 bits.
std::uint64_t nasty(Random& random) {
    const std::uint64_t bits = std::uint64_t{1} << random(64);
    return bits + random(5) - 2;
}

void overwrite(Bytes& bytes, std::size_t at, std::uint64_t number, std::size_t size) {
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
        bytes[at + i] = static_cast<std::byte>(number >> 8 * i);
    }
}

// Makes one to three changes, most of them before byte `head`, where the numbers are.
void damage(Bytes& bytes, std::size_t head, Random& random) {
    const std::uint64_t wounds = 1 + random(3);
    for (std::uint64_t i = 0; i < wounds && !bytes.empty(); ++i) {
        const std::size_t reach = random(8) == 0 ? bytes.size() : std::min(head, bytes.size());
        const std::size_t at = random(reach);
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t length = std::min<std::size_t>(1 + random(40), bytes.size() - at);
        const auto end = place + static_cast<std::ptrdiff_t>(length);
        switch (random(7)) {
            case 0:
                bytes[at] ^= static_cast<std::byte>(1 << random(8));
                break;
            case 1:
                bytes[at] = static_cast<std::byte>(random(256));
                break;
            case 2:
                overwrite(bytes, at, nasty(random), 4);
                break;
            case 3:
                overwrite(bytes, at, nasty(random), 8);
                break;
            case 4:
                bytes.resize(at);
                break;
            case 5:
                bytes.erase(place, end);
                break;
            default: {
                const Bytes again(place, end);
                bytes.insert(end, again.begin(), again.end());
            }
        }
    }
    bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
}

}  // namespace

Outcome damage_often(const Bytes& good, std::size_t head, int files, std::uint64_t seed,
                     const std::function<std::string(const Bytes&)>& read) {
    Outcome outcome;
    for (int i = 0; i < files; ++i) {
        Bytes bytes = good;
        Random random{seed + static_cast<std::uint64_t>(i)};
        damage(bytes, head, random);
        const std::string sentence = read(bytes);
        ++(sentence.empty() ? outcome.whole : outcome.rejected);
        // An error message names the file and says more than that.
        outcome.silent += !sentence.empty() && sentence.size() < 25;
    }
    return outcome;
}

}  // namespace sixdays::gpt2::tests
