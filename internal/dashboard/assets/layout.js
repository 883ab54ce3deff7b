// Where the nodes of the picture stand. Nodes that are bound to one leader stand in a
// circle, and the circles stand beside each other.

// sizes are those of the picture on wide and on narrow screens.
export const sizes = { wide: { width: 720, height: 430, across: 235, up: 140 }, narrow: { width: 420, height: 520, across: 150, up: 165 } };
const around = 62; // room of a circle beyond the middle of its nodes
const apart = 108; // the least distance of neighbours
const gap = 26; // between circles
const near = 48; // the least distance of a link from the middle of another node
export const bend = 11; // of a link that no node is in the way of

// places returns the place of each node as a map of {x, y}, for lists of nodes.
export function places(groups, { width, height, across, up }) {
  const out = new Map();
  if (groups.length === 1) {
    const n = groups[0].length;
    put(out, groups[0], width / 2, height / 2 + (n < 3 ? 0 : 22), n < 3 ? across / 2 : across, n < 3 ? 0 : up);
    return out;
  }
  const rows = [[]];
  let room = width - gap;
  for (const nodes of groups) {
    const r = radius(nodes.length), need = 2 * (r + around) + gap;
    if (need > room && rows.at(-1).length) { rows.push([]); room = width - gap; }
    rows.at(-1).push({ nodes, r });
    room -= need;
  }
  const tall = rows.map((row) => 2 * (Math.max(...row.map((c) => c.r)) + around));
  const wide = rows.map((row) => row.reduce((sum, c) => sum + 2 * (c.r + around) + gap, -gap));
  const sum = tall.reduce((a, b) => a + b, 0);
  // Circles may shrink in height if there are many, and grow if there is room.
  const k = Math.min(1.45, (width - 16) / Math.max(...wide), (height - 8) / sum), squeeze = Math.min(k, (height - 8) / sum);
  let y = (height - squeeze * sum) / 2 + 10;
  rows.forEach((row, i) => {
    let x = (width - wide[i] * k) / 2;
    for (const c of row) {
      const w = 2 * (c.r + around) * k;
      put(out, c.nodes, x + w / 2, y + squeeze * tall[i] / 2, c.r * k, c.r * squeeze);
      x += w + gap * k;
    }
    y += squeeze * tall[i];
  });
  return out;
}

const radius = (n) => n === 1 ? 0 : n === 2 ? 60 : apart / 2 / Math.sin(Math.PI / n);

function put(out, nodes, x, y, rx, ry) {
  const n = nodes.length;
  nodes.forEach((id, i) => {
    const angle = n === 2 ? Math.PI * (1 - i) : 2 * Math.PI * i / n - Math.PI / 2;
    out.set(id, n === 1 ? { x, y } : { x: x + rx * Math.cos(angle), y: y + ry * Math.sin(angle) });
  });
}

// hull returns the corners of the smallest convex shape around points.
export function hull(points) {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1 && turn(out.at(-2), out.at(-1), p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

const turn = (a, b, c) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

// outline returns the path of a hull, to be drawn with a wide round line.
export function outline(points) {
  const corners = hull(points);
  if (corners.length === 1) return `M${at(corners[0])}h.01`;
  return `M${corners.map(at).join("L")}${corners.length > 2 ? "Z" : ""}`;
}

const at = (p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;

// detour returns how far a link must bend so that it leads around a node near its way, to
// the side where the node is not; 0 if the node is not in its way. Where links have labels,
// it also leads around what is written at the node.
export function detour(a, b, node, labels) {
  const dx = b.x - a.x, dy = b.y - a.y, d = Math.hypot(dx, dy) || 1, x = node.x - a.x, y = node.y - a.y;
  const t = (x * dx + y * dy) / d / d, right = (y * dx - x * dy) / d;
  if (t < 0.1 || t > 0.9 || Math.abs(right) > near) return 0;
  const clear = labels ? 80 : near;
  return (right < 20 ? right + clear : right - clear - bend) / 2 / t / (1 - t);
}

// arrow returns the path of a link from one place to another, bent to the right, so that
// the two directions lie beside each other, and its middle.
export function arrow(a, b, clear, bend) {
  const dx = b.x - a.x, dy = b.y - a.y, d = Math.hypot(dx, dy) || 1;
  const ux = dx / d, uy = dy / d;
  const nx = -uy, ny = ux;
  const from = { x: a.x + ux * clear + nx * 5, y: a.y + uy * clear + ny * 5 };
  const to = { x: b.x - ux * (clear + 4) + nx * 5, y: b.y - uy * (clear + 4) + ny * 5 };
  const mid = { x: (from.x + to.x) / 2 + nx * bend, y: (from.y + to.y) / 2 + ny * bend };
  return { d: `M${at(from)}Q${at(mid)} ${at(to)}`, x: (from.x + to.x) / 4 + mid.x / 2, y: (from.y + to.y) / 4 + mid.y / 2, short: d < 2 * clear };
}
