# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# nvcc from PyPI: new enough for CUDA Tile C++, and installed without root.

tile_packages=(nvidia-cuda-{nvcc,runtime,crt,cccl,tileiras} nvidia-nvvm)

# Finds the nvcc of `learn tile`, where CMake looks first (common/cmake/toolchain.cmake).
find_tile_nvcc() {
    local candidate
    tile_nvcc='' tile_version=''
    for candidate in "$root"/build/tile-venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
        if [[ -x $candidate ]] && tile_version=$(nvcc_version "$candidate"); then
            tile_nvcc=$candidate
            return 0
        fi
    done
    return 1
}

# CMake looks for libcudart.so; the package contains only the versioned name.
name_cudart() {
    local library
    for library in "${tile_nvcc%/bin/nvcc}"/lib/libcudart.so.*; do
        if [[ -f $library ]]; then ln -sf "${library##*/}" "${library%.so.*}.so"; fi
    done
}

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' | grep .; }

verb_tile() {
    local venv=$root/build/tile-venv package packages=()
    no_more_than 0 "$@"
    lock_build
    if find_tile_nvcc && at_least "$tile_version" 13.3; then
        say "nvcc $tile_version is already installed: $(path "$tile_nvcc")"
    else
        if ! command -v python3 >/dev/null; then
            stop 1 "nvcc could not be installed: python3 was not found. On Debian or Ubuntu:" \
                "    apt install python3-venv"
        fi
        note "Installing nvcc from PyPI, 600 MB, into $(path "$venv")."
        for package in "${tile_packages[@]}"; do packages+=("$package>=13.3,<14"); done
        if ! { python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q "${packages[@]}"; } \
            >"$root/build/pip.log" 2>&1; then
            stop_if_told 1 "$root/build/pip.log" "$root/build"
            stop 1 "nvcc could not be installed: $(tail -n 1 "$root/build/pip.log") ($(path "$root/build/pip.log"))" \
                "It needs python3 with its venv module (apt install python3-venv) and network access."
        fi
        find_tile_nvcc || stop 1 "pip installed $(path "$venv"), but it contains no working nvcc."
        say "nvcc $tile_version: $(path "$tile_nvcc")"
    fi
    name_cudart
    if [[ $(cache_value CMAKE_CUDA_COMPILER) != "$tile_nvcc" ]]; then
        rm -f "$build/build.ninja"  # reconfigure: all kernels must use the same compiler
        say "The next run or test builds all kernels with it, tile kernels too."
    fi
    if ! find_gpu; then
        say "To build them for a GPU, add --nvcc after the command ($why_no_gpu). The emulator runs them" \
            "without nvcc."
    elif ! at_least "$gpu_driver" 580; then
        say "The driver is $gpu_driver, but what this nvcc builds needs 580 or newer."
    fi
}
