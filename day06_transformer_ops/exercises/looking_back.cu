// Exercise 3 of Day 06: a causal mask.
//
// Tiny, 4 minutes.
//
// A model has kept the keys of P tokens, and now reads T new ones: they are tokens P to P + T -
// 1, and there are S = P + T keys. out, of shape (T, S), gets 1 where new token t may look at key
// s, else 0. A token looks at itself and at whatever came before it.

__global__ void looking_back_kernel(int P, int T, int S, float* out) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y;
    if (s < S) {
        // your code
        // stub: const bool may = true;
        // wrong: const bool may = s <= t;
        // wrong 2: const bool may = s >= P && s <= P + t;
        // wrong 3: const bool may = s >= P + t;
        const bool may = s <= P + t;
        // end of your code
        out[t * S + s] = may ? 1.0f : 0.0f;
    }
}

void looking_back(int P, int T, float* out) {
    const int S = P + T;
    looking_back_kernel<<<dim3((S + 31) / 32, T), 32>>>(P, T, S, out);
}

// hint 1: Which number among all S tokens has the first of the new ones? Which keys may it look at?
// hint 2: New token t is token P + t of all. Its own key counts too.
// why: Keys are counted from the very first token, new tokens from 0 on: P brings both to the
// why: same count. With P = 0 it is the mask of a prompt, and with T = 1, one new token,
// why: everything is allowed.
// told: the P tokens before were forgotten
// told 2: The P tokens before are not looked at
// told 3: The mask is reversed
