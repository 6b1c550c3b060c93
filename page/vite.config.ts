import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

// Each file once more as NAME.gz, which the server sends to whoever reads it.
function compressed(): Plugin {
  let folder = '';
  return {
    name: 'compressed',
    apply: 'build',
    configResolved: (config) => void (folder = config.build.outDir),
    closeBundle() {
      for (const place of [folder, join(folder, 'assets')])
        for (const file of readdirSync(place, { withFileTypes: true }))
          if (file.isFile() && /\.(html|js|css|svg)$/.test(file.name)) writeFileSync(join(place, `${file.name}.gz`), gzipSync(readFileSync(join(place, file.name)), { level: 9 }));
    },
  };
}

// Relative addresses, so that the page also works below a path of a reverse proxy. Rooms are loaded when first entered.
export default defineConfig({
  base: './',
  plugins: [svelte(), compressed()],
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(['/inspect', '/runs', '/v1', '/health'].map((path) => [path, process.env.LIMPID ?? 'http://127.0.0.1:8080'])) },
});
