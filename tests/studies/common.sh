# Sourced by the studies: a small run of each kind, what counts as a clear end, and how a study is done in parts.
#
#   LIMPID_STATE=FILE     the cases done are kept there; the same command goes on behind them
#   LIMPID_SECONDS=N      ends after so many seconds, with what has been done so far

set -uo pipefail
build=$(cd "${1:?name the build folder, such as build/release}" && pwd)
limpid=$build/limpid
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
state=${LIMPID_STATE:-$work/state}
touch "$state"
state=$(readlink -f "$state")
declare -A done_before=()
while IFS=$'\t' read -r name _; do done_before[$name]=1; done <"$state"
cd "$work" || exit 1
case_name= case_failed=

# case_begins NAME: whether this case is to be done now; false where an earlier part has done it. Ends the study in time.
case_begins() {
  case_ends
  [[ ! ${done_before[$1]:-} ]] || return 1
  ((SECONDS < ${LIMPID_SECONDS:-1000000000})) || { echo 'so far:' && summary; }
  case_name=$1 case_failed=
}

case_ends() {
  [[ -z $case_name ]] || printf '%s\t%s\n' "$case_name" "${case_failed:-well}" >>"$state"
  case_name=
}

# case_done NAME: what went wrong since the last one counts for it; for studies that go through all their cases at once.
case_done() {
  case_name=$1
  case_ends
  case_failed=
}

wrong() {
  printf 'WRONG: %s: %s\n' "$case_name" "$*"
  case_failed="wrong: $*"
}

# clear_end CODE FILE: whether a command that ended with CODE and said what stands in FILE ended as it should: well, or with an
# error of its own that says where. A signal, a run out of time (124), an unexpected exception or silence is not.
clear_end() {
  (($1 == 0)) && return
  (($1 < 124)) && grep -Eq '^limpid: (\[|out of memory$|the output could not|.*is the disk full)' "$2"
}

summary() {
  case_ends
  awk -F '\t' '$2 ~ /^wrong/ { wrong++ } END { printf "%d cases, %d wrong\n", NR, wrong; exit wrong > 0 }' "$state"
  exit
}

"$limpid" data copy --out copy --count 200 >/dev/null || exit 1
train=(train "$source_folder/recipes/copy.toml" data.folder=copy model.d_model=16 model.encoder_ffn_dim=16
  model.decoder_ffn_dim=16 stop.steps=6 validation.steps=3 validation.translate=2 checkpoint.steps=2 batch.tokens=128)
"$limpid" "${train[@]}" --out whole 2>/dev/null || exit 1
