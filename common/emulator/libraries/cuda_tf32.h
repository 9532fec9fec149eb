/// @file
/// TF32, a type of matrix units: of a float's 23 bits of fraction they see 10. Without this header
/// cuda_tile.h knows no more than its name.
#pragma once

struct __nv_tf32 {
    float value;
};
