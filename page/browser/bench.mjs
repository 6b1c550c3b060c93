// Times of the page in a browser: node browser/bench.mjs PROGRAM DEMO_MODEL LARGE_MODEL [--rounds N] [--only WORD] [--json FILE]
// --only: what has the word in its name, such as "frame"; a folder of - is left out.
// Per model, on a text of 64 tokens: the first view; how long interactions take, from the click (here: the change of the address)
// until no answer is awaited and the result is drawn; and the work of the main thread per frame while a slider is dragged, out of
// the browser's own trace. Every address of a measurement is another one, so that nothing comes out of the page's cache. Then what
// 512 tokens take, on the large model.
import { writeFileSync } from 'node:fs';
import { openBrowser, settled } from './chromium.mjs';
import { serve } from './models.mjs';

const [program, ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const folders = rest.filter((word, i) => !word.startsWith('--') && !['--rounds', '--only', '--json'].includes(rest[i - 1]));
const rounds = Number(option('--rounds')) || 9;
const percentile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))];
const results = [];
async function show(model, name, measured, limit, digits = 0) {
  if (!name.includes(option('--only') ?? '')) return;
  const list = await measured();
  const [median, p95] = [percentile(list, 0.5), percentile(list, 0.95)];
  results.push({ model, name, median, p95, limit, times: list });
  const figure = (value) => value.toFixed(digits).padStart(6);
  console.log(`| ${name.padEnd(50)} | ${figure(median)} | ${figure(p95)} | ${limit === null ? '      ' : String(limit).padStart(6)} |${limit !== null && p95 > limit ? ' missed' : ''}`);
}
const heading = (text) => console.log(`\n| ${`${text} (ms)`.padEnd(50)} | median |    p95 |  limit |\n|${'-'.repeat(52)}|-------:|-------:|-------:|`);

async function ask(address, route, body) {
  const answer = await fetch(`${address}/inspect/${route}`, body ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : {});
  return answer.ok ? answer.json() : null;
}

// A text of as many tokens as wanted (or the nearest below): sentences of the demo's grammar; ids where a model has no vocabulary.
async function textOf(address, wanted) {
  const words = 'The teacher reads three books and the student who raised the dog drinks delicious juice .'.split(' ');
  const ids = Array.from({ length: wanted }, (_, i) => String(3 + i * 7));
  for (const list of [words, ids])
    for (let count = wanted; count > wanted / 4; count--) {
      const text = Array.from({ length: count }, (_, i) => list[i % list.length]).join(' ');
      const read = await ask(address, 'tokens', { text, ...(list === words ? {} : {}) });
      const tokens = read ? (read.source ?? read.input) : [];
      if (read && tokens.length <= wanted) return { words: text.split(' '), tokens: tokens.length };
    }
  throw new Error('this model reads no text');
}

