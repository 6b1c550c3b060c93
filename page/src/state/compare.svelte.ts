// Before, after, both side by side (where a room draws them so), or their difference, as the reader has chosen.
import { subtract, type Matrix } from '../data/matrix';
import { store, type Compared } from './store.svelte';

export const comparing = (): 'before' | 'after' | 'both' | 'difference' => (store.changed ? (store.option('compare', 'after') as 'before' | 'after' | 'both' | 'difference') : 'before');

// The answer that is shown: of the changed model, unless "before" is chosen or nothing is changed.
export function chosen<T>(answers: Compared<T>): Compared<T>['before'] {
  return comparing() === 'before' || !answers.after.data ? answers.before : answers.after;
}

// A matrix of both answers as the reader wants it.
export function comparedMatrix<T>(answers: Compared<T>, take: (answer: T) => Matrix | null): Matrix | null {
  const before = answers.before.data && take(answers.before.data);
  const after = answers.after.data && take(answers.after.data);
  if (comparing() === 'difference' && before && after && before.rows === after.rows && before.cols === after.cols) return subtract(after, before);
  return comparing() === 'before' || !after ? before : after;
}
