# Sourced: hosts that are network namespaces of this machine, joined by a bridge, with links of a given speed. Root only.
#
#   make_hosts N [RATE]       hosts limpid1 … limpidN at 10.77.0.1 …, both directions of every link at RATE (as tc has it: 1gbit)
#   delay_hosts SECONDS       a delay on the way from host to host: netem, or delay_relay.py where the kernel has none
#   link_down I, link_up I    the link of host I
#   part I J                  hosts I and J do not reach each other any more, all others do
#   on_hosts N COMMAND...     mpirun with one rank per host, over TCP on the bridge; for at most 15 minutes
#   end_hosts                 kills what runs on the hosts: nothing should
#   remove_hosts
#
# Every host has a name of its own and shares files and processes with this machine. mpirun starts its daemons through
# `host_agent`, which stands where ssh does on a cluster.

need_hosts() {
  ((EUID == 0)) || { echo 'skipped: making network namespaces takes root'; exit 77; }
  for tool in ip tc mpirun unshare; do
    command -v $tool >/dev/null || { echo "skipped: there is no $tool (apt-get install iproute2 openmpi-bin util-linux)"; exit 77; }
  done
  remove_hosts
  ip netns add limpid1 2>/dev/null || { echo 'skipped: this kernel or container allows no network namespaces'; exit 77; }
  ip netns del limpid1
}

make_hosts() {
  hosts=$1 network=10.77.0
  ip link add limpid-br type bridge && ip link set limpid-br up || return 1
  local i
  for ((i = 1; i <= hosts; ++i)); do
    ip netns add "limpid$i"
    ip link add "limpid-v$i" type veth peer name eth0 netns "limpid$i"
    ip link set "limpid-v$i" master limpid-br up
    ip netns exec "limpid$i" ip address add "10.77.0.$i/24" dev eth0
    ip netns exec "limpid$i" ip link set eth0 up
    ip netns exec "limpid$i" ip link set lo up
    [[ -z ${2:-} ]] || shape "$i" "$2"
  done
  agent=$(mktemp)
  # called as: AGENT [options] ADDRESS COMMAND...
  cat >"$agent" <<'TEXT'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
host=limpid${1##*.}
shift
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$0"; eval "$1"' "$host" "$*"
TEXT
  chmod +x "$agent"
}

shape() {
  tc qdisc add dev "limpid-v$1" root tbf rate "$2" burst 512kb latency 100ms
  ip netns exec "limpid$1" tc qdisc add dev eth0 root tbf rate "$2" burst 512kb latency 100ms
}

delay_hosts() {
  local i
  for ((i = 1; i <= hosts; ++i)); do
    ip netns exec "limpid$i" tc qdisc replace dev eth0 root netem delay "$1s" 2>/dev/null || break
  done
  ((i <= hosts)) || return 0
  coproc relay { exec python3 "$(dirname "${BASH_SOURCE[0]}")/delay_relay.py" "$hosts" "$1"; }
  relay_process=$relay_PID
  local word
  read -r -t 10 word <&"${relay[0]}" && [[ $word == ready ]] && network=10.78.0
}

link_down() {
  ip link set "limpid-v$1" down
  ip netns exec "limpid$1" ip link set delay0 down 2>/dev/null || true
}
link_up() { ip link set "limpid-v$1" up; }
part() {
  ip netns exec "limpid$1" ip route add blackhole "10.77.0.$2"
  ip netns exec "limpid$2" ip route add blackhole "10.77.0.$1"
}

# Processes of the hosts: they share this machine's list of processes.
processes_of_hosts() { for i in 1 2 3 4 5 6 7 8; do [[ ! -e /run/netns/limpid$i ]] || ip netns pids "limpid$i"; done; }
end_hosts() { processes_of_hosts | xargs -r kill -9 2>/dev/null; }

# Open MPI's daemons ask one another whether they are there: after the first number of seconds, every second number, so often. In
# all less than --rank-timeout, or mpirun waits for a host that it cannot reach.
keepalive=(2 2 4)

on_hosts() {
  local n=$1 list= i
  shift
  for ((i = 1; i <= n; ++i)); do list+=,$network.$i:1; done
  ip netns exec limpid1 unshare --uts bash -c 'hostname limpid1; exec "$@"' _ \
    timeout -k 5 900 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --host "${list:1}" -n "$n" --bind-to none \
    --mca plm_rsh_agent "$agent" --mca btl self,tcp --mca btl_tcp_if_include "$network.0/24" \
    --mca oob_tcp_if_include "$network.0/24" --mca oob_tcp_keepalive_time "${keepalive[0]}" \
    --mca oob_tcp_keepalive_intvl "${keepalive[1]}" --mca oob_tcp_keepalive_probes "${keepalive[2]}" "$@" </dev/null
}

remove_hosts() {
  local i
  [[ -z ${relay_process:-} ]] || { kill "$relay_process" && wait "$relay_process"; } 2>/dev/null
  relay_process=
  for i in 1 2 3 4 5 6 7 8; do
    ip link del "limpid-v$i" 2>/dev/null
    ip netns del "limpid$i" 2>/dev/null
  done
  ip link del limpid-br 2>/dev/null
  rm -f "${agent:-}"
  return 0
}
