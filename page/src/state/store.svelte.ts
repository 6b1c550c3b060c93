// The store: the view (mirrored in the URL's fragment), what the server said about the model and the text, and preferences.
import { ask, requestKey, ServerError, type Request, type Tensors } from '../client/client';
import type { ModelInfo, Stack, Tokens } from '../client/types';
import { readable } from '../data/numbers';
import { sameIntervention, type Intervention } from '../data/interventions';
import { decodeView, encodeView, type Side, type View } from './view';

export interface Detail {
  title: string;
  formula?: string;
  rows: { label: string; value: string }[];
  vectors?: { name: string; values: ArrayLike<number>; marked?: number }[];
  note?: string;
  changes?: { label: string; intervention: Intervention }[];
}

class Store {
  view = $state<View>(decodeView(location.hash));
  models = $state.raw<string[]>([]);
  loaded = $state.raw<ModelInfo | null>(null);
  // None while another one than the loaded is asked for, so that nothing asks a model for the parts of another.
  model = $derived.by((): ModelInfo | null => (this.loaded && this.models.includes(this.view.model) && this.view.model !== this.loaded.id ? null : this.loaded));
  tokens = $state.raw<Tokens | null>(null);
  tokensOfText = $state.raw(''); // the request that they answer
  // Whether they are those of the text in view: until then nobody knows where in it the selection is, and nothing else is asked of it.
  fits = $derived.by((): boolean => this.tokens !== null && this.tokensOfText === requestKey(post('tokens', this.body)));
  taps = $state.raw<ReadonlySet<string>>(new Set()); // names of all the model's taps
  detail = $state.raw<Detail | null>(null); // what the inspector shows
  command = $state.raw<{ line: string; toml?: string; note?: string } | null>(null); // with a note where it gives other numbers, or none does
  error = $state.raw<ServerError | null>(null);
  needsKey = $state(false);
  innerHeight = $state(innerHeight / zoom());
  shelfHeight = $state(0); // of the interventions, which stand over the page's end
  windowHeight = $derived(this.innerHeight - this.shelfHeight); // figures use the height there is
  attempt = $state(0); // counts up to ask everything again
  language = $state<'en' | 'ko'>(firstLanguage());
  theme = $state<'light' | 'dark'>(firstTheme());

  stack = $derived.by((): Stack | null => {
    const stacks = this.model?.stacks ?? [];
    return stacks.find((one) => one.scope === this.view.stack) ?? stacks[stacks.length - 1] ?? null;
  });
  layer = $derived(Math.min(this.view.layer, Math.max(0, (this.stack?.layers ?? 1) - 1)));
  // Which tokens the chosen stack reads, and where among them the selection is.
  stackSide = $derived.by((): Side => (this.model?.two_sided && this.stack?.side === 'encoder' ? 'source' : 'input'));

  // The body that every question about the text begins with.
  body = $derived.by((): Record<string, unknown> => {
    const body: Record<string, unknown> = { text: this.view.text };
    if (this.view.model) body.model = this.view.model;
    if (this.view.target !== null) body.target = this.view.target;
    return body;
  });
  changedBody = $derived.by((): Record<string, unknown> =>
    this.view.interventions.length ? { ...this.body, interventions: $state.snapshot(this.view.interventions) } : this.body,
  );
  changed = $derived(this.view.interventions.length > 0);

  tokensOf(side: Side): NonNullable<Tokens['source']> {
    return (side === 'source' ? this.tokens?.source : this.tokens?.input) ?? [];
  }
  labels(side: Side): string[] {
    return this.tokensOf(side).map((token) => readable(token.text || token.piece));
  }
  // The selected token as an index on a side; its last token where the selection is on the other.
  positionOn(side: Side): number {
    const count = this.tokensOf(side).length;
    if (!count) return 0;
    if (side !== this.view.side) return count - 1;
    const position = this.view.position < 0 ? count + this.view.position : this.view.position;
    return Math.max(0, Math.min(count - 1, position));
  }

