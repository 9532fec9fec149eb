// Exercise 5 of Day 01: draw a Julia set.
//
// Easy, 20 minutes.
//
// out is an image of H rows and W columns, one byte per pixel, row after row. Let one thread compute
// one pixel. The pixel in column x and row y stands for a point z of the complex plane:
//
//     re = (2 x + 1 - W) / H * 1.2        im = (H - 1 - 2 y) / H * 1.2
//
// One step replaces z by z * z + c. In real numbers, with c = (c_re, c_im):
//
//     new re = re * re - im * im + c_re        new im = 2 * re * im + c_im
//
// Count the steps until |z| exceeds 2, that is, until re * re + im * im > 4, but stop at 254. The
// count is the pixel's byte; it is 0 where |z| exceeds 2 before the first step.
//
// `common/learn check` also leaves what your kernel draws, right or wrong, in
// my/day01_flat_memory/julia.png. More steps are brighter; white: 254, or written by no thread.

__global__ void julia_kernel(float c_re, float c_im, int H, int W, unsigned char* out) {
    // your code: which pixel is this thread's, does it exist, and how many steps does it take?
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        float re = 1.2f * static_cast<float>(2 * x + 1 - W) / static_cast<float>(H);
        float im = 1.2f * static_cast<float>(H - 1 - 2 * y) / static_cast<float>(H);
        int steps = 0;
        while (re * re + im * im <= 4 && steps < 254) {
            const float next = re * re - im * im + c_re;
            im = 2 * re * im + c_im;  // of the old re
            re = next;
            ++steps;
        }
        out[y * W + x] = static_cast<unsigned char>(steps);
    }
    // wrong 12345679: const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    // wrong 8: const auto x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    // wrong 1245679: if (x >= W || y >= H) return;
    // wrong 8: if (x >= unsigned(W) || y >= unsigned(H)) return;
    // wrong 4: float re = float((2 * x + 1 - W) / H) * 1.2f, im = float((H - 1 - 2 * y) / H) * 1.2f;
    // wrong 12356789: const float scale = 1.2f / float(H);
    // wrong 1235789: float re = float(2 * x + 1 - W) * scale, im = float(H - 1 - 2 * y) * scale;
    // wrong 6: float re = float(2 * x + 1 - W) * scale, im = float(2 * y + 1 - H) * scale;
    // wrong 123456789: int steps = 0;
    // wrong 1234678: while (re * re + im * im <= 4 && steps < 254) {
    // wrong 5: while (steps < 254) {
    // wrong 9: while (re * re + im * im <= 2 && steps < 254) {
    // wrong 123456789: const float next = re * re - im * im + c_re;
    // wrong 12345689: im = 2 * re * im + c_im, re = next;
    // wrong 7: im = 2 * re * im, re = next;
    // wrong 5: if (re * re + im * im > 4) break;
    // wrong 123456789: ++steps;
    // wrong 123456789: }
    // wrong: out[x * H + y] = static_cast<unsigned char>(steps);
    // wrong 2: out[y * H + x] = static_cast<unsigned char>(steps);
    // wrong 3456789: out[y * W + x] = static_cast<unsigned char>(steps);
    // end of your code
}

void julia(float c_re, float c_im, int H, int W, unsigned char* out) {
    const dim3 block(32, 8);  // 32 columns, 8 rows
    const dim3 grid((W + 31) / 32, (H + 7) / 8);
    julia_kernel<<<grid, block>>>(c_re, c_im, H, W, out);
}

// hint 1: Two loop variables need two axes: column x from blockIdx.x and threadIdx.x, row y from
// hint 1: blockIdx.y and threadIdx.y. Which threads have no pixel? At which offset is pixel (x, y)?
// hint 2: The steps are an ordinary loop inside the thread: while (re * re + im * im <= 4 &&
// hint 2: steps < 254). The new im needs the old re, so keep the new re in a third variable first.
// hint 3: In C++ an int divided by an int is rounded toward 0: (2 * x + 1 - W) / H is -1, 0 or 1 here.
// hint 3: Multiply by 1.2f first, or convert to float.
// why: No pixel needs another one, so each gets a thread. The steps of one pixel depend on each
// why: other, so they stay a loop. x is on the fast axis: neighbouring threads write neighbouring
// why: bytes. A thread past the right edge would write into the next row, and one below the last row
// why: past the end, so both directions need a guard.
// told: swapped in the offset
// told 2: a row of the image has W pixels
// told 3: The guard is missing
// told 4: an int divided by an int
// told 5: Each count is one too small
// told 6: The picture is upside down
// told 7: c_im is missing
// told 8: Make both an int
// told 9: compare it with 4
