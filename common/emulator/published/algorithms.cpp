#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

const std::vector<Algorithm>& algorithms() {
    static const std::vector<Algorithm> all = {
        {"last_block_sum", last_block_sum, {"no_fence", "no_barrier"}},
        {"look_back_scan", look_back_scan, {"no_fence", "plain_status"}},
        {"cas_histogram", cas_histogram, {"not_zeroed", "plain_merge"}},
        {"warp_filter", warp_filter, {"full_mask", "plain_counter"}},
        {"async_matmul", async_matmul, {"wait_too_little", "no_barrier"}},
        {"online_softmax", online_softmax, {"lanes_leave", "one_too_far"}},
        {"split_k", split_k, {"no_fence", "no_barrier"}},
        {"bf16_matvec", bf16_matvec, {"odd_start", "pair_too_many"}},
        {"bitonic_sort", bitonic_sort, {"no_barrier", "not_padded"}},
        {"compaction", compaction, {"in_place", "no_broadcast"}},
        {"flash_attention", flash_attention, {"no_barrier", "no_room_for_scores"}},
        {"layer_norm", layer_norm, {"no_barrier", "all_warps"}},
        {"tiled_transpose", tiled_transpose, {"no_barrier", "guard_not_transposed"}},
    };
    return all;
}

}  // namespace sixdays::emulator::published
