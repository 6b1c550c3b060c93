#pragma once
// What the program and the module limpid_mpi.so know of each other.

#include "cluster/communicator.h"

namespace limpid {

inline constexpr const char* kMpiModule = "limpid_mpi.so";
inline constexpr const char* kJoinMpi = "limpid_join_mpi";
inline constexpr const char* kMpiModuleVersion = "limpid_mpi_version";
using JoinMpi = Communicator* (*)(const CommunicatorOptions&);
using MpiModuleVersion = const char* (*)();  // what it was made from: the program's own LIMPID_MPI_SOURCES

}  // namespace limpid
