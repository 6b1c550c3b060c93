#!/usr/bin/env bash
# ./limpid and ./test as a stranger meets them, on a tiny tree with the same scripts and presets.
# Usage: scripts_test.sh SOURCE_FOLDER BUILD_FOLDER
set -uo pipefail
source_folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
failures=0

# ---- the tiny tree

make_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"/{src,cmake,bin}
  cp -r "$source_folder"/{limpid,test,scripts,CMakePresets.json} "$tree"
  printf '[build]\ncmd:cmake\tcmake\n[test]\nheader:gtest/gtest.h\tlibgtest-dev\n' >"$tree/packages.txt"
  cat >"$tree/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES CXX)
add_executable(limpid src/main.cpp)
add_executable(limpid_first_look EXCLUDE_FROM_ALL src/first_look.cpp)
add_library(limpid_mpi MODULE EXCLUDE_FROM_ALL src/main.cpp)
set_target_properties(limpid_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
if(LIMPID_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  add_executable(tiny_test src/tiny_test.cpp)
  target_compile_definitions(tiny_test PRIVATE $<$<BOOL:${LIMPID_F64}>:LIMPID_F64>)
  target_link_libraries(tiny_test GTest::gtest_main)
  add_test(NAME tiny COMMAND tiny_test)
  if(NOT LIMPID_F64)
    add_test(NAME shell COMMAND true)
    set_tests_properties(shell PROPERTIES LABELS script)
  endif()
endif()
TEXT
  write_program 'for (int i = 1; i < argc; ++i) std::printf("<%s>", argv[i]);'
  write_tests 'TEST(Tiny, A) {} TEST(Tiny, B) {}'
  printf '#include <cstdio>\nint main(int argc, char** argv) { std::printf("first %%s", argv[argc - 1]); return argc - 2; }\n' >"$tree/src/first_look.cpp"
}

write_program() { printf '#include <cstdio>\nint main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) { %s return 7; }\n' "$1" >"$tree/src/main.cpp"; }
write_tests() { printf '#include <gtest/gtest.h>\n%s\n' "$1" >"$tree/src/tiny_test.cpp"; }

# ---- running and expecting

# run COMMAND...: sets out, err and code.
run() {
  out=$("$@" 2>"$work/err")
  code=$?
  err=$(<"$work/err")
}

# as_user COMMAND...: without a root's rights.
as_user() {
  if ((EUID != 0)); then "$@"; else setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; fi
}

# as_root COMMAND...: as root, of a private user namespace if need be.
as_root() { if ((EUID == 0)); then "$@"; else unshare --map-root-user "$@"; fi; }

# expect CONDITION: a Bash condition over out, err, code and what the case has set.
expect() {
  eval "[[ $1 ]]" && return
  failures=$((failures + 1))
  printf '%s: expected %s\n--- exit code %s, stdout:\n%s\n--- stderr:\n%s\n' "${FUNCNAME[1]}" "$1" "$code" "$out" "$err"
}

# fake NAME TEXT: a command that stands before the real one under with_fakes.
fake() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$tree/bin/$1"
  chmod +x "$tree/bin/$1"
}
with_fakes() { PATH=$tree/bin:$PATH "$@"; }

# ---- ./limpid

runs_from_anywhere_with_nothing_around_it() {
  ln -s "$tree/limpid" "$work/link"
  cd / || exit
  run env -i PATH="$PATH" CI=true "$work/link" 'a b' --c '' <&-
  expect '$code == 7 && $out == "<a b><--c><>" && $err == *"100 %"*'
  run "$work/link" again
  expect '$code == 7 && $out == "<again>" && -z $err'
}

begins_the_demo_before_the_rest_is_built() {
  rm -rf "$tree/build"
  run "$tree/limpid" demo fails
  expect '$code == 1 && $out == "first fails" && ! -e $tree/build/release/limpid'
  run "$tree/limpid" demo
  expect '$code == 0 && $out == "first demo" && ! -e $tree/build/release/limpid'
  run "$tree/limpid" x
  expect '$code == 7 && -x $tree/build/release/limpid'
  run "$tree/limpid" demo
  expect '$code == 7 && $out == "<demo>" && -z $err'
  rm -rf "$tree/build"
  run "$tree/limpid" demo --watch
  expect '$code == 7 && $out == "<demo><--watch>"'
}

does_not_build_what_is_built() {
  fake ninja 'exit 9'
  fake cmake 'exit 9'
  run with_fakes "$tree/limpid" x
  expect '$code == 7 && $out == "<x>" && -z $err'
  chmod -R a-w "$tree/build"
  chmod a+rx "$work"
  run as_user "$tree/limpid" x
  expect '$code == 7 && $out == "<x>" && -z $err'
  chmod -R u+w "$tree/build"
}

