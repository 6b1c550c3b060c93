// Families whose blocks are made otherwise: every room opens, and says what is true of this one. Part of run.mjs.
import { settled } from './chromium.mjs';
import { makeKinds, serve } from './models.mjs';

export const otherKinds = ({ browser, program, folder, rooms, expect, near }) => ({
  async 'families whose blocks are made otherwise'() {
    const models = await makeKinds(program, folder);
    const server = await serve(program, Object.values(models), ['--quiet']);
    const page = await browser.newPage();
    await page.addInitScript(() => { localStorage.setItem('limpid.tour', 'seen'); localStorage.setItem('limpid.language', 'en'); });
    const problems = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    const open = async (room, model, more = {}) => {
      await page.goto(`${server.address}/#/${room}?${new URLSearchParams({ model, text: '7 8 9 10 11 7 8', ...(model === 't5' ? { target: '20 21 22 23' } : {}), ...more })}`);
      await settled(page);
      const alerts = await page.locator('[role=alert]').allTextContents();
      expect(!problems.length && !alerts.length, `${model}/${room} ${JSON.stringify(more)}: ${[...problems.splice(0), ...alerts].join(' | ')}`);
    };
    const text = (place = 'main') => page.locator(place).innerText().then((all) => all.replace(/\s+/g, ' '));
    const formula = () => page.locator('main .head .formula').textContent().then((all) => all.replace(/\s+/g, ''));
    for (const model of Object.keys(models))
      for (const room of rooms.filter((one) => one !== 'laboratory' && one !== 'training')) {
        await open(room, model);
        expect((await page.locator('main h1').count()) === 1, `${model}/${room} does not open`);
      }
    for (const model of Object.keys(models)) await open('embedding', model, { 'o.embedding': 'positions' });

    await open('feedforward', 'mixtral');
    expect((await text()).includes('4 feed-forward networks, its experts') && /router chooses \d \(\d/.test(await text()), `experts are not shown: ${await text()}`);
    expect((await formula()).includes('router'), `the formula of experts: ${await formula()}`);
    const shares = await page.locator('main figure svg g .figure').allTextContents();
    const whole = shares.reduce((sum, share) => sum + (Number(share.replace(/[^\d.]/g, '')) || 0), 0);
    expect(shares.length === 4 && near(whole, 100, 2e-3), `shares of the experts: ${shares}`);

    for (const [model, said] of [['t5', 'a learned number is added to each score'], ['bloom', 'each score is lowered'], ['mixtral', 'queries and keys are rotated'], ['gpt_neox', 'queries and keys are rotated']]) {
      await open('embedding', model);
      expect((await text()).includes(said) && !(await text()).includes('no encoding of positions'), `positions of ${model}: ${await text()}`);
    }
    for (const model of ['t5', 'bloom']) {
      await open('embedding', model, { 'o.embedding': 'positions' });
      expect((await page.locator('main canvas').count()) === 1 && (await text()).includes('add to a score by distance'), `the bias of ${model} is not drawn: ${await text()}`);
      expect((await formula()).startsWith('score'), `the formula of positions of ${model}: ${await formula()}`);
    }
    await open('embedding', 'gpt_neox', { 'o.embedding': 'positions' });
    expect((await formula()).includes('θ'), `the formula of rotary positions: ${await formula()}`);

    const rows = async () => Object.fromEntries(await page.locator('aside dl div').evaluateAll((list) => list.map((one) => [one.querySelector('dt').textContent, Number(one.querySelector('dd').textContent.replace('−', '-').replace(/\s|%|[<>]/g, ''))])));
    await open('attention', 't5', { layer: 1, stack: 'encoder' });
    const t5 = await rows();
    expect((await formula()).startsWith('softmax(QK⊤+B)') && near(t5['q · k'] + t5.Bias, t5.Score, 1e-3), `T5 scales nothing and adds a bias: ${await formula()} ${JSON.stringify(t5)}`);
    await open('attention', 't5', { layer: 1, stack: 'decoder', attention: 'cross_attn' });
    expect((await formula()).startsWith('softmax(QK⊤)V') && !('Bias' in (await rows())), `cross-attention of T5: ${await formula()}`);
    await open('attention', 'bloom', { 'o.step': 'bias' });
    const bloom = await rows();
    expect((await text()).includes('What does the distance add') && near(bloom['q · k'] / Math.sqrt(8) + bloom.Bias, bloom.Score, 2e-3), `ALiBi: ${JSON.stringify(bloom)}`);
    await open('attention', 'gemma2');
    const gemma = await rows();
    expect((await formula()).includes('tanh') && near(2 * Math.tanh(gemma['q · k'] / Math.sqrt(5) / 2), gemma['Capped at ±2.00'], 1e-3), `the cap of Gemma 2: ${await formula()} ${JSON.stringify(gemma)}`);
    await open('attention', 'gpt_neox', { 'o.step': 'rot' });
    expect((await text()).includes('turned by its position') && (await page.locator('main .one .heatmap canvas').count()) === 2, 'queries and keys are not shown as they are turned');

    for (const [model, said] of [['gpt_neox', 'x←x+attention(normx)+FFN(norm′x)'], ['gemma2', 'x←x+norm′attention(normx)'], ['olmo2', 'x←x+normattention(x)'], ['t5', 'x←x+attention(normx)'], ['mixtral', 'x←x+experts(normx)']]) {
      await open('residual', model);
      expect((await formula()).includes(said), `the stream of ${model}: ${await formula()}`);
    }
    await page.close();
    await server.stop();
  },
});
