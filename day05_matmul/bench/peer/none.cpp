#include "day05_matmul/bench/peer/peer.hpp"

namespace sixdays::day05_matmul {

bool has_peer() {
    return false;
}

PeerProduct<float> peer_product(View<const float>, View<const float>, View<float>) {
    return {};
}

PeerProduct<bf16> peer_product(View<const bf16>, View<const bf16>, View<float>) {
    return {};
}

}  // namespace sixdays::day05_matmul
