// What the page does while a person types, points and goes back: another text, another neuron, a field that the address holds. Part of
// run.mjs.
import { settled } from './chromium.mjs';

export const typing = ({ page, open, quiet, expect, texts, server, browser, forget }) => {
  const read = async (text) => {
    await page.locator('header input[type=text]').fill(text);
    await page.keyboard.press('Enter');
    await settled(page);
  };
  return {
    async 'a shorter text after a longer one, and the other way round'() {
      const asked = [];
      const listen = (request) => { const body = request.method() === 'POST' ? request.postDataJSON() : null; if (body?.text) asked.push({ text: body.text, at: body.position ?? body.positions?.[0] }); };
      page.on('request', listen);
      for (const [room, more] of [['output', {}], ['feedforward', { layer: 1 }], ['residual', { 'o.residual': 'attribution' }], ['attention', {}], ['output', { interventions: JSON.stringify([{ zero: 'blocks.0.ffn_out' }]) }]]) {
        await open(room, 'lm', more);
        asked.length = 0;
        await read('Michael Jordan');
        expect((room === 'attention' || asked.some((one) => one.at === 2)) && asked.every((one) => one.at === undefined || one.at === 2), `${room}: of a text of three tokens is asked ${JSON.stringify(asked)}`);
        asked.length = 0;
        await read(texts.lm);
        expect(asked.every((one) => one.at === undefined || one.at === 6), `${room}: of a text of seven tokens is asked ${JSON.stringify(asked)}`);
        await quiet(`${room}: a shorter text after a longer one`);
      }
      page.off('request', listen);
    },

    async 'what was pointed at is forgotten with another token'() {
      await open('attention', 'lm', { layer: 1, head: 1 });
      const box = await page.locator('.one .heatmap canvas').boundingBox();
      await page.mouse.move(box.x + 4, box.y + box.height - 4);
      await page.locator('.strip button').nth(2).click();
      await settled(page);
      expect((await page.locator('aside h2').textContent()).startsWith('·Jordan →'), `the inspector still shows ${await page.locator('aside h2').textContent()}`);
      await read('Michael Jordan');
      expect(!(await page.locator('aside').textContent()).includes('NaN') && !(await page.locator('aside').textContent()).includes('–'), `numbers of a cell that is not there: ${await page.locator('aside dl').textContent()}`);
    },

    async 'the slider of one neuron, and another neuron at once'() {
      await open('feedforward', 'lm', { layer: 1, neuron: 5 });
      await page.evaluate(() => {
        const slider = document.querySelector('.slider input');
        slider.value = '2';
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        document.querySelector('main figure svg g[role=button]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
      });
      await page.locator('.shelf li').waitFor();
      await settled(page);
      expect((await page.locator('.shelf li').allTextContents()).join().includes('blocks.1.ffn.post[5]') && (await page.locator('.shelf li').count()) === 1, `the slider moved ${await page.locator('.shelf li').allTextContents()}`);
    },

    async 'fields and choices are those of the address'() {
      await open('residual', 'lm', { 'o.watch': 'tennis' });
      const field = page.getByLabel('Watch token');
      expect((await field.inputValue()) === 'tennis', 'the address does not fill its field');
      await field.fill('hockey');
      await field.press('Enter');
      await settled(page);
      await page.goBack();
      await settled(page);
      expect((await field.inputValue()) === 'tennis', `after going back the field says ${await field.inputValue()}`);
      await open('residual', 'lm', { 'o.residual': 'trace', 'o.subject': 'Michael Jordan' });
      await page.locator('.maps .heatmap').first().waitFor({ timeout: 20000 });
      await page.locator('.strip button').nth(3).click();
      await settled(page);
      expect((await page.locator('.maps').count()) === 0, 'the trace of another position stays');
      await open('output', 'lm');
      await page.locator('main figure svg g[role=button]').nth(2).click();
      const name = await page.locator('aside h2').textContent();
      await page.waitForURL((url) => url.hash.includes('o.picked='), { timeout: 2000 }).catch(() => expect(false, 'the token that is looked at is not in the address'));
      await page.reload();
      await settled(page);
      expect((await page.locator('aside h2').textContent()) === name, 'the address forgets the token that is looked at');
      forget();
    },

    async 'a walk by the keyboard alone'() {
      const tabTo = async (place, what) => {
        for (let i = 0; i < 120; i++) {
          await page.keyboard.press('Tab');
          if (await place.evaluate((one) => one === document.activeElement).catch(() => false)) return;
        }
        expect(false, `Tab does not lead to ${what}`);
      };
      await open('text', 'lm');
      await tabTo(page.locator('header input[type=text]'), 'the text');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('Roger Federer plays the sport of');
      await page.keyboard.press('Enter');
      await settled(page);
      expect((await page.locator('.strip').textContent()).includes('Federer'), 'the sentence typed is not read');
      await tabTo(page.locator('nav button').nth(2), 'the rooms');
      await page.keyboard.press('Enter');
      await settled(page);
      expect((await page.locator('main h1').textContent()) === 'Attention', 'Enter does not open a room');
      await tabTo(page.locator('.grid .plot'), 'the heads');
      await page.keyboard.press('ArrowRight');
      await settled(page);
      expect(page.url().includes('head=1'), 'an arrow key does not choose the next head');
      await tabTo(page.getByRole('button', { name: 'Silence this head' }), 'what changes a head');
      await page.keyboard.press('Enter');
      await page.locator('.shelf li').waitFor();
      await settled(page);
      await tabTo(page.locator('.shelf li button'), 'the shelf');
      await page.keyboard.press('Enter');
      await settled(page);
      expect((await page.locator('.shelf').count()) === 0, 'Enter does not take an intervention from the shelf');
      await quiet('the keyboard alone');
    },

    async 'refusals in Korean, curves by keys, bars read out'() {
      const guest = await browser.newPage();
      await guest.addInitScript(() => { localStorage.setItem('limpid.tour', 'seen'); localStorage.setItem('limpid.language', 'ko'); });
      await guest.goto(`${server.address}/#/output?model=lm&text=Michael+Jordan`);
      await settled(guest);
      await guest.locator('details.own summary').click();
      await guest.locator('details.own input[type=text]').first().fill('nowhere');
      await guest.locator('details.own button[type=submit]').click();
      const refusal = await guest.locator('details.own [role=alert]').textContent();
      expect(refusal.startsWith('이 개입은 할 수 없습니다.') && refusal.includes('nowhere'), `a refusal in Korean: ${refusal}`);
      await guest.goto(`${server.address}/#/embedding?model=lm&text=Michael+Jordan&o.embedding=near`);
      await settled(guest);
      expect(/: /.test(await guest.locator('main svg[role=list] [role=listitem]').first().getAttribute('aria-label')), 'bars are not read out');
      await guest.goto(`${server.address}/#/training?model=lm`);
      await settled(guest);
      const chart = guest.locator('.charts [role=application]').first();
      await chart.waitFor();
      await chart.focus();
      await guest.keyboard.press('Home');
      const first = await chart.locator('output').textContent();
      await guest.keyboard.press('ArrowRight');
      expect(/\d/.test(first) && (await chart.locator('output').textContent()) !== first, `a curve by keys: ${first}`);
      await guest.close();
    },
  };
};
