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

# rank_process N NAME: the process of rank N of the run that was started in this folder with --out NAME.
rank_process() {
  local pid
  for pid in $(pgrep -f "limpid train.*--out $2"); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" &&
      [[ $(readlink "/proc/$pid/exe") == */limpid && $(readlink "/proc/$pid/cwd") == "$PWD" ]]; then
      echo "$pid"
      return
    fi
  done
}
