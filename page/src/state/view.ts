// The one state of the page, and how it lies in the URL's fragment: "#/attention?model=…&text=…&layer=1". The fragment never
// leaves the browser, so texts stay out of logs; every view is an address that can be shared.
import type { Intervention } from '../data/interventions';

export const rooms = ['text', 'embedding', 'attention', 'feedforward', 'residual', 'output', 'parameters', 'training', 'laboratory'] as const;
export type Room = (typeof rooms)[number];

export type Side = 'source' | 'input'; // which tokens: those of the source, or those that the (only) stack reads

export interface View {
  room: Room;
  model: string; // '' : the first one served
  text: string;
  target: string | null; // null: the model writes it
  side: Side;
  position: number; // negative: from the end
  stack: string; // scope of the stack that is looked at; '': the last one
  layer: number;
  attention: string; // "self_attn", "cross_attn", …; '': the stack's first
  head: number;
  neuron: number; // -1: none chosen
  interventions: Intervention[];
  options: Record<string, string>; // controls of rooms: "lens.token", "output.temperature", …
}

export const firstView: View = {
  room: 'text', model: '', text: '', target: null, side: 'input', position: -1, stack: '', layer: 0, attention: '', head: 0,
  neuron: -1, interventions: [], options: {},
};

const whole = (text: string | null, otherwise: number): number => {
  const value = text === null || text === '' ? NaN : Number(text);
  return Number.isInteger(value) ? value : otherwise;
};

export function encodeView(view: View): string {
  const query = new URLSearchParams();
  const put = (name: string, value: string | number, plain: string | number) => {
    if (value !== plain) query.set(name, String(value));
  };
  put('model', view.model, '');
  put('text', view.text, '');
  if (view.target !== null) query.set('target', view.target);
  put('side', view.side, firstView.side);
  put('position', view.position, firstView.position);
  put('stack', view.stack, '');
  put('layer', view.layer, 0);
  put('attention', view.attention, '');
  put('head', view.head, 0);
  put('neuron', view.neuron, -1);
  if (view.interventions.length) query.set('interventions', JSON.stringify(view.interventions));
  for (const name of Object.keys(view.options).sort()) query.set('o.' + name, view.options[name]);
  const text = query.toString();
  return `#/${view.room}${text ? '?' + text : ''}`;
}

// Anything may stand in an address: what is not understood takes its first value.
export function decodeView(fragment: string): View {
  const [path, rest = ''] = fragment.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const query = new URLSearchParams(rest);
  const options: Record<string, string> = {};
  for (const [name, value] of query) if (name.startsWith('o.')) options[name.slice(2)] = value;
  let interventions: Intervention[] = [];
  try {
    const list: unknown = JSON.parse(query.get('interventions') ?? '[]');
    if (Array.isArray(list)) interventions = list.filter((one) => one !== null && typeof one === 'object');
  } catch {
    // an address cut short: without its interventions
  }
  return {
    room: rooms.find((room) => room === path) ?? firstView.room,
    model: query.get('model') ?? '',
    text: query.get('text') ?? '',
    target: query.get('target'),
    side: query.get('side') === 'source' ? 'source' : 'input',
    position: whole(query.get('position'), -1),
    stack: query.get('stack') ?? '',
    layer: Math.max(0, whole(query.get('layer'), 0)),
    attention: query.get('attention') ?? '',
    head: Math.max(0, whole(query.get('head'), 0)),
    neuron: whole(query.get('neuron'), -1),
    interventions,
    options,
  };
}
