// Interventions as `limpid look intervene` knows them: the same keys, as objects and as TOML.

export interface Intervention {
  zero?: string;
  mean?: string;
  scale?: string;
  set?: string;
  patch?: string;
  steer?: string;
  edit?: string;
  by?: number;
  to?: number;
  from?: string;
  from_target?: string;
  along?: string;
}

export const kinds = ['zero', 'mean', 'scale', 'set', 'patch', 'steer', 'edit'] as const;
export type Kind = (typeof kinds)[number];

export const kindOf = (one: Intervention): Kind => kinds.find((kind) => one[kind] !== undefined) ?? 'zero';
export const placeOf = (one: Intervention): string => one[kindOf(one)] ?? '';

const signs: Record<Kind, string> = { zero: '⊘', mean: 'x̄', scale: '×', set: '=', patch: '⇄', steer: '↗', edit: '✎' };

// One line for the shelf: sign, place, value; without the number where it stands beside it to be changed.
export function describe(one: Intervention, number = true): string {
  const kind = kindOf(one);
  const place = `${signs[kind]} ${placeOf(one)}`;
  switch (kind) {
    case 'scale':
      return number ? `${place} × ${one.by ?? 1}` : place;
    case 'set':
      return number ? `${place} = ${one.to ?? 0}` : place;
    case 'patch':
      return `${place} ← “${one.from ?? ''}”`;
    case 'steer':
      return number ? `${place} + ${one.by ?? 1} · ${one.along ?? ''}` : `${place} → ${one.along ?? ''}`;
    default:
      return place;
  }
}

// Whether one takes the other's place on the shelf: two directions may steer the same vector.
export const sameIntervention = (a: Intervention, b: Intervention): boolean => kindOf(a) === kindOf(b) && placeOf(a) === placeOf(b) && a.along === b.along;

// JSON's escapes are TOML's, except that TOML has no \/ (which JSON.stringify never writes).
const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007F');

export function toToml(list: Intervention[]): string {
  return list
    .map((one) => {
      const kind = kindOf(one);
      const lines = ['[[intervention]]', `${kind} = ${tomlText(placeOf(one))}`];
      if (one.along !== undefined) lines.push(`along = ${tomlText(one.along)}`);
      if (one.from !== undefined) lines.push(`from = ${tomlText(one.from)}`);
      if (one.from_target) lines.push(`from_target = ${tomlText(one.from_target)}`);
      if (one.by !== undefined) lines.push(`by = ${one.by}`);
      if (one.to !== undefined) lines.push(`to = ${one.to}`);
      return lines.join('\n') + '\n';
    })
    .join('\n');
}
