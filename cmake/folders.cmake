# One static library for each folder of src/, linked to the folders before it, and one test program for its *_test.cpp files.

add_library(limpid_options INTERFACE)
target_include_directories(limpid_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
set(LIMPID_PRIVATE_LIBRARIES DNNL::dnnl PkgConfig::hwy PkgConfig::sentencepiece PkgConfig::utf8proc PkgConfig::pcre2
  ZLIB::ZLIB tomlplusplus::tomlplusplus OpenMP::OpenMP_CXX)
target_link_libraries(limpid_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json ${LIMPID_PRIVATE_LIBRARIES})
target_compile_definitions(limpid_options INTERFACE $<$<BOOL:${LIMPID_F64}>:LIMPID_F64>)

add_library(limpid_warnings INTERFACE)
target_compile_options(limpid_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wno-missing-field-initializers  # designated initialisers leave the rest at their defaults, which is what they are for
  # g++ 12 sees overlaps and overflows in moves and sums of std::string that are not there (GCC bug 105651)
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>
  $<$<BOOL:${LIMPID_STRICT}>:-Werror>)
# Debian's hardening flags (dpkg-buildflags, hardening=+all); position-independent code is on everywhere. _FORTIFY_SOURCE needs
# an optimising build, and the sanitizers check more than it does.
target_link_options(limpid_options INTERFACE -Wl,-z,relro -Wl,-z,now)
if(LIMPID_HARDENING)
  target_compile_options(limpid_options INTERFACE -fstack-protector-strong -Wformat -Werror=format-security)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT LIMPID_SANITIZE)
    target_compile_options(limpid_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
endif()
if(LIMPID_SANITIZE)
  target_compile_options(limpid_options INTERFACE -fsanitize=${LIMPID_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(limpid_options INTERFACE -fsanitize=${LIMPID_SANITIZE})
  if(LIMPID_SANITIZE MATCHES thread)
    target_compile_definitions(limpid_options INTERFACE LIMPID_THREAD_SANITIZER)
  endif()
endif()
# Kernels are thousands of small inlined functions on vectors: watching the scope of each one's variables and every
# address made of a pointer would take minutes per file.
include(${CMAKE_CURRENT_LIST_DIR}/this_processor.cmake)
set(limpid_options_of_kernels ${limpid_kernel_targets})
if(LIMPID_SANITIZE MATCHES address)
  list(APPEND limpid_options_of_kernels -fno-sanitize-address-use-after-scope
    -fno-sanitize=null,alignment,object-size,pointer-overflow)
endif()

# define_where_used(TEXT-OF-A-DEFINITION FILES...): gives the definition NAME="value" only to the files that mention NAME, so
# that another version or another place of the tree compiles few files anew.
function(define_where_used definition)
  string(REGEX REPLACE "=.*" "" name ${definition})
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} mentioned REGEX ${name} LIMIT_COUNT 1)
    if(mentioned)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS ${definition})
    endif()
  endforeach()
endfunction()

