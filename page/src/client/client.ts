// Speaks to the server: JSON and safetensors, answers kept by request, requests that nobody waits for any more cancelled.
import { parseSafetensors, type TensorFile } from './safetensors';

export type Failure = 'gone' | 'key' | 'busy' | 'refused' | 'broken';

export class ServerError extends Error {
  readonly code: string; // a word for programs
  readonly param: string; // the field of the request that is wrong
  readonly length: number; // of what is too long: how long, and what is allowed
  readonly limit: number;
  constructor(readonly failure: Failure, message: string, more: { code?: unknown; param?: unknown; length?: unknown; limit?: unknown } = {}) {
    super(message);
    this.code = String(more.code ?? '');
    this.param = String(more.param ?? '');
    this.length = Number(more.length ?? 0);
    this.limit = Number(more.limit ?? 0);
  }
}

export interface Request {
  path: string;
  body?: Record<string, unknown>; // none: GET
  answer: 'json' | 'tensors';
  state?: number; // of what is asked about, where that changes: an answer about another state is another answer
}

export interface Tensors extends TensorFile {
  meta: Record<string, any>;
}

const kept = 60; // answers
const keyName = 'limpid.key';

interface Pending {
  promise: Promise<unknown>;
  controller: AbortController;
  waiting: number;
  settled: boolean;
}
const answers = new Map<string, Pending>();

export const requestKey = (request: Request): string => `${request.answer} ${request.path} ${JSON.stringify(request.body ?? null)}${request.state === undefined ? '' : ` ${request.state}`}`;

export function setKey(key: string): void {
  sessionStorage.setItem(keyName, key);
  answers.clear();
}

// Addresses relative to the page, so that a proxy may serve it below a path.
const address = (path: string): string => new URL(path.replace(/^\//, ''), document.baseURI).href;

async function send(path: string, body: Record<string, unknown> | undefined, signal: AbortSignal): Promise<Response> {
  const key = sessionStorage.getItem(keyName);
  const headers: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {};
  if (body) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(address(path), { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ServerError('gone', '');
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  const message = String(said?.error?.message ?? said?.error ?? '');
  if (response.status === 401) throw new ServerError('key', message);
  if (response.status === 429 || response.status === 503) throw new ServerError('busy', message);
  throw new ServerError(response.status < 500 ? 'refused' : 'broken', message || `HTTP ${response.status}`, said?.error ?? {});
}

// The document says whether answers are awaited, for the pointer and for whoever drives the page by a program.
let awaited = 0;
const countAwaited = (change: number): unknown => document.documentElement.toggleAttribute('data-waiting', (awaited += change) > 0);

async function fetchAnswer(request: Request, signal: AbortSignal): Promise<unknown> {
  countAwaited(1);
  try {
    return await readAnswer(request, signal);
  } finally {
    countAwaited(-1);
  }
}

async function readAnswer(request: Request, signal: AbortSignal): Promise<unknown> {
  const response = await send(request.path, request.body, signal);
  if (request.answer === 'json') return response.json();
  const file = parseSafetensors(await response.arrayBuffer());
  return { ...file, meta: JSON.parse(file.metadata['limpid'] ?? '{}') } satisfies Tensors;
}

// Asks once for equal requests; `signal` says that this asker has lost interest.
export function ask<T>(request: Request, signal: AbortSignal): Promise<T> {
  const key = requestKey(request);
  let entry = answers.get(key);
  if (!entry) {
    const controller = new AbortController();
    const made: Pending = { promise: fetchAnswer(request, controller.signal), controller, waiting: 0, settled: false };
    made.promise.then(
      () => (made.settled = true),
      () => answers.get(key) === made && answers.delete(key),
    );
    answers.set(key, made);
    entry = made;
  } else {
    answers.delete(key); // to the end: the longest unused goes first
    answers.set(key, entry);
  }
  for (const [old, one] of answers) {
    if (answers.size <= kept) break;
    if (one.settled) answers.delete(old);
  }
  const mine = entry;
  mine.waiting++;
  return new Promise<T>((resolve, reject) => {
    const leave = () => {
      reject(new DOMException('no longer wanted', 'AbortError'));
      if (--mine.waiting === 0 && !mine.settled) {
        mine.controller.abort();
        if (answers.get(key) === mine) answers.delete(key);
      }
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    mine.promise.then(resolve as (value: unknown) => void, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

export interface ServerEvent {
  event: string;
  data: any;
}

// One event of a text/event-stream per call of `take`. Pure, so that it can be tested: returns what is left over.
export function takeEvents(buffer: string, take: (event: ServerEvent) => void): string {
  const blocks = buffer.replaceAll('\r\n', '\n').split('\n\n');
  const rest = blocks.pop() ?? '';
  for (const block of blocks) {
    let event = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    }
    if (data.length) take({ event, data: data.join('\n') === '[DONE]' ? null : JSON.parse(data.join('\n')) });
  }
  return rest;
}

// Reads a stream of events by fetch, since EventSource sends no headers and so no key.
export async function stream(path: string, body: Record<string, unknown> | undefined, signal: AbortSignal, take: (event: ServerEvent) => void): Promise<void> {
  const response = await send(path, body, signal);
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    let part: ReadableStreamReadResult<string>;
    try {
      part = await reader.read();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ServerError('gone', '');
    }
    if (part.done) break;
    buffer = takeEvents(buffer + part.value, (event) => {
      if (event.event === 'error') throw new ServerError('refused', event.data?.error?.message ?? '', event.data?.error ?? {});
      take(event);
    });
  }
}
