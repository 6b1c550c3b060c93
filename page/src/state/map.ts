// What the parts of the map are called, which of them is chosen, and what entering one changes.
import { roomOf, type Box } from '../draw/map_layout';
import { store } from './store.svelte';
import { t, type Key } from '../strings';

export function nameOf(box: Box): string {
  if (box.label === 'self_attention' && box.stack?.causal) return t('part.masked_attention');
  if (box.label === 'norm' && box.layer !== null && store.model?.norm_place === 'after') return t('part.add_norm');
  if (box.label === 'block') return t('part.block', { layer: box.layer ?? 0 });
  return t(`part.${box.label}` as Key);
}

// Where there is little room.
export function shortNameOf(box: Box): string {
  if (box.label === 'self_attention') return t(box.stack?.causal ? 'short.masked_attention' : 'short.self_attention');
  if (box.label === 'cross_attention' || box.label === 'feed_forward' || box.label === 'alignment' || box.label === 'recurrent') return t(`short.${box.label}`);
  return nameOf(box);
}

export function isChosen(box: Box): boolean {
  if (box.layer !== null && (box.layer !== store.layer || box.stack?.scope !== store.stack?.scope)) return false;
  if (box.label === 'block') return true;
  if (roomOf(box.label) !== store.view.room || box.label === 'norm') return false; // the residual stream is the line, not the norm at its end
  if (box.label === 'cross_attention') return store.view.attention === 'cross_attn';
  if (box.label === 'self_attention') return store.view.attention !== 'cross_attn';
  return store.view.room !== 'embedding' || box.stack?.scope === store.stack?.scope;
}

export function enter(box: Box): void {
  const change: Parameters<typeof store.go>[0] = {};
  if (box.stack) change.stack = box.stack.scope;
  if (box.layer !== null) change.layer = box.layer;
  if (box.label !== 'block') change.room = roomOf(box.label);
  if (box.label === 'cross_attention') change.attention = 'cross_attn';
  else if (box.label === 'self_attention') change.attention = box.stack?.attention[0] ?? '';
  store.go(change);
}
