// Saving what a figure shows: SVG, PNG, CSV, JSON.

export interface Saving {
  name: string;
  svg: () => string;
  csv: () => string;
  json: () => unknown;
}

function offer(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const properties = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline'];

// An SVG element of the page as a file of its own: what style sheets say is written into it.
export function svgOf(node: SVGSVGElement): string {
  const copy = node.cloneNode(true) as SVGSVGElement;
  const from = [node, ...node.querySelectorAll('*')];
  const to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of properties) (to[i] as SVGElement).style.setProperty(name, style.getPropertyValue(name));
  });
  // In the page's own pixels: a projector's zoom enlarges the rectangle on the screen, not the drawing.
  const [width, height] = [node.clientWidth, node.clientHeight];
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
  await image.decode();
  const canvas = document.createElement('canvas');
  const zoom = 2;
  canvas.width = image.naturalWidth * zoom;
  canvas.height = image.naturalHeight * zoom;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png'));
}

export async function save(what: Saving, kind: 'svg' | 'png' | 'csv' | 'json'): Promise<void> {
  const name = `${what.name.replace(/[^\p{L}\p{N}.-]+/gu, '-')}.${kind}`;
  if (kind === 'svg') offer(name, new Blob([what.svg()], { type: 'image/svg+xml' }));
  else if (kind === 'png') offer(name, await pngOf(what.svg()));
  else if (kind === 'csv') offer(name, new Blob([what.csv()], { type: 'text/csv' }));
  else offer(name, new Blob([JSON.stringify(what.json(), null, 2)], { type: 'application/json' }));
}

export const saveText = (name: string, text: string): void => offer(name, new Blob([text], { type: 'text/plain' }));
