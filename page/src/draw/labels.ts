// Labels beside points without one lying on another: the first of four places that is free; none where all are taken.
export interface Labelled {
  x: number;
  y: number;
  text: string;
}
export interface Label {
  x: number;
  y: number;
  anchor: 'start' | 'end' | 'middle';
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
const apart = (a: Box, b: Box): boolean => a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
export const textWidth = (text: string, size = 13): number => size * [...text].reduce((sum, c) => sum + (c > '\u1100' ? 0.95 : 0.58), 0);

// Points that come first are served first.
export function placeLabels(points: Labelled[], width: number, height: number): (Label | null)[] {
  const taken: Box[] = points.map((p) => ({ left: p.x - 4, top: p.y - 4, right: p.x + 4, bottom: p.y + 4 }));
  return points.map((p, own) => {
    const wide = textWidth(p.text);
    const places: Label[] = [
      { x: p.x + 8, y: p.y + 4, anchor: 'start' }, { x: p.x - 8, y: p.y + 4, anchor: 'end' },
      { x: p.x, y: p.y - 9, anchor: 'middle' }, { x: p.x, y: p.y + 18, anchor: 'middle' },
    ];
    for (const place of places) {
      const left = place.anchor === 'start' ? place.x : place.anchor === 'end' ? place.x - wide : place.x - wide / 2;
      const box = { left, top: place.y - 11, right: left + wide, bottom: place.y + 3 };
      if (box.left < 2 || box.right > width - 2 || box.top < 2 || box.bottom > height - 2) continue;
      if (taken.every((other, i) => i === own || apart(box, other))) {
        taken.push(box);
        return place;
      }
    }
    return null;
  });
}
