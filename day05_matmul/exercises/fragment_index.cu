// Exercise 7 of Day 05: tensor cores: which elements a lane holds.
//
// Easy, 10 minutes.
//
// Page: docs/day05_tensor_cores.md
//
// One warp multiplies a, 16 x 16, by b, 16 x 8, with one tensor core instruction (mma), and out
// gets the 16 x 8 products. All three are row-major. A lane's fragment of a has four registers,
// with two adjacent elements of a row in each. Which row is it, and which two columns? With lane =
// 4 r + c, r from 0 to 7:
//
//     register 0   row r       columns 2 c and 2 c + 1
//     register 1   row r + 8   the same columns
//     register 2   row r       8 columns further right
//     register 3   row r + 8   8 columns further right

#include <cuda_bf16.h>

__device__ unsigned two_in_one(float first, float second) {
    const unsigned low = __bfloat16_as_ushort(__float2bfloat16(first));
    return low | static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16(second))) << 16;
}

__global__ void fragment_index_kernel(const float* a, const float* b, float* out) {
    const int lane = threadIdx.x, r = lane / 4, c = lane % 4;
    unsigned fa[4], fb[2];
    for (int i = 0; i < 4; ++i) {
        // your code: the row of register i, and the column k of its first element
        // stub: const int row = 0, k = 0;
        // wrong: const int row = r + 8 * (i / 2), k = 2 * c + 8 * (i % 2);
        const int row = r + 8 * (i % 2);
        const int k = 2 * c + 8 * (i / 2);
        // wrong 2: const int row = r + 8 * (i % 2), k = c + 8 * (i / 2);
        // end of your code
        fa[i] = two_in_one(a[row * 16 + k], a[row * 16 + k + 1]);
    }
    for (int i = 0; i < 2; ++i) {
        const int k = 2 * c + 8 * i;
        fb[i] = two_in_one(b[k * 8 + r], b[(k + 1) * 8 + r]);
    }
    float sum[4] = {};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; ++i) out[(r + 8 * (i / 2)) * 8 + 2 * c + i % 2] = sum[i];
}

void fragment_index(const float* a, const float* b, float* out) {
    fragment_index_kernel<<<1, 32>>>(a, b, out);
}

// hint 1: Registers 1 and 3 are eight rows below: which of i / 2 and i % 2 is 1 for both?
// hint 2: Registers 2 and 3 are eight columns further right: use the other one.
// why: Register i belongs to 8 x 8 submatrix i, and the four submatrices are numbered in
// why: column-major order: i % 2 is the row of submatrices, and i / 2 is the column.
// told: Registers 1 and 2
// told 2: use 2 c, not c
