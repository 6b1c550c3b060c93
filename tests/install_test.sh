#!/usr/bin/env bash
# Installs the library into the build folder and builds and runs the examples against it, as a stranger's project would:
# by CMake with the shared library, and one of them by CMake with the static one and by pkg-config with either.
# Usage: install_test.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source_folder=$1 build=$2 work=$2/install-test prefix=$2/install-test/prefix
fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

rm -rf "$work"
said=$(cmake --install "$build" --prefix "$prefix" 2>&1 >/dev/null)
"$prefix/bin/limpid" --version >/dev/null

# Beside the program: its recipes, which it finds from anywhere, a manual page per command and part, completions.
cp "$prefix/share/limpid/recipes/copy.toml" "$prefix/share/limpid/recipes/only-here.toml"
(cd / && "$prefix/bin/limpid" recipes | grep -q '^only-here ') || fail 'recipes beside the installed program are not found'
for page in limpid limpid-train limpid-look limpid-look-heatmap limpid-sae-train; do
  [[ -s $prefix/share/man/man1/$page.1 ]] || fail "no manual page $page: $(ls "$prefix/share/man/man1")"
done
grep -q -- 'position' "$prefix/share/man/man1/limpid-look-heatmap.1" || fail 'the page of a part lacks its options'
bash=$(find "$prefix" -path '*bash*' -name limpid) zsh=$(find "$prefix" -name _limpid) fish=$(find "$prefix" -name limpid.fish)
for file in "$bash" "$zsh" "$fish"; do [[ -s $file ]] || fail "a completion is missing: $bash $zsh $fish"; done
# completes WORDS…: what bash offers for the last of them.
completes() {
  bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _limpid; printf "%s\n" "${COMPREPLY[@]}"' _ "$bash" "$@"
}
completes limpid tra | grep -qx translate || fail "completion of a verb: $(completes limpid tra)"
completes limpid train --pai | grep -qx -- --pairs || fail "completion of an option: $(completes limpid train --pai)"
completes limpid look model heat | grep -qx heatmap || fail "completion of a part: $(completes limpid look model heat)"
completes limpid look model heatmap --cro | grep -qx -- --cross || fail "completion of a part's option: $(completes limpid look model heatmap --cro)"
grep -q -- '-l cross' "$fish" && grep -q -- '--cross' "$zsh" || fail 'options of parts for fish and zsh'
# The page of the server goes along where it has been built; where it has not, whoever installs is told.
if [[ -f $source_folder/page/dist/index.html ]]; then
  diff -r "$source_folder/page/dist" "$prefix/share/limpid/page" || fail 'the page is not installed as it was built'
else
  [[ $said == *'has not been built'* ]] || fail "a page that is missing is not said: $said"
fi

