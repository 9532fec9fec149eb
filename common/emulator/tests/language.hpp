/// @file
/// One task, block-wise reversal of 64 ints, in the spellings found in CUDA programs.
#pragma once

namespace sixdays::emulator::tests {

struct Spelling {
    const char* name;
    void (*reverse)(const int* in, int* out);  // 64 ints each, in device memory
};

extern const Spelling kSpellings[];
extern const int kSpellingCount;

/// A kernel called without <<<>>>: by host code and by a kernel.
void call_like_a_function(int* out);
void call_from_a_kernel(int* out);
/// Launches within a kernel: 64 threads, then 32, 16, ...; each thread adds 1 to its element. And a
/// launch of 65 threads.
void launch_from_a_kernel(int* out);
void launch_beyond_the_end(int* out);
void rows_of_dynamic_memory(int* out);
/// A kernel allocates 4 ints with malloc and new, and reads the one at `last`.
void own_memory(int* out, int last);
/// 64 threads add 1 with a compiler builtin.
void count_by_builtin(unsigned* count);
/// 100 KB of dynamic shared memory, with and without the attribute, which is set through a pointer.
void much_shared_memory(int* out, int bytes_asked);
/// The given number of bytes, next to a static array of 32 bytes.
void much_beside_an_array(int* out, int bytes);

/// Device variables by name: 8 floats go in and come out 10 larger.
void through_symbols(const float* in, float* out);
/// Copies by address; and with a bug: a host variable, a copy that is too long.
int through_its_address(const float* in, float* out, int more);
int sum_on_the_host(int a, int b);
void sides_of_a_square(int* out);
/// A graph that fills 64 words with `word`, copies them, doubles them and brings them back, twice.
/// It is built by hand or captured from two streams, and allocates and frees its own memory.
int by_a_graph(bool by_hand, unsigned word, unsigned* out);
/// A node with a dependency in another graph.
int node_of_another_graph();
/// A 4 x 3 texture of floats, 10 y + x, read at these coordinates (in texels, or normalized).
struct Sampling {
    bool linear, normalized;
    int address;  // cudaTextureAddressMode
};
float sampled(const Sampling& how, float x, float y);
/// The same with a texture of bytes, normalized to [0, 1]; of two pitched rows (1, 2, 3) and (11,
/// 12, 13); the second of two float2 channels (1, 2) and (3, 4); layered; a cubemap whose face f
/// holds f.
float sampled_bytes(float x);
float sampled_rows(float x, float y);
float sampled_pair(float x);
float sampled_layer(float x, float y, int layer);
float sampled_cube(float x, float y, float z);
/// A kernel writes x + 10 y to a surface, last at `row`, and reads it through a texture.
void through_a_surface(int row, float* out);
int copy_to_host_variable(const float* in);
int copy_too_much_to_symbol(const float* in);
/// Rows from cudaMallocPitch, whose elements a kernel increases by 10; returns the pitch.
int through_pitched_rows(const float* in, float* out, int row, int rows);
void suggested_block(int* blocks, int* threads, int shared_bytes, int most_threads);
void stop_at_trap();
/// Reverses 64 ints that the copy engine brings in two halves, in PTX: the supported waits, then
/// planted bugs.
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
