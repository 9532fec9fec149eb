/// @file
/// One task, block-wise reversal of 64 numbers, in every spelling that CUDA programs are written
/// in.
#pragma once

namespace sixdays::emulator::tests {

struct Spelling {
    const char* name;
    void (*reverse)(const int* in, int* out);  // 64 numbers each, device memory
};

extern const Spelling kSpellings[];
extern const int kSpellingCount;

/// A kernel called without <<<>>>: by host code, and by a kernel.
void call_like_a_function(int* out);
void call_from_a_kernel(int* out);
/// Launches within a kernel: 64 threads, then 32, 16, ..., each adds 1 to its number; and 65
/// threads.
void launch_from_a_kernel(int* out);
void launch_beyond_the_end(int* out);
void rows_of_dynamic_memory(int* out);
/// A kernel takes 4 numbers of memory, by malloc and by new, and reads the one at `last`.
void own_memory(int* out, int last);
/// 64 threads add 1 by a builtin of the compiler.
void count_by_builtin(unsigned* count);
/// 100 KB of dynamic shared memory, with and without asking for it, by a pointer to the kernel.
void much_shared_memory(int* out, int bytes_asked);
/// So many bytes of it, beside 32 bytes of a shared array.
void much_beside_an_array(int* out, int bytes);

/// Variables of the device, by name: 8 floats go in, and come out 10 larger.
void through_symbols(const float* in, float* out);
/// The same with a mistake: a variable of the host, a copy that is too long.
int through_its_address(const float* in, float* out, int more);
int sum_on_the_host(int a, int b);
void sides_of_a_square(int* out);
/// A graph that fills 64 numbers with `word`, copies them, doubles them and brings them back, twice
/// over: made by hand, or of what two streams are asked for. It allocates and frees memory itself.
int by_a_graph(bool by_hand, unsigned word, unsigned* out);
/// A node that waits for one of another graph.
int node_of_another_graph();
/// A table of 4 x 3 floats, 10 y + x, read at these coordinates (in texels, or as parts of 1).
struct Sampling {
    bool linear, normalized;
    int address;  // cudaTextureAddressMode
};
float sampled(const Sampling& how, float x, float y);
/// The same by a texture of bytes, as parts of 255; by layers; by a cube whose face f holds f.
float sampled_bytes(float x);
float sampled_layer(float x, float y, int layer);
float sampled_cube(float x, float y, float z);
/// A kernel writes x + 10 y to a surface, at `row` at last, and reads it by a texture.
void through_a_surface(int row, float* out);
int copy_to_host_variable(const float* in);
int copy_too_much_to_symbol(const float* in);
/// A table of rows, each 10 larger, through memory that cudaMallocPitch gave; returns the pitch.
int through_pitched_rows(const float* in, float* out, int row, int rows);
void suggested_block(int* blocks, int* threads, int shared_bytes, int most_threads);
void stop_at_trap();
/// Reverses 64 numbers that the copy engine brings in two halves, in PTX: the waits that are
/// written, then mistakes.
enum class Bulk {
    parity,
    loop_in_ptx,
    state,
    test,
    not_waited_for,
    other_parity,
    unseen_barrier,
    fewer_bytes_told,
    odd_size,
    past_the_end
};
void reverse_in_bulk(const int* in, int* out, Bulk how);

}  // namespace sixdays::emulator::tests
