# Sourced by ./limpid and ./test: installs what is missing and builds a preset of CMakePresets.json.
# What it says goes to stderr. It needs no HOME, no terminal and no stdin.

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

say() { printf '%s\n' "$*" >&2; }

# One line that is overwritten on a terminal; plain lines elsewhere.
if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then in_place=yes; else in_place=; fi
status() { if [[ $in_place ]]; then printf '\r\033[K%s' "$*" >&2; else say "$*"; fi; }
clear_status() { [[ ! $in_place ]] || printf '\r\033[K' >&2; }

# lock NAME: waits until no other ./limpid or ./test in this tree holds the lock; holds it until this shell ends.
lock() {
  mkdir -p "$root/build"
  exec {lock_file}>"$root/build/.lock-$1"
  flock -n "$lock_file" && return
  say "Waiting for another ./limpid or ./test in $root"
  flock "$lock_file"
}

# ---- packages

# exists_in FILE FOLDERS: FOLDERS is a list like $PATH.
exists_in() {
  local file=$1 folder folders
  IFS=: read -r -a folders <<<"$2"
  for folder in "${folders[@]}"; do
    [[ -z $folder || ! -e $folder/$file ]] || return 0
  done
  return 1
}

# below SUFFIX: every folder of CMAKE_PREFIX_PATH with the suffix, as a list like $PATH.
below() { [[ -z ${CMAKE_PREFIX_PATH:-} ]] || printf '%s' "${CMAKE_PREFIX_PATH//:/"/$1":}/$1"; }

# has PROBE: whether the command, header, library or font is here.
has() {
  local name=${1#*:} triplet=$HOSTTYPE-linux-gnu
  case $1 in
    cmd:*) command -v "$name" >/dev/null ;;
    header:*) exists_in "$name" "/usr/include:/usr/include/$triplet:/usr/local/include:${CPATH:-}:$(below include)" ;;
    lib:*) exists_in "$name" "/usr/lib/$triplet:/usr/lib:/usr/lib64:/usr/local/lib:${LIBRARY_PATH:-}:$(below lib)" ;;
    font:*) [[ -e /usr/share/fonts/$name ]] ;;
    *) say "packages.txt: probe '$1' is not cmd:, header:, lib: or font:"; exit 1 ;;
  esac
}

# missing_packages GROUP...: the packages of these groups whose probes find nothing, each once.
missing_packages() {
  local probe package group= found=" "
  while IFS=$'\t' read -r probe package; do
    case $probe in
      '' | '#'*) ;;
      '['*']') group=${probe:1:-1} ;;
      *)
        [[ " $* " == *" $group "* && $found != *" $package "* ]] || continue
        has "$probe" || { printf '%s\n' "$package"; found+="$package "; }
        ;;
    esac
  done <"$root/packages.txt"
}