  // Changes the view; `quietly` replaces the address instead of adding one to go back to (sliders, typing), and does so once the
  // slider rests: browsers refuse to change the address at every frame.
  go(change: Partial<View>, quietly = false): void {
    Object.assign(this.view, change);
    this.changedView(quietly);
  }
  private changedView(quietly: boolean): void {
    clearTimeout(this.later);
    if (quietly) this.later = setTimeout(() => this.writeAddress('replaceState'), 100);
    else this.writeAddress('pushState');
  }
  private later: ReturnType<typeof setTimeout> | undefined;
  private writeAddress(how: 'pushState' | 'replaceState'): void {
    const address = encodeView($state.snapshot(this.view) as View);
    if (address !== location.hash) history[how](null, '', address);
  }
  // The address has changed by other hands.
  readAddress(): void {
    clearTimeout(this.later);
    Object.assign(this.view, decodeView(location.hash));
  }
  option(name: string, otherwise = ''): string {
    return this.view.options[name] ?? otherwise;
  }
  number(name: string, otherwise: number): number {
    const value = Number(this.view.options[name] ?? otherwise);
    return Number.isFinite(value) ? value : otherwise;
  }
  setOption(name: string, value: string | number, quietly = false): void {
    this.view.options[name] = String(value); // only what reads this one option is computed again
    this.changedView(quietly);
  }
  // Labels of a decoder's rows over a source: the token that is read there, and the one that is written, as `limpid look` has them.
  writtenLabels(): string[] {
    return this.labels('input').map((label, i) => { const next = this.tokens?.next[i]; return next ? `${label} → ${readable(next.piece)}` : label; });
  }
  select(side: Side, position: number): void {
    this.go({ side, position });
  }
  intervene(one: Intervention, quietly = false): void {
    const others = this.view.interventions.filter((other) => !sameIntervention(one, other));
    this.go({ interventions: [...others, one] }, quietly);
  }
  release(index: number): void {
    this.go({ interventions: this.view.interventions.filter((_, i) => i !== index) });
  }
  fail(error: unknown): void {
    if (!(error instanceof ServerError)) return;
    if (error.failure === 'key') this.needsKey = true;
    this.error = error;
  }
}

// How much larger everything is drawn than CSS says (app.css).
export const zoom = (): number => Number(getComputedStyle(document.documentElement).getPropertyValue('--zoom')) || 1;

function firstLanguage(): 'en' | 'ko' {
  const kept = localStorage.getItem('limpid.language') ?? navigator.language;
  return kept.startsWith('ko') ? 'ko' : 'en';
}
function firstTheme(): 'light' | 'dark' {
  const kept = localStorage.getItem('limpid.theme');
  if (kept === 'dark' || kept === 'light') return kept;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export const store = new Store();

window.addEventListener('resize', () => (store.innerHeight = innerHeight / zoom()));
window.addEventListener('popstate', () => store.readAddress());
window.addEventListener('hashchange', () => store.readAddress());

export class Resource<T> {
  of = $state.raw(''); // the request that `data` answers
  data = $state.raw<T | null>(null);
  error = $state.raw<ServerError | null>(null);
  loading = $state(false);
}

// An answer that follows the view: asked again when the request changes; the old one stays until the new one is here. A request
// that is null asks for nothing; one that is undefined cannot be made yet.
export function resource<T>(wanted: () => Request | null | undefined): Resource<T> {
  const result = new Resource<T>();
  const key = $derived.by(() => {
    const request = wanted();
    return request ? requestKey(request) : request;
  });
  $effect(() => {
    void store.attempt;
    if (key === undefined) {
      result.loading = true;
      return;
    }
    if (key === null) {
      result.loading = false;
      result.data = null;
      result.error = null;
      return;
    }
    const request = wanted();
    if (!request) return;
    const controller = new AbortController();
    result.loading = true;
    ask<T>(request, controller.signal)
      .then(
        (answer) => {
          result.data = answer;
          result.of = key;
          result.error = null;
          if (store.error?.failure === 'gone') store.error = null;
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const known = error instanceof ServerError ? error : new ServerError('broken', String(error));
          result.data = null;
          result.error = known;
          store.fail(known);
        },
      )
      .finally(() => {
        if (!controller.signal.aborted) result.loading = false;
      });
    return () => {
      controller.abort();
      if (store.error && store.error === result.error) store.error = null; // what failed is no longer asked for
    };
  });
  return result;
}

export const post = (route: string, body: Record<string, unknown>, answer: Request['answer'] = 'json'): Request => ({ path: `/inspect/${route}`, body, answer });

// A question about the text in view, once its tokens are known.
export const aboutText = (request: () => Request): Request | undefined => (store.fits ? request() : undefined);

// The same question about the model as it is and as it is changed; `after` is empty while nothing is changed.
export interface Compared<T> {
  before: Resource<T>;
  after: Resource<T>;
}
export function compared<T>(route: string, extra: () => Record<string, unknown> | null, answer: Request['answer'] = 'json'): Compared<T> {
  const before = resource<T>(() => {
    const more = extra();
    return more && store.model && store.tokens ? aboutText(() => post(route, { ...store.body, ...more }, answer)) : null;
  });
  const after = resource<T>(() => {
    const more = extra();
    return more && store.model && store.tokens && store.changed ? aboutText(() => post(route, { ...store.changedBody, ...more }, answer)) : null;
  });
  return { before, after };
}
export const tensorsCompared = (route: string, extra: () => Record<string, unknown> | null): Compared<Tensors> => compared<Tensors>(route, extra, 'tensors');
