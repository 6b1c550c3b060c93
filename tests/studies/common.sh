# Sourced by the studies: a small run of each kind, and what counts as a clear end.

set -uo pipefail
build=$(cd "${1:?name the build folder, such as build/release}" && pwd)
limpid=$build/limpid
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cases=0 failures=0

wrong() {
  printf 'WRONG: %s\n' "$*"
  failures=$((failures + 1))
}

# clear_end CODE FILE: whether a command that ended with CODE and said what stands in FILE ended as it should: well, or with one
# line of its own. A signal, an unexpected exception or silence is not.
clear_end() {
  (($1 == 0)) && return
  (($1 < 128)) && grep -q '^limpid' "$2" && ! grep -q 'unexpected failure' "$2"
}

summary() {
  printf '%d cases, %d wrong\n' "$cases" "$failures"
  exit $((failures > 0))
}

"$limpid" data copy --out copy --count 200 >/dev/null || exit 1
train=(train "$source_folder/recipes/copy.toml" data.folder=copy model.d_model=16 model.encoder_ffn_dim=16
  model.decoder_ffn_dim=16 stop.steps=6 validation.steps=3 validation.translate=2 checkpoint.steps=2 batch.tokens=128)
"$limpid" "${train[@]}" --out whole 2>/dev/null || exit 1
