// What people see first: sizes of screens, languages and themes, the tour, and what is said when something goes wrong. Part of run.mjs.
import { settled } from './chromium.mjs';
import { serve } from './models.mjs';

export const looks = (tools) => {
  const { browser, server, program, models, rooms, expect, axeViolations, savedBy, forget, open, page } = tools;
  const sound = async (where, name) => {
    const bad = (await axeViolations(where)).filter((one) => ['serious', 'critical'].includes(one.impact));
    expect(!bad.length, `${name}: axe: ${bad.map((one) => `${one.id} ${one.nodes[0].html.slice(0, 100)}`).join(', ')}`);
  };
  return {
  async 'Korean, dark, phone, reduced motion'() {
    const phone = await browser.newPage();
    await phone.setViewportSize({ width: 375, height: 812 });
    await phone.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'dark' });
    await phone.addInitScript(() => { localStorage.setItem('limpid.tour', 'seen'); localStorage.setItem('limpid.language', 'ko'); localStorage.setItem('limpid.theme', 'dark'); });
    for (const room of rooms) {
      await phone.goto(`${server.address}/#/${room}?model=translator`);
      await phone.reload();
      await settled(phone);
      expect((await phone.evaluate(() => document.documentElement.lang)) === 'ko', 'the page is not in Korean');
      expect(/[가-힣]/.test(await phone.locator('main h1').textContent()), `${room} has no Korean title`);
      const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
      expect(wide <= 376, `${room} is ${wide} px wide on a phone of 375`);
      const violations = await axeViolations(phone);
      const bad = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
      expect(!bad.length, `phone/${room}: axe: ${bad.map((one) => `${one.id} ${one.nodes[0].html.slice(0, 100)}`).join(', ')}`);
    }
    expect((await phone.evaluate(() => [...document.querySelectorAll('*')].every((e) => ['0s', ''].includes(getComputedStyle(e).transitionDuration)))), 'something moves though motion is to be reduced');
    await phone.locator('.handle').click();
    expect(await phone.locator('aside').isVisible(), 'the sheet does not open');
    await sound(phone, 'the sheet');
    await phone.close();
  },

  async 'dark on a large screen, with a shelf, a menu and the tour open'() {
    const guest = await browser.newPage();
    await guest.addInitScript(() => { localStorage.setItem('limpid.language', 'en'); localStorage.setItem('limpid.theme', 'dark'); });
    await guest.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
    const silenced = encodeURIComponent(JSON.stringify([{ zero: 'blocks.0.attn.z[head 1]' }, { scale: 'blocks.1.ffn.post[5]', by: 3 }]));
    for (const room of rooms) {
      await guest.goto(`${server.address}/#/${room}?model=lm&text=Michael+Jordan+plays+the+sport+of&interventions=${silenced}&o.compare=both`);
      await settled(guest);
      await sound(guest, `dark, with a shelf: ${room}`);
      if (room === 'attention') {
        expect((await guest.locator('main .pair canvas').count()) === 2, 'before and after do not stand side by side');
        await guest.locator('details.save > summary').first().click();
        await sound(guest, 'an open menu');
      }
    }
    const gap = await guest.evaluate(() => innerHeight - document.querySelector('.shelf').getBoundingClientRect().bottom);
    expect(gap <= 1, `the shelf floats ${gap} pixels above the end of the screen`);
    await guest.getByRole('button', { name: 'Tour' }).click();
    await sound(guest, 'the tour');
    await guest.close();
  },

  async 'the tour'() {
    const guest = await browser.newPage();
    await guest.addInitScript(() => { localStorage.removeItem('limpid.tour'); localStorage.setItem('limpid.language', 'en'); localStorage.setItem('limpid.theme', 'light'); });
    await guest.goto(server.address);
    await settled(guest);
    for (let i = 0; i < 5; i++) await guest.getByRole('button', { name: 'Next' }).click();
    expect((await guest.locator('.card .count').textContent()).includes('6'), 'the tour has not six steps');
    await guest.getByRole('button', { name: 'Begin' }).click();
    expect((await guest.locator('.card').count()) === 0, 'the tour does not end');
    await guest.getByRole('button', { name: 'Tour' }).click();
    await guest.keyboard.press('Escape');
    expect((await guest.locator('.card').count()) === 0, 'the tour cannot be skipped');
    await guest.close();
  },

  async 'errors are sentences'() {
    await open('text', 'lm', { text: 'plays '.repeat(200).trim() });
    const alert = (await page.locator('[role=alert]').first().textContent()).trim();
    expect(alert.startsWith('The text has 201 tokens, and at most 32 are read.'), `a text that is too long: "${alert}"`);
    forget();
    const guarded = await serve(program, [models.lm], ['--quiet', '--api-key', 'secret']);
    const guest = await browser.newPage();
    await guest.addInitScript(() => localStorage.setItem('limpid.tour', 'seen'));
    await guest.goto(guarded.address);
    await guest.locator('.banner input').fill('wrong');
    await guest.locator('.banner button').last().click();
    await guest.locator('.banner [role=alert]').waitFor({ timeout: 5000 }).catch(() => expect(false, 'a wrong key is not called wrong'));
    await guest.locator('.banner input').fill('secret');
    await guest.locator('.banner button').last().click();
    await settled(guest);
    expect((await guest.locator('.strip button').count()) > 0, 'the key does not open the server');
    await guest.goto(`${guarded.address}/#/residual?${new URLSearchParams({ text: 'Michael Jordan plays the sport of', 'o.residual': 'trace', 'o.subject': 'Michael Jordan' })}`);
    await guest.locator('.maps .heatmap').first().waitFor({ timeout: 20000 }).catch(() => expect(false, 'with a key the stream of a trace does not come'));
    await guarded.stop();
    await guest.locator('header input[type=text]').fill('Another text');
    await guest.keyboard.press('Enter');
    await guest.locator('.banner').waitFor();
    expect((await guest.locator('.banner').textContent()).includes('limpid serve'), 'a server that is gone is not said');
    await guest.close();
  },

  async 'one screen: no scrolling at 1280 x 800, a projector shows as much'() {
    const guest = await browser.newPage();
    await guest.addInitScript(() => { localStorage.setItem('limpid.tour', 'seen'); localStorage.setItem('limpid.language', 'en'); localStorage.setItem('limpid.theme', 'light'); });
    const text = 'The old teacher reads three new books in the small library today.';
    const target = '선생님은 책 세 권을 읽어요.';
    for (const [width, height] of [[1280, 800], [2560, 1440]]) {
      await guest.setViewportSize({ width, height });
      for (const room of ['text', 'embedding', 'attention', 'feedforward', 'residual', 'output', 'parameters']) {
        await guest.goto(`${server.address}/#/${room}?${new URLSearchParams({ model: 'translator', text, target })}`);
        await guest.reload();
        await settled(guest);
        const end = await guest.evaluate(() => document.querySelector('main').getBoundingClientRect().bottom);
        expect(end <= height, `${room} ends at ${end.toFixed(0)} of ${height} pixels`);
        const wide = await guest.evaluate(() => document.documentElement.scrollWidth);
        expect(wide <= width, `${room} is ${wide} of ${width} pixels wide`);
      }
      const tall = await guest.evaluate(() => document.documentElement.scrollHeight);
      expect(tall <= height, `nothing to see, and yet the page is ${tall} of ${height} pixels high`);
      for (const room of ['attention', 'training', 'laboratory']) {
        await guest.goto(`${server.address}/#/${room}?${new URLSearchParams({ model: 'translator', text, target })}`);
        await settled(guest);
        if (room === 'training') await guest.locator('.charts svg text').first().waitFor();
        const cut = await guest.evaluate(() => [
          ...[...document.querySelectorAll('main h1, main .steps, main .formula, nav .room')].filter((one) => one.scrollWidth > one.clientWidth + 1),
          ...[...document.querySelectorAll('.charts svg text')].filter((one) => one.getBBox().x < 0)].map((one) => one.textContent.trim().slice(0, 30)));
        expect(!cut.length, `${room} at ${width} pixels cuts off ${cut.join(', ')}`);
      }
    }
    // A picture that is saved at a projector is no larger than what is drawn in it.
    await guest.goto(`${server.address}/#/output?model=lm&text=Michael+Jordan`);
    await guest.reload();
    await settled(guest);
    const drawn = await guest.locator('main figure svg').first().evaluate((one) => Number(one.getAttribute('width')));
    const [, saved] = /width="([\d.]+)"/.exec((await savedBy(guest, 'SVG')).toString());
    expect(Math.abs(Number(saved) - drawn) <= 1, `saved ${saved} pixels wide, drawn ${drawn}`);
    await guest.close();
  },

  async 'the map on a phone is a strip of its parts'() {
    const phone = await browser.newPage();
    await phone.setViewportSize({ width: 375, height: 812 });
    await phone.addInitScript(() => { localStorage.setItem('limpid.tour', 'seen'); localStorage.setItem('limpid.language', 'en'); });
    await phone.goto(`${server.address}/#/text?model=lm&text=Michael+Jordan`);
    await settled(phone);
    const strip = phone.locator('.map-strip');
    await strip.getByRole('button', { name: 'Feed-forward, Block 1' }).click();
    await settled(phone);
    expect((await phone.locator('main h1').textContent()) === 'Feed-forward' && phone.url().includes('layer=1'), 'the strip does not lead into the room of a part');
    const seen = await strip.evaluate((row) => { const [a, b] = [row.getBoundingClientRect(), row.querySelector('.here').getBoundingClientRect()]; return b.left >= a.left && b.right <= a.right; });
    expect(seen, 'the chosen part is not in sight in the strip');
    await phone.close();
  },

  async 'what interventions do to the lens, and to its sum'() {
    await open('residual', 'lm', { interventions: JSON.stringify([{ zero: 'blocks.1.resid_post@-1' }]), 'o.compare': 'difference' });
    const cells = await page.locator('main button.cell').allTextContents();
    expect(cells.some((cell) => /^[+−]/.test(cell)) && cells.every((cell) => /^(0|[+−].*%)$/.test(cell)), `differences of the lens: ${cells}`);
    await open('residual', 'lm', { interventions: JSON.stringify([{ steer: 'blocks.0.resid_post@-1', along: 'token:tennis', by: 4 }]), 'o.residual': 'attribution' });
    expect((await page.locator('main').textContent()).includes('what the interventions themselves put in'), 'a remainder that is no rounding is called so');
  },
};
};
