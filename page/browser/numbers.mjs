// The numbers of each room against those of the command that stands beside it. Part of run.mjs.
import { settled } from './chromium.mjs';

export const numbers = ({ page, open, expect, near, savedJson, look, shell, say, models, texts, server }) => {
  const command = async () => (await page.locator('aside code').first().textContent()).trim();
  const lines = (said) => said.trim().split('\n').map((line) => JSON.parse(line));
  const same = (a, b) => a.length === b.length && a.every((row, i) => row.every((value, j) => value === b[i][j] || near(value, b[i][j] ?? NaN, 2e-5)));
  const target = { target: '선생님은 책 세 권을 읽어요.' };
  return {
    async 'the numbers of each command'() {
      for (const model of ['translator', 'lm', 'encoder']) {
        const more = model === 'translator' ? target : {};
        await open('text', model, more);
        const ids = [];
        for (let i = 0; i < (model === 'translator' ? 2 : 1); i++) ids.push((await savedJson(i)).map((one) => one.id));
        const told = lines(await shell(await command())).map((one) => one.ids);
        // What a decoder reads is its target moved by one.
        const moved = (list) => list.slice(1).join();
        if (model === 'lm') expect(told[0].join() === ids[0].join() && (await page.locator('aside .command .note').count()) === 0, `${model}: tokens ${ids[0]} and by command ${told[0]}`);
        else expect(told[0].join() === ids[0].join() && (ids.length === 1 || told[1].slice(0, -1).join() === moved(ids[1]) || told[1].join() === moved(ids[1])), `${model}: tokens ${JSON.stringify(ids)} and by command ${JSON.stringify(told)}`);

        const place = model === 'translator' ? { stack: 'decoder', attention: 'cross_attn' } : {};
        for (const step of ['qk', 'scores', 'masked', 'pattern', 'values']) {
          await open('attention', model, { ...more, ...place, layer: 1, head: 2, 'o.step': step });
          const first = (await page.locator('details.save').count()) - (['qk', 'values'].includes(step) ? 2 : 1);
          const maps = lines(await shell(await command())).map((one) => one.maps[0].values);
          for (const [i, map] of maps.entries()) {
            const shown = (await savedJson(first + i)).values.map((row) => row.map((value) => value ?? -Infinity));
            expect(same(shown, map.map((row) => row.map((value) => value ?? -Infinity))), `${model}: ${step} ${i} differs from ${await command()}`);
          }
        }
        for (const step of ['product', 'out']) {
          await open('attention', model, { ...more, ...place, layer: 1, 'o.step': step });
          expect((await page.locator('aside code').count()) === 0 && (await page.locator('aside .command .note').textContent()).startsWith('No command'), `${model}: ${step} names a command that gives something else`);
        }
        await open('feedforward', model, { ...more, layer: 1 });
        const neurons = JSON.parse(await shell(await command()));
        expect((await savedJson()).every((one, i) => one.neuron === neurons[i].neuron && near(one.activation, neurons[i].activation)), `${model}: neurons differ`);
        await open('residual', model, more);
        const lens = JSON.parse(await shell(await command())).lens;
        expect((await savedJson()).lens.every((layer, l) => layer.positions.every((cell, i) => near(cell.top[0].probability, lens[l].positions[i].top[0].probability))), `${model}: the lens differs`);
        await open('residual', model, { ...more, 'o.residual': 'attribution', position: 2 });
        const parts = JSON.parse(await shell(await command()));
        expect((await savedJson()).parts.every((part, i) => near(part.value, parts.parts[i].value, 1e-4)), `${model}: attribution differs`);
        await open('output', model, { ...more, position: 2 });
        const said = JSON.parse(await shell(await command())).lens;
        const likely = said[said.length - 1].positions;
        expect(likely.length === 1 && (await savedJson()).slice(0, 10).every((one, i) => one.id === likely[0].top[i].id && near(one.raw, likely[0].top[i].probability)), `${model}: the distribution differs from ${await command()}`);
      }
      await open('embedding', 'lm', { 'o.embedding': 'near', position: 1 });
      const near_ = JSON.parse(await shell(await command())).nearest;
      expect((await savedJson()).every((one, i) => one.id === near_[i].id && near(one.similarity, near_[i].similarity)), 'neighbours differ from their command');
      await open('embedding', 'lm', { 'o.embedding': 'products' });
      const products = JSON.parse(await shell(await command()));
      expect(same((await savedJson()).values, products.maps[0].values), 'products differ from their command');
      await open('training', 'translator', { 'o.training': 'samples' });
      const samples = (await shell(await command())).trim().split('\n').map((line) => JSON.parse(line).samples);
      const shown = await savedJson();
      expect(samples.length === shown.length && samples.every((list, i) => list.every((one, k) => one.written === shown[i].shown[k].written)), 'samples differ from their command');
      await open('output', 'lm', { 'o.temperature': '2' });
      expect((await page.locator('aside .command .note').textContent()).includes('temperature 1'), 'what the sliders do is said to be of the command');
    },

    async 'each step of a head in a sentence and in small'() {
      const tap = async (name) => (await look('lm', 'heatmap', texts.lm, '--tap', `blocks.1.attn.${name}`)).maps[2].values;
      const [scores, weights] = [await tap('scores'), await tap('pattern')];
      const last = weights.length - 1;
      const best = weights[last].indexOf(Math.max(...weights[last]));
      const sentence = async (step, more = {}) => { await open('attention', 'lm', { layer: 1, head: 2, 'o.step': step, ...more }); return page.locator('.one .answer > p').textContent(); };
      const numbersIn = (text) => (text.replaceAll('−', '-').match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);
      const product = scores[last][best] * Math.sqrt(8);
      const says = async (step, number) => { const text = await sentence(step); expect(numbersIn(text).some((one) => near(one, number, 1e-3)), `${step}: "${text}" has not ${number}`); };
      await says('product', product);
      await says('scores', product);
      await says('scores', scores[last][best]);
      await says('values', Math.max(...weights[last]).toPrecision(2));
      await says('out', 32);
      const masked = await sentence('masked', { position: 2 });
      expect(numbersIn(masked).join() === `3,${weights.length},${weights.length - 3},0`, `the mask: "${masked}"`);
      expect((await sentence('masked')).includes('nothing is masked'), 'the last token has something masked');
      await open('attention', 'lm', { layer: 1, head: 2 });
      const painted = await page.locator('.steps canvas').evaluateAll((list) => list.map((canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size));
      expect(painted.length === 9 && painted.every((colours) => colours > 3), `the steps in small have ${painted} colours`);
      await page.locator('.steps input:checked').focus();
      await page.keyboard.press('ArrowRight');
      await settled(page);
      expect(page.url().includes('o.step=values'), 'arrow keys do not go from step to step');
    },

    async 'the strips of a network, the map, and the lens through time'() {
      await open('feedforward', 'lm', { layer: 1, neuron: 5, position: 3 });
      const shown = Object.fromEntries(await page.locator('aside dl div').evaluateAll((list) => list.map((one) => [one.querySelector('dt').textContent, Number(one.querySelector('dd').textContent.replace('−', '-').replace('e−', 'e-'))])));
      for (const [name, tap] of [['Up-projection', 'pre'], ['Activation', 'post']]) {
        const value = (await look('lm', 'heatmap', texts.lm, '--tap', `blocks.1.ffn.${tap}`)).maps[0].values[3][5];
        expect(near(shown[name], value, 1e-3), `${name} of neuron 5 is ${shown[name]} on the page, ${value} by look`);
      }
      await open('parameters', 'lm');
      const parts = JSON.parse(await say('params', models.lm, '--json'));
      await page.locator('.map button.feed_forward').first().hover();
      const told = Number(/([\d,]+) parameters/.exec(await page.locator('.map dl').textContent())[1].replaceAll(',', ''));
      const sum = (parts.weights ?? parts.parts ?? []).filter((one) => /h\.1\.mlp|blocks\.1\.ffn/.test(one.name ?? one.part ?? '')).reduce((all, one) => all + (one.parameters ?? one.count), 0);
      expect(told === sum || sum === 0, `the map says ${told} parameters of a network, params ${sum}`);
      expect((await page.locator('.map button.norm.slim').count()) === 4, 'the norms of two blocks are not on the map');
      await page.locator('.map button.norm.slim').first().focus();
      expect((await page.locator('.map dl').textContent()).includes('64 parameters'), `a norm on the map: ${await page.locator('.map dl').textContent()}`);

      const { steps } = await (await fetch(`${server.address}/runs/lm/recorded`)).json();
      const file = Buffer.from(await (await fetch(`${server.address}/runs/lm/recorded/${steps[steps.length - 1]}`)).arrayBuffer());
      const { top_tokens: said } = JSON.parse(JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE())).toString()).__metadata__.limpid);
      await open('training', 'lm', { 'o.training': 'recorded' });
      const words = await page.locator('main tbody tr').first().locator('button.cell').allTextContents();
      expect(words.length > 2 && words.join() === said[said.length - 1].map((token) => token.replace(/[▁Ġ]/g, '·')).join(), `the words of the last validation are ${words}, recorded are ${said[said.length - 1]}`);
      await page.getByText('Right token').click();
      await settled(page);
      expect((await page.locator('main tbody button.cell').allTextContents()).every((cell) => cell.includes('%') || cell === '0'), 'the right token has no probabilities');
    },
  };
};
