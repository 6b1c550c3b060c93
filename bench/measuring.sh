# What the benchmarks share; sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The number of a field in a JSON line; the larger of two; a ratio with two decimals; the text above "set" as help.
field() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" <<<"$2"; }
larger() { awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { print (a > b) ? a : b }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }
print_help() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }

# model_of CONFIG FOLDER: a folder with random weights of bench/configs/CONFIG.json, made where it is missing.
model_of() {
  [[ -f $2/config.json ]] || "$root/limpid" random "$root/bench/configs/$1.json" "$2" 2>&1 | sed 's/^/  /' >&2
}
