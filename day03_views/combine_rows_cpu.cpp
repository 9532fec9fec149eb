// The plain loops over rows by number.
#include "day03_views/combine_rows.hpp"

#include <vector>

#include "common/tensor/arguments.hpp"

namespace sixdays::day03_views {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [gather_rows]
void gather_rows_loop(View<const float> table, View<const std::int64_t> ids, View<float> out) {
    const std::int64_t N = out.extent(0), C = out.extent(1);
    for (std::int64_t n = 0; n < N; ++n) {
        const std::int64_t id = ids(n);
        for (std::int64_t c = 0; c < C; ++c) {
            out(n, c) = table(id, c);
        }
    }
}
// [gather_rows]

// [scatter_rows]
void scatter_rows_loop(View<const float> in, View<const std::int64_t> ids, View<float> out) {
    const std::int64_t N = in.extent(0), C = in.extent(1);
    for (std::int64_t n = 0; n < N; ++n) {
        const std::int64_t id = ids(n);
        for (std::int64_t c = 0; c < C; ++c) {
            out(id, c) = in(n, c);
        }
    }
}
// [scatter_rows]

}  // namespace

void gather_rows_cpu(View<const float> table, View<const std::int64_t> ids, View<float> out) {
    check_gather_rows(table, ids, out);
    check_ids("gather_rows", ids, table.extent(0));
    gather_rows_loop(table, ids, out);
}

void scatter_rows_cpu(View<const float> in, View<const std::int64_t> ids, View<float> out) {
    check_scatter_rows(in, ids, out);
    check_ids("scatter_rows", ids, out.extent(0));
    std::vector<std::int64_t> written_by(static_cast<std::size_t>(out.extent(0)), -1);
    for (std::int64_t n = 0; n < ids.extent(0); ++n) {
        std::int64_t& writer = written_by[static_cast<std::size_t>(ids(n))];
        if (writer >= 0) {
            refuse("scatter_rows: ids(" + std::to_string(writer) + ") and ids(" +
                   std::to_string(n) + ") are both " + std::to_string(ids(n)) +
                   "; a row can have one writer");
        }
        writer = n;
    }
    scatter_rows_loop(in, ids, out);
}

// --- what loop and port refuse, in the same words ------------------------------------------------
namespace {

// Numbered rows (V, C), rows in order (N, C), ids (N).
void check_rows(const char* op, const char* numbered_name, const View<const float>& numbered,
                const char* ordered_name, const View<const float>& ordered,
                const View<const std::int64_t>& ids) {
    require_rank(op, numbered_name, numbered, 2);
    require_rank(op, ordered_name, ordered, 2);
    require_rank(op, "ids", ids, 1);
    if (ids.extent(0) != ordered.extent(0) || numbered.extent(1) != ordered.extent(1)) {
        refuse(std::string(op) + ": " + numbered_name + " has shape " +
               to_string(numbered.layout.shape) + ", ids " + to_string(ids.layout.shape) +
               ", so that " + ordered_name + " must have shape " +
               to_string(Shape{ids.extent(0), numbered.extent(1)}) + ", not " +
               to_string(ordered.layout.shape));
    }
    require_memory(op, "ids", ids);
}

template <class T>
void check_apart(const char* op, const char* name, const View<const T>& in,
                 const View<float>& out) {
    require_memory(op, name, in);
    if (overlap(in, out)) {
        refuse(std::string(op) + ": " + name +
               " overlaps out; some rows would be read after they were overwritten");
    }
}

void check_output(const char* op, const View<float>& out) {
    require_injective(op, "out", out);
    require_memory(op, "out", out);
}

}  // namespace

void check_gather_rows(const View<const float>& table, const View<const std::int64_t>& ids,
                       const View<float>& out) {
    check_rows("gather_rows", "table", table, "out", out, ids);
    check_output("gather_rows", out);
    check_apart("gather_rows", "table", table, out);
    check_apart("gather_rows", "ids", ids, out);
}

void check_scatter_rows(const View<const float>& in, const View<const std::int64_t>& ids,
                        const View<float>& out) {
    check_rows("scatter_rows", "out", out, "in", in, ids);
    check_output("scatter_rows", out);
    check_apart("scatter_rows", "in", in, out);
    check_apart("scatter_rows", "ids", ids, out);
}

void check_ids(const char* op, const View<const std::int64_t>& ids, std::int64_t V) {
    for (std::int64_t n = 0; n < ids.extent(0); ++n) {
        if (ids(n) < 0 || ids(n) >= V) {
            refuse(std::string(op) + ": ids(" + std::to_string(n) + ") is " +
                   std::to_string(ids(n)) + ", but there are " + std::to_string(V) + " rows");
        }
    }
}

// --- which kernel the ports take -----------------------------------------------------------------

RowsPath choose_rows(const View<const float>& from, const View<float>& to) {
    const auto rows_of_quads = [](const auto& v) {
        return v.extent(1) % 4 == 0 && v.layout.stride(1) == 1 && v.layout.stride(0) % 4 == 0 &&
               reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
    };
    return rows_of_quads(from) && rows_of_quads(to) ? RowsPath::quads : RowsPath::any_layout;
}

const char* name(RowsPath path) {
    return path == RowsPath::quads ? "16 bytes a load" : "any layout";
}

}  // namespace sixdays::day03_views
