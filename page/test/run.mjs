// Unit tests: TypeScript is bundled by the esbuild that Vite brings, then run by Node's own test runner.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
const folder = mkdtempSync(join(tmpdir(), 'limpid-page-test-'));
await build({ entryPoints: tests.map((name) => join(here, name)), outdir: folder, bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' }, logLevel: 'error' });
const { status } = spawnSync(process.execPath, ['--test', ...tests.map((name) => join(folder, name.replace(/\.ts$/, '.mjs')))], { stdio: 'inherit' });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
