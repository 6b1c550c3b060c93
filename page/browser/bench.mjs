// Times of the page in a browser: node browser/bench.mjs PROGRAM SMALL_MODEL LARGE_MODEL [--rounds N]
// Per model, on a text of 64 tokens: first view, entering rooms, choosing tokens and heads, and the work of the main thread per
// frame while a slider is dragged (script, style and layout; median and 95th percentile).
import { openBrowser, settled } from './chromium.mjs';
import { serve } from './models.mjs';

const [program, ...rest] = process.argv.slice(2);
const folders = rest.filter((word, i) => !word.startsWith('--') && rest[i - 1] !== '--rounds');
const rounds = Number(rest[rest.indexOf('--rounds') + 1]) || 9;
const percentile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))];
const show = (name, list) => console.log(`  ${name.padEnd(44)} ${percentile(list, 0.5).toFixed(0).padStart(6)} ${percentile(list, 0.95).toFixed(0).padStart(6)}`);

// Words until the model reads 64 tokens (fewer where it has fewer positions).
async function textOf64(address) {
  const words = 'Michael Jordan plays the sport of basketball for a team that lives in Chicago and'.split(' ');
  for (let count = 64; count > 1; count--) {
    const text = Array.from({ length: count }, (_, i) => words[i % words.length]).join(' ');
    const answer = await fetch(`${address}/inspect/tokens`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text }) });
    if (answer.ok && (await answer.json()).input.length <= 64) return text;
  }
  throw new Error('this model reads no text');
}

for (const folder of folders) {
  const server = await serve(program, [folder], ['--quiet']);
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
  const text = encodeURIComponent(await textOf64(server.address));
  // From doing something until nothing is awaited any more; `nonce` keeps answers from coming out of the cache.
  let nonce = 0;
  const visit = async (fragment) => {
    const begin = performance.now();
    await page.evaluate((hash) => { location.hash = hash; }, fragment);
    await page.waitForFunction(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(!document.querySelector('[aria-busy="true"]') && !!document.querySelector('main h1'))))), undefined, { polling: 'raf' });
    return performance.now() - begin;
  };
  const repeat = async (make) => {
    const list = [];
    for (let i = 0; i < rounds; i++) list.push(await make(i));
    return list;
  };
  console.log(`${folder}${' '.repeat(Math.max(1, 48 - folder.length))}median    p95 (ms)`);
  show('first view (tokens and room)', await repeat(async () => {
    const begin = performance.now();
    await page.goto(`${server.address}/?${nonce++}#/attention?text=${text}`);
    await page.locator('main h1').waitFor();
    await page.locator('.strip button').first().waitFor();
    return performance.now() - begin;
  }));
  await settled(page);
  show('another token, attention', await repeat((i) => visit(`#/attention?text=${text}&position=${i + 3}`)));
  show('another head', await repeat((i) => visit(`#/attention?text=${text}&head=${1 + (i % 3)}&layer=${i % 2}`)));
  show('another token, feed-forward', await repeat((i) => visit(`#/feedforward?text=${text}&position=${i + 2}`)));
  show('logit lens of another text', await repeat((i) => visit(`#/residual?text=${text.slice(0, text.length - 3 * (i + 1))}`)));
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
  console.log(`  ${'main thread per frame, temperature dragged'.padEnd(44)} ${percentile(work, 0.5).toFixed(1).padStart(6)} ${percentile(work, 0.95).toFixed(1).padStart(6)}`);
  await browser.close();
  await server.stop();
}
