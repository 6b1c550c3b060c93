# Sourced by tests that start several ranks: mpirun on this machine alone, as root or not, on however few cores.

# Exits with 77 (skipped) where Open MPI or the module for it is not there.
need_mpi() {
  command -v mpirun >/dev/null || { echo 'skipped: there is no mpirun (apt-get install openmpi-bin libopenmpi-dev)'; exit 77; }
  [[ -f $1/limpid_mpi.so ]] || { echo 'skipped: limpid_mpi.so was not built (apt-get install libopenmpi-dev, then build again)'; exit 77; }
}

# ranks N COMMAND...: N ranks of one thread each, over shared memory; mpirun takes no input. Containers often forbid that one
# process reads another's memory, so numbers are copied twice unless single_copy=cma.
ranks() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --bind-to none \
    --mca btl self,vader --mca btl_vader_single_copy_mechanism "${single_copy:-none}" -n "$@" --threads 1 </dev/null
}
