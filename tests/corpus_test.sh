#!/usr/bin/env bash
# scripts/english-korean-help on a tree of our own in the shape of unpacked packages: help pages of two programs and a message
# catalogue; and bench/translation-memory on what comes of it. No network, no package.
# Usage: corpus_test.sh SOURCE_FOLDER BUILD_FOLDER
command -v python3 >/dev/null || { echo 'left out: the scripts need python3'; exit 77; }
source "$1/tests/script.sh"

# ---- the tree: LibreOffice's pages have ids, GIMP's the same blocks in the same order, a catalogue is binary
office=root/usr/share/libreoffice/help gimp=root/usr/share/gimp/2.0/help
mkdir -p $office/{en-US,ko}/text $gimp/{en,ko} root/usr/share/locale/ko/LC_MESSAGES
for page in $(seq 150); do
  cat >"$office/en-US/text/page$page.html" <<END
<html><head><title>x</title><style>p { }</style></head><body>
<p id="a$page">Press <span class="switchinline"><span hidden="true">Command</span><span hidden="true">Ctrl</span></span> to open file number $page now.</p>
<p id="only-english$page">This paragraph has no translation in the other language.</p>
<p id="b$page">The <b>second</b> paragraph of page $page.</p></body></html>
END
  cat >"$office/ko/text/page$page.html" <<END
<html><body><p id="b$page">${page}쪽의 둘째 단락입니다.</p>
<p id="a$page">파일 번호 $page 를 열려면 Ctrl 키를 누릅니다.</p></body></html>
END
done
printf '<html><body><h1>How to paint a picture</h1><p>Draw it.</p></body></html>' >$gimp/en/paint.html
printf '<html><body><h1>그림을 그리는 방법</h1><p>그리세요.</p></body></html>' >$gimp/ko/paint.html
printf '<html><body><h1>Other blocks here</h1></body></html>' >$gimp/en/other.html
printf '<html><body><p>다른 블록입니다</p></body></html>' >$gimp/ko/other.html
python3 - root/usr/share/locale/ko/LC_MESSAGES/program.mo <<'END'
import struct, sys
pairs = [("", "Content-Type: text/plain; charset=UTF-8\n"), ("_Open File", "파일 열기(_O)"), ("one\0many", "하나\0여럿"),
         ("menu\x04Save all of it", "모두 저장"), ("Not translated at all", "Not translated at all")]
pairs = [(a.encode(), b.encode()) for a, b in pairs]
tables, texts = [[], []], b""
start = 28 + 16 * len(pairs)
for side in (0, 1):
    for pair in pairs:
        tables[side].append((len(pair[side]), start + len(texts)))
        texts += pair[side] + b"\0"
head = struct.pack("<7I", 0x950412de, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
open(sys.argv[1], "wb").write(head + b"".join(struct.pack("<2I", *entry) for table in tables for entry in table) + texts)
END

"$1/scripts/english-korean-help" corpus --from root >said 2>&1 || fail "the corpus: $(cat said)"
paste -d '|' corpus/train.en corpus/train.ko >train
for part in train valid test; do
  (($(wc -l <"corpus/$part.en") == $(wc -l <"corpus/$part.ko"))) || wrong "$part has sides of different length"
done
grep -qx 'Open File|파일 열기' train || wrong "a message of a catalogue, without the keys of menus: $(cat train)"
grep -qx 'Save all of it|모두 저장' train || wrong 'a message with a context'
grep -q 'many\|Not translated\|no translation\|다른 블록' train && wrong 'plural forms, untranslated text or pages that do not fit'
cat corpus/*.en >all.en
grep -q 'Command' all.en && wrong 'what is hidden for other systems'
grep -q '^Press Ctrl to open file number 7 now\.$' all.en || wrong "a switch between systems: $(grep 'number 7 ' all.en)"
(($(cat corpus/test.en | wc -l) > 0 && $(wc -l <corpus/valid.en) > 0)) || wrong 'nothing is held out'
# By document: a page is in one part alone.
for part in train valid test; do grep -ohE '(number|page) [0-9]+' "corpus/$part.en" | grep -oE '[0-9]+' | sort -u >"pages-$part"; done
for pair in 'train valid' 'train test' 'valid test'; do
  read -r a b <<<"$pair"
  [[ -z $(comm -12 "pages-$a" "pages-$b") ]] || wrong "pages in $a and in $b: $(comm -12 "pages-$a" "pages-$b")"
done
"$1/scripts/english-korean-help" again --from root >/dev/null 2>&1
cmp -s corpus/train.ko again/train.ko || wrong 'another corpus of the same pages'

# ---- the translation of the nearest sentence
printf 'the cat sleeps\nthe red house is old\nopen the file\n' >m.en
printf '고양이가 잔다\n빨간 집은 오래되었다\n파일을 연다\n' >m.ko
for i in $(seq 40); do # sentences enough that what every tenth has tells nothing
  printf 'filler%s entry%s%s\n' "$i" "$i" "$i" >>m.en
  printf '채움 %s\n' "$i" >>m.ko
done
printf 'a red house\nopen another file\nthe cats sleep\n' >q.en
"$1/bench/translation-memory" m.en m.ko q.en >found || wrong 'translation-memory'
printf '빨간 집은 오래되었다\n파일을 연다\n고양이가 잔다\n' | cmp -s found - || wrong "nearest sentences: $(cat found)"
head -2 m.ko >short.ko
"$1/bench/translation-memory" m.en short.ko q.en >/dev/null 2>lines && wrong 'sides of different length'
grep -q 'has 43 lines' lines || wrong "$(cat lines)"

all_as_expected
