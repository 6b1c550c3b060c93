// Screenshots of every room: node browser/screenshots.mjs ADDRESS FOLDER [--all]
// ADDRESS is that of a running `limpid serve`; --all adds phone and projector sizes, both themes and both languages. --documents
// makes the pictures of docs/page.md and docs/page.ko.md instead, of the models "translator" and "facts" that they train.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, settled } from './chromium.mjs';

const [address, folder, ...rest] = process.argv.slice(2);
if (!address || !folder) {
  console.error('Usage: node browser/screenshots.mjs ADDRESS FOLDER [--all] [--model NAME] [--only ROOM] [--with QUERY] [--width N] [--theme T] [--language L]');
  process.exit(2);
}
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const model = option('--model');
const only = option('--only');
const more = option('--with') ?? ''; // put into every address: "text=…&position=3"
// Room, what the address says, name of the picture.
const views = [
  ['text', ''], ['embedding', ''], ['embedding', 'o.embedding=near', 'near'], ['embedding', 'o.embedding=products', 'products'], ['embedding', 'o.embedding=map', 'map'], ['embedding', 'o.embedding=positions', 'positions'],
  ['attention', 'layer=1'], ['attention', 'layer=1&o.attention.view=lines', 'lines'], ['attention', 'layer=1&o.step=qk', 'qk'], ['attention', 'layer=1&o.step=masked', 'masked'], ['attention', 'layer=1&o.step=values', 'values'],
  ['feedforward', 'layer=1&neuron=17'], ['feedforward', 'layer=1&o.feedforward=text', 'text'], ['residual', ''], ['residual', 'o.residual=attribution', 'attribution'], ['residual', 'o.residual=trace', 'trace'],
  ['output', 'o.temperature=1.5'], ['output', 'o.output=steps', 'steps'], ['output', 'o.output=beam', 'beam'], ['parameters', ''], ['parameters', 'o.parameters=tensor', 'tensor'],
  ['training', ''], ['training', 'o.training=samples', 'samples'], ['training', 'o.training=recorded', 'recorded'], ['training', 'o.training=recipe', 'recipe'],
  ['laboratory', ''], ['laboratory', 'o.laboratory=superposition', 'superposition'],
];
const looks = rest.includes('--all')
  ? [375, 1280, 2560].flatMap((width) => ['light', 'dark'].flatMap((theme) => ['en', 'ko'].map((language) => ({ width, theme, language }))))
  : [{ width: Number(option('--width') ?? 1280), theme: option('--theme') ?? 'light', language: option('--language') ?? 'en' }];

mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
if (rest.includes('--documents')) {
  await documents();
  process.exit(0);
}
for (const { width, theme, language } of looks) {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height: width === 375 ? 812 : width === 2560 ? 1440 : 800 });
  await page.addInitScript(([t, l]) => {
    localStorage.setItem('limpid.tour', 'seen');
    localStorage.setItem('limpid.theme', t);
    localStorage.setItem('limpid.language', l);
  }, [theme, language]);
  page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
  page.on('pageerror', (error) => console.error(error.message));
  for (const [room, query, part] of views) {
    if (only && room !== only) continue;
    const name = part ? `${room}-${part}` : room;
    await page.goto(`${address}/#/${room}?${[model ? `model=${model}` : '', more, query].filter(Boolean).join('&')}`);
    await page.reload();
    await settled(page);
    const suffix = looks.length > 1 ? `-${width}-${theme}-${language}` : '';
    await page.screenshot({ path: join(folder, `${name}${suffix}.png`) });
  }
  await page.close();
}
await browser.close();

// One picture per room and language, as WebP, which the browser itself can write.
async function documents() {
  const facts = 'model=facts&text=Michael+Jordan+plays+the+sport+of';
  const translator = 'model=translator&text=The+teacher+reads+three+books.';
  const silenced = encodeURIComponent(JSON.stringify([{ zero: 'blocks.0.ffn_out@-1' }]));
  const pictures = [
    ['text', translator, 'position=2'], ['embedding', facts, 'o.embedding=products&o.words=basketball+baseball+tennis+hockey+Chicago+Boston+Paris+piano+violin'],
    ['attention', translator, 'stack=decoder&attention=cross_attn&layer=1&position=3'], ['feedforward', facts, 'layer=1'],
    ['residual', facts, 'o.residual=trace'], ['output', facts, `interventions=${silenced}`], ['parameters', translator, ''], ['training', translator, 'o.training=recorded'], ['laboratory', facts, 'o.laboratory=superposition'],
  ];
  const page = await browser.newPage();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
  for (const language of ['en', 'ko'])
    for (const [room, model, query] of pictures) {
      await page.goto(`${address}/#/${room}?${model}&${query}`);
      await page.evaluate((l) => { localStorage.setItem('limpid.language', l); localStorage.setItem('limpid.theme', 'light'); }, language);
      await page.reload();
      await settled(page);
      if (query.includes('trace')) {
        await page.locator('.trace input').fill('Michael Jordan');
        await page.locator('.trace button[type=submit]').click();
        await page.locator('.maps .heatmap').first().waitFor();
        await settled(page);
      }
      if (room === 'feedforward') { // of the neurons that write most the first that speaks for the answer
        await page.locator('main figure svg g[role=button]', { hasText: 'baske' }).first().click({ position: { x: 20, y: 12 } });
        await settled(page);
      }
      const png = `data:image/png;base64,${(await page.screenshot()).toString('base64')}`;
      const webp = await page.evaluate(async (source) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas.toDataURL('image/webp', 0.92);
      }, png);
      writeFileSync(join(folder, `${room}.${language}.webp`), Buffer.from(webp.split(',')[1], 'base64'));
    }
  await browser.close();
}
