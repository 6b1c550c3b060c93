// What went wrong, as a sentence with a next step in the reader's language. The server's own words, which are English, stand in it.
import { ServerError } from '../client/client';
import { count } from '../data/numbers';
import { store } from '../state/store.svelte';
import { t } from '.';

type Subject = 'text' | 'words' | 'subject' | 'interventions' | 'place';
const subjects: Record<string, Subject> = {
  text: 'text', target: 'text', ids: 'text', words: 'words', token: 'words', against: 'words', subject: 'subject', interventions: 'interventions',
  attention: 'place', head: 'place', heads: 'place', layer: 'place', layers: 'place', position: 'place', positions: 'place', taps: 'place', block: 'place', neuron: 'place', side: 'place', weight: 'place',
};

// `about` says what was asked, where the server names no field of the request.
export function sentenceOf(error: unknown, about?: Subject): string {
  if (!(error instanceof ServerError)) return t('error.broken', { message: error instanceof Error ? error.message : String(error) });
  const { failure, code, param, length, limit } = error;
  const said = error.message.replace(/^\[\w+\] /, ''); // the part of the program that says it
  const message = /[.!?]$/.test(said) || !said ? said : `${said}.`;
  if (failure !== 'refused') return t(`error.${failure}`, { message });
  if (code === 'context_length_exceeded') return limit ? t('error.long', { length: count(length ?? 0, store.language), most: count(limit, store.language) }) : t('error.longest');
  const subject = subjects[param] ?? about;
  return subject ? t(`error.param.${subject}`, { message }) : t('error.refused', { message });
}
