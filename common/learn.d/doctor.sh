# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# What was found on this machine, and what it means. Installs and changes nothing.

found() { printf '  %-10s %-14s %s\n' "$1" "$2" "$3"; }  # found <tool> <version> <what it means>

verb_doctor() {
    local nvcc card='' version
    advice=()
    no_more_than 0 "$@"
    say "${bold}What is on this machine${plain}" ""
    doctor_builders
    doctor_extras
    doctor_gpu
    if ((${#advice[@]} > 0)); then say "" "${bold}What to do${plain}" "" "${advice[@]}"; fi
    say ""
    if [[ $nvcc && $gpu_works ]]; then
        say "In README.md's table this machine is in the row \"nvcc and a GPU\": everything runs."
    elif [[ $nvcc ]]; then
        say "In README.md's table this machine is in the row \"nvcc, no GPU\": the kernels run on the CPU" \
            "emulator, and with --nvcc, nvcc compiles them too; tests that need a GPU are skipped."
    else
        say "In README.md's table this machine is in the row \"no nvcc\": the loops run as they are, and the" \
            "kernels, the same files, run on the CPU emulator. Every lesson can be followed that way."
    fi
}

doctor_builders() {
    if find_gxx; then
        found g++ "$("$gxx" -dumpfullversion)" "compiles the loops, and the kernels for the emulator"
    else
        version=$(g++ -dumpfullversion 2>/dev/null || true)
        found g++ "${version:-missing}" "g++ 11 or newer is needed"
        advice+=("  g++: $learn run installs it (apt install g++)")
    fi
    if find_cmake; then
        found CMake "$("$cmake" --version | sed -n 's/^cmake version //p')" "configures the build"
    else
        version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p' || true)
        found CMake "${version:-missing}" "CMake 3.25 or newer is needed"
        advice+=("  CMake: $learn run installs it (apt install cmake; if that is too old, PyPI's, in build/)")
    fi
    if have_ninja; then
        found Ninja "$(ninja --version)" "runs the build"
    else
        found Ninja missing "it runs the build"
        advice+=("  Ninja: $learn run installs it (apt install ninja-build)")
    fi
    if have_catch2; then
        found Catch2 "$catch2" "runs the tests and checks your exercises"
    else
        found Catch2 missing "no tests, and no check of exercises"
        advice+=("  Catch2: $learn test installs it (apt install catch2)")
    fi
}

doctor_extras() {
    if have_png; then
        found libpng found "day01 can write its picture"
    else
        found libpng missing "day01 cannot write its picture; nothing else needs it"
        advice+=("  libpng: apt install libpng-dev, if you want the picture as a file")
    fi
    if have_pcre2; then
        found PCRE2 found "cuts text into tokens for day06's GPT-2"
    else
        found PCRE2 missing "day06's GPT-2 takes no text; nothing else needs it"
        advice+=("  PCRE2: apt install libpcre2-dev, if you want to give GPT-2 text")
    fi
    if have_docs; then
        found Doxygen "$(doxygen --version)" "builds the pages"
    else
        found Doxygen missing "Doxygen, its theme, Graphviz or MathJax: no pages yet"
        advice+=("  Doxygen: $learn docs installs what the pages need")
    fi
}

doctor_gpu() {
    local device version
    gpu_works=''
    nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || true)
    if [[ $nvcc ]]; then
        version=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true)
    fi
    if [[ -z $nvcc ]]; then
        found nvcc none "kernels are not compiled for a GPU"
    elif nvcc_compiles; then
        found nvcc "$version" "compiles the kernels for a GPU"
    else
        found nvcc "${version:-broken}" "is here, but cannot compile a kernel"
        advice+=("  nvcc: it may be too old for this g++. Type: nvcc --version; g++ --version")
        nvcc=''
    fi

    if find_tile_nvcc; then
        found tile "$tile_version" "compiles the tile ports too (CUDA Tile C++), and is taken for all"
    elif [[ $nvcc ]] && at_least "$version" 13.3; then
        found tile "$version" "nvcc compiles the tile ports too (CUDA Tile C++)"
    else
        found tile none "tile ports (CUDA Tile C++) run on the emulator alone"
        advice+=("  tile: they need nvcc 13.3; $learn tile gets it from PyPI, 600 MB, without root's rights")
    fi

    if find_gpu; then gpu_works=yes; fi
    found driver "${gpu_driver:-none}" ""
    if [[ $gpu_name ]]; then
        found GPU "$gpu_capability" "$gpu_name (the number is its compute capability)"
    else
        found GPU none "kernels run on the CPU emulator"
    fi
    for device in /sys/bus/pci/devices/*; do
        if [[ -r $device/class && $(<"$device/vendor") == 0x10de && $(<"$device/class") == 0x03* ]]; then
            card=yes
        fi
    done

    if [[ $gpu_works && $version ]] && driver_too_old "${version%%.*}"; then
        advice+=("  driver: $gpu_driver is too old for CUDA $version. Take a newer driver, or an older Toolkit.")
        gpu_works=''
    elif [[ $gpu_name && -z $gpu_works ]]; then
        advice+=("  GPU: $why_no_gpu. The emulator runs all lessons.")
    elif [[ $card && -z $gpu_works ]]; then
        advice+=("  driver: an NVIDIA card is in this machine, but no driver answers. Install the driver of"
            "    your distribution, or https://www.nvidia.com/drivers; this script never does.")
    fi
    if [[ $gpu_works && -z $nvcc ]]; then
        advice+=("  nvcc: $learn tile gets one from PyPI, if the driver is 580 or newer. Or install the CUDA Toolkit, https://developer.nvidia.com/cuda-downloads,"
            "    no newer than the driver allows (nvidia-smi shows \"CUDA Version\"), and put its bin folder on PATH.")
    fi
}

nvcc_compiles() {
    local folder status=0
    folder=$(mktemp -d)
    printf '__global__ void k() {}\n' >"$folder/k.cu"
    "$nvcc" -c "$folder/k.cu" -o "$folder/k.o" >/dev/null 2>&1 || status=1
    rm -r "$folder"
    return "$status"
}

# The oldest driver that runs what a Toolkit of this major version builds.
driver_too_old() {
    local least
    case $1 in
        13) least=580 ;;
        12) least=525 ;;
        11) least=450 ;;
        *) return 1 ;;
    esac
    ! at_least "$gpu_driver" "$least"
}
