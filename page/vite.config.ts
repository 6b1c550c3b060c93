import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// Relative addresses, so that the page also works below a path of a reverse proxy. Rooms are loaded when first entered.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(['/inspect', '/runs', '/v1', '/health'].map((path) => [path, process.env.LIMPID ?? 'http://127.0.0.1:8080'])) },
});
