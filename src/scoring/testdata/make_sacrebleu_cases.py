#!/usr/bin/env python3
"""Writes sacrebleu_cases.json: sentences made up for this purpose, and what sacreBLEU makes of them.

How to run: with sacreBLEU 2.x and its needs importable (pip install sacrebleu regex numpy),
  python3 src/scoring/testdata/make_sacrebleu_cases.py
The file that is kept came from sacreBLEU 2.6.0 under Python 3.11. scoring_test reads it; no test needs Python.
"""

import json
import pathlib
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.bleu import _get_tokenizer

TOKENIZERS = ["13a", "intl", "char", "none"]

ENGLISH = [
    "The baker closed her shop at 6:30 p.m., as she did every day.",
    "Two dogs (one of them brown) ran past the old mill and into the river.",
    "\"Where did you put the keys?\" he asked; nobody answered.",
    "It cost $1,000.50 in 2019, i.e. 12.5% more than in 2018.",
    "Well-known authors don't always sell well-made books, do they?",
    "E-mail me at nobody@example.org or see http://example.org/a_b?c=d&e=f.",
    "The train from Oslo to Bergen takes 6-7 hours...",
    "Yes.",
    "My sister's neighbours' garden is full of roses, tulips and weeds!",
    "In section 3.2.1 the formula a + b = c [see below] is wrong.",
    "A man in a red shirt is climbing a steep rock.",
    "The the the the the cat sat on the the mat.",
]
ENGLISH_SYSTEM = [
    "The baker closed her shop at 6.30 pm, as she did each day.",
    "Two dogs (one of which was brown) ran past the mill into the river.",
    "\"Where did you put the key?\" he asked, but nobody answered.",
    "It cost $1000.50 in 2019, i.e. 12.5 % more than 2018.",
    "Well known authors do not always sell well made books, do they?",
    "Mail me at nobody@example.org, or see http://example.org/a_b?c=d&e=f .",
    "The train from Bergen to Oslo takes 6-7 hours.",
    "Yes.",
    "My sister's neighbour's garden is full of roses, tulips, and weeds.",
    "in Section 3.2.1, the formula a+b=c (see below) is wrong.",
    "A man in a red shirt climbs a steep rock.",
    "The cat sat on the mat the the the the.",
]
ENGLISH_SECOND = [
    "The baker shut up shop at half past six, as always.",
    "Two dogs, one of them brown, ran by the old mill into the river.",
    "\"Where are the keys?\" he asked, but nobody answered.",
    "It was $1,000.50 in 2019: 12.5% more than in 2018.",
    "Authors who are well known don't always sell books that are well made.",
    "Write to nobody@example.org, or see http://example.org/a_b?c=d&e=f.",
    "From Oslo to Bergen the train takes six to seven hours.",
    "Yes, it is.",
    "The garden of my sister's neighbours is full of roses, tulips and weeds.",
    "In section 3.2.1, the formula a+b=c is wrong (see below).",
    "A man in a red shirt climbs a steep rock.",
    "The cat sat on the mat.",
]
GERMAN = [
    "Die Bäckerin schloss ihr Geschäft wie jeden Tag um 18.30 Uhr.",
    "Zwei Hunde – einer davon braun – liefen an der alten Mühle vorbei.",
    "„Wo hast du die Schlüssel hingelegt?“, fragte er; niemand antwortete.",
    "Es kostete 1.000,50 € und damit 12,5 % mehr als 2018.",
    "ÜBERGRÖSSE, Straße, GROẞ und Maß: alles wird kleingeschrieben.",
    "Der Zug von Oslo nach Bergen braucht 6–7 Stunden …",
    "»Guten Tag«, sagte der Förster, »ich heiße Jörg.«",
]
GERMAN_SYSTEM = [
    "Die Bäckerin schloss ihren Laden wie jeden Tag um 18:30 Uhr.",
    "Zwei Hunde, einer davon braun, liefen an der alten Mühle vorbei.",
    "\"Wo hast du die Schlüssel hingelegt?\", fragte er, aber niemand antwortete.",
    "Es kostete 1000,50 € und damit 12,5% mehr als 2018.",
    "Übergröße, STRASSE, groß und MAß: alles wird klein geschrieben.",
    "Der Zug von Bergen nach Oslo braucht 6-7 Stunden...",
    "„Guten Tag“, sagte der Förster, „ich bin Jörg.“",
]
KOREAN = [
    "빵집 주인은 매일 저녁 여섯 시 반에 가게 문을 닫는다.",
    "개 두 마리가 오래된 방앗간을 지나 강으로 뛰어들었다.",
    "열쇠를 어디에 두었느냐고 그가 물었지만 아무도 대답하지 않았다.",
    "2019년에는 가격이 1,000원으로 12.5% 올랐다.",
    "오슬로에서 베르겐까지는 기차로 6~7시간이 걸린다…",
    "'안녕하세요'라고 말하고 “Limpid”라는 프로그램을 켰다!",
]
KOREAN_SYSTEM = [
    "빵집 주인이 매일 저녁 6시 반에 가게를 닫는다.",
    "두 마리의 개가 낡은 방앗간을 지나 강으로 뛰어들었다.",
    "그는 열쇠를 어디 두었냐고 물었으나 아무도 대답하지 않았다.",
    "2019년에 가격은 1000원으로 12.5 % 올랐다.",
    "오슬로에서 베르겐까지 기차로 6-7 시간 걸린다.",
    "\"안녕하세요\"라고 말한 뒤 'Limpid' 프로그램을 켰다.",
]
# White space of every kind, signs, combining marks, other digits, capitals with odd small forms, marks without letters.
ODD = [
    "tab\there,\u00a0no\u2009break\u3000wide\u2028line\x1cfile \u200bzero width\ufeff end \u00a0 ",
    "emoji 😀👍🏽 flags 🇰🇷, families 👨‍👩‍👧, and 1️⃣.",
    "ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΟΦΟΣ. ΑΣ' Α Σ ΑΣ·Β Σ",
    "İstanbul IĞDIR ǅungla ǈ ﬁne ȺȾ Ⓐ ⅨΣ ªΣ ʰΣ",
    "१,२३४.५ and ١٢٣٫٤ and ½, ²³, Ⅷ. x²,y",
    "e\u0301a\u0308 vs. éä; «quoted» ‚low‘ ‹single› ¿qué? ¡sí!",
    "<skipped>&quot;A&amp;lt;B&gt; &lt;b&gt; &amp;amp; &apos;x&apos; &nbsp;",
    "a.b,c.1,d 1.a 1,b .5 ,5 5. 5, 1.2.3 ... ,,, .,.,",
    "3-4 a-3 3-a -3 3- 3--4 a--b -- - 1,-2",
    "{}[]()<>~`!@#$%^&*_+=|\\:;\"'/?",
    "$5€5£5¥5₩5 5° 5′ 5″ 5‰ a×b÷c≠d ±1 ☃★",
    "。、「日本」・，．！？ 中文，标点。 ไทย ฿5 हिन्दी।",
    "(hi) 'hi' -hi- \"hi, !? ?! a b. .c ..",
    "",
    "   ",
    "2010.",
    "2010. ",
    "...",
    ".",
]
ODD_SYSTEM = [
    "tab here, no break wide line file zero width end",
    "emoji 😀 👍 flags 🇰🇷 , families 👨‍👩‍👧 and 1️⃣.",
    "οδυσσευς και σοφος. ας' α σ ασ·β σ",
    "i̇stanbul iğdir ǆungla ǉ fine ⱥⱦ ⓐ ⅸς ªς ʰσ",
    "१,२३४,५ and ١٢٣٫٤, ½, ²³ and Ⅷ.",
    "éä vs. e\u0301a\u0308; «quoted» 'low' ‹single› ¿que? ¡sí!",
    "\"A<B> <b> &amp; 'x'",
    "a . b , c.1,d 1 . a 1 , b .5 , 5 5 . 5 , 1.2.3 ... , , , .,. ,",
    "3 - 4 a-3 3 -a - 3 3 - 3 - - 4 a--b - - - 1, -2",
    "{ } [ ] ( ) < > ~ ` ! @ # $ % ^ & * _ + = | \\ : ; \" ' / ?",
    "$ 5 € 5 £5 ¥ 5 ₩5 5 ° 5′ 5 ″ 5‰ a × b÷c ≠ d ± 1 ☃ ★",
    "。 、「日本」 ・ ，．！？ 中文 ， 标点 。 ไทย ฿ 5 हिन्दी ।",
    "( hi ) ' hi ' - hi - \" hi , ! ? ? ! a b . . c . .",
    "something",
    "",
    "2010 .",
    "2010.",
    ". . .",
    "",
]
TOKENIZED = [
    "the baker closed her shop at six , as she did every day .",
    "two dogs ran past the old mill and in@@ to the ri@@ ver .",
    "` ` where did you put the keys ? ' ' he asked .",
    "my sister &apos;s garden is full of roses &amp; tulips .",
]
TOKENIZED_SYSTEM = [
    "the baker closed the shop at six , like every day .",
    "two dogs ran past an old mill and into the ri@@ ver .",
    "` ` where are the keys ? ' ' he asked .",
    "my sister &apos;s garden is full of tulips &amp; roses .",
]


