/// @file
/// TF32, a tensor-core type with 10 of float's 23 fraction bits. Without this header, cuda_tile.h
/// only declares it.
#pragma once

struct __nv_tf32 {
    float value;
};
