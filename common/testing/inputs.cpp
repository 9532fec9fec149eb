#include "common/testing/inputs.hpp"

#include <string>

#include "common/tensor/sentence.hpp"

namespace sixdays::testing::detail {

void check_factor(std::int64_t factor, std::int64_t modulus) {
    if (factor < 1 || factor >= modulus) {
        reject("distinct() with factor ", factor, ": this type takes 1 to ", modulus - 1);
    }
}

// splitmix64 (Steele, Lea, Flood 2014): a counter times an odd constant, then mixed until every
// input bit has moved every output bit.
std::uint64_t random_bits(std::uint64_t seed, std::int64_t k) {
    std::uint64_t z = seed * 0xD1342543DE82EF95u + static_cast<std::uint64_t>(k) + 1;
    z *= 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double uniform(std::uint64_t seed, std::int64_t k) {
    return static_cast<double>(random_bits(seed, k) >> 11) * 0x1p-53;
}

}  // namespace sixdays::testing::detail
