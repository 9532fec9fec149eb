// What the fast loop refuses.
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {

void check_attend_fast(const View<const float>& q, const View<const float>& keys,
                       const View<const float>& values, const View<float>& out) {
    const char* const op = "attend";
    require_rank(op, "q", q, 1);
    require_same_shape(op, "q", q, "out", out);
    require_contiguous(op, "q", q);
    require_contiguous(op, "out", out);
    require_memory(op, "q", q);
    require_output(op, out);
    const auto check_rows = [&](const char* name, const View<const float>& rows) {
        require_rank(op, name, rows, 2);
        if (rows.extent(0) < 1 || rows.extent(1) != q.extent(0) ||
            (rows.extent(1) > 1 && rows.stride(1) != 1)) {
            refuse("attend: " + std::string(name) + " has shape " + to_string(rows.shape()) +
                   " and strides " + to_string(rows.layout.strides) + ", but must have rows of " +
                   std::to_string(q.extent(0)) + " side by side, one at least");
        }
        require_memory(op, name, rows);
        if (overlap(rows, out)) refuse("attend: " + std::string(name) + " and out overlap");
    };
    check_rows("keys", keys);
    check_rows("values", values);
    if (keys.extent(0) != values.extent(0)) {
        refuse("attend: " + std::to_string(keys.extent(0)) + " keys, but " +
               std::to_string(values.extent(0)) + " values");
    }
    if (overlap(q, out)) refuse("attend: q and out overlap");
}

}  // namespace sixdays::gpt2
