# Sourced by the tests that run the program, with their arguments SOURCE_FOLDER BUILD_FOLDER: a folder of their own to work in, and a
# count of what went wrong.

set -uo pipefail
set -- "$(cd "$1" && pwd)" "$(cd "$2" && pwd)" "${@:3}" # the script's own arguments, wherever it goes
source_folder=$1 limpid=$2/limpid
work=$(mktemp -d)
leave() { :; } # a script's own way to end what it began
trap 'leave; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

wrong() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# fail TEXT: where going on makes no sense.
fail() {
  wrong "$*"
  exit 1
}

# The last line of a script.
all_as_expected() {
  ((failures == 0)) && echo 'all as expected'
  exit $((failures > 0))
}