keeps_the_module_for_mpirun_as_new_as_the_program() {
  local module=$tree/build/release/limpid_mpi.so
  write_program 'std::puts("one");'
  run "$tree/limpid"
  expect '$code == 7 && ! -e $module'
  run env OMPI_COMM_WORLD_SIZE=2 "$tree/limpid"
  expect '$code == 7 && -e $module'
  write_program 'std::puts("two");'
  run "$tree/limpid"
  expect '$code == 7 && $out == two && $module -nt $tree/src/main.cpp'
}

shows_what_the_compiler_says() {
  write_program 'std::puts("old program") oops;'
  run "$tree/limpid"
  expect '$code == 1 && -z $out && $err == *"main.cpp:2:"*"error:"* && $err != *FAILED* && $err != *" -c "*'
  run "$tree/limpid"
  expect '$code == 1 && -z $out && $err == *error:*'
  write_program 'std::puts("mended");'
  run "$tree/limpid"
  expect '$code == 7 && $out == mended'
}

shows_what_cmake_says() {
  cp "$tree/CMakeLists.txt" "$work"
  echo 'message(FATAL_ERROR "no such thing")' >>"$tree/CMakeLists.txt"
  run "$tree/limpid"
  expect '$code == 1 && -z $out && $err == *"no such thing"*'
  cp "$work/CMakeLists.txt" "$tree"
  run "$tree/limpid"
  expect '$code == 7'
}

survives_two_at_once() {
  local first second
  write_program 'std::puts("together");'
  "$tree/limpid" >"$work/first" 2>/dev/null &
  "$tree/limpid" >"$work/second" 2>/dev/null &
  wait -n; first=$?
  wait -n; second=$?
  run cat "$work/first" "$work/second"
  expect '"$first $second" == "7 7" && $out == $'"'together\ntogether'"
}

survives_an_interrupt() {
  fake slow 'sleep 3; cp "$1" "$2"'
  cp "$tree/CMakeLists.txt" "$work"
  cat >>"$tree/CMakeLists.txt" <<'TEXT'
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/more.cpp DEPENDS src/main.cpp
  COMMAND bin/slow /dev/null ${CMAKE_BINARY_DIR}/more.cpp WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
target_sources(limpid PRIVATE ${CMAKE_BINARY_DIR}/more.cpp)
TEXT
  run timeout --preserve-status -s INT 2 "$tree/limpid"
  expect '$code == 130 && -z $out && $err != *"did not build"*'
  fake slow 'cp "$1" "$2"'
  run "$tree/limpid"
  expect '$code == 7 && $out == together'
  cp "$work/CMakeLists.txt" "$tree"
}

follows_a_tree_that_moves() {
  mv "$tree" "$work/moved"
  tree=$work/moved
  write_program 'std::puts("moved");'
  run "$tree/limpid"
  expect '$code == 7 && $out == moved'
  mv "$tree" "$work/tree"
  tree=$work/tree
}

# ---- packages

names_missing_packages_to_a_user() {
  printf '[build]\ncmd:cmake\tcmake\ncmd:no-such\tpack-a\nheader:no/such.h\tpack-b\nlib:libno.so\tpack-b\nlib:libc.so.6\tlibc6\n[test]\ncmd:nor-this\tpack-t\n[lint]\ncmd:nor-that\tpack-l\n' >"$tree/packages.txt"
  chmod -R a+rwX "$work"
  run as_user "$tree/limpid"
  expect '$code == 1 && -z $out && $err == *$'"'\n'"'"sudo apt-get install pack-a pack-b"'
  run as_user "$tree/test"
  expect '$code == 1 && $err == *$'"'\n'"'"sudo apt-get install pack-a pack-b pack-t"'
  run as_user "$tree/test" --lint
  expect '$code == 1 && $err == *$'"'\n'"'"sudo apt-get install pack-a pack-b pack-t pack-l"'
}

installs_missing_packages_as_root() {
  as_root true 2>/dev/null || return 0
  touch "$tree/packages.txt"
  fake apt-get 'echo "$*" >>"'"$work"'/apt"; echo noise; [[ $* != *update* ]]'
  run as_root env PATH="$tree/bin:$PATH" "$tree/limpid"
  expect '$code == 7 && $out == moved && $err == "Installing pack-a pack-b"*'
  run cat "$work/apt"
  expect '$out == *update*$'"'\n'"'*" install "*" pack-a pack-b" && $out != *cmake* && $out != *libc6*'
  touch "$tree/packages.txt"
  fake apt-get 'echo "E: no network" >&2; exit 100'
  run as_root env PATH="$tree/bin:$PATH" "$tree/limpid"
  expect '$code == 1 && -z $out && $err == *"E: no network"*"Could not install pack-a pack-b"'
}

