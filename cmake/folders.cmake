# One static library for each folder of src/, linked to the folders before it, and one test program for its *_test.cpp files.

add_library(limpid_options INTERFACE)
target_include_directories(limpid_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/limpid>)
target_link_libraries(limpid_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json DNNL::dnnl PkgConfig::hwy
  PkgConfig::sentencepiece PkgConfig::utf8proc PkgConfig::pcre2 ZLIB::ZLIB tomlplusplus::tomlplusplus OpenMP::OpenMP_CXX)
target_compile_definitions(limpid_options INTERFACE $<$<BOOL:${LIMPID_F64}>:LIMPID_F64>)

add_library(limpid_warnings INTERFACE)
target_compile_options(limpid_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wno-missing-field-initializers  # designated initialisers leave the rest at their defaults, which is what they are for
  -Wno-restrict                    # g++ 12 sees overlaps in std::string + char* that are not there (GCC bug 105651)
  $<$<BOOL:${LIMPID_STRICT}>:-Werror>)
if(LIMPID_SANITIZE)
  target_compile_options(limpid_options INTERFACE -fsanitize=${LIMPID_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(limpid_options INTERFACE -fsanitize=${LIMPID_SANITIZE})
endif()
# Kernels are thousands of small inlined functions on vectors: watching the scope of each one's variables and every
# address made of a pointer would take minutes a file.
set(limpid_options_of_kernels)
if(LIMPID_SANITIZE MATCHES address)
  set(limpid_options_of_kernels -fno-sanitize-address-use-after-scope
    -fno-sanitize=null,alignment,object-size,pointer-overflow)
endif()

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
    list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    set(library limpid_${folder})
    if(sources)
      add_library(${library} STATIC ${sources})
      target_link_libraries(${library} PUBLIC limpid_options ${before} PRIVATE $<BUILD_INTERFACE:limpid_warnings>)
      target_compile_definitions(${library} PRIVATE LIMPID_VERSION="${PROJECT_VERSION}"
        LIMPID_RECIPES="${PROJECT_SOURCE_DIR}/recipes")
      target_compile_options(${library} PRIVATE ${limpid_options_of_${folder}})
      list(PREPEND before ${library})
    endif()
    if(LIMPID_TESTS AND tests)
      add_executable(${folder}_test ${tests})
      target_link_libraries(${folder}_test PRIVATE ${before} limpid_warnings GTest::gtest_main GTest::gmock)
      target_compile_definitions(${folder}_test PRIVATE LIMPID_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      target_compile_options(${folder}_test PRIVATE ${limpid_options_of_${folder}})
      # What a test spends its time on is the library under it; its own code had better compile quickly.
      target_precompile_headers(${folder}_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
      # At -O1 g++ 12 believes that a moved std::string has room for its short form only.
      target_compile_options(${folder}_test PRIVATE
        $<$<CONFIG:Release>:-O1 -Wno-array-bounds -Wno-stringop-overflow>)
      add_test(NAME ${folder} COMMAND ${folder}_test)
    endif()
  endforeach()
  if(app IN_LIST folders)
    # Commands spend their compile time on the parser of options; none of them computes.
    target_precompile_headers(limpid_app PRIVATE <CLI/CLI.hpp> <fmt/format.h> <nlohmann/json.hpp>)
    target_compile_options(limpid_app PRIVATE $<$<CONFIG:Release>:-O1>)
    add_executable(limpid ${PROJECT_SOURCE_DIR}/src/app/main.cpp)
    target_link_libraries(limpid PRIVATE ${before} limpid_warnings)
  endif()
  set(LIMPID_LIBRARIES ${before} PARENT_SCOPE)
endfunction()
