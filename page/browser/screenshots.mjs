// Screenshots of every room: node browser/screenshots.mjs ADDRESS FOLDER [--all]
// ADDRESS is that of a running `limpid serve`; --all adds phone and projector sizes, both themes and both languages.
import { mkdirSync } from 'node:fs';
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
];
const looks = rest.includes('--all')
  ? [375, 1280, 2560].flatMap((width) => ['light', 'dark'].flatMap((theme) => ['en', 'ko'].map((language) => ({ width, theme, language }))))
  : [{ width: Number(option('--width') ?? 1280), theme: option('--theme') ?? 'light', language: option('--language') ?? 'en' }];

mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
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
