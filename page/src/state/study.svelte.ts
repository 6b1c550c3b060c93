// A study that the server trains or computes while someone watches: a stream of events that ends with a result. It belongs to the
// page, not to the room, so that it goes on while one looks elsewhere.
import { ServerError, stream } from '../client/client';
import type { Feature, FactStudy, InductionCurve, InductionPoint } from '../client/types';
import { store } from './store.svelte';

export class Study<Result, Point = never> {
  progress = $state(-1); // share done; below zero: nothing runs
  what = $state('');
  points = $state.raw<Point[]>([]);
  result = $state.raw<Result | null>(null);
  problem = $state.raw<unknown>(null); // what went wrong, if anything did
  private running: AbortController | null = null;

  constructor(private readonly path: string) {}

  get runs(): boolean {
    return this.progress >= 0;
  }

  async start(body: Record<string, unknown>): Promise<void> {
    this.running?.abort();
    const mine = (this.running = new AbortController());
    this.progress = 0;
    this.what = '';
    this.problem = null;
    this.points = [];
    try {
      await stream(this.path, body, mine.signal, ({ event, data }) => {
        if (event === 'progress') [this.progress, this.what] = [data.done, data.what];
        else if (event === 'point') this.points = [...this.points, data];
        else if (event === 'result') this.result = data;
      });
    } catch (error) {
      if (!mine.signal.aborted) {
        this.problem = error;
        if (error instanceof ServerError && error.failure !== 'refused') store.fail(error);
      }
    }
    if (this.running === mine) this.progress = -1;
  }

  stop(): void {
    this.running?.abort();
  }
}

export const induction = new Study<InductionCurve, InductionPoint>('/experiments/induction/train');
export const facts = new Study<FactStudy>('/experiments/facts/study');
export const features = new Study<{ dimensions: number; features: number; firing: number; active: number; explained: number; tap: string; boards: Feature[] }>('/experiments/features/train');
