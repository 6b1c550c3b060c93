# LIMPID_THIS_PROCESSOR: kernels for the instruction set of the processor that compiles them instead of all: most of their time
# in a first build. ./limpid asks for it where no tests are built; the tests cover every set. On a processor that lacks the set
# the program says so and ends (kernels/instruction_set.h).
option(LIMPID_THIS_PROCESSOR "compile kernels for this processor only: a faster build that does not run on an older one" OFF)

set(limpid_kernel_targets)
if(LIMPID_THIS_PROCESSOR AND EXISTS /proc/cpuinfo AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(STRINGS /proc/cpuinfo limpid_processor REGEX "^flags" LIMIT_COUNT 1)

  # Sets result to whether the processor has all these features.
  function(limpid_processor_has result)
    set(${result} TRUE PARENT_SCOPE)
    foreach(feature IN LISTS ARGN)
      if(NOT "${limpid_processor} " MATCHES " ${feature} ")
        set(${result} FALSE PARENT_SCOPE)
      endif()
    endforeach()
  endfunction()

  set(avx2 ssse3 sse4_1 sse4_2 avx avx2 abm fma bmi1 bmi2 f16c aes pclmulqdq)
  limpid_processor_has(has_avx2 ${avx2})
  limpid_processor_has(has_avx512 ${avx2} avx512f avx512cd avx512dq avx512bw avx512vl)
  # Highway compiles for the sets from the baseline up.
  if(has_avx512)
    set(limpid_kernel_targets -DHWY_BASELINE_TARGETS=HWY_AVX3)
  elseif(has_avx2)
    set(limpid_kernel_targets -DHWY_BASELINE_TARGETS=HWY_AVX2 "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3)")
  endif()
endif()