// From the change of the address until no answer is awaited and two frames were drawn, by the page's own clock.
const visit = (page, fragment) => page.evaluate((hash) => new Promise((done) => {
  const begun = performance.now();
  location.hash = hash;
  const calm = () => document.querySelector('main h1') && !document.querySelector('[aria-busy="true"], html[data-waiting]');
  let frames = 0;
  let at = 0;
  const look = () => {
    frames = calm() ? frames + 1 : 0;
    if (frames === 1) at = performance.now() - begun;
    if (frames >= 2) done(at);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}), fragment);

// Work of the main thread in each frame in which the slider moves (the processor time of all its tasks between two beginnings of
// a frame, by the browser's own trace) while the mouse drags a slider to and fro.
async function dragged(page, slider) {
  const box = await slider.boundingBox();
  const y = box.y + box.height / 2;
  const client = await page.context().newCDPSession(page);
  const events = [];
  client.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await page.evaluate(() => { const tick = () => requestAnimationFrame(tick); tick(); }); // marks the frames
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await client.send('Tracing.start', { categories: 'toplevel,devtools.timeline', transferMode: 'ReportEvents' });
  for (let i = 0; i < 120; i++) {
    await page.mouse.move(box.x + box.width * (0.1 + 0.8 * Math.abs(((i % 60) - 30) / 30)), y);
    await new Promise((done) => setTimeout(done, 16));
  }
  const ended = new Promise((done) => client.once('Tracing.tracingComplete', done));
  await client.send('Tracing.end');
  await ended;
  await page.mouse.up();
  const main = events.find((one) => one.name === 'thread_name' && one.args?.name === 'CrRendererMain' && events.some((other) => other.name === 'FireAnimationFrame' && other.tid === one.tid && other.pid === one.pid));
  const mine = events.filter((one) => one.pid === main.pid && one.tid === main.tid);
  const frames = mine.filter((one) => one.name === 'FireAnimationFrame').map((one) => one.ts).sort((a, b) => a - b);
  const tasks = mine.filter((one) => one.name.endsWith('RunTask') && one.ph === 'X').sort((a, b) => a.ts - b.ts);
  const outermost = tasks.filter((task, i) => !tasks.slice(Math.max(0, i - 8), i).some((other) => other.ts + other.dur >= task.ts + task.dur));
  const moved = mine.filter((one) => one.name === 'EventDispatch' && one.args?.data?.type === 'input').map((one) => one.ts);
  const spans = frames.slice(0, -1).map((from, i) => [from, frames[i + 1]]).filter(([from, to]) => moved.some((at) => at >= from && at < to));
  const work = spans.map(([from, to]) => outermost.reduce((sum, task) => (task.ts >= from && task.ts < to ? sum + task.tdur : sum), 0) / 1000);
  await client.detach();
  return work;
}

async function measure(folder, index) {
  const server = await serve(program, [folder], ['--quiet']);
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
  const model = await ask(server.address, 'model');
  const { words, tokens } = await textOf(server.address, 64);
  const stack = model.stacks[model.stacks.length - 1];
  const text = encodeURIComponent(words.join(' '));
  const turned = (i) => encodeURIComponent([...words.slice(i), ...words.slice(0, i)].join(' '));
  const repeat = async (make, count = rounds) => {
    const list = [];
    for (let i = 0; i < count; i++) list.push(await make(i));
    return list;
  };
  const name = folder.split('/').pop();
  const limit = index === 0 ? 100 : 300;
  heading(`${name}, ${(model.parameters / 1e6).toFixed(1)} M parameters, ${tokens} tokens`);
  let nonce = 0;
  await show(name, 'first view (tokens and room)', () => repeat(async () => {
    const begin = performance.now();
    await page.goto(`${server.address}/?${nonce++}#/text?text=${text}`);
    await page.locator('main h1').waitFor();
    await page.locator('.strip button').first().waitFor();
    return performance.now() - begin;
  }), 1000);
  await page.goto(`${server.address}/#/text?text=${text}`);
  await settled(page);
  for (const room of ['attention', 'feedforward', 'residual', 'output']) await visit(page, `#/${room}?text=${turned(11)}`); // their code is loaded
  await visit(page, `#/attention?text=${text}`);
  await show(name, 'another token, attention', () => repeat((i) => visit(page, `#/attention?text=${text}&position=${i + 3}`)), limit);
  await show(name, 'another head, attention', () => repeat((i) => visit(page, `#/attention?text=${text}&head=${(i + 1) % stack.heads}&layer=${Math.floor((i + 1) / stack.heads) % stack.layers}`)), limit);
  await show(name, 'another text, attention', () => repeat((i) => visit(page, `#/attention?text=${turned(i + 1)}`)), limit);
  await visit(page, `#/feedforward?text=${text}`);
  await show(name, 'another token, feed-forward', () => repeat((i) => visit(page, `#/feedforward?text=${text}&position=${i + 2}`)), limit);
  await show(name, 'another neuron', () => repeat((i) => visit(page, `#/feedforward?text=${text}&neuron=${i + 2}`)), limit);
  await show(name, 'logit lens of another text', () => repeat((i) => visit(page, `#/residual?text=${turned(i + 1)}`)), index === 0 ? 100 : 500);
  await visit(page, `#/residual?o.residual=attribution&text=${text}`);
  await show(name, 'attribution at another token', () => repeat((i) => visit(page, `#/residual?o.residual=attribution&text=${text}&position=${i + 2}`)), limit);
  await visit(page, `#/output?text=${text}`);
  await show(name, 'distribution at another token', () => repeat((i) => visit(page, `#/output?text=${text}&position=${i + 2}`)), limit);
  await show(name, 'an intervention, output before and after', () => repeat((i) => visit(page, `#/output?text=${text}&interventions=${encodeURIComponent(JSON.stringify([{ zero: `${stack.scope}.0.ffn_out@${i}` }]))}`)), limit);
  await visit(page, `#/output?text=${text}`);
  await settled(page);
  await show(name, 'main thread per frame, temperature dragged', () => dragged(page, page.locator('.sliders input').first()), 8, 1);
  await visit(page, `#/feedforward?text=${text}&neuron=5`);
  await settled(page);
  await show(name, 'main thread per frame, a neuron scaled', () => dragged(page, page.locator('.slider input').first()), 8, 1);
  if (index > 0) {
    const long = await textOf(server.address, 512);
    const whole = encodeURIComponent(long.words.join(' '));
    heading(`${name}, ${long.tokens} tokens`);
    const again = (i) => encodeURIComponent([...long.words.slice(i), ...long.words.slice(0, i)].join(' '));
    await show(name, 'another text, attention', () => repeat((i) => visit(page, `#/attention?text=${again(i + 1)}`), 3), null);
    await visit(page, `#/attention?text=${whole}`);
    await show(name, 'another token, attention', () => repeat((i) => visit(page, `#/attention?text=${whole}&position=${i + 3}`)), null);
    await show(name, 'logit lens of another text', () => repeat((i) => visit(page, `#/residual?text=${again(i + 1)}`), 3), null);
  }
  await browser.close();
  await server.stop();
}

for (const [index, folder] of folders.entries()) if (folder !== '-') await measure(folder, index);
if (option('--json')) writeFileSync(option('--json'), JSON.stringify(results, null, 2) + '\n');
