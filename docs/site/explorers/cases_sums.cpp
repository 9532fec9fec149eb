// Many threads and one answer: what a kernel, or a plain loop, says to random numbers.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "docs/site/explorers/cases.hpp"
#include "docs/site/explorers/requests.hpp"

namespace sixdays::explorers {
namespace {

template <class Text>
std::string list(int count, const Text& text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += (i > 0 ? ", " : "") + text(i);
    return "[" + all + "]";
}

using explorers::json;

std::string json(const std::vector<int>& numbers) {
    return list(static_cast<int>(numbers.size()),
                [&](int i) { return std::to_string(numbers[i]); });
}

std::vector<int> row(int count, int least, int most) {
    std::vector<int> numbers(count);
    for (int& x : numbers) x = roll(least, most);
    return numbers;
}

void write_trees() {
    int* device = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&device), 72 * sizeof(int)) != cudaSuccess) {
        throw std::logic_error("no device memory");
    }
    for (int i = 0; i < 200; ++i) {
        const std::vector<int> numbers = once_in(2) ? row(8, -999, 999) : row(8, 0, 3);
        const bool sum = once_in(2), butterfly = once_in(2);
        write("tree", json(numbers) + ", " + json(sum) + ", " + json(butterfly), [&] {
            int held[64];
            (void)cudaMemcpy(device, numbers.data(), 8 * sizeof(int), cudaMemcpyHostToDevice);
            join_eight(device, sum, butterfly, device + 8);
            if (cudaMemcpy(held, device + 8, sizeof held, cudaMemcpyDeviceToHost) != cudaSuccess) {
                throw std::logic_error("the kernel that joins eight numbers failed");
            }
            return list(4, [&](int round) {
                return list(8, [&](int t) {
                    const int k = 8 * round + t;
                    return json(sum ? std::vector{held[k]} : std::vector{held[k], held[32 + k]});
                });
            });
        });
    }
    (void)cudaFree(device);
}

// Each tile is made by itself: what it fetches is a set, and all sets are counted.
void write_products() {
    for (int i = 0; i < 200; ++i) {
        const std::vector<int> sizes = row(5, 1, 8);
        const int M = sizes[0], N = sizes[1], K = sizes[2], BM = sizes[3], BN = sizes[4];
        write("product", list(5, [&](int s) { return std::to_string(sizes[s]); }).substr(1, 13),
              [&] {
                  int fetched = 0, first_of_a = 0, first_of_b = 0, multiply_adds = 0;
                  for (int m0 = 0; m0 < M; m0 += BM) {
                      for (int n0 = 0; n0 < N; n0 += BN) {
                          std::set<std::pair<int, int>> a, b;
                          for (int m = m0; m < std::min(m0 + BM, M); ++m) {
                              for (int n = n0; n < std::min(n0 + BN, N); ++n) {
                                  for (int k = 0; k < K; ++k) {
                                      a.insert({m, k}), b.insert({k, n}), ++multiply_adds;
                                  }
                              }
                          }
                          fetched += static_cast<int>(a.size() + b.size());
                          first_of_a += static_cast<int>(a.count({0, 0}));
                          first_of_b += static_cast<int>(b.count({0, 0}));
                      }
                  }
                  return json(std::vector{first_of_a, first_of_b, fetched, multiply_adds});
              });
    }
}

// In two passes: the largest, then the sum.
std::string largest_and_sum(const std::vector<int>& numbers) {
    const int largest = *std::max_element(numbers.begin(), numbers.end());
    double sum = 0;
    for (const int x : numbers) sum += std::exp(x - largest);
    char text[64];
    std::snprintf(text, sizeof text, "[%d, \"%.9f\"]", largest, sum);
    return text;
}

void write_running() {
    for (int i = 0; i < 200; ++i) {
        const std::vector<int> numbers = once_in(2) ? row(6, -99, 99) : row(6, -3, 3);
        const int half = roll(1, 5);
        write("running", json(numbers) + ", " + std::to_string(half), [&] {
            return list(7, [&](int step) {
                const auto begin = numbers.begin() + (step < half || step == 6 ? 0 : half);
                const auto end = numbers.begin() + std::min(step + 1, 6);
                return largest_and_sum({begin, end});
            });
        });
    }
}

}  // namespace

void write_sums() {
    write_trees();
    write_products();
    write_running();
}

}  // namespace sixdays::explorers
