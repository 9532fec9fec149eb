# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# Finds tools and installs missing ones. A tool counts if it runs, wherever it came from. Sets
# $cmake and $gxx, and $installed if anything was installed.

cmake='' gxx='' installed=''

at_least() {  # at_least 3.31.6 3.25
    [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]
}

find_cmake() {
    local candidate version
    for candidate in "$(command -v cmake || true)" "$root/build/cmake-venv/bin/cmake"; do
        if [[ ! -x $candidate ]]; then continue; fi
        version=$("$candidate" --version 2>/dev/null | sed -n 's/^cmake version //p') || continue
        if [[ $version ]] && at_least "$version" 3.25; then
            cmake=$candidate
            return 0
        fi
    done
    return 1
}

# The emulator needs the real g++ (clang may be named g++ too), and some lessons need C++20.
find_gxx() {
    local candidate program='#include <compare>
#if defined(__clang__) || __GNUC__ < 11
#error "not this one"
#endif'
    for candidate in "${CXX:-}" g++ g++-{16,15,14,13,12,11}; do
        candidate=$(command -v "$candidate" 2>/dev/null) || continue
        if "$candidate" -std=c++20 -x c++ -fsyntax-only - <<<"$program" 2>/dev/null; then
            gxx=$candidate
            return 0
        fi
    done
    return 1
}

have_ninja() { ninja --version >/dev/null 2>&1; }

have_png() { [[ $gxx ]] && "$gxx" -x c++ -fsyntax-only - <<<'#include <png.h>' 2>/dev/null; }

have_pcre2() {
    [[ $gxx ]] && "$gxx" -x c++ -DPCRE2_CODE_UNIT_WIDTH=8 -fsyntax-only - <<<'#include <pcre2.h>' 2>/dev/null
}

# Catch2 counts if CMake finds it; sets $catch2 to its version. Without CMake, looks for its folder.
have_catch2() {
    local probe
    catch2='found'
    if [[ -z $cmake || -z $gxx ]] || ! have_ninja; then
        [[ -d $machine/usr/include/catch2 || -d $machine/usr/local/include/catch2 ]]
        return
    fi
    probe=$(mktemp -d)
    cat >"$probe/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(probe NONE)
find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 REQUIRED)
endif()
message(STATUS "Catch2=${Catch2_VERSION}")
END
    # Without a language, CMake knows neither Debian's library folder nor, elsewhere, lib64.
    catch2=$("$cmake" --fresh -G Ninja -S "$probe" -B "$probe/build" -DCMAKE_SIZEOF_VOID_P=8 \
        "-DCMAKE_LIBRARY_ARCHITECTURE=$("$gxx" -print-multiarch)" 2>/dev/null |
        sed -n 's/^-- Catch2=//p') || catch2=''
    rm -r "$probe"
    [[ $catch2 ]]
}

doc_packages=(doxygen doxygen-awesome-css graphviz libjs-mathjax libjs-lunr python3
    fonts-dejavu-core)

have_docs() {
    command -v doxygen >/dev/null && command -v dot >/dev/null && command -v python3 >/dev/null &&
        [[ -d $machine/usr/share/doxygen-awesome-css && -d $machine/usr/share/javascript/mathjax &&
            -d $machine/usr/share/javascript/lunr ]]
}

have_chromium() {
    command -v chromium-headless-shell || command -v chromium || command -v google-chrome
} >/dev/null

# The machine's package manager, if we know its names of the packages. Only apt is ever run.
for manager in apt-get dnf pacman ''; do
    if command -v "$manager" >/dev/null; then break; fi
done

# install_command <package of Debian>...: what to type here; Debian's where the package manager is unknown.
install_command() {
    local package names=()
    local -A dnf=([g++]=gcc-c++ [catch2]=catch-devel [libpng-dev]=libpng-devel [libpcre2-dev]=pcre2-devel)
    local -A pacman=([g++]=gcc [ninja-build]=ninja [libpng-dev]=libpng [libpcre2-dev]=pcre2)
    for package in "$@"; do
        case $manager in
            dnf) names+=("${dnf[$package]:-$package}") ;;
            pacman) names+=("${pacman[$package]:-$package}") ;;
            *) names+=("$package") ;;
        esac
    done
    case $manager in
        dnf) printf 'dnf install %s' "${names[*]}" ;;
        pacman) printf 'pacman -Syu --needed %s' "${names[*]}" ;;
        *) printf 'apt install %s' "${names[*]}" ;;
    esac
}

