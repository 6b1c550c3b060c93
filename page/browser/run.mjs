// Walks through every room of the page in a browser, on models made for it, and compares its numbers with `limpid look --json`.
// Usage: node browser/run.mjs PROGRAM   (LIMPID_PAGE_MODELS: a folder to keep the models in)
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openBrowser, settled } from './chromium.mjs';
import { otherKinds } from './kinds.mjs';
import { looks } from './looks.mjs';
import { limpid, makeModels, serve } from './models.mjs';
import { numbers } from './numbers.mjs';
import { typing } from './typing.mjs';

const program = process.argv[2];
const only = process.argv[3];
const kept = process.env.LIMPID_PAGE_MODELS;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'limpid-page-'));
mkdirSync(folder, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// What axe finds once colours have stopped changing: in the middle of a transition any contrast can occur.
// A second at most: in a menu that has been closed a transition stands still.
async function axeViolations(page) {
  await page.evaluate(() => Promise.race([Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)), new Promise((done) => setTimeout(done, 1000))]));
  await page.evaluate(axe);
  return (await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }))).violations;
}
const say = limpid(program);
const look = async (model, ...words) => JSON.parse(await say('look', models[model], ...words, '--json'));

// A command as the page prints it, run where its files are.
const shell = async (line) => (await promisify(execFile)('sh', ['-c', `(${line.replace(/(^|[|&] )limpid /g, `$1'${program}' `)}) </dev/null`], { cwd: folder, maxBuffer: 1 << 28 })).stdout;

const failures = [];
let checks = 0;
function expect(condition, message) {
  checks++;
  if (!condition) {
    failures.push(message);
    console.log(`  FAILED: ${message}`);
  }
}
const near = (a, b, tolerance = 1e-5) => Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));
const shownPercent = (text) => (text.includes('<') ? 0 : text.includes('>') ? 1 : Number(text.replace(/[^\d.]/g, '')) / 100);

const begun = Date.now();
const models = await makeModels(program, folder);
console.log(`models made in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
const results = join(folder, 'experiments');
await say('experiment', 'parameters', '--tiny', '--quiet', '--out', results);
const server = await serve(program, Object.values(models), ['--quiet', '--experiments', results]);
const browser = await openBrowser();
const texts = { translator: 'The teacher reads three books.', lm: 'Michael Jordan plays the sport of', gru: 'The teacher reads three books.', encoder: 'Michael Jordan plays the sport of' };
const rooms = ['text', 'embedding', 'attention', 'feedforward', 'residual', 'output', 'parameters', 'training', 'laboratory'];

// Nothing may leave the machine, from whichever tab.
let strayed = [];
browser.on('request', (request) => { const url = new URL(request.url()); if (!['data:', 'blob:'].includes(url.protocol) && url.hostname !== '127.0.0.1') strayed.push(String(url)); });
const page = await browser.newPage();
await page.addInitScript(() => { if (!sessionStorage.getItem('tour')) localStorage.setItem('limpid.tour', 'seen'); });
let problems = [];
page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
page.on('pageerror', (error) => problems.push(error.message));

async function open(room, model, more = {}) {
  const query = new URLSearchParams({ model, text: texts[model], ...more });
  await page.goto(`${server.address}/#/${room}?${query}`);
  await settled(page);
}
async function quiet(where) {
  const alerts = await page.locator('[role=alert]').allTextContents();
  expect(problems.length === 0 && alerts.length === 0, `${where}: ${[...problems, ...alerts].join(' | ')}`);
  problems = [];
}
async function accessible(where) {
  const violations = await axeViolations(page);
  const bad = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  expect(!bad.length, `${where}: axe: ${bad.map((one) => `${one.id} (${one.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join(' ; ')})`).join(', ')}`);
}
// Chromium drops a download that follows ten others within a second.
const downloads = [];
async function pace() {
  const tenth = downloads.length < 9 ? 0 : downloads[downloads.length - 9];
  await new Promise((done) => setTimeout(done, Math.max(0, tenth + 1200 - Date.now())));
  downloads.push(Date.now());
}
// What a figure saves: clicks its menu and reads the file.
async function savedBy(page, kind, index = 0) {
  await pace();
  await page.locator('details.save > summary').nth(index).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('details.save').nth(index).getByRole('button', { name: kind, exact: true }).click()]);
  return readFileSync(await download.path());
}
const saved = (kind, index) => savedBy(page, kind, index);
const savedJson = async (index) => JSON.parse(await saved('JSON', index));

