// The lines between cards. Many to many goes by way of a knot, so that m × n pairs need m + n lines.

/** Calls `line(x1, y1, x2, y2)` for every line of an edge; `only` is a card whose lines alone are wanted, or -1. */
function routeEdge(edge, layout, only, line) {
  const cards = (indices) => [...new Set(indices.map((index) => layout.of[index]).filter((number) => number >= 0))];
  let sources = cards(edge.sources), targets = cards(edge.targets);
  if (sources.includes(only)) sources = [only];
  else if (targets.includes(only)) targets = [only];
  else if (only >= 0) return;
  targets = targets.filter((number) => !(sources.length === 1 && sources[0] === number)); // within a folded gang
  if (!sources.length || !targets.length) return;
  const { items } = layout;
  const right = (number) => items[number].x + items[number].width, middle = (number) => items[number].y + items[number].height / 2;
  if (sources.length === 1 || targets.length === 1) {
    for (const source of sources) for (const target of targets) if (source !== target) line(right(source), middle(source), items[target].x, middle(target));
    return;
  }
  const last = Math.max(...sources.map(right)), first = Math.min(...targets.map((target) => items[target].x));
  const x = last < first ? first - Math.min(GAP.column / 3, (first - last) / 2) : last + GAP.column / 3;
  const mean = (list) => list.reduce((sum, number) => sum + middle(number), 0) / list.length;
  const y = (mean(sources) + mean(targets)) / 2;
  for (const source of sources) line(right(source), middle(source), x, y);
  for (const target of targets) line(x, y, items[target].x, middle(target));
}

/** Adds one line as a curve that leaves and arrives level. */
function curve(context, x1, y1, x2, y2) {
  const reach = x2 > x1 ? Math.min(80, (x2 - x1) / 2) : 60;
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + reach, y1, x2 - reach, y2, x2, y2);
}

/** The lines of all edges of one type, from left to right, each with the rectangle it stays in: x1, y1, x2, y2 in a row, each once. */
function collectLines(edges, layout) {
  const lines = new Map();
  for (const edge of edges) routeEdge(edge, layout, -1, (...line) => lines.set(line.join(), line));
  return Float64Array.from([...lines.values()].flat());
}

/** Calls `arrow(source, target)`, two cards, for each pair of cards of which one starts after the other. */
function startupArrows(edges, layout, arrow) {
  const seen = new Set();
  for (const edge of edges) {
    for (const source of edge.sources.map((index) => layout.of[index])) {
      for (const target of edge.targets.map((index) => layout.of[index])) {
        const key = `${source} ${target}`;
        if (source < 0 || target < 0 || source === target || seen.has(key)) continue;
        seen.add(key);
        arrow(layout.items[source], layout.items[target]);
      }
    }
  }
}
