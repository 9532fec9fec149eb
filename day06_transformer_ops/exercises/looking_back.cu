// Exercise 3 of Day 06: a causal mask.
//
// Tiny, 4 minutes.
//
// A model has cached the keys of P tokens and now processes T new ones. They are tokens P to P + T
// - 1, and there are S = P + T keys. out has shape (T, S) and gets 1 where new token t attends to
// key s, else 0. A token attends to itself and to all tokens before it.

__global__ void looking_back_kernel(int P, int T, int S, float* out) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y;
    if (s < S) {
        // your code
        // stub: const bool may = true;
        // wrong: const bool may = s <= t;
        // wrong 2: const bool may = s >= P && s <= P + t;
        // wrong 3: const bool may = s >= P + t;
        // wrong 4: const bool may = s < P || s == P + t;
        const bool may = s <= P + t;
        // end of your code
        out[t * S + s] = may ? 1.0f : 0.0f;
    }
}

void looking_back(int P, int T, float* out) {
    const int S = P + T;
    looking_back_kernel<<<dim3((S + 31) / 32, T), 32>>>(P, T, S, out);
}

// hint 1: What is the index of the first new token among all S tokens? Which keys may it attend to?
// hint 2: New token t is token P + t of the sequence. Its own key counts too.
// why: Keys are counted from the first token of the sequence, and new tokens from 0. Adding P
// why: brings both to the same count. With P = 0 this is the mask of a prompt. With T = 1, one new
// why: token, everything is allowed.
// told: the P cached tokens were ignored
// told 2: The P cached tokens are masked
// told 3: The mask is reversed
// told 4: attends to no new token before it