# What nearly every file includes, compiled once for all folders: parsing it took most of the compiler's time. Kernels do
# without: Highway compiles each one several times over, and the rest of such a file is small.
set(limpid_common_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# precompile_headers(TARGET FIRST HEADERS...): TARGET uses what was precompiled for FIRST, which may be itself.
function(precompile_headers target first)
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# A folder's files are compiled eight at a time: what they all need of JSON and of the standard library is then compiled once
# for the eight, which takes a quarter of the time. Not so kernels, each of which Highway compiles several times over, and
# experiments, which all name the same steps.
# LIMPID_JOINED=OFF is for whoever edits one file again and again.
option(LIMPID_JOINED "compile several files of a folder at once" ON)
# These share names with others of their folder; line_reader.h's state has members whose types are local
# to its .cpp, of which g++ warns in a joined unit.
foreach(file IN ITEMS base/checksum corpora/facts formats/gguf formats/gguf_writer text/jinja_methods text/line_reader)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${file}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()

# What `limpid demo` needs of the last folders, whose other files are most of the program: ./limpid builds this first, so that
# a first look begins in half the time (limpid_first_look).
set(limpid_first_files_of_inspect aer array_file display_text lens pass pass_memory run_recording session svg_text tap_names
  tap_rows weights word_attention)
set(limpid_first_files_of_app bus_error command demo help program progress ranks run_recorder terminal training_display
  version)

# limpid_add_library(NAME FOLDER FILES...): a static library, linked to those in `before`, which it joins.
macro(limpid_add_library library folder)
  set(files ${ARGN})
  add_library(${library} STATIC ${files})
  target_link_libraries(${library} PUBLIC limpid_options ${before} PRIVATE $<BUILD_INTERFACE:limpid_warnings>)
  define_where_used(LIMPID_VERSION="${PROJECT_VERSION}" ${files})
  define_where_used(${LIMPID_MPI_SOURCES} ${files})
  define_where_used(LIMPID_RECIPES="${PROJECT_SOURCE_DIR}/recipes" ${files})
  if(${folder} STREQUAL app)
    precompile_headers(${library} limpid_first_app ${limpid_common_headers} <CLI/CLI.hpp>)
  elseif(NOT ${folder} STREQUAL kernels)
    precompile_headers(${library} limpid_base ${limpid_common_headers})
  endif()
  target_compile_options(${library} PRIVATE ${limpid_options_of_${folder}})
  if(${folder} MATCHES "^(experiments|server|app)$")  # commands, routes and experiments compute nothing themselves
    target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT ${folder} MATCHES "^(kernels|experiments)$")
    set_target_properties(${library} PROPERTIES UNITY_BUILD ${LIMPID_JOINED} UNITY_BUILD_BATCH_SIZE 8
      # A name may hide one of another file.
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"")
  endif()
  list(PREPEND before ${library})
endmacro()

# What `limpid demo` needs of a folder in a library of its own; its files leave `sources`.
macro(limpid_add_first_library folder)
  set(first ${limpid_first_files_of_${folder}})
  list(TRANSFORM first REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/${folder}/\\1.cpp")
  list(REMOVE_ITEM sources ${first})
  limpid_add_library(limpid_first_${folder} ${folder} ${first})
endmacro()

function(limpid_folders)
  set(before)
  set(folders ${ARGN})
  if(LIMPID_F64)  # for gradient checks: what comes after the models has no gradients
    list(FIND folders models last)
    math(EXPR count "${last} + 1")
    list(SUBLIST folders 0 ${count} folders)
  endif()
  foreach(folder IN LISTS folders)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
    set(tests ${sources})
    list(FILTER sources EXCLUDE REGEX "(_test|/main|/first_look)\\.cpp$")
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    if(folder STREQUAL inspect)
      limpid_add_first_library(inspect)
      set(of_first_look ${before})
    elseif(folder STREQUAL app)
      set(whole ${before})
      set(before ${of_first_look})
      limpid_add_first_library(app)
      set(of_first_look ${before})
      set(before limpid_first_app ${whole})
    endif()
    if(sources)
      limpid_add_library(limpid_${folder} ${folder} ${sources})
    endif()
    if(LIMPID_TESTS AND tests)
      add_executable(${folder}_test ${tests})
      target_link_libraries(${folder}_test PRIVATE ${before} limpid_warnings GTest::gtest_main GTest::gmock)
      define_where_used(LIMPID_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${tests})
      target_compile_options(${folder}_test PRIVATE ${limpid_options_of_${folder}})
      # What a test spends its time on is the library under it; its own code had better compile quickly.
      precompile_headers(${folder}_test base_test ${limpid_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
      target_compile_options(${folder}_test PRIVATE $<$<CONFIG:Release>:-O1>)
      add_test(NAME ${folder} COMMAND ${folder}_test)
    endif()
  endforeach()
  if(app IN_LIST folders)
    target_link_libraries(limpid_first_app PRIVATE limpid_identity)
    target_link_libraries(limpid_app PRIVATE CURL::libcurl)  # limpid get
    target_link_libraries(limpid_inspect PRIVATE Eigen3::Eigen)  # headers only
    add_executable(limpid ${PROJECT_SOURCE_DIR}/src/app/main.cpp)
    target_link_libraries(limpid PRIVATE ${before} limpid_warnings)
    add_executable(limpid_first_look ${PROJECT_SOURCE_DIR}/src/app/first_look.cpp)
    target_link_libraries(limpid_first_look PRIVATE ${of_first_look} limpid_warnings)
  endif()
  set(LIMPID_LIBRARIES ${before} PARENT_SCOPE)
endfunction()
