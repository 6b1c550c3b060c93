import assert from 'node:assert/strict';
import test from 'node:test';
import type { BeamNode, ModelInfo } from '../src/client/types';
import { matrix } from '../src/data/matrix';
import { layOutTree } from '../src/draw/beam_tree';
import { colour, inkOn, palette, shade } from '../src/draw/colour';
import { heatmapSvg, layOut, paint, strongest } from '../src/draw/heatmap';
import { placeLabels, textWidth } from '../src/draw/labels';
import { layOutLadder } from '../src/draw/ladder';
import { chart, smooth, thin } from '../src/draw/line_chart';
import { layOutMap } from '../src/draw/map_layout';
import { bands } from '../src/draw/ribbon';
import { tableCsv, tableSvg } from '../src/draw/table';
import { parameterTiles } from '../src/draw/treemap';

test('colours: symmetric about 0, lightness in order, ink that can be read', () => {
  assert.equal(shade(0, 'signed', 2), 128);
  assert.equal(shade(2, 'signed', 2), 255);
  assert.equal(shade(-9, 'signed', 2), 0);
  assert.equal(shade(NaN, 'share', 1), -1);
  const light = (theme: 'light' | 'dark') => { const p = palette('share', theme); return Array.from({ length: 256 }, (_, i) => p[3 * i] + p[3 * i + 1] + p[3 * i + 2]); };
  for (const [theme, sign] of [['light', -1], ['dark', 1]] as const) light(theme).forEach((sum, i, all) => assert.ok(i === 0 || sign * (sum - all[i - 1]) >= -3));
  const luminance = (css: string) => { const [r, g, b] = css.match(/\d+(\.\d+)?/g)!.map(Number).map((x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const hex = (text: string) => `rgb(${[1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)).join(',')})`;
  for (const theme of ['light', 'dark'] as const)
    for (let v = 0; v <= 1; v += 0.01) {
      const [a, b] = [luminance(colour(v, 'share', 1, theme)), luminance(hex(inkOn(v, 'share', 1, theme)))].sort((x, y) => y - x);
      assert.ok((a + 0.05) / (b + 0.05) >= 4.5, `${theme} ${v}: ${(a + 0.05) / (b + 0.05)}`);
    }
});

test('a heatmap: pixels, tiles that keep the extreme, an SVG that holds the numbers', () => {
  const m = matrix(Float32Array.of(0, 1, -1, -Infinity), 2, 2);
  const pixels = new Uint8ClampedArray(16);
  paint(m, 'signed', 1, 'light', pixels);
  assert.deepEqual([pixels[4], pixels[5], pixels[6], pixels[7]], [103, 0, 31, 255]);
  assert.deepEqual([pixels[8], pixels[9], pixels[10]], [5, 48, 97]);
  const wide = matrix(Float32Array.from({ length: 1000 }, (_, i) => (i === 777 ? -5 : 0.1)), 1, 1000);
  assert.equal(strongest(wide, 10, 10).data[7], -5);
  assert.equal(layOut(12, 12, { width: 600, height: 300 }, { left: 60, top: 60 }, true).cell.width, 20);
  const svg = heatmapSvg(m, { title: '<t>', rows: ['a&b', 'c'], cols: ['x', 'y'], scale: 'signed', most: 1, theme: 'light' });
  assert.match(svg, /&lt;t&gt;/);
  assert.match(svg, /a&amp;b, y: 1/);
  assert.equal([...svg.matchAll(/<title>/g)].length, 3); // the forbidden cell has none
  assert.match(svg, />−1(\.0+)?<\/text>.*url\(#scale-signed-light\)/s); // its scale has a legend
  const spoken = heatmapSvg(m, { title: 't', rows: ['a', 'c'], cols: ['x', 'y'], scale: 'share', theme: 'light', texts: [['one', 'two'], ['three', '']] });
  assert.match(spoken, />one<\/text>/);
  const long = heatmapSvg(m, { title: 't', rows: ['a name that is much longer than others', 'c'], cols: ['x', 'y'], scale: 'share', theme: 'light' });
  assert.ok(Number(/<text x="([\d.]+)"[^>]*text-anchor="end"/.exec(long)![1]) > 200); // and its labels have room
});

const part = (id: string, kind: string, stack: string, layer: number | null, parameters = 10) => ({ id, kind, stack, layer, parameters, weights: [], taps: [] });
const stackOf = (scope: string, side: string, layers: number, attention: string[]) => ({ name: scope, scope, side, layers, heads: 2, kv_heads: 2, head_size: 4, ffn: 8, causal: side !== 'encoder', attention });

test('the map: towers from below upwards, cross-attention fed by the encoder, forty blocks stay small', () => {
  const parts = ['encoder', 'decoder'].flatMap((s) => [part(`${s}.embed`, 'embedding', s, null), ...[0, 1].flatMap((l) => [part(`${s}.${l}.self_attn`, 'self_attention', s, l), ...(s === 'decoder' ? [part(`${s}.${l}.cross_attn`, 'cross_attention', s, l)] : []), part(`${s}.${l}.ffn`, 'feed_forward', s, l)])]);
  const model = { stacks: [stackOf('encoder', 'encoder', 2, ['self_attn']), stackOf('decoder', 'decoder', 2, ['self_attn', 'cross_attn'])], parts: [...parts, part('output', 'output', '', null)] } as unknown as ModelInfo;
  const map = layOutMap(model, { scope: 'decoder', layer: 0 }, 240);
  assert.equal(map.towers.length, 2);
  assert.equal(map.crossings.length, 2);
  const decoder = map.towers[1].boxes;
  decoder.forEach((box, i) => assert.ok(i === 0 || box.y + box.height <= decoder[i - 1].y));
  assert.equal(decoder[decoder.length - 1].label, 'output');
  for (const box of map.towers.flatMap((tower) => tower.boxes)) assert.ok(box.y >= 0 && box.y + box.height <= map.height && box.x >= 0 && box.x + box.width <= 240);
  const tall = { stacks: [stackOf('blocks', '', 40, ['attn'])], parts: Array.from({ length: 40 }, (_, l) => [part(`a${l}`, 'self_attention', 'blocks', l), part(`f${l}`, 'feed_forward', 'blocks', l)]).flat() } as unknown as ModelInfo;
  assert.equal(layOutMap(tall, { scope: 'blocks', layer: 7 }, 200).towers[0].boxes.length, 41);
});

test('the map: norms beside their sub-layers, parallel branches from the same vector to the same sum', () => {
  const inside = ['norm1', 'attn', 'norm2', 'ffn'];
  const kinds = ['norm', 'self_attention', 'norm', 'feed_forward'];
  const boxes = (more: object) => {
    const model = { stacks: [stackOf('blocks', '', 1, ['attn'])], norm_place: 'before', parallel: false, ...more, parts: [part('embed', 'embedding', '', null), ...inside.map((id, i) => part(`blocks.0.${id}`, kinds[i], 'blocks', 0))] } as unknown as ModelInfo;
    const all = layOutMap(model, { scope: 'blocks', layer: 0 }, 240).towers[0].boxes;
    return { norm: all.filter((box) => box.label === 'norm'), attn: all.find((box) => box.label === 'self_attention')!, ffn: all.find((box) => box.label === 'feed_forward')! };
  };
  const usual = boxes({});
  assert.ok(usual.attn.from > usual.norm[0].y && usual.attn.to < usual.attn.y); // leaves the stream below its norm, joins it above itself
  assert.ok(usual.ffn.from < usual.attn.to); // the network reads what attention has added to
  const side = boxes({ parallel: true });
  assert.equal(side.attn.from, side.ffn.from);
  assert.equal(side.attn.to, side.ffn.to);
  assert.ok(boxes({ norm_place: 'after' }).norm.every((box) => !box.branch));
});

test('cells of tokens by tokens may become wider than high, not higher than wide', () => {
  const room = { width: 600, height: 300 };
  assert.deepEqual(layOut(12, 12, room, { left: 60, top: 60 }, true, 44, 2).cell, { width: 40, height: 20 });
  assert.deepEqual(layOut(4, 40, room, { left: 60, top: 60 }, true, 44, 2).cell, { width: 13.5, height: 13.5 });
});

test('the beam as a tree: parents left of children, lanes apart', () => {
  const node = (id: number, parent: number | null, step: number, state = 'kept'): BeamNode => ({ id, parent, step, token: 'x', log_probability: -id, probability: 0.5, state });
  const { nodes, height } = layOutTree([node(0, null, 0), node(1, 0, 1), node(2, 0, 1), node(3, 1, 2), node(4, 2, 2, 'dropped')], 100, 20);
  const at = (id: number) => nodes.find((one) => one.id === id)!;
  assert.equal(at(3).x, 200);
  assert.equal(Math.abs(at(1).y - at(2).y), 20);
  assert.deepEqual([at(3).y, at(4).y], [0, 20]); // what was dropped stands below what was kept
  assert.equal(height, 40);
  const long = layOutTree(Array.from({ length: 5000 }, (_, i) => node(i, i ? i - 1 : null, i)), 10, 10);
  assert.equal(long.nodes.length, 5000);
});

test('labels: none on another, none outside', () => {
  const points = Array.from({ length: 40 }, (_, i) => ({ x: 20 + (i % 8) * 30, y: 20 + Math.floor(i / 8) * 12, text: `word${i}` }));
  const labels = placeLabels(points, 300, 120);
  const boxes = labels.flatMap((label, i) => {
    if (!label) return [];
    const wide = textWidth(points[i].text);
    const left = label.anchor === 'start' ? label.x : label.anchor === 'end' ? label.x - wide : label.x - wide / 2;
    return [{ left, right: left + wide, top: label.y - 11, bottom: label.y + 3 }];
  });
  assert.ok(boxes.length > 3 && boxes.length < 40);
  for (const [i, a] of boxes.entries()) {
    assert.ok(a.left >= 0 && a.right <= 300 && a.top >= 0 && a.bottom <= 120);
    for (const b of boxes.slice(i + 1)) assert.ok(a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top);
  }
});

test('a saved heatmap has colours though nobody gives it a largest value', () => {
  const svg = heatmapSvg(matrix(Float32Array.of(-2, 2), 1, 2), { title: '', rows: [], cols: [], scale: 'signed', theme: 'light' });
  assert.match(svg, /fill="rgb\(5,48,97\)"/);
  assert.match(svg, /fill="rgb\(103,0,31\)"/);
});

test('a recurrent model: the bridge lies below the decoder, and the encoder leads into it', () => {
  const parts = ['encoder', 'decoder'].flatMap((s) => [part(`${s}.embed`, 'embedding', s, null), part(`${s}.0.cell`, 'recurrent', s, 0)]);
  const model = { stacks: [stackOf('encoder', 'encoder', 1, []), stackOf('decoder', 'decoder', 1, ['align'])], parts: [...parts, part('bridge', 'bridge', 'decoder', null), part('output', 'output', '', null)] } as unknown as ModelInfo;
  const map = layOutMap(model, { scope: 'decoder', layer: 0 }, 240);
  const box = (label: string) => map.towers[1].boxes.find((one) => one.label === label)!;
  assert.ok(box('embedding').y > box('bridge').y && box('bridge').y > box('recurrent').y);
  assert.ok(map.crossings.some((c) => Math.abs(c.y1 - (box('bridge').y + box('bridge').height / 2)) < 1));
});

test('treemap: areas in proportion', () => {
  const tiles = parameterTiles([part('a', 'embedding', '', null, 300), part('b', 'output', '', null, 100), part('c', 'norm', '', null, 0)], 400, 100);
  assert.equal(tiles.length, 2);
  const area = (id: string) => { const tile = tiles.find((one) => one.id === id)!; return tile.width * tile.height; };
  assert.ok(Math.abs(area('a') / area('b') - 3) < 0.2);
});

test('curves: smoothing without a false beginning, thinning that keeps the mean', () => {
  assert.deepEqual(smooth([[0, 4], [1, 4]], 0.9).map((p) => Math.round(p[1] * 1e9) / 1e9), [4, 4]);
  const many = Array.from({ length: 1000 }, (_, i): [number, number] => [i, i % 2]);
  assert.equal(thin(many, 100).length, 100);
  assert.equal(thin(many, 100)[0][1], 0.5);
  const drawn = chart([{ name: 'a', points: [[0, 1], [10, 2]] }], 200, 100, { left: 40, right: 10, top: 10, bottom: 20 });
  assert.match(drawn.paths[0].path, /^M/);
  assert.equal(drawn.x(10), 190);
});

test('lines: only links that matter, strongest on top', () => {
  const list = bands((i, j) => (i === j ? 0.9 : 0.01), 3, 3, { from: [0, 1, 2], to: [0, 1, 2] }, [100, 0], 0.02);
  assert.equal(list.length, 3);
  const even = bands(() => 0.003, 40, 300, { from: new Array(40).fill(0), to: new Array(300).fill(0) }, [100, 0], 0.02, 500, 7);
  assert.ok(even.length > 0 && even.every((band) => band.from === 7)); // the selected one's, however weak
  assert.ok(bands(() => 1, 100, 100, { from: new Array(100).fill(0), to: new Array(100).fill(0) }, [1, 0], 0).length <= 600);
});

test('the ladder of a recurrent model: time upwards, a long text around its selection', () => {
  const names = Array.from({ length: 40 }, (_, i) => `t${i}`);
  const { lanes, height } = layOutLadder([{ side: 'source', names, selected: 20 }, { side: 'input', names: names.slice(0, 5), selected: 4 }], 220, 12);
  assert.equal(lanes[0].rungs.length, 12);
  assert.ok(lanes[0].rungs.some((rung) => rung.position === 20) && lanes[0].more.below && lanes[0].more.above);
  assert.deepEqual(lanes[1].rungs.map((rung) => rung.position), [0, 1, 2, 3, 4]);
  assert.ok(lanes[0].rungs.every((rung, i, all) => (i === 0 || rung.y < all[i - 1].y) && rung.y > 0 && rung.y < height));
});

test('a table as picture and as values', () => {
  const drawn = tableSvg('Title', ['a', 'b'], [['<x>', '가나다']], 'light');
  assert.ok(drawn.startsWith('<svg') && drawn.includes('&lt;x&gt;') && drawn.includes('가나다'));
  assert.equal(tableCsv(['a', 'b'], [['1', 'x,"y"']]), 'a,b\n1,"x,""y"""\n');
});
