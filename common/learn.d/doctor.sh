# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# Reports the tools found on this machine and their uses. Installs and changes nothing.

found() { printf '  %-10s %-14s %s\n' "$1" "$2" "$3"; }  # found <tool> <version> <what it means>

verb_doctor() {
    local nvcc cuda card='' version
    advice=()
    no_more_than 0 "$@"
    say "${bold}On this machine${plain}" ""
    doctor_system
    doctor_builders
    doctor_extras
    doctor_nvcc
    doctor_gpu
    if ((${#advice[@]} > 0)); then say "" "${bold}What to do${plain}" "" "${advice[@]}"; fi
    say ""
    if [[ $nvcc && $gpu_works ]]; then
        say "This machine is in the row \"nvcc and a GPU\" of README.md's table: everything runs."
    elif [[ $nvcc ]]; then
        say "This machine is in the row \"nvcc, no GPU\" of README.md's table: the kernels run on the CPU" \
            "emulator; with --nvcc, nvcc compiles them too. Tests that need a GPU are skipped."
    else
        say "This machine is in the row \"no nvcc\" of README.md's table: the CPU reference runs as it is, and the" \
            "kernels, the same files, run on the CPU emulator. You can follow every lesson that way."
    fi
}

# WSL and a container have no driver of their own; sets $inside, and $outside, where the driver is installed.
doctor_system() {
    local kernel=''
    inside='' outside=''
    if [[ -r $machine/proc/version ]]; then kernel=$(<"$machine/proc/version"); fi
    if [[ -e $machine/.dockerenv || -e $machine/run/.containerenv ]]; then
        inside=container outside=" on the host"
        found system container "sees a GPU of its host only if started with it"
    elif [[ ${kernel,,} == *microsoft* ]]; then
        inside=WSL outside=" in Windows"
        found system WSL "the GPU's driver is the one in Windows"
    fi
}

# What `learn run` would install, or the command to type where it cannot: install_by <tool> <verb> <package> [more]
install_by() {
    if [[ $manager == apt-get || -z $manager ]]; then
        advice+=("  $1: $learn $2 installs it (apt install $3${4:-})")
    else
        advice+=("  $1: $(install_command "$3")")
    fi
}

doctor_builders() {
    if find_gxx; then
        found g++ "$("$gxx" -dumpfullversion)" "compiles the CPU reference, and the kernels for the emulator"
    else
        version=$(g++ -dumpfullversion 2>/dev/null || true)
        found g++ "${version:-missing}" "g++ 11 or newer is needed"
        install_by g++ run g++
    fi
    if find_cmake; then
        found CMake "$("$cmake" --version | sed -n 's/^cmake version //p')" "configures the build"
    else
        version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p' || true)
        found CMake "${version:-missing}" "CMake 3.25 or newer is needed"
        install_by CMake run cmake "; if that is too old, PyPI's, in build/"
    fi
    if have_ninja; then
        found Ninja "$(ninja --version)" "runs the build"
    else
        found Ninja missing "it runs the build"
        install_by Ninja run ninja-build
    fi
    if have_catch2; then
        found Catch2 "$catch2" "runs the tests and checks your exercises"
    else
        found Catch2 missing "needed for tests and for checking exercises"
        install_by Catch2 test catch2
    fi
}

doctor_extras() {
    if have_png; then
        found libpng found "day01 can write its picture"
    else
        found libpng missing "day01 cannot write its picture; nothing else needs it"
        advice+=("  libpng: $(install_command libpng-dev), if you want the picture as a file")
    fi
    if have_pcre2; then
        found PCRE2 found "cuts text into tokens for day06's GPT-2"
    else
        found PCRE2 missing "day06's GPT-2 takes no text; nothing else needs it"
        advice+=("  PCRE2: $(install_command libpcre2-dev), if you want to give GPT-2 text")
    fi
    if have_docs; then
        found Doxygen "$(doxygen --version)" "builds the pages"
    else
        found Doxygen missing "Doxygen, its theme, Graphviz or MathJax: no pages yet"
        advice+=("  Doxygen: $learn docs installs what the pages need")
    fi
}

# The nvcc that the build uses, as common/cmake/toolchain.cmake chooses it: first `learn tile`'s.
doctor_nvcc() {
    local means="compiles the kernels for a GPU"
    cuda=''
    if find_tile_nvcc; then
        nvcc=$tile_nvcc cuda=$tile_version means+=" ($learn tile brought it)"
    else
        nvcc=$(PATH=$PATH:$machine/usr/local/cuda/bin command -v nvcc || true)
    fi
    if [[ $nvcc && -z $cuda ]]; then cuda=$(nvcc_version "$nvcc" || true); fi
    if [[ -z $nvcc ]]; then
        found nvcc none "kernels are not compiled for a GPU"
    elif nvcc_compiles; then
        found nvcc "${cuda:-found}" "$means"
    else
        found nvcc "${cuda:-broken}" "is installed, but cannot compile a kernel"
        if [[ $gxx ]]; then advice+=("  nvcc: it may be too old for this g++. Type: $(path "$nvcc") --version; g++ --version"); fi
        nvcc=''
    fi
    if [[ $nvcc ]] && at_least "$cuda" 13.3; then
        found tile "$cuda" "nvcc compiles the tile kernels too (CUDA Tile C++)"
    else
        found tile none "tile kernels (CUDA Tile C++) run only on the emulator"
    fi
}

doctor_gpu() {
    local device
    gpu_works=''
    if find_gpu; then gpu_works=yes; fi
    found driver "${gpu_driver:-none}" ""
    if [[ $gpu_name ]]; then
        found GPU "$gpu_capability" "$gpu_name (the number is its compute capability)"
    else
        found GPU none "kernels run on the CPU emulator"
    fi
    for device in "$machine"/sys/bus/pci/devices/*; do
        if [[ -r $device/class && $(<"$device/vendor") == 0x10de && $(<"$device/class") == 0x03* ]]; then
            card=yes
        fi
    done

    if [[ $gpu_works && $cuda ]] && driver_too_old "${cuda%%.*}"; then
        if [[ $tile_nvcc ]]; then
            advice+=("  driver: $gpu_driver is too old for CUDA $cuda, which came from $learn tile. Install driver 580 or"
                "    newer$outside, or remove $(path "$root/build/tile-venv") and install an older Toolkit.")
        else
            advice+=("  driver: $gpu_driver is too old for CUDA $cuda. Install a newer driver$outside, or an older Toolkit.")
        fi
        gpu_works=''
    elif [[ $gpu_name && -z $gpu_works ]]; then
        advice+=("  GPU: $why_no_gpu. The emulator runs all lessons.")
    elif [[ $inside && -z $gpu_works ]]; then
        gpu_from_outside
    elif [[ $card && -z $gpu_works ]]; then
        advice+=("  driver: this machine has an NVIDIA card, but no driver responds. Install the driver of"
            "    your distribution, or https://www.nvidia.com/drivers; this script never does.")
    fi
    if [[ -z $tile_nvcc ]]; then offer_tile; fi
}

# The next step to the GPU of the machine that this container or WSL runs on.
gpu_from_outside() {
    local folder=/usr/lib/wsl/lib
    if [[ $inside == container ]]; then
        advice+=("  GPU: if the host has one, install NVIDIA's driver and the NVIDIA Container Toolkit there, and start the"
            "    container with: docker run --gpus all ...")
    elif [[ -x $machine$folder/nvidia-smi ]] && ! command -v nvidia-smi >/dev/null; then
        advice+=("  GPU: nvidia-smi is in $folder, which is not on PATH. Type: export PATH=\$PATH:$folder")
    else
        advice+=("  GPU: if this computer has an NVIDIA GPU, install its driver in Windows, https://www.nvidia.com/drivers,"
            "    and none here. Then type in Windows: wsl --update; wsl --shutdown")
    fi
}

# Offers `learn tile`: nvcc for a GPU without one, tile kernels for an older nvcc.
offer_tile() {
    local gets="$learn tile gets one from PyPI, 600 MB, without root"
    if [[ $nvcc ]] && ! at_least "$cuda" 13.3; then
        if [[ -z $gpu_driver ]] || at_least "$gpu_driver" 580; then
            advice+=("  tile: tile kernels need nvcc 13.3 or newer; $gets")
        else
            advice+=("  tile: tile kernels need nvcc 13.3 and driver 580, or newer. Once that driver is installed,"
                "    $gets.")
        fi
    elif [[ -z $nvcc && $gpu_works ]] && at_least "$gpu_driver" 580; then
        advice+=("  nvcc: $gets; it compiles the tile kernels too."
            "    Or install the CUDA Toolkit, https://developer.nvidia.com/cuda-downloads, no newer than the driver"
            "    allows (nvidia-smi shows \"CUDA Version\"), and put its bin folder on PATH.")
    elif [[ -z $nvcc && $gpu_works ]]; then
        advice+=("  nvcc: install the CUDA Toolkit, https://developer.nvidia.com/cuda-downloads, no newer than the"
            "    driver allows (nvidia-smi shows \"CUDA Version\"), and put its bin folder on PATH. Or, with driver"
            "    580 or newer, $gets.")
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

# Is the driver too old for programs built by a Toolkit of this major version?
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
