// Screenshots of every room: node browser/screenshots.mjs ADDRESS FOLDER [--all | --looks 375-dark-ko,1280-light-en] [--model NAME] [--only ROOM]
// ADDRESS is that of a running `limpid serve`; a look is a width, a theme and a language (--all: the twelve of 375, 1280 and 2560
// pixels). On a phone the whole page is drawn, elsewhere what a screen shows. --documents makes the pictures of docs/page.md and
// docs/page.ko.md instead, of the models "translator" and "facts" that they train.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, settled } from './chromium.mjs';

const [address, folder, ...rest] = process.argv.slice(2);
if (!address || !folder) {
  console.error('Usage: node browser/screenshots.mjs ADDRESS FOLDER [--all | --looks WIDTH-THEME-LANGUAGE,…] [--model NAME] [--only ROOM] | --documents');
  process.exit(2);
}
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const everyLook = [375, 1280, 2560].flatMap((width) => ['light', 'dark'].flatMap((theme) => ['en', 'ko'].map((language) => `${width}-${theme}-${language}`)));
const looks = rest.includes('--all') ? everyLook : (option('--looks') ?? '1280-light-en').split(',');

mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
await (rest.includes('--documents') ? documents() : everyRoom());
await browser.close();

// Room, what the address says, name of the picture, and what is done before it is taken.
function viewsOf(model) {
  const stack = model.stacks[model.stacks.length - 1];
  const first = `${stack?.scope ?? 'decoder'}.0`;
  const [text, subject] = model.two_sided ? ['text=The teacher reads three books.&target=선생님은 책 세 권을 읽어요.', 'The teacher'] : ['text=Michael Jordan plays the sport of', 'Michael Jordan'];
  const changes = (list) => `interventions=${encodeURIComponent(JSON.stringify(list))}`;
  const silenced = stack?.ffn ? [{ zero: `${first}.attn.z[head 1]`.replace('.attn.', model.two_sided ? '.self_attn.' : '.attn.') }, { scale: `${first}.ffn_out@-1`, by: 3 }] : [{ scale: `${first}.h`, by: 0.5 }];
  const options = (room, name, values) => values.map((value) => [room, `o.${name}=${value}`, value]);
  const click = (name) => (page) => page.getByRole('button', { name }).first().click();
  const tour = async (page, steps) => { await click(/^(Tour|둘러보기)$/)(page); for (let i = 1; i < steps; i++) await click(/^(Next|다음)$/)(page); };
  const likeliest = async (page) => { for (let i = 0; i < 3; i++) { await click(/^(Take the likeliest|가장 그럴듯한 것 고르기)$/)(page); await settled(page); } };
  const inspector = async (page) => { if (await page.locator('.handle').isVisible()) await page.locator('.handle').click(); };
  const cross = model.two_sided && stack?.attention.includes('cross_attn') ? 'stack=decoder&attention=cross_attn&layer=1' : '';
  const views = [
    ['text', ''], ['text', `text=${'plays '.repeat(3000).trim()}`, 'long'], ['text', '', 'tour', (page) => tour(page, 1)], ['text', '', 'tour-map', (page) => tour(page, 3)],
    ['embedding', ''], ...options('embedding', 'embedding', ['near', 'products', 'map', 'positions']),
    ['attention', 'layer=1'], ...(model.family === 'recurrent' ? [] : options('attention', 'step', ['qk', 'product', 'scores', 'masked', 'values', 'out'])), ['attention', '', 'inspector', inspector], ['attention', 'layer=1&o.attention.view=lines', 'lines'],
    ...(cross ? [['attention', cross, 'cross'], ['attention', `${cross}&o.attention.view=words`, 'words']] : []),
    ['attention', `${changes(silenced)}&o.compare=both`, 'both'],
    ['feedforward', 'layer=1&neuron=17'], ...options('feedforward', 'feedforward', ['text']), ['feedforward', 'layer=1', 'none'],
    ['residual', ''], ...options('residual', 'residual', ['attribution']), ['residual', `o.residual=trace&o.subject=${subject}`, 'trace'], ['residual', 'o.residual=trace', 'untraced'],
    ['output', 'o.temperature=1.5'], ...(model.writes ? [['output', 'o.output=steps', 'steps', likeliest], ['output', 'o.output=beam', 'beam']] : []),
    ['output', changes(silenced), 'changed', async (page) => { await inspector(page); await page.locator('details.own summary').click(); }],
    ['parameters', ''], ...options('parameters', 'parameters', ['tensor']),
    ['training', ''], ...options('training', 'training', ['samples', 'recorded', 'recipe']),
    ['laboratory', ''], ...options('laboratory', 'laboratory', ['superposition', 'induction', 'facts', 'sae']), ['laboratory', 'o.experiment=parameters', 'experiment'],
  ];
  return views.map(([room, query, ...more]) => [room, query.includes('text=') ? query : `${text}&${query}`, ...more]);
}

async function everyRoom() {
  const name = option('--model');
  const model = await (await fetch(`${address}/inspect/model${name ? `?model=${name}` : ''}`)).json();
  for (const look of looks) {
    const [width, theme, language] = look.split('-');
    const page = await browser.newPage();
    await page.setViewportSize({ width: Number(width), height: { 375: 812, 2560: 1440 }[width] ?? 800 });
    await page.addInitScript(([t, l]) => {
      localStorage.setItem('limpid.tour', 'seen');
      localStorage.setItem('limpid.theme', t);
      localStorage.setItem('limpid.language', l);
    }, [theme, language]);
    page.on('pageerror', (error) => console.error(`${look}: ${error.message}`));
    for (const [room, query, part, act] of viewsOf(model)) {
      if (option('--only') && room !== option('--only')) continue;
      await page.goto(`${address}/?${look}#/${room}?${[name ? `model=${name}` : '', query].filter(Boolean).join('&')}`);
      await page.reload();
      await settled(page).catch((error) => console.error(error.message));
      await act?.(page);
      if (act) await settled(page);
      await page.screenshot({ path: join(folder, `${[room, part].filter(Boolean).join('-')}-${look}.png`), fullPage: width === '375' });
    }
    await page.close();
  }
}

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
}
