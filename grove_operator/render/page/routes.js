// The lines between objects. Many to many goes by way of a knot, so that m × n pairs need m + n lines.

/** Calls `line(x1, y1, x2, y2)` for every line of an edge; `only` is an object whose lines alone are wanted, or -1. */
function routeEdge(edge, layout, only, line) {
  const placed = (index) => layout.x[index] === layout.x[index]; // not NaN
  let sources = edge.sources.filter(placed), targets = edge.targets.filter(placed);
  if (edge.sources.includes(only)) sources = sources.includes(only) ? [only] : [];
  else if (edge.targets.includes(only)) targets = targets.includes(only) ? [only] : [];
  if (!sources.length || !targets.length) return;
  const right = (index) => layout.x[index] + CARD.width, middle = (index) => layout.y[index] + CARD.height / 2;
  if (sources.length === 1 || targets.length === 1) {
    for (const source of sources) for (const target of targets) line(right(source), middle(source), layout.x[target], middle(target));
    return;
  }
  const last = Math.max(...sources.map(right)), first = Math.min(...targets.map((target) => layout.x[target]));
  const x = last < first ? first - Math.min(GAP.column / 3, (first - last) / 2) : last + GAP.column / 3;
  const mean = (list) => list.reduce((sum, index) => sum + middle(index), 0) / list.length;
  const y = (mean(sources) + mean(targets)) / 2;
  for (const source of sources) line(right(source), middle(source), x, y);
  for (const target of targets) line(x, y, layout.x[target], middle(target));
}

/** Adds one line as a curve that leaves and arrives level. */
function curve(context, x1, y1, x2, y2) {
  const reach = x2 > x1 ? Math.min(80, (x2 - x1) / 2) : 60;
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + reach, y1, x2 - reach, y2, x2, y2);
}

/** The lines of all edges of one type, from left to right, each with the rectangle it stays in: x1, y1, x2, y2 in a row. */
function collectLines(edges, layout) {
  const lines = [];
  for (const edge of edges) routeEdge(edge, layout, -1, (x1, y1, x2, y2) => lines.push(x1, y1, x2, y2));
  return Float64Array.from(lines);
}
