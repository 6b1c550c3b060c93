// Debian's Chromium through playwright-core, with nothing of its own that would reach for the network.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const executable = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => path && existsSync(path));

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none'];

// Opens a browser with a profile that is empty and goes away with it; `options` are those of a playwright context.
export async function openBrowser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'limpid-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable, args: flags, headless: true, chromiumSandbox: false, acceptDownloads: true, viewport: { width: 1280, height: 800 }, ...options,
  });
  const close = context.close.bind(context);
  context.close = async () => {
    await close();
    rmSync(profile, { recursive: true, force: true });
  };
  return context;
}

// Waits until the page shows a room (or says why not), no answer is awaited, and that has been so for four frames. Not for a silent
// network: the room of a training run keeps a stream of events open.
export async function settled(page, limit = 20000) {
  await page.waitForFunction(() => document.querySelector('main'), undefined, { timeout: limit });
  const calm = await page.evaluate((most) => new Promise((done) => {
    const begun = performance.now();
    const ready = () => document.querySelector('main h1, [role=alert], .banner') && !document.querySelector('[aria-busy="true"], html[data-waiting]');
    let times = 0;
    const look = () => {
      times = ready() ? times + 1 : 0;
      if (times >= 4) done(true);
      else if (performance.now() - begun > most) done(false);
      else requestAnimationFrame(look);
    };
    look();
  }), limit);
  if (!calm) throw new Error(`the page does not come to rest: ${page.url()}`);
}
