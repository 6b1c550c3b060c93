// Screenshots of every room: node browser/screenshots.mjs ADDRESS FOLDER [--all]
// ADDRESS is that of a running `limpid serve`; --all adds phone and projector sizes, both themes and both languages.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, settled } from './chromium.mjs';

const [address, folder, ...rest] = process.argv.slice(2);
if (!address || !folder) {
  console.error('Usage: node browser/screenshots.mjs ADDRESS FOLDER [--all] [--model NAME] [--only ROOM]');
  process.exit(2);
}
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const model = option('--model');
const only = option('--only');
const views = [
  ['text', ''], ['embedding', ''], ['embedding-map', 'o.embedding=map', 'embedding'], ['embedding-positions', 'o.embedding=positions', 'embedding'],
  ['attention', 'layer=1'], ['attention-lines', 'layer=1&o.attention.view=lines', 'attention'], ['feedforward', 'layer=1&neuron=17'], ['residual', ''], ['residual-attribution', 'o.residual=attribution', 'residual'],
  ['output', 'o.temperature=1.5'], ['output-beam', 'o.output=beam', 'output'], ['parameters', ''], ['parameters-tensor', 'o.parameters=tensor', 'parameters'], ['training', ''],
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
  for (const [name, query, room = name] of views) {
    if (only && room !== only) continue;
    await page.goto(`${address}/#/${room}?${model ? `model=${model}&` : ''}${query}`);
    await page.reload();
    await settled(page);
    const suffix = looks.length > 1 ? `-${width}-${theme}-${language}` : '';
    await page.screenshot({ path: join(folder, `${name}${suffix}.png`) });
  }
  await page.close();
}
await browser.close();