# need [tests] [docs] [pdf]: installs what a build needs, or stops with a message. Catch2 (without tests),
# libpng and PCRE2 are optional.
need() {
    local missing=() welcome=()
    lock_build
    find_gxx || missing+=(g++)
    have_ninja || missing+=(ninja-build)
    find_cmake || missing+=(cmake)
    if [[ -z ${missing[*]} && " $* " != *" docs "* ]] && configured; then
        if [[ " $* " != *" tests "* ]] || [[ $(cache_value Catch2_DIR) == /* ]]; then return; fi
    fi
    if ! have_catch2; then
        if [[ " $* " == *" tests "* ]]; then missing+=(catch2); else welcome+=(catch2); fi
    fi
    have_png || welcome+=(libpng-dev)
    have_pcre2 || welcome+=(libpcre2-dev)
    if [[ " $* " == *" docs "* ]] && ! have_docs; then missing+=("${doc_packages[@]}"); fi
    if [[ " $* " == *" pdf "* ]] && ! have_chromium; then missing+=(chromium-headless-shell); fi

    if [[ -z ${missing[*]} ]]; then
        # Optional tools are not worth a password or a second attempt.
        if [[ ${welcome[*]} && ! -e $root/build/no-${welcome[0]} ]] && can_install_unasked; then
            install "${welcome[@]}" || touch "$root/build/no-${welcome[0]}"
        fi
        return
    fi
    if [[ $manager != apt-get ]]; then
        sorry "This machine has no apt, so they cannot be installed automatically."
    elif ((EUID != 0)) && ! command -v sudo >/dev/null; then
        sorry "Installing needs root, and sudo was not found."
    elif ! install "${missing[@]}" "${welcome[@]}" &&
        { [[ $hopeless || -z ${welcome[*]} ]] || ! install "${missing[@]}"; }; then
        sorry "$why_not"
    fi
    find_gxx || stop 1 "g++ 11 or newer is needed. Install one, such as g++-12, and try again."
    find_cmake || stop 1 "CMake 3.25 or newer is needed. Put one on PATH and try again."
    have_ninja || stop 1 "ninja was installed, but does not run. $learn doctor shows what was found."
    if [[ " $* " == *" tests "* ]] && ! have_catch2; then
        stop 1 "Catch2 was installed, but CMake does not find it, version 3 or 2.13."
    fi
}

sorry() {  # uses need's $missing and $welcome
    if [[ " ${missing[*]} " == *" chromium"* ]]; then
        note "" "A PDF needs Chromium. Ubuntu's apt has it only as a snap; install Google Chrome's package there."
    fi
    local said=("" "Missing: ${missing[*]}." "$1") command page
    command=$(install_command "${missing[@]}" "${welcome[@]}") page=$(path "$root/docs/install.md")
    if [[ $command == apt* ]]; then command="apt update && $command"; fi
    if [[ $manager != apt-get && " ${missing[*]} " == *" doxygen-awesome-css "* ]]; then
        stop 1 "${said[@]}" "The pages need packages of Debian or Ubuntu. Build them in a container: $page"
    elif [[ $manager ]]; then
        stop 1 "${said[@]}" "" "Run as root" "    $command" "Then run the same command again. Without root: $page"
    fi
    stop 1 "${said[@]}" "" \
        "On Debian or Ubuntu, run as root" \
        "    $command" \
        "Elsewhere install g++ 11, CMake 3.25, Ninja and Catch2 (3, or 2.13), or newer; libpng if you" \
        "want the picture as a file, PCRE2 if Day 06's GPT-2 should read text. Then run the same command" \
        "again. More: $page"
}

# --- apt ------------------------------------------------------------------------------------------
can_install_unasked() {
    [[ $manager == apt-get ]] && { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

may_install() {  # may ask for a password, once
    local status=0
    if ((EUID == 0)) || sudo -n true 2>/dev/null; then return 0; fi
    unlock_build
    [[ -t 0 ]] && sudo -p 'sudo asks for the password of %p: ' -v || status=$?
    lock_build
    return "$status"
}

apt() {
    local sudo=()
    if ((EUID != 0)); then sudo=(sudo -n); fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
        -o DPkg::Lock::Timeout=120 -o Acquire::Retries=0 -o Acquire::http::Timeout=20 "$@" 2>&1
}

candidate() {  # the version apt would install, if it knows one
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -v none
}

# install <package>...: false on failure, with the reason in $why_not.
install() {
    local package packages=() venv='' updated=''
    may_write "$root/build"  # for the logs
    note "Installing $* with apt."
    if ! may_install; then
        hopeless=yes
        why_not="Installing needs root, and sudo did not grant it."
        return 1
    fi
    for package in "$@"; do
        if [[ -z $updated ]] && ! candidate "$package" >/dev/null; then
            if ! apt_update; then return 1; fi
            updated=yes
        fi
        if [[ $package == cmake ]] && ! at_least "$(candidate cmake || echo 99)" 3.25; then
            package=python3-venv venv=yes
        fi
        packages+=("$package")
    done
    if ! apt_install "${packages[@]}"; then
        if [[ $hopeless || $updated ]]; then return 1; fi
        # The package list may be out of date.
        if ! apt_update || ! apt_install "${packages[@]}"; then return 1; fi
    fi
    if [[ $venv ]] && ! cmake_from_pypi; then return 1; fi
    installed=yes
}

hopeless=''  # set if a second attempt would fail too
why_not_apt() {
    local log=$root/build/apt.log reason
    stop_if_told 1 "$log" "${log%/*}"
    if grep -qE 'Temporary failure|Could not resolve|Could not connect|unreachable' "$log"; then
        hopeless=yes
        why_not="There is no network, or the package server does not respond ($(path "$log"))."
    else
        reason=$(grep -m 1 '^E:' "$log" || true)
        why_not="apt could not install them: ${reason:-no reason given} ($(path "$log"))."
    fi
    return 1
}

apt_update() {
    note "  reading the list of packages"
    apt update >"$root/build/apt.log" || why_not_apt || return 1
    # apt only warns about an unreachable server.
    if grep -q '^W: Failed to fetch' "$root/build/apt.log"; then why_not_apt; fi
}

apt_install() {
    apt install --no-install-recommends "$@" | tee "$root/build/apt.log" | apt_progress || why_not_apt
}

# apt names each package three times: fetched, unpacked, set up.
apt_progress() {
    local line total=0 done=0 percent shown=0
    while IFS= read -r line; do
        if [[ $line =~ ([0-9]+)\ newly\ installed ]]; then total=$((3 * BASH_REMATCH[1])); fi
        if [[ $line =~ ^(Get:|Unpacking|Setting\ up) ]]; then done=$((done + 1)); fi
        if ((total == 0)); then continue; fi
        percent=$((100 * done / total))
        if [[ -t 2 ]]; then
            printf '\r\e[K  %d%%' "$percent" >&2
        elif ((percent >= shown + 25)); then
            shown=$((percent - percent % 25))
            note "  $shown%"
        fi
    done
    if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
}

# Ubuntu 22.04 has CMake 3.22; PyPI's is new enough, and is installed inside build/.
cmake_from_pypi() {
    local venv=$root/build/cmake-venv
    note "apt's CMake is older than 3.25. Installing PyPI's, into $(path "$venv")."
    if ! { python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q 'cmake>=3.25,<4'; } \
        >"$root/build/pip.log" 2>&1; then
        stop_if_told 1 "$root/build/pip.log" "$root/build"
        why_not="PyPI's CMake could not be installed: $(tail -n 1 "$root/build/pip.log")"
        return 1
    fi
}