const tests = {
  async 'every room of every model'() {
    for (const model of Object.keys(models))
      for (const room of rooms) {
        await open(room, model);
        expect((await page.locator('main h1').count()) === 1, `${model}/${room} does not open`);
        await quiet(`${model}/${room}`);
        await accessible(`${model}/${room}`);
      }
  },

  async 'every view of the rooms'() {
    const views = [['embedding', { 'o.embedding': 'near' }], ['embedding', { 'o.embedding': 'products' }], ['embedding', { 'o.embedding': 'map' }], ['embedding', { 'o.embedding': 'positions' }],
      ...['qk', 'product', 'scores', 'masked', 'values', 'out'].map((step) => ['attention', { layer: 1, 'o.step': step }]), ['attention', { 'o.attention.view': 'lines' }], ['feedforward', { 'o.feedforward': 'text' }], ['feedforward', { neuron: 3 }],
      ['residual', { 'o.residual': 'attribution' }], ['output', { 'o.output': 'steps' }], ['output', { 'o.output': 'beam' }], ['parameters', { 'o.parameters': 'tensor' }], ['training', { 'o.training': 'samples' }], ['training', { 'o.training': 'recorded' }], ['training', { 'o.training': 'recipe' }], ['laboratory', { 'o.experiment': 'parameters' }], ['laboratory', { 'o.experiment': 'mask' }], ['laboratory', { 'o.laboratory': 'superposition' }]];
    for (const [room, query] of views) {
      await open(room, 'translator', query);
      await quiet(`translator/${room} ${JSON.stringify(query)}`);
    }
    await open('attention', 'translator', { target: '선생님은 책 세 권을 읽어요.', stack: 'decoder', attention: 'cross_attn', 'o.attention.view': 'words' });
    await page.locator('svg[aria-label="Words"] path').first().waitFor({ state: 'attached', timeout: 5000 });
    await quiet('alignment');
    await accessible('alignment');
  },

  async 'numbers of attention'() {
    await open('attention', 'lm', { layer: 1, head: 2 });
    const shown = await savedJson(1 - (await page.locator('details.save').count() > 1 ? 0 : 1));
    const truth = (await look('lm', 'heatmap', texts.lm, '--tap', 'blocks.1.attn.pattern')).maps[2];
    const plain = (label) => label.replace(/^·/, ''); // the page shows the space that a token begins with
    expect(JSON.stringify(shown.queries.map(plain)) === JSON.stringify(truth.rows), `queries ${shown.queries} and ${truth.rows}`);
    expect(shown.values.every((row, i) => row.every((value, j) => near(value, truth.values[i][j]))), 'attention differs from `limpid look heatmap`');
    // The microscope: the softmax of the row's scores is the weight that stands beside them.
    const title = await page.locator('aside h2').textContent();
    const last = truth.values.length - 1;
    const best = truth.values[last].indexOf(Math.max(...truth.values[last]));
    expect(title.split(' → ').map(plain).join(' → ') === `${truth.rows[last]} → ${truth.columns[best]}`, `the inspector shows ${title}`);
    const weight = await page.locator('aside dl div').last().locator('dd').textContent();
    expect(near(shownPercent(weight), truth.values[last][best], 6e-4), `the inspector says ${weight}, the model ${truth.values[last][best]}`);
  },

  async 'the very product under the pointer, and heads in order'() {
    await open('attention', 'lm', { layer: 1, head: 2, 'o.step': 'scores' });
    const tap = async (name) => (await look('lm', 'heatmap', texts.lm, '--tap', `blocks.1.attn.${name}`)).maps[2].values;
    const [scores, weights] = [await tap('scores'), await tap('pattern')];
    const canvas = page.locator('.one .heatmap canvas');
    const box = await canvas.boundingBox();
    const size = scores.length;
    const width = Math.sqrt(8); // of the test's heads
    for (const [row, col] of [[4, 1], [5, 5], [3, 0]]) {
      await page.mouse.move(box.x + ((col + 0.5) * box.width) / size, box.y + ((row + 0.5) * box.height) / size);
      const shown = Object.fromEntries(await page.locator('aside dl div').evaluateAll((list) => list.map((one) => [one.querySelector('dt').textContent.split(' (')[0], one.querySelector('dd').textContent])));
      const number = (text) => Number(text.replace('−', '-'));
      expect(near(number(shown['q · k']), scores[row][col] * width, 1e-3) && near(number(shown.Scale), scores[row][col], 1e-3) && near(shownPercent(shown.Softmax), weights[row][col], 6e-4), `cell ${row}, ${col}: ${JSON.stringify(shown)}, by look ${scores[row][col]} and ${weights[row][col]}`);
      const sum = /Σ = (.*)\)/.exec(await page.locator('aside .vector span', { hasText: 'Σ' }).textContent())?.[1];
      expect(near(number(sum), scores[row][col] * width, 2e-3), `the products of ${row}, ${col} add up to ${sum}`);
    }
    await page.mouse.move(0, 0);
    for (const by of ['entropy', 'previous']) {
      await page.locator('.sort select').selectOption(by);
      await page.locator('.grid .plot').focus();
      for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft');
      const values = [];
      for (let i = 0; i < 8; i++) {
        await settled(page);
        values.push(Number((await page.locator('.caption .by dd').textContent()).replace('e−', 'e-')));
        await page.keyboard.press('ArrowRight');
      }
      const sorted = [...values].sort((a, b) => (by === 'entropy' ? a - b : b - a));
      expect(JSON.stringify(values) === JSON.stringify(sorted) && values[0] !== values[7], `heads sorted by ${by}: ${values}`);
    }
    await open('attention', 'gru', { target: '선생님은 책 세 권을 읽어요.' });
    const aligned = await savedJson((await page.locator('details.save').count()) - 1);
    const truth = (await look('gru', 'heatmap', texts.gru, '선생님은 책 세 권을 읽어요.', '--tap', 'align')).maps[0];
    expect(aligned.values.every((row, i) => row.every((value, j) => near(value, truth.values[i][j]))), 'the alignment of the recurrent model differs from `limpid look heatmap`');
    await quiet('the microscope');
  },

  async 'numbers of the lens, of attribution and of the output'() {
    for (const model of ['translator', 'lm', 'gru']) {
      await open('residual', model);
      const shown = await savedJson();
      const truth = await look(model, 'lens', texts[model], '--top', '5');
      expect(shown.lens.length === truth.lens.length && shown.lens.every((layer, l) => layer.positions.every((cell) => cell.top[0].id === truth.lens[l].positions[cell.position].top[0].id && near(cell.top[0].probability, truth.lens[l].positions[cell.position].top[0].probability))), `${model}: the lens differs`);
      await open('residual', model, { 'o.residual': 'attribution', position: 2 });
      const parts = await savedJson();
      const other = await look(model, 'attribution', texts[model], '--position', '2');
      expect(near(parts.logit, other.logit) && parts.parts.every((part, i) => near(part.value, other.parts[i].value, 1e-4)), `${model}: attribution differs`);
      expect(near(parts.parts.reduce((sum, part) => sum + part.value, 0), parts.logit, 1e-3), `${model}: the parts do not add up`);
      await open('output', model, { position: 2 });
      const likely = await savedJson();
      const top = truth.lens[truth.lens.length - 1].positions[2].top[0];
      expect(likely[0].id === top.id && near(likely[0].probability, top.probability), `${model}: the distribution differs: ${JSON.stringify(likely[0])} ${JSON.stringify(top)}`);
    }
  },

  async 'numbers of neurons, embeddings and parameters'() {
    await open('feedforward', 'lm', { layer: 1 });
    const shown = await savedJson();
    const truth = await look('lm', 'neuron', texts.lm, '--block', '1');
    expect(shown[0].neuron === truth[0].neuron && near(shown[0].activation, truth[0].activation), `the strongest neuron is ${truth[0].neuron}, the page says ${shown[0].neuron}`);
    await open('embedding', 'lm', { 'o.embedding': 'near', 'o.similarity': 'cosine', position: 1 });
    const nearest = await savedJson();
    const other = await look('lm', 'embedding', 'Michael');
    expect(nearest[1].id === other.nearest[1].id && near(nearest[1].similarity, other.nearest[1].similarity), 'neighbours differ');
    await open('parameters', 'lm');
    const total = JSON.parse(await say('params', models.lm, '--json')).parameters;
    expect((await page.locator('tfoot').textContent()).includes(new Intl.NumberFormat('en').format(total)), `the total is not ${total}`);
  },

  async 'sliders'() {
    await open('output', 'lm');
    const value = async () => (await savedJson())[0].probability;
    const plain = await value();
    await page.locator('.sliders input').first().fill('3');
    expect((await value()) < plain, 'a high temperature does not even the odds');
    await page.waitForURL((url) => url.hash.includes('o.temperature=3'), { timeout: 2000 }).catch(() => expect(false, 'the slider is not in the address'));
    await page.locator('.sliders input').first().fill('0');
    expect((await value()) === 1, 'temperature 0 does not keep the top token alone');
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.locator('.sliders input').nth(1).fill('2');
    expect((await savedJson()).filter((one) => one.probability > 0).length === 2, 'top-k 2 keeps other than two');
    await quiet('sliders');
  },

  async 'the laboratory'() {
    await open('laboratory', 'lm');
    const all = JSON.parse(await say('experiment', '--json', '--out', results));
    expect((await page.locator('main tbody tr').count()) === all.length, `${all.length} experiments are not listed`);
    const state = all.find((one) => one.name === 'parameters').state.replace(' (provisional)', '');
    const row = page.locator('main tbody tr', { hasText: 'Two thirds' });
    expect((await row.textContent()).includes(state), `the verdict is not "${state}": ${await row.textContent()}`);
    await row.getByRole('button').click();
    await settled(page);
    const shown = await page.locator('main').textContent();
    expect(shown.includes('175,181,291,520'), 'the count of GPT-3 is not shown');
    expect(await page.locator('main .drawing img').first().evaluate((image) => image.complete && image.naturalWidth > 100), 'the figure is not shown');
    expect((await page.locator('main .intro').evaluate((one) => getComputedStyle(one).fontWeight)) === '400', 'the style of a figure reaches the page');
    expect((await saved('SVG', 1)).toString().includes('<svg') && (await saved('CSV', 1)).toString().startsWith('number,must'), 'the figure of an experiment is not saved');
    await accessible('an experiment');
    const pictured = async () => page.locator('main svg[role=img]').last().getAttribute('aria-label');
    await open('laboratory', 'lm', { 'o.laboratory': 'superposition' });
    expect((await pictured()).startsWith('5 of 5'), `sparse features: ${await pictured()}`);
    await page.locator('.sliders input').first().fill('0');
    await page.locator('main svg[aria-label^="2 of 5"]').waitFor({ timeout: 20000 }).catch(() => {});
    expect((await pictured()).startsWith('2 of 5'), `dense features: ${await pictured()}`);
    await accessible('superposition');
    await open('laboratory', 'lm', { 'o.laboratory': 'induction' });
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    await page.getByText('After 600 steps').waitFor({ timeout: 60000 }).catch(() => {});
    const formed = await page.locator('main .say').textContent();
    expect(/After 600 steps head 1\.\d looks, with (8|9|100)/.test(formed), `no induction head: ${formed}`);
    await accessible('induction heads');
    for (const [view, button] of [['facts', 'Locate and rewrite'], ['sae', 'Train an autoencoder']]) {
      await open('laboratory', 'lm', { 'o.laboratory': view });
      expect(await page.getByRole('button', { name: button }).isEnabled(), `${view} cannot be started`);
      await accessible(view);
    }
    await page.setViewportSize({ width: 375, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1);
    expect(!wide, 'the laboratory is wider than a phone');
    await page.setViewportSize({ width: 1280, height: 720 });
    await quiet('the laboratory');
  },

  async 'interventions'() {
    await open('feedforward', 'lm', { layer: 1, neuron: 5 });
    await page.locator('aside').getByRole('button', { name: 'Silence' }).click();
    await settled(page);
    const place = 'blocks.1.ffn.post[5]';
    expect((await page.locator('.shelf li').textContent()).includes(place), 'the shelf does not show the intervention');
    const truth = await look('lm', 'intervene', texts.lm, '--zero', place);
    await open('output', 'lm', { interventions: JSON.stringify([{ zero: 'blocks.1.ffn_out' }]) });
    const both = await look('lm', 'intervene', texts.lm, '--zero', 'blocks.1.ffn_out');
    const changed = await savedJson();
    for (const token of both.tokens) {
      const mine = changed.find((one) => one.id === token.id);
      if (mine) expect(near(mine.raw, token.probability_after, 1e-4), `${token.token}: ${mine.raw} on the page, ${token.probability_after} by look`);
    }
    const effect = await page.locator('.effect').textContent();
    const best = [...both.tokens].sort((a, b) => b.probability_before - a.probability_before)[0];
    expect(effect.includes(best.token), `the shelf says ${effect}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.shelf').getByRole('button', { name: 'TOML' }).click()]);
    const again = await look('lm', 'intervene', texts.lm, '--file', await download.path());
    expect(near(again.tokens[0].probability_after, both.tokens[0].probability_after), 'the exported TOML does something else');
    await page.locator('.shelf li button').first().click();
    await settled(page);
    expect((await page.locator('.shelf').count()) === 0, 'the shelf stays');
    expect(truth.tokens.length > 0, 'look intervene says nothing');
    await quiet('interventions');
    await open('output', 'encoder', { interventions: JSON.stringify([{ scale: 'blocks.1.resid_post@-1', by: -5 }]) });
    const filled = await look('encoder', 'intervene', texts.encoder, '--scale', 'blocks.1.resid_post@-1=-5');
    const bars = await savedJson();
    const shared = filled.tokens.filter((token) => bars.some((one) => one.id === token.id));
    expect(shared.length > 1 && shared.every((token) => near(bars.find((one) => one.id === token.id).raw, token.probability_after, 1e-4)) && (await page.locator('main figure rect.before').count()) === bars.length, 'an encoder is not shown before and after');
    await open('parameters', 'lm', { interventions: JSON.stringify([{ edit: 'h.1.mlp.c_proj.weight[5,:]*=0' }]) });
    await quiet('weight edit');
  },

  async 'every kind of intervention, as TOML too'() {
    const list = [{ zero: 'blocks.0.attn.z[head 1]' }, { scale: 'blocks.1.ffn.post[5]', by: 3 }, { set: 'blocks.0.ffn.post[7]@-1', to: 2 }, { patch: 'blocks.0.resid_post@2', from: 'Roger Federer plays the sport of' }, { steer: 'blocks.1.resid_post@-1', along: 'token:tennis', by: 4 }, { edit: 'h.1.mlp.c_proj.weight[5,:]*=0.5' }];
    await open('output', 'lm', { interventions: JSON.stringify(list) });
    expect((await page.locator('.shelf li').count()) === list.length, 'the shelf does not show all six');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.shelf').getByRole('button', { name: 'TOML' }).click()]);
    const truth = await look('lm', 'intervene', texts.lm, '--file', await download.path());
    const shown = await savedJson();
    const common = truth.tokens.filter((token) => shown.some((one) => one.id === token.id));
    expect(common.length > 2 && common.every((token) => near(shown.find((one) => one.id === token.id).raw, token.probability_after, 1e-4)), 'six interventions by TOML give other numbers than the page');
    await page.locator('.shelf li button').nth(3).click();
    await settled(page);
    expect((await page.locator('.shelf li').count()) === 5 && !page.url().includes('Federer'), 'one of six cannot be removed alone');
    await quiet('six interventions');
    await open('feedforward', 'lm', { layer: 1, neuron: 5 });
    await page.locator('.slider input').fill('0');
    await page.locator('.shelf li').waitFor({ timeout: 5000 }).catch(() => {});
    expect((await page.locator('.shelf li').allTextContents()).join().includes('⊘ blocks.1.ffn.post[5]'), 'the slider at 0 does not silence the neuron');
    await page.getByRole('button', { name: 'Find the texts that fire it' }).click();
    await page.locator('.texts li').first().waitFor({ timeout: 20000 }).catch(() => {});
    expect((await page.locator('.texts li').count()) > 0 && (await page.locator('.texts .hit').count()) > 0, 'no texts that fire the neuron');
    await quiet('a neuron');
  },

  async 'one selection, permalinks, back and forward'() {
    await open('attention', 'lm', { layer: 1 });
    await page.locator('.strip button').nth(2).click();
    await settled(page);
    expect(page.url().includes('position=2'), 'the position is not in the address');
    await page.locator('nav').getByRole('button', { name: 'Residual' }).click();
    await settled(page);
    expect((await page.locator('.strip [aria-checked=true]').getAttribute('title')).startsWith('Position 2'), 'the selection does not follow');
    const address = page.url();
    await page.goBack();
    await settled(page);
    expect((await page.locator('main h1').textContent()) === 'Attention', 'back does not go back');
    await page.goForward();
    await settled(page);
    expect(page.url() === address, 'forward does not go forward');
    await page.reload();
    await settled(page);
    expect((await page.locator('main h1').textContent()) === 'Residual stream', 'the permalink opens another room');
    await quiet('permalinks');
  },

  async 'the keyboard'() {
    await open('attention', 'lm', { layer: 1 });
    const plot = page.locator('.heatmap .plot').first();
    await plot.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowUp');
    const reading = await page.locator('.heatmap output').first().textContent();
    expect(/→ .+: /.test(reading), `the live region reads "${reading}"`);
    await page.keyboard.press('Enter');
    await settled(page);
    expect(/position=\d/.test(page.url()), 'Enter does not choose');
    await page.locator('.strip [aria-checked=true]').focus();
    await page.keyboard.press('ArrowLeft');
    await settled(page);
    await open('residual', 'lm');
    await page.locator('button.cell[tabindex="0"]').first().focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowDown');
    const where = await page.evaluate(() => ({ ...document.activeElement.dataset }));
    expect(where.row === '1' && (await page.locator('aside h2').textContent()).includes('blocks.0'), `arrow keys in the lens lead to ${JSON.stringify(where)}`);
    await quiet('keyboard');
  },

  async 'own text, own target, step by step'() {
    await open('text', 'translator');
    await page.locator('header input[type=text]').fill('The student reads a book.');
    await page.keyboard.press('Enter');
    await settled(page);
    expect((await page.locator('.strip').first().locator('button').allTextContents()).join('').includes('student'), 'the text is not read');
    await page.getByText('Written by you').click();
    await page.locator('.target input[type=text]').fill('학생은 책을 읽어요.');
    await page.keyboard.press('Enter');
    await settled(page);
    expect(page.url().includes('target='), 'the target is not in the address');
    await quiet('own target');
    await open('output', 'lm', { 'o.output': 'steps' });
    for (let i = 0; i < 3; i++) {
      await page.getByRole('button', { name: 'Take the likeliest' }).click();
      await settled(page);
    }
    expect((await page.locator('.column').count()) === 4, 'three steps are not three');
    const greedy = (await say('complete', models.lm, texts.lm, '--max-tokens', '3', '--temperature', '0')).trim();
    const taken = (await page.locator('.choice.taken span').allTextContents()).map((text) => text.trim());
    expect(taken.every((word) => greedy.includes(word)), `step by step writes ${taken}, complete writes ${greedy}`);
    await page.locator('.column').first().locator('.choice').nth(1).click();
    await settled(page);
    expect((await page.locator('.column').count()) === 2, 'a branch does not begin where it was taken');
    await quiet('step by step');
  },

  async 'causal trace'() {
    await open('residual', 'lm', { 'o.residual': 'trace' });
    await page.getByLabel('Subject to corrupt').fill('Michael Jordan');
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    await page.locator('.maps .heatmap').first().waitFor({ timeout: 30000 });
    const shown = await savedJson();
    const truth = await look('lm', 'trace', texts.lm, '--subject', 'Michael Jordan');
    expect(near(shown.clean, truth.clean ?? truth.trace?.clean, 1e-4), `the clean probability is ${shown.clean} on the page`);
    await page.waitForURL((url) => url.hash.includes('o.subject='), { timeout: 2000 }).catch(() => expect(false, 'the subject is not in the address'));
    await page.reload();
    await page.locator('.maps .heatmap').first().waitFor({ timeout: 30000 }).catch(() => expect(false, 'the address of a trace does not show it'));
    await quiet('trace');
  },

  async 'a change of one\'s own, and an edited weight'() {
    await open('output', 'lm');
    const form = page.locator('details.own');
    await form.locator('summary').click();
    await form.locator('select').selectOption('scale');
    await form.locator('input[type=text]').fill('blocks.0.nowhere');
    await form.getByRole('button', { name: 'Apply' }).click();
    const refusal = await form.locator('[role=alert]').textContent();
    expect(refusal.includes('nowhere') && (await page.locator('.shelf').count()) === 0, `a place that does not exist: "${refusal}"`);
    problems = []; // the browser notes the refusal
    await form.locator('input[type=text]').fill('blocks.0.attn.z[head 1]');
    await form.locator('input[type=number]').fill('0.25');
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.locator('.shelf li').waitFor();
    await settled(page);
    const scaled = await look('lm', 'intervene', texts.lm, '--scale', 'blocks.0.attn.z[head 1]=0.25');
    const shown = await savedJson();
    const agrees = (after) => after.tokens.every((token) => { const mine = shown.find((one) => one.id === token.id); return !mine || near(mine.raw, token.probability_after, 1e-4); });
    expect(agrees(scaled), 'a change of one\'s own gives other numbers than look intervene');
    await open('parameters', 'lm', { 'o.parameters': 'tensor' });
    const weight = await page.locator('.pick option').evaluateAll((list) => list.map((one) => one.value).find((name) => /1.*c_proj.*weight/.test(name) && /mlp/.test(name)));
    expect(!!weight, 'no weight of the network to edit');
    await page.locator('.pick select').selectOption(weight);
    await settled(page);
    await page.locator('.heatmap .plot').first().click({ position: { x: 40, y: 40 } });
    await page.locator('aside').getByRole('button', { name: /Set row/ }).click();
    await settled(page);
    const edited = JSON.parse(new URLSearchParams(page.url().split('?')[1]).get('interventions'))[0].edit;
    await page.locator('nav').getByRole('button', { name: 'Output' }).click();
    await settled(page);
    const both = await look('lm', 'intervene', texts.lm, '--edit', edited);
    const after = await savedJson();
    expect(both.tokens.every((token) => { const mine = after.find((one) => one.id === token.id); return !mine || near(mine.raw, token.probability_after, 1e-4); }), `${edited}: the page and look intervene differ`);
    await quiet('weight edit');
  },

  async 'the command of every view'() {
    const views = [['text', {}], ['embedding', {}], ['embedding', { 'o.embedding': 'near' }], ['embedding', { 'o.embedding': 'products' }], ['embedding', { 'o.embedding': 'map' }], ['embedding', { 'o.embedding': 'positions' }], ['attention', { layer: 1 }],
      ['feedforward', { layer: 1 }], ['feedforward', { 'o.feedforward': 'text' }], ['residual', {}], ['residual', { 'o.residual': 'attribution' }], ['output', {}], ['output', { 'o.output': 'steps' }], ['output', { 'o.output': 'beam' }], ['parameters', {}], ['parameters', { 'o.parameters': 'tensor' }], ['training', {}]];
    const lines = new Set();
    for (const model of ['translator', 'lm'])
      for (const [room, query] of views) {
        await open(room, model, { ...query, ...(model === 'translator' ? { target: '선생님은 책 세 권을 읽어요.' } : {}) });
        const line = (await page.locator('aside code').first().textContent({ timeout: 2000 }).catch(() => '')).trim();
        expect(/^(echo .* \| )?limpid /.test(line), `${model}/${room} ${JSON.stringify(query)} has no command`);
        if (line) lines.add(line);
      }
    for (const model of ['translator', 'lm']) {
      const target = model === 'translator' ? { target: '선생님은 책 세 권을 읽어요.' } : {};
      await open('output', model, { ...target, 'o.output': 'beam', 'o.beam': '3' });
      const tree = await savedJson();
      const grown = JSON.parse(await shell((await page.locator('aside code').textContent()).trim()));
      expect(grown.nodes.length === tree.nodes.length && grown.hypotheses.every((one, i) => one.text === tree.hypotheses[i].text && near(one.score, tree.hypotheses[i].score)), `${model}: the beam differs from that of its command`);
      await open('parameters', model, { ...target, 'o.parameters': 'tensor' });
      const shown = await savedJson();
      const numbers = JSON.parse(await shell((await page.locator('aside code').textContent()).trim()));
      expect(near(shown.mean, numbers.mean) && shown.values.length > 100 && numbers.values.flat().every((value, i) => near(value, shown.values[i])), `${model}: the tensor differs from that of its command`);
      expect(JSON.stringify((await savedJson(1)).counts) === JSON.stringify(numbers.histogram), `${model}: the histogram differs`);
    }
    await Promise.all([...lines].map((line) => shell(line).catch((error) => expect(false, `${line}: ${String(error.stderr ?? error).split('\n')[0]}`))));
    await open('output', 'lm', { interventions: JSON.stringify([{ zero: 'blocks.0.ffn_out' }]) });
    const line = (await page.locator('aside code').first().textContent()).trim();
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.command').getByRole('button', { name: 'changes.toml' }).click()]);
    writeFileSync(join(folder, 'changes.toml'), readFileSync(await download.path()));
    const said = JSON.parse(await shell(line));
    const last = said.lens[said.lens.length - 1].positions;
    const shown = await savedJson();
    expect(last[last.length - 1].top.every((one) => { const mine = shown.find((token) => token.id === one.id); return !mine || near(mine.raw, one.probability, 1e-4); }), `the command with interventions gives other numbers: ${line}`);
  },

  async '512 tokens'() {
    const config = join(folder, 'long.json');
    writeFileSync(config, JSON.stringify({ model_type: 'llama', vocab_size: 300, hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 512, rms_norm_eps: 1e-5, rope_theta: 10000, tie_word_embeddings: true, hidden_act: 'silu', bos_token_id: 1, eos_token_id: 2 }));
    if (!existsSync(join(folder, 'long'))) await say('random', config, join(folder, 'long'));
    const long = await serve(program, [join(folder, 'long')], ['--quiet']);
    const guest = await browser.newPage();
    const errors = [];
    guest.on('pageerror', (error) => errors.push(error.message));
    const text = Array.from({ length: 512 }, (_, i) => 3 + ((i * 31) % 290)).join(' ');
    for (const [room, more] of [['text', ''], ['embedding', ''], ['attention', ''], ['attention', 'o.attention.view=lines'], ['feedforward', 'o.feedforward=text'], ['residual', ''], ['residual', 'o.residual=attribution'], ['output', ''], ['embedding', 'o.embedding=positions']]) {
      await guest.goto(`${long.address}/#/${room}?text=${encodeURIComponent(text)}&position=300&${more}`);
      await settled(guest);
      const nodes = await guest.evaluate(() => document.querySelectorAll('*').length);
      expect(nodes < 2500, `${room} ${more}: ${nodes} nodes for 512 tokens`);
      if (more.includes('lines')) expect((await guest.locator('main path.lit').count()) > 0, 'of 512 tokens no line of the selected one is lit');
      expect((await guest.locator('[role=alert]').count()) === 0 && !errors.length, `${room} with 512 tokens: ${[...errors, ...(await guest.locator('[role=alert]').allTextContents())].join(' ')}`);
    }
    expect((await guest.locator('line.turned').count()) >= 4, 'rotary planes are not drawn');
    await guest.close();
    await long.stop();
  },

  async 'training, live and through time'() {
    await open('training', 'translator', { 'o.training': 'recorded' });
    const slider = page.locator('.time input');
    const pixels = () => page.locator('.heatmap canvas').first().evaluate((canvas) => canvas.toDataURL());
    const last = await pixels();
    await slider.fill('0');
    await settled(page);
    expect((await page.locator('.time b').textContent()).includes('40') && (await pixels()) !== last, 'the slider through time does not move the picture');
    await quiet('through time');
    const run = spawn(program, ['train', join(folder, 'lm.toml'), 'stop.steps=100000', 'validation.steps=60', 'checkpoint.steps=100000', '--out', join(folder, 'watched'), '--watch', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const address = await new Promise((resolve, reject) => {
      let said = '';
      const listen = (part) => { said += part; const found = /http:\/\/[\d.]+:\d+/.exec(said)?.[0]; if (found) resolve(found); };
      run.stdout.on('data', listen);
      run.stderr.on('data', listen);
      run.on('exit', (code) => reject(new Error(`limpid train --watch ended with ${code}: ${said}`)));
    });
    const guest = await browser.newPage();
    await guest.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
    await guest.goto(`${address}/#/training`);
    const step = async () => Number((await guest.locator('aside dl div').nth(1).locator('dd').textContent()).replace(/\D.*$/, ''));
    await guest.waitForFunction(() => Number(document.querySelectorAll('aside dl dd')[1]?.textContent?.replace(/\D.*$/, '')) > 0, undefined, { timeout: 20000 });
    const early = await step();
    await guest.waitForFunction((from) => Number(document.querySelectorAll('aside dl dd')[1]?.textContent?.replace(/\D.*$/, '')) > from, early, { timeout: 20000 });
    await guest.locator('.charts path').first().waitFor({ state: 'attached', timeout: 20000 }).catch(() => {});
    expect((await guest.locator('.live').count()) === 1 && (await guest.locator('.charts path').count()) > 0, 'a run in progress is not shown as live');
    await guest.locator('main').getByText('Through time').click();
    const most = () => guest.locator('.time input').getAttribute('max').then(Number);
    await guest.locator('.time input').waitFor();
    const recorded = await most();
    await guest.waitForFunction((before) => Number(document.querySelector('.time input')?.max) > before, recorded, { timeout: 30000 }).catch(() => {});
    expect((await most()) > recorded, 'a recording that is made while one watches does not come');
    await guest.close();
    run.removeAllListeners('exit');
    await new Promise((done) => { run.on('exit', done); run.kill('SIGINT'); });
  },

  async 'every view saves'() {
    const views = [['text', {}], ['embedding', {}], ['embedding', { 'o.embedding': 'near' }], ['embedding', { 'o.embedding': 'products' }], ['embedding', { 'o.embedding': 'map' }], ['embedding', { 'o.embedding': 'positions' }],
      ['attention', { stack: 'decoder', attention: 'cross_attn' }], ['attention', { stack: 'decoder', attention: 'cross_attn', 'o.attention.view': 'lines' }], ['attention', { stack: 'decoder', attention: 'cross_attn', 'o.attention.view': 'words' }], ['attention', { 'o.step': 'qk' }],
      ['feedforward', { neuron: 3 }], ['feedforward', { 'o.feedforward': 'text' }], ['residual', {}], ['residual', { 'o.residual': 'attribution' }], ['output', {}], ['output', { 'o.output': 'steps' }], ['output', { 'o.output': 'beam' }],
      ['parameters', {}], ['parameters', { 'o.parameters': 'tensor' }], ['training', {}], ['training', { 'o.training': 'samples' }], ['training', { 'o.training': 'recorded' }], ['laboratory', {}], ['laboratory', { 'o.laboratory': 'superposition' }]];
    for (const [room, query] of views) {
      const where = `${room} ${JSON.stringify(query)}`;
      await open(room, 'translator', { target: '선생님은 책 세 권을 읽어요.', ...query });
      const figures = await page.locator('main figure').count();
      const menus = await page.locator('main details.save').count();
      expect(menus > 0 && menus >= figures, `${where}: ${figures} figures, ${menus} of them can be saved`);
      for (let i = 0; i < Math.min(menus, 3); i++) {
        const drawn = (await saved('SVG', i)).toString();
        expect(drawn.startsWith('<svg') && drawn.length > 200, `${where}: figure ${i} saves no SVG`);
        expect((await saved('CSV', i)).toString().trim().split('\n').length > 1, `${where}: figure ${i} saves no CSV`);
        expect(JSON.stringify(await savedJson(i)).length > 2, `${where}: figure ${i} saves no JSON`);
      }
      await quiet(where);
    }
  },

  async 'the map: the path of the selected token, the ladder, what a part is'() {
    await open('attention', 'translator', { side: 'source', position: '1', target: '선생님은 책 세 권을 읽어요.' });
    const lit = () => page.locator('.map svg g').evaluateAll((list) => list.map((one) => Number(getComputedStyle(one).opacity) === 1));
    expect(JSON.stringify(await lit()) === '[true,false]', `a source token lights ${await lit()}`);
    await page.locator('.strip').nth(1).locator('button').nth(1).click();
    await settled(page);
    expect(JSON.stringify(await lit()) === '[false,true]', `a target token lights ${await lit()}`);
    await page.locator('.map button.feed_forward').first().hover();
    const part = JSON.parse(await say('params', models.translator, '--json'));
    const told = await page.locator('.map dl').textContent();
    expect(told.includes('32 → 64 → 32') && /\d parameters/.test(told) && part.parameters > 0, `the part pointed at: ${told}`);
    await open('attention', 'gru', { target: '선생님은 책 세 권을 읽어요.' });
    const rungs = page.locator('.map svg g[role=button]');
    expect((await rungs.count()) >= 8 && (await page.locator('.map line.fan').count()) >= 4, 'the ladder has no rungs or no fan');
    const position = /Position (\d+)/.exec(await rungs.first().getAttribute('aria-label'))?.[1];
    await rungs.first().click();
    await settled(page);
    expect(page.url().includes('side=source') && page.url().includes(`position=${position}`), 'a rung does not select its token');
    await quiet('the map');
  },

  async 'saving'() {
    await open('attention', 'lm', { layer: 1 });
    const figure = (await page.locator('details.save').count()) - 1;
    expect((await saved('SVG', figure)).toString().startsWith('<svg'), 'no SVG');
    expect((await saved('PNG', figure)).subarray(1, 4).toString() === 'PNG', 'no PNG');
    expect((await saved('CSV', figure)).toString().split('\n').length > 5, 'no CSV');
    await open('output', 'lm');
    expect((await saved('SVG')).toString().includes('<svg'), 'no SVG of bars');
    await quiet('saving');
  },
};

Object.assign(tests, typing({ page, open, quiet, expect, savedJson, texts, server, browser, forget: () => (problems = []) }));
Object.assign(tests, numbers({ page, open, expect, near, savedJson, look, shell, say, models, texts, server }));
Object.assign(tests, otherKinds({ browser, program, folder, rooms, expect, near }));
Object.assign(tests, looks({ browser, server, program, models, rooms, expect, axeViolations, savedBy, forget: () => (problems = []), open, page }));
for (const [name, run] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const start = Date.now();
  const before = failures.length;
  problems = [];
  strayed = [];
  await run().catch((error) => expect(false, `${name}: ${error.message.split('\n').slice(0, 3).join(' ')}`));
  expect(!strayed.length, `${name}: requests leave the machine: ${strayed.slice(0, 3).join(' ')}`);
  console.log(`${failures.length === before ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}
await browser.close();
await server.stop();
if (!kept) rmSync(folder, { recursive: true, force: true });
console.log(`${checks} checks, ${failures.length} failed, ${((Date.now() - begun) / 1000).toFixed(0)} s`);
process.exit(failures.length ? 1 : 0);