# install_packages GROUP...: installs what is missing as root, else says what to install and fails.
install_packages() (
  packages=($(missing_packages "$@"))
  ((${#packages[@]})) || exit 0
  if ! command -v apt-get >/dev/null; then
    say "Limpid needs what Debian calls: ${packages[*]}"
    exit 1
  fi
  if ((EUID != 0)); then
    say "Limpid needs packages that are not installed. Please run:"
    say "sudo apt-get install ${packages[*]}"
    exit 1
  fi
  lock packages
  packages=($(missing_packages "$@")) # another may have installed some meanwhile
  ((${#packages[@]})) || exit 0
  status "Installing ${packages[*]}"
  log=$root/build/apt.log
  # A package list that cannot be refreshed is no reason to stop: what is needed may still be found.
  apt-get -q update </dev/null >"$log" 2>&1 || true
  if ! DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends \
    "${packages[@]}" </dev/null >>"$log" 2>&1; then
    clear_status
    cat "$log" >&2
    say "Could not install ${packages[*]}"
    exit 1
  fi
  clear_status
)

# ---- building

# configure PRESET: runs CMake if this preset is new, has changed, was built elsewhere, or is to have the tests (with_tests) or
# what is for mpirun. Once it has the tests it keeps them.
configure() {
  local preset=$1 folder=$root/build/$1 tests=OFF one=ON mpi=yes state before= fresh= log
  [[ -z $(missing_packages mpi) ]] || mpi=no
  [[ ! -f $folder/.configured ]] || before=$(<"$folder/.configured")
  # The tests cover the kernels for every instruction set; others need only those for this processor's.
  if [[ ${with_tests:-} || ($before == "$root tests=ON "* && -z $(missing_packages test)) ]]; then tests=ON one=OFF; fi
  state="$root tests=$tests mpi=$mpi"
  [[ $before != "$state" || ! -f $folder/build.ninja || $root/CMakePresets.json -nt $folder/.configured ]] || return 0
  [[ -z $before || $before == "$root tests="* ]] || fresh=--fresh
  status "Configuring Limpid ($preset)"
  mkdir -p "$folder"
  log=$folder/configure.log
  if ! (cd "$root" && cmake $fresh --preset "$preset" -DLIMPID_TESTS=$tests -DLIMPID_THIS_PROCESSOR=$one) </dev/null >"$log" 2>&1; then
    clear_status
    cat "$log" >&2
    return 1
  fi
  clear_status
  printf '%s\n' "$state" >"$folder/.configured"
}

# time_left SECONDS: in words.
time_left() {
  if (($1 < 100)); then printf 'about %d s left' "$1"; else printf 'about %d min left' $((($1 + 30) / 60)); fi
}

# show_progress PRESET: reads ninja's output. Lines "@done/total@ what" become a percentage with the time left; what a
# compiler says is passed on to stdout without the command that made it say so.
show_progress() {
  trap '' INT  # after Ctrl-C ninja still cleans up, and must be heard
  local line done total percent shown=-1 skip= begin=$EPOCHSECONDS elapsed text
  [[ ! $in_place ]] || status "Building Limpid ($1)"
  while IFS= read -r line; do
    if [[ $line =~ ^@([0-9]+)/([0-9]+)@ ]]; then
      [[ $line != *'@ Re-'* ]] || continue  # ninja looking for new files or running CMake again
      done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      percent=$((100 * done / total))
      [[ $in_place ]] || percent=$((percent / 25 * 25))
      ((percent != shown)) || continue
      shown=$percent
      elapsed=$((EPOCHSECONDS - begin))
      text="Building Limpid ($1): $percent %"
      ((elapsed < 3 || done == 0 || percent == 100)) || text+=", $(time_left $((elapsed * (total - done) / done)))"
      status "$text"
    elif [[ $skip ]]; then
      skip=
    elif [[ $line == FAILED:* ]]; then
      skip=yes
    elif [[ $line == 'ninja: error'* || $line != @(ninja:|-- )* ]]; then
      printf '%s\n' "$line"
    fi
  done
  clear_status
}

# build PRESET TARGET...: brings the targets up to date; if that fails, shows what the compiler said.
build() {
  trap 'clear_status; exit 130' INT
  local folder=$root/build/$1 log=$root/build/$1/build.log jobs=()
  configure "$1" || return 1
  [[ -z ${CMAKE_BUILD_PARALLEL_LEVEL:-} ]] || jobs=(-j "$CMAKE_BUILD_PARALLEL_LEVEL")
  if ! NINJA_STATUS='@%f/%t@ ' ninja -C "$folder" "${jobs[@]}" "${@:2}" </dev/null 2>&1 | show_progress "$1" >"$log"; then
    cat "$log" >&2
    say "Limpid did not build ($1)"
    return 1
  fi
}

# ---- the page

# page_is_built: whether page/dist is there and nothing it is made from has changed since.
page_is_built() {
  local stamp=$root/build/.page-built
  [[ -f $root/page/dist/index.html && -f $stamp ]] || return 1
  [[ -z $(find "$root"/page/{src,public,index.html,package-lock.json,vite.config.ts,svelte.config.js} -newer "$stamp" -print -quit) ]]
}

# build_page: makes page/dist, which `limpid serve` shows at /. Without npm it says how to get it and fails; nothing else
# needs the page.
build_page() (
  [[ -f $root/page/package.json ]] || exit 0
  ! page_is_built || exit 0
  if ! command -v npm >/dev/null; then
    say "The server runs without its page, which npm builds once: sudo apt-get install npm, then start it again."
    exit 1
  fi
  lock page
  ! page_is_built || exit 0
  status "Building the page"
  log=$root/build/page.log
  touch "$root/build/.page-begun"
  cd "$root/page"
  if ! { [[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --no-audit --no-fund; } </dev/null >"$log" 2>&1 ||
    ! npm run build -- --outDir dist.new --emptyOutDir </dev/null >>"$log" 2>&1; then
    clear_status
    tail -n 20 "$log" >&2
    say "The page did not build; the server runs without it. All that npm said is in $log"
    exit 1
  fi
  rm -rf dist
  mv dist.new dist
  mv "$root/build/.page-begun" "$root/build/.page-built"
  clear_status
)
