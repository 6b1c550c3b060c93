// Times of the page in a browser: node browser/bench.mjs PROGRAM SMALL_MODEL LARGE_MODEL [--rounds N]
// Per model, on a text of 64 tokens: first view, entering rooms, choosing tokens and heads, and the work of the main thread per
// frame while a slider is dragged (script, style and layout; median and 95th percentile).
import { openBrowser, settled } from './chromium.mjs';
import { serve } from './models.mjs';

const [program, ...rest] = process.argv.slice(2);
const folders = rest.filter((word, i) => !word.startsWith('--') && rest[i - 1] !== '--rounds');
const rounds = Number(rest[rest.indexOf('--rounds') + 1]) || 9;
const percentile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))];
const show = (name, list, digits = 0) => console.log(`| ${name.padEnd(44)} | ${percentile(list, 0.5).toFixed(digits).padStart(6)} | ${percentile(list, 0.95).toFixed(digits).padStart(6)} |`);

// Words until the model reads 64 tokens (fewer where it has fewer positions); ids where it has no vocabulary.
async function textOf64(address) {
  const words = 'Michael Jordan plays the sport of basketball for a team that lives in Chicago and'.split(' ');
  const ids = Array.from({ length: 64 }, (_, i) => String(3 + i * 7));
  for (const list of [words, ids])
    for (let count = 64; count > 1; count--) {
      const text = Array.from({ length: count }, (_, i) => list[i % list.length]).join(' ');
      const answer = await fetch(`${address}/inspect/tokens`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text }) });
      const read = answer.ok ? await answer.json() : null;
      if (read && read.input.length <= 64) return { words: text.split(' '), tokens: read.input.length };
    }
  throw new Error('this model reads no text');
}

for (const folder of folders) {
  const server = await serve(program, [folder], ['--quiet']);
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
  const { words, tokens } = await textOf64(server.address);
  const text = encodeURIComponent(words.join(' '));
  // From the change of the address until no answer is awaited and two frames were drawn, by the page's own clock. Every address
  // of a measurement is another one, so that nothing comes out of the page's cache.
  const visit = (fragment) => page.evaluate((hash) => new Promise((done) => {
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
  const repeat = async (make) => {
    const list = [];
    for (let i = 0; i < rounds; i++) list.push(await make(i));
    return list;
  };
  console.log(`\n| ${`${folder.split('/').pop()}, ${tokens} tokens (ms)`.padEnd(44)} | median |    p95 |\n|${'-'.repeat(46)}|-------:|-------:|`);
  let nonce = 0;
  show('first view (tokens and room)', await repeat(async () => {
    const begin = performance.now();
    await page.goto(`${server.address}/?${nonce++}#/attention?text=${text}`);
    await page.locator('main h1').waitFor();
    await page.locator('.strip button').first().waitFor();
    return performance.now() - begin;
  }));
  await settled(page);
  show('another token, attention', await repeat((i) => visit(`#/attention?text=${text}&position=${i + 3}`)));
  show('another head', await repeat((i) => visit(`#/attention?text=${text}&head=${(i + 1) % 4}&layer=${Math.floor((i + 1) / 4) % 2}`)));
  show('another token, feed-forward', await repeat((i) => visit(`#/feedforward?text=${text}&position=${i + 2}`)));
  show('logit lens of another text', await repeat((i) => visit(`#/residual?text=${encodeURIComponent([...words.slice(i + 1), ...words.slice(0, i + 1)].join(' '))}`)));
  show('an intervention, output before and after', await repeat((i) => visit(`#/output?text=${text}&interventions=${encodeURIComponent(JSON.stringify([{ zero: `blocks.0.attn_out@${i}` }]))}`)));
  await visit(`#/output?text=${text}`);
  await settled(page);
  const work = await page.evaluate(async () => {
    const slider = document.querySelector('.sliders input');
    const list = [];
    for (let i = 0; i < 120; i++) {
      await new Promise(requestAnimationFrame);
      const begin = performance.now();
      slider.value = String(0.05 + (i % 60) * 0.04);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      await Promise.resolve();
      await Promise.resolve();
      document.body.getBoundingClientRect();
      list.push(performance.now() - begin);
    }
    return list;
  });
  show('main thread per frame, temperature dragged', work, 1);
  await browser.close();
  await server.stop();
}
