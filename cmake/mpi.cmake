# limpid_mpi.so: what Limpid does with Open MPI, in a module that the program loads only under mpirun. Built where Open MPI's
# headers are (packages.txt, group mpi); nothing else needs it.
pkg_check_modules(openmpi QUIET IMPORTED_TARGET ompi-c)
if(NOT openmpi_FOUND)
  return()
endif()
include(GNUInstallDirs)
add_library(limpid_mpi MODULE ${PROJECT_SOURCE_DIR}/src/cluster/mpi/mpi_communicator.cpp
  ${PROJECT_SOURCE_DIR}/src/cluster/rank_watch.cpp)
set_target_properties(limpid_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(limpid_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
# OMPI_SKIP_MPICXX: mpi.h would declare MPI's old C++ interface, whose library is linked by nobody.
target_compile_definitions(limpid_mpi PRIVATE ${LIMPID_MPI_SOURCES} OMPI_SKIP_MPICXX)
target_link_libraries(limpid_mpi PRIVATE fmt::fmt PkgConfig::openmpi limpid_warnings)
install(TARGETS limpid_mpi LIBRARY DESTINATION lib/limpid OPTIONAL)
