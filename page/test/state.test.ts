import assert from 'node:assert/strict';
import test from 'node:test';
import { describe, sameIntervention, toToml, type Intervention } from '../src/data/interventions';
import { decodeView, encodeView, firstView, rooms, type View } from '../src/state/view';

test('a view survives its address', () => {
  const view: View = { room: 'attention', model: 'my model', text: 'a & b = "c"? 100 % 가나다 #', target: '', side: 'source', position: 3, stack: 'decoder', layer: 2, attention: 'cross_attn', head: 5, neuron: 57,
    interventions: [{ zero: 'blocks.1.ffn.post[12,57]@-1' }, { steer: 'x@0', along: 'token:a b', by: 8 }], options: { temperature: '0.5', 'heads.sort': 'entropy' } };
  assert.deepEqual(decodeView(encodeView(view)), view);
  for (const room of rooms) assert.deepEqual(decodeView(encodeView({ ...firstView, room })), { ...firstView, room });
});

test('nonsense in an address is no harm', () => {
  assert.deepEqual(decodeView(''), firstView);
  assert.equal(decodeView('#/nowhere?layer=x&head=-3&position=1.5').room, 'text');
  assert.equal(decodeView('#/output?layer=x&head=-3').head, 0);
  assert.deepEqual(decodeView('#/output?interventions=[{"zero":').interventions, []);
  assert.deepEqual(decodeView('#/output?interventions=[1,null]').interventions, []);
});

test('one vector can be steered in two directions, and its strength changed in place', () => {
  const place = { steer: 'blocks.0.resid_post@-1', by: 8 };
  assert.ok(!sameIntervention({ ...place, along: 'token:tennis' }, { ...place, along: 'token:hockey' }));
  assert.ok(sameIntervention({ ...place, along: 'token:tennis' }, { ...place, along: 'token:tennis', by: 2 }));
});

test('interventions as TOML', () => {
  const list: Intervention[] = [{ zero: 'blocks.1.ffn.post[12]@-1' }, { scale: 'blocks.0.attn.z[head 2]', by: 0.5 }, { set: 'a', to: 3 }, { patch: 'b@0', from: 'say "this"\\', from_target: '그래' }, { steer: 'c', along: 'token:tennis', by: 8 }, { edit: 'w[1,:]*=0' }];
  assert.equal(toToml(list), `[[intervention]]
zero = "blocks.1.ffn.post[12]@-1"

[[intervention]]
scale = "blocks.0.attn.z[head 2]"
by = 0.5

[[intervention]]
set = "a"
to = 3

[[intervention]]
patch = "b@0"
from = "say \\"this\\"\\\\"
from_target = "그래"

[[intervention]]
steer = "c"
along = "token:tennis"
by = 8

[[intervention]]
edit = "w[1,:]*=0"
`);
  assert.match(describe(list[1]), /× 0\.5$/);
});
