// sheet.mjs OUT W IMG...: contact sheet
import { openBrowser } from '/work/tree-page/page/browser/chromium.mjs';
import { readFileSync } from 'node:fs';
const [out, cols, w, ...imgs] = process.argv.slice(2);
const b = await openBrowser(); const p = await b.newPage();
await p.setViewportSize({ width: Number(cols) * Number(w) + 10, height: 400 });
await p.setContent(`<body style="margin:0;background:#888;display:grid;grid-template-columns:repeat(${cols},${w}px);gap:4px;align-items:start">${imgs.map((i) => `<img style="width:${w}px" src="data:image/png;base64,${readFileSync(i).toString('base64')}">`).join('')}</body>`);
await p.waitForTimeout(500);
await p.screenshot({ path: out, fullPage: true }); await b.close(); process.exit(0);
