#include "day06_transformer_ops/gpt2/engine.hpp"

#include <algorithm>
#include <chrono>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"

namespace sixdays::gpt2 {

const char* name(Part part) {
    constexpr const char* kNames[kParts] = {"embedding",
                                            "queries, keys, values",
                                            "attention",
                                            "attention's output",
                                            "MLP, up and activation",
                                            "MLP, down",
                                            "head",
                                            "sampler"};
    return kNames[static_cast<int>(part)];
}

Engine::Engine(const Sizes& sizes, Backend& backend, std::int64_t capacity)
    : sizes_(sizes), backend_(backend), capacity_(capacity) {
    check_capacity(sizes, capacity);
}

void Engine::check_room(std::int64_t count) const {
    if (count > capacity_ - length_) {
        reject(count, " tokens after ", length_, " would end at ", length_ + count,
               ", but the context ends at ", capacity_);
    }
}

void Engine::begin(View<const std::int64_t> ids) {
    require_rank("read", "ids", ids, 1);
    if (ids.size() == 0) reject("read: no token, and the model must begin with one");
    require_memory("read", "ids", ids);
    day06_transformer_ops::check_ids("read", "ids", ids, sizes_.vocabulary);
    check_room(ids.size());
    backend_.begin(ids, length_);
}

// [pass]
void Engine::blocks() {
    timed(Part::embed, [&] { backend_.embed(); });
    if (look_) look_(0);
    for (std::int64_t layer = 0; layer < sizes_.layers; ++layer) {
        timed(Part::query_key_value, [&] { backend_.query_key_value(layer); });
        timed(Part::attend, [&] { backend_.attend(layer); });
        timed(Part::add_attention, [&] { backend_.add_attention(layer); });
        timed(Part::widen, [&] { backend_.widen(layer); });
        timed(Part::add_mlp, [&] { backend_.add_mlp(layer); });
        if (look_) look_(layer + 1);
    }
}

void Engine::last_and_choose(std::int64_t T) {
    timed(Part::head, [&] { backend_.head(T - 1, 1); });
    timed(Part::choose, [&] { backend_.choose(); });
}
// [pass]

void Engine::read(View<const std::int64_t> ids) {
    begin(ids);
    blocks();
    last_and_choose(ids.size());
    length_ += ids.size();
}

void Engine::next() {
    check_room(1);
    const auto pass = [&] {
        backend_.advance();
        blocks();
        last_and_choose(1);
    };
    if (look_ || times_ != nullptr) {
        pass();  // profiling and `--compare` need every call made, not replayed
    } else {
        backend_.replay(pass);
    }
    ++length_;
}

void Engine::score(View<const std::int64_t> ids,
                   const std::function<void(std::int64_t first, View<const float> logits)>& see) {
    constexpr std::int64_t kRows = 64;  // 13 MB of GPT-2's logits
    begin(ids);
    blocks();
    for (std::int64_t first = 0; first < ids.size(); first += kRows) {
        const std::int64_t count = std::min(kRows, ids.size() - first);
        timed(Part::head, [&] { backend_.head(first, count); });
        Tensor<float> logits({count, sizes_.vocabulary});
        backend_.read_logits(logits.view());
        see(first, logits.view());
    }
    length_ += ids.size();
}

void Engine::timed(Part part, const std::function<void()>& call) {
    if (times_ == nullptr) return call();
    const auto start = std::chrono::steady_clock::now();
    call();
    backend_.wait();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    (*times_)[static_cast<std::size_t>(part)] += spent.count();
}

}  // namespace sixdays::gpt2
