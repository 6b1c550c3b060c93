import assert from 'node:assert/strict';
import test from 'node:test';
import { en } from '../src/strings/en';
import { ko } from '../src/strings/ko';

const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();

test('both languages have the same keys', () => {
  assert.deepEqual(Object.keys(ko).sort(), Object.keys(en).sort());
});

test('a string has the same placeholders in both languages', () => {
  for (const key of Object.keys(en) as (keyof typeof en)[]) assert.deepEqual(names(ko[key]), names(en[key]), key);
});

test('nothing is left empty or in English', () => {
  for (const [key, text] of Object.entries(ko)) assert.ok(text.trim(), key);
  const korean = Object.entries(ko).filter(([key, text]) => text.length > 24 && !/^error\.refused$/.test(key));
  for (const [key, text] of korean) assert.match(text, /[가-힣]/, key);
});

test('Korean sentences are in the formal polite style', () => {
  for (const [key, text] of Object.entries(ko))
    for (const sentence of text.split(/(?<=[.?!])\s/)) if (/[가-힣]\.$/.test(sentence)) assert.match(sentence, /(니다|십시오|시다)\.$|곳은:$|그대로\.$|없을 때\.$/, `${key}: ${sentence}`);
});
