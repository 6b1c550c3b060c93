// Words of the page in the reader's language: t('key', { name: value }).
import { store } from '../state/store.svelte';
import { en } from './en';
import { ko } from './ko';

export type Key = keyof typeof en;
const tables: Record<'en' | 'ko', Record<Key, string>> = { en, ko };

export const template = (key: Key): string => tables[store.language][key];

export function t(key: Key, values: Record<string, string | number> = {}): string {
  return template(key).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