def perturbed(lines, seed):
    """The lines with words dropped, doubled and swapped."""
    draw = random.Random(seed)
    result = []
    for line in lines:
        words = []
        for word in line.split(" "):
            chance = draw.random()
            if chance < 0.08:
                continue
            words.append(word)
            if chance > 0.95:
                words.append(word)
        for i in range(len(words) - 1):
            if draw.random() < 0.1:
                words[i], words[i + 1] = words[i + 1], words[i]
        result.append(" ".join(words))
    return result


CASES = {
    "english": (ENGLISH_SYSTEM, [ENGLISH]),
    "english, two references": (ENGLISH_SYSTEM, [ENGLISH, ENGLISH_SECOND]),
    "english, three references": (perturbed(ENGLISH, 3), [ENGLISH_SECOND, ENGLISH, ENGLISH_SYSTEM]),
    "english, perturbed": (perturbed(ENGLISH * 4, 1), [ENGLISH * 4]),
    "english, perfect": (ENGLISH, [ENGLISH]),
    "german": (GERMAN_SYSTEM, [GERMAN]),
    "korean": (KOREAN_SYSTEM, [KOREAN]),
    "odd": (ODD_SYSTEM, [ODD]),
    "odd, the other way": (ODD, [ODD_SYSTEM]),
    "tokenised": (TOKENIZED_SYSTEM, [TOKENIZED]),
    "too long": ([a + " " + b for a, b in zip(ENGLISH, ENGLISH_SECOND)], [ENGLISH]),
    "too short": ([line[: len(line) // 3] for line in ENGLISH], [ENGLISH]),
    "no match of four": (["a b c x d e f", "k l m"], [["a b c y d e f", "k l n"]]),
    "no match of two": (["a x b y c z"], [["c b a q"]]),
    "no match": (["x y z w v"], [["a b c d e"]]),
    "all shorter than four": (["a b", "c d e"], [["a b", "c d e"]]),
    "one word": (["Yes."], [["Yes."]]),
    "empty hypothesis": (["", ""], [["a b c d", "e f g h"]]),
    "empty reference": (["a b c d", ""], [["", ""]]),
    "all empty": ([""], [[""]]),
}


def bleu_scores(hypotheses, references):
    for tokenizer in TOKENIZERS:
        for lowercase in (False, True):
            metric = BLEU(tokenize=tokenizer, lowercase=lowercase, force=True)
            score = metric.corpus_score(hypotheses, references)
            yield {
                "tokenize": tokenizer, "lowercase": lowercase, "score": score.score, "precisions": score.precisions,
                "bp": score.bp, "hyp_len": score.sys_len, "ref_len": score.ref_len, "counts": score.counts,
                "totals": score.totals, "signature": str(metric.get_signature()),
                "line": score.format(width=1, signature=str(metric.get_signature())),
            }


def chrf_scores(hypotheses, references):
    for word_order in (0, 2):
        for lowercase in (False, True):
            metric = CHRF(word_order=word_order, lowercase=lowercase)
            score = metric.corpus_score(hypotheses, references)
            yield {"name": score.name, "word_order": word_order, "lowercase": lowercase, "score": score.score,
                   "signature": str(metric.get_signature())}


def words(line):
    made = {name: " ".join(_get_tokenizer(name)()(line.rstrip()).split()) for name in TOKENIZERS}
    return {"line": line, "lower": line.lower(), "words": made}


def main():
    lines = dict.fromkeys(ENGLISH + GERMAN + KOREAN + ODD + ODD_SYSTEM + TOKENIZED)
    result = {
        "made by": f"make_sacrebleu_cases.py with sacreBLEU {sacrebleu.__version__}",
        "lines": [words(line) for line in lines],
        "cases": [
            {"name": name, "hypotheses": hypotheses, "references": references,
             "bleu": list(bleu_scores(hypotheses, references)), "chrf": list(chrf_scores(hypotheses, references))}
            for name, (hypotheses, references) in CASES.items()
        ],
    }
    parts = [f"{json.dumps('made by')}: {json.dumps(result['made by'])}"]
    for key in ("lines", "cases"):
        rows = ",\n".join(json.dumps(row, ensure_ascii=True) for row in result[key])
        parts.append(f"{json.dumps(key)}: [\n{rows}\n]")
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    pathlib.Path(__file__).with_name("sacrebleu_cases.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
