#!/usr/bin/env bash
# What a person sees: on pseudo terminals of 40, 80 and 200 columns no line of progress is wider than the terminal; TERM=dumb
# and NO_COLOR are honoured; hints print the command as it was called.
# Usage: terminal_test.sh SOURCE_FOLDER BUILD_FOLDER
command -v script >/dev/null || { echo 'left out: no script (util-linux)'; exit 77; }
source "$1/tests/script.sh"

# on_terminal COLUMNS COMMAND: everything that was written to a terminal of that width.
on_terminal() {
  script -qec "stty cols $1 rows 30; $2" /dev/null </dev/null 2>/dev/null
}
# widest: columns of the widest line that stands on the screen at one moment.
widest() {
  tr '\r' '\n' | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' | LC_ALL=C.UTF-8 wc -L
}

"$limpid" data copy --out copy --count 500 >/dev/null 2>&1 || wrong 'no data'
for columns in 40 80 200; do
  on_terminal $columns "$limpid train $1/recipes/copy.toml --out run-$columns stop.steps=30 validation.steps=15 checkpoint.steps=30 model.d_model=16 model.encoder_ffn_dim=32 model.decoder_ffn_dim=32 validation.show=0" >seen
  tr '\r' '\n' <seen | grep -aE '[0-9] %  .*loss [0-9]' | widest >width
  [[ -s seen ]] || wrong "nothing was shown at $columns columns"
  (($(<width) > 0)) || wrong "no line of progress at $columns columns"
  (($(<width) <= columns)) || wrong "a line of progress of $(<width) columns at $columns columns"
done
TERM=dumb on_terminal 80 "$limpid train $1/recipes/copy.toml --out dumb stop.steps=3 model.d_model=16" >seen
grep -a -q $'\x1b' seen && wrong 'escape sequences despite TERM=dumb'

# Colours on a terminal, none where they are not wanted.
picture="$limpid look $1/tests/golden/gpt2 heatmap '1 2 3' --pattern --block 0"
on_terminal 80 "$picture" >seen
grep -a -q $'\x1b\[[0-9;]*[34]8;' seen || wrong "no colours on a terminal: $(cat seen)"
NO_COLOR=1 on_terminal 80 "$picture" >seen
grep -a -q $'\x1b\[[0-9;]*m' seen && wrong 'colours despite NO_COLOR'
[[ -s seen ]] || wrong 'nothing was shown with NO_COLOR'

# Hints name the program as it was called.
ln -s "$limpid" here
./here train "$1/recipes/copy.toml" --out hints stop.steps=2 model.d_model=16 2>seen >/dev/null
grep -q '^  .*\./here look hints' seen || wrong "no hint that names ./here: $(cat seen)"

all_as_expected
