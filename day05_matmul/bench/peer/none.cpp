#include "day05_matmul/bench/peer/peer.hpp"

namespace sixdays::day05_matmul {

bool has_peer() {
    return false;
}

PeerProduct peer_product(View<const float>, View<const float>, View<float>) {
    return {};
}

}  // namespace sixdays::day05_matmul