# What is installed: headers below limpid/ alone, none of tests or of the program, no path of the sources, and no library
# of others but the two that public headers show.
[[ $(ls "$prefix/include") == limpid ]] || fail "headers beside include/limpid: $(ls "$prefix/include")"
[[ ! -e $prefix/include/limpid/app && ! -e $prefix/include/limpid/server ]] || fail 'headers of the program'
if grep -rnE '#include "|gtest|gmock' "$prefix/include"; then fail 'a header that a stranger cannot include'; fi
others=$(grep -rhoE '#include <[^>]*\.(h|hpp)>' "$prefix/include" | grep -vE '<(limpid|fmt|nlohmann)/' | sort -u || true)
[[ -z $others ]] || fail "public headers show $others"
if grep -rnF -e "$source_folder/src" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig "$prefix"/lib/*/cmake 2>/dev/null; then
  fail 'installed files point back to the sources'
fi

# Every header compiles by itself.
find "$prefix/include/limpid" -name '*.h' -print0 | xargs -0 -P "$(nproc)" -I{} g++ -std=c++20 -fsyntax-only -Wall -Wextra \
  -Wno-missing-field-initializers -Werror -I "$prefix/include" -include {} -x c++ /dev/null || fail 'a header needs others before it'

cmake -S "$source_folder/examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER=g++ \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wno-missing-field-initializers -Werror" >/dev/null
cmake --build "$work/examples"

# ---- what the examples say
cd "$work"
examples=$work/examples limpid=$prefix/bin/limpid
says() { # says PATTERN COMMAND…
  local pattern=$1 said
  shift
  said=$("$@") || fail "$*: exit code $?: $said"
  grep -Eq -- "$pattern" <<<"$said" || fail "$*: no match of $pattern in: $said"
}
"$limpid" data copy --out copy --count 300 >/dev/null
"$limpid" data facts --out facts >/dev/null
quick=(batch.tokens=256 stop.steps=20 validation.steps=20 validation.translate=2 checkpoint.steps=20)
"$limpid" train "$source_folder/recipes/copy.toml" --quiet --out translator data.folder=copy model.d_model=16 "${quick[@]}" stop.steps=120 # till it writes
"$limpid" train "$source_folder/recipes/facts.toml" --quiet --out language-model data.folder=facts model.n_embd=32 "${quick[@]}"
"$limpid" quantize language-model language-model-8bit --bits 8 >/dev/null

says '[0-9]+ tokens, log-probability' "$examples/generate" language-model 'Michael Jordan'
says '[0-9]+ tokens, log-probability' "$examples/generate" language-model-8bit 'Michael Jordan'
says . "$examples/translate_file" translator < <(head -3 copy/test.src)
says '^ +[1-9][0-9]* tokens, log-probability +-[0-9.]+, similarity +1\.0000: Michael' "$examples/embed_and_score" language-model \
  'Michael Jordan plays' 'Larry Bird plays'
says '^ +[^ ]+ 1\.000 0\.000' "$examples/capture_head" language-model 'Michael Jordan plays' blocks.1.attn.pattern 2
says 'before +after' "$examples/patch_activation" language-model 'Michael Jordan plays' 'Larry Bird plays' blocks.0.resid_post@1
says 'before +after' "$examples/patch_activation" language-model 'Michael Jordan plays' "Larry Bird's plays" blocks.0.resid_post@1
says 'after 60 steps: loss' "$examples/train_and_watch" facts/train.txt small-writer
"$limpid" complete small-writer 'The ' --max-tokens 4 --seed 1 >/dev/null
says 'each as if it had been alone' "$examples/many_threads" language-model 'Michael Jordan' 3
says '(19[0-9]|200) of 200' "$examples/copy_task"
# A model whose files say how it wants to write does so by the library as on the command line: fewer beams, a limit, a
# penalty and rules for tokens.
head -3 copy/test.src >source
word=$("$limpid" translate translator --beam 1 --max-tokens 3 <source | tr ' ' '\n' | sed -n '/./{p;q}')
id=$("$limpid" tokenize translator --ids "${word:-a}" | grep -oE '^[0-9]+')
for rules in "{\"num_beams\": 2, \"max_new_tokens\": 6, \"bad_words_ids\": [[$id]], \"length_penalty\": 0.1}" \
  "{\"num_beams\": 1, \"max_length\": 5, \"min_length\": 3, \"repetition_penalty\": 3.0, \"forced_bos_token_id\": $id}" \
  '{"do_sample": true, "temperature": 2.5, "top_k": 7, "max_new_tokens": 5, "min_length": 3}'; do
  echo "$rules" >translator/generation_config.json
  "$limpid" translate translator <source >by-command
  "$examples/translate_file" translator <source >by-library
  cmp by-command by-library || fail "the library and the command line translate differently by $rules"
  (($(wc -l <by-command) == 3)) || fail "not three translations by $rules: $(cat by-command)"
  cat by-command >>by-rules
done
(($(sort -u by-rules | wc -l) > 3)) || fail "the files' rules change nothing: $(cat by-rules)"
rm translator/generation_config.json
echo '{"max_new_tokens": 6, "temperature": 1.5, "top_k": 3, "repetition_penalty": 1.4}' >language-model/generation_config.json
cat >continue.cpp <<'CODE'
#include <limpid/limpid.h>
#include <iostream>
#if !defined(LIMPID_VERSION_MAJOR)
#error limpid.h does not tell the version
#endif
int main(int, char** argv) {
  std::cout << limpid::complete(limpid::load_model(argv[1]), argv[2], {.seed = 5}).text << '\n';
}
CODE
config=$(dirname "$(find "$prefix" -name limpid.pc)")
# shellcheck disable=SC2046
g++ -std=c++20 continue.cpp -o continue $(PKG_CONFIG_PATH=$config pkg-config --cflags --libs limpid)
library_folder=$(dirname "$(find "$prefix" -name liblimpid.so)")
LD_LIBRARY_PATH=$library_folder ./continue language-model 'Michael Jordan' >by-library
"$limpid" complete language-model 'Michael Jordan' --seed 5 >by-command
cmp by-command by-library || fail "the library and the command line continue differently: $(cat by-command by-library)"
rm language-model/generation_config.json
if "$examples/generate" /nowhere x 2>message; then fail 'a model that is not there opens'; fi
grep -q nowhere message || fail "no clear message: $(cat message)"

# ---- statically: by CMake and by pkg-config
cmake -S "$source_folder/examples" -B "$work/static" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER=g++ \
  -DLIMPID_STATIC=ON >/dev/null
cmake --build "$work/static" --target generate
says '[0-9]+ tokens, log-probability' "$work/static/generate" language-model 'Michael Jordan'
if ldd "$work/static/generate" | grep -q liblimpid; then fail 'LIMPID_STATIC links the shared library'; fi
PKG_CONFIG_PATH=$config pkg-config --exact-version=0.1.0 limpid
library=$(find "$prefix" -name liblimpid.a)
flags=$(PKG_CONFIG_PATH=$config pkg-config --static --cflags --libs limpid)
# shellcheck disable=SC2086
g++ -std=c++20 "$source_folder/examples/generate.cpp" -o generate-static ${flags/-llimpid/"$library"}
says '[0-9]+ tokens, log-probability' ./generate-static language-model 'Michael Jordan'
