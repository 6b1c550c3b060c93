# What a program was made from, for ranks that have to be the same program, and for the module that it loads under mpirun.

# LIMPID_MPI_SOURCES="…": a hash of what limpid_mpi.so is made from, headers that it shares with the program included. CMake runs
# again when one of them changes; only the program's file that loads the module is then compiled for it.
set(mpi_sources base/error.h base/real.h cluster/communicator.h cluster/deadline.h cluster/mpi/mpi_communicator.cpp cluster/mpi_module.h
  cluster/patience.h cluster/rank_watch.cpp cluster/rank_watch.h)
list(TRANSFORM mpi_sources PREPEND "${PROJECT_SOURCE_DIR}/src/")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mpi_sources})
set(hashes)
foreach(file IN LISTS mpi_sources)
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes} ${CMAKE_CXX_COMPILER_VERSION}")
string(SUBSTRING ${hash} 0 16 hash)
set(LIMPID_MPI_SOURCES LIMPID_MPI_SOURCES="${hash}")

# limpid_identity: limpid::source_hash(), of all sources, computed by the build itself: one small file is compiled and the program
# linked, which a changed source asks for anyway.
add_library(limpid_identity STATIC ${PROJECT_BINARY_DIR}/source_hash.cpp)
file(GLOB_RECURSE hashed CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/*.h)
list(FILTER hashed EXCLUDE REGEX "_test\\.cpp$")
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/source_hash.cpp
  COMMAND ${CMAKE_COMMAND} -DSOURCES=${PROJECT_SOURCE_DIR}/src -DOUTPUT=${PROJECT_BINARY_DIR}/source_hash.cpp
  -P ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake
  DEPENDS ${hashed} ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake COMMENT "Hashing the sources" VERBATIM)