finds_what_came_from_elsewhere() {
  mkdir -p "$work/prefix"/{include/no,lib}
  touch "$work/prefix/include/no/such.h" "$work/prefix/lib/libno.so"
  fake no-such ''
  run env CMAKE_PREFIX_PATH="/nowhere:$work/prefix" PATH="$tree/bin:$PATH" "$tree/limpid"
  expect '$code == 7 && $out == moved'
  touch "$tree/packages.txt"
  run env CPATH="$work/prefix/include" LIBRARY_PATH="$work/prefix/lib" PATH="$tree/bin:$PATH" "$tree/limpid"
  expect '$code == 7 && $out == moved && -z $err'
}

# ---- ./test

counts_test_cases_of_both_builds() {
  make_tree
  run "$tree/test" <&-
  expect '$code == 0 && $out == *$'"'\n5 passed, 0 failed'"' && $out != *skipped* && ! -e $tree/Testing'
  write_tests 'TEST(Tiny, A) {} TEST(Tiny, B) { EXPECT_EQ(1, 2); EXPECT_EQ(1, 3); } TEST(Tiny, C) { GTEST_SKIP(); }
#ifdef LIMPID_F64
TEST(Tiny, D) { __builtin_trap(); }
#endif'
  run "$tree/test"
  expect '$code == 1 && $out == *"Which is: 2"* || $out == *tiny_test.cpp:2:*'
  expect '$code == 1 && $out == *$'"'\n2 passed, 2 failed, 1 skipped'"
}

builds_for_this_processor_until_there_are_tests() {
  local cache=$tree/build/release/CMakeCache.txt choices='^LIMPID_(TESTS|THIS_PROCESSOR):'
  make_tree
  run "$tree/limpid"
  run grep -oE "$choices[A-Z]*=(ON|OFF)" "$cache"
  expect '$out == *_TESTS:*=OFF* && $out == *_PROCESSOR:*=ON*'
  run "$tree/test" tiny
  run grep -oE "$choices[A-Z]*=(ON|OFF)" "$cache"
  expect '$out == *_TESTS:*=ON* && $out == *_PROCESSOR:*=OFF*'
  write_program 'std::puts("after the tests");'
  run "$tree/limpid"
  expect '$code == 7 && $out == "after the tests"'
  run grep -oE "$choices[A-Z]*=(ON|OFF)" "$cache"
  expect '$out == *_TESTS:*=ON* && $out == *_PROCESSOR:*=OFF*'
}

runs_the_tests_it_is_asked_for() {
  write_tests 'TEST(Tiny, Apple) {} TEST(Tiny, Pear) {} TEST(Other, Apple) {}'
  run "$tree/test" tiny
  expect '$code == 0 && $out == *$'"'\n6 passed, 0 failed'"
  run "$tree/test" shell
  expect '$code == 0 && $out == *$'"'\n1 passed, 0 failed'"
  run "$tree/test" Apple
  expect '$code == 0 && $out == *$'"'\n4 passed, 0 failed'"
  run "$tree/test" tiny Tiny.Apple Pear
  expect '$code == 0 && $out == *$'"'\n4 passed, 0 failed'"
  run "$tree/test" tiny Plum
  expect '$code == 1 && $out == *$'"'\n0 passed, 0 failed'"' && $err == *"No test has this name: tiny Plum"*'
  run "$tree/test" --nonsense
  expect '$code == 2 && -z $out && $err == *--sanitizers*'
  run "$tree/test" --help
  expect '$code == 0 && $out == *--sanitizers* && -z $err'
}

fails_when_the_tests_do_not_build() {
  write_tests 'oops'
  run "$tree/test"
  expect '$code == 1 && $err == *tiny_test.cpp:2:*error:* && $out == *$'"'\n0 passed, 1 failed'"
}

make_tree
for case in runs_from_anywhere_with_nothing_around_it does_not_build_what_is_built \
  begins_the_demo_before_the_rest_is_built keeps_the_module_for_mpirun_as_new_as_the_program shows_what_the_compiler_says \
  shows_what_cmake_says survives_two_at_once survives_an_interrupt follows_a_tree_that_moves \
  names_missing_packages_to_a_user installs_missing_packages_as_root finds_what_came_from_elsewhere \
  counts_test_cases_of_both_builds builds_for_this_processor_until_there_are_tests \
  runs_the_tests_it_is_asked_for fails_when_the_tests_do_not_build; do
  rm -f "$tree"/bin/*
  $case
done
((failures == 0))
