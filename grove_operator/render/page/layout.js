// Where everything stands. Levels are known, so no search is needed: each level is a column, each gang a lane across its columns,
// and lanes that would make the picture too tall go on beside it, as text does in a newspaper. Linear in objects.

const CARD = { width: 208, height: 44 };
const GAP = { row: 10, subcolumn: 12, column: 56, lane: 18, block: 90, inside: 14 };
const TITLE = 30; // of a gang
const HEADER = 30; // of a block
const FEW_ROWS = 8; // up to so many objects of a level stand in one column
const UNBROKEN = 1.1; // a single block may be shown this much smaller than several would be
const natural = new Intl.Collator("en", { numeric: true });

/**
 * Places the objects that `shown` (one flag an object) has. Returns left and top edges `x` and `y` (NaN where not shown), the boxes of
 * gangs, the columns with their headers, and the size of it all. `aspect` is the width by the height of what it is shown on.
 */
function layOut(graph, shown, aspect) {
  const { loose, gangs } = lanesOf(graph, shown);
  const place = { x: new Float64Array(graph.nodes.length).fill(NaN), y: new Float64Array(graph.nodes.length).fill(NaN), boxes: [], columns: [] };
  const all = loose ? [loose, ...gangs] : gangs;
  const single = [stack(all)];
  const several = gangs.length > 1 ? newspaper(loose, gangs, aspect) : single;
  const blocks = size(single, aspect) * UNBROKEN >= size(several, aspect) ? single : several;
  if (blocks === single && loose) measure(loose);
  let left = 0;
  for (const block of blocks) {
    put(block, left, place);
    left += block.width + GAP.block;
  }
  return { ...place, width: Math.max(0, left - GAP.block), height: Math.max(0, ...blocks.map((block) => block.height)) };
}

/** A lane for each gang, and one for what is in none. Gangs of one form stand together, then in the order of their names. */
function lanesOf(graph, shown) {
  const lanes = new Map();
  for (const node of graph.nodes) {
    if (!shown[node.index]) continue;
    if (!lanes.has(node.gang)) lanes.set(node.gang, { gang: node.gang, cells: new Map() });
    const cells = lanes.get(node.gang).cells;
    if (!cells.has(node.level)) cells.set(node.level, []);
    cells.get(node.level).push(node.index);
  }
  const loose = lanes.get(-1);
  lanes.delete(-1);
  const name = (lane) => graph.nodes[lane.gang].name;
  for (const lane of lanes.values()) {
    lane.form = [...lane.cells.keys()].sort((one, other) => one - other).join();
    measure(lane);
  }
  const gangs = [...lanes.values()].sort((one, other) => natural.compare(one.form, other.form) || natural.compare(name(one), name(other)));
  if (loose) measure(loose);
  return { loose, gangs };
}

/** How many rows a lane gets: as many as its fullest level needs, until wrapping makes it squarer. */
function measure(lane, least = FEW_ROWS) {
  const fullest = Math.max(...[...lane.cells.values()].map((cell) => cell.length));
  lane.rows = Math.min(fullest, Math.max(least, FEW_ROWS, Math.ceil(Math.sqrt(4 * fullest))));
  const inside = lane.rows * (CARD.height + GAP.row) - GAP.row;
  lane.height = lane.gang < 0 ? inside : inside + TITLE + GAP.inside;
}

/** One block: lanes below each other, their levels in the same columns. */
function stack(lanes) {
  const wide = new Map();
  for (const lane of lanes) {
    for (const [level, cell] of lane.cells) wide.set(level, Math.max(wide.get(level) ?? 1, Math.ceil(cell.length / lane.rows)));
  }
  const columns = [];
  let left = GAP.inside;
  for (const level of [...wide.keys()].sort((one, other) => one - other)) {
    const width = wide.get(level) * (CARD.width + GAP.subcolumn) - GAP.subcolumn;
    columns.push({ level, left, width });
    left += width + GAP.column;
  }
  const height = HEADER + lanes.reduce((sum, lane) => sum + lane.height + GAP.lane, 0);
  return { lanes, columns, width: left - GAP.column + GAP.inside, height };
}

/** How large the blocks, side by side, can be shown. */
function size(blocks, aspect) {
  const width = blocks.reduce((sum, block) => sum + block.width + GAP.block, -GAP.block);
  return Math.min(aspect / width, 1 / Math.max(...blocks.map((block) => block.height)));
}

/** What is in no gang first, then gangs in as many blocks as let the whole be shown largest. */
function newspaper(loose, gangs, aspect) {
  let best = split(loose, gangs, 1);
  for (let count = 2; count <= gangs.length; count++) {
    const blocks = split(loose, gangs, count);
    if (size(blocks, aspect) < size(best, aspect)) break; // from here on it only gets wider
    best = blocks;
  }
  return best;
}

function split(loose, gangs, count) {
  const room = gangs.reduce((sum, lane) => sum + lane.height + GAP.lane, 0) / count;
  const blocks = [];
  if (loose) {
    measure(loose, Math.floor(room / (CARD.height + GAP.row)));
    blocks.push(stack([loose]));
  }
  const heights = new Map();
  for (const lane of gangs) heights.set(lane.form, (heights.get(lane.form) ?? 0) + lane.height + GAP.lane);
  let lanes = [], used = 0;
  for (const lane of gangs) {
    const other = count > 1 && lanes.length && lanes[0].form !== lane.form && heights.get(lane.form) > room; // worth columns of its own
    if (other || (lanes.length && used + lane.height / 2 > room)) {
      blocks.push(stack(lanes));
      [lanes, used] = [[], 0];
    }
    lanes.push(lane);
    used += lane.height + GAP.lane;
  }
  return lanes.length ? [...blocks, stack(lanes)] : blocks;
}

/** Writes the places of a block's objects, boxes and columns, `left` from the left. */
function put(block, left, place) {
  const tops = new Map(block.columns.map((column) => [column.level, column]));
  for (const { level, left: x, width } of block.columns) place.columns.push({ level, x: left + x, width, height: block.height });
  let top = HEADER;
  for (const lane of block.lanes) {
    const inGang = lane.gang >= 0;
    if (inGang) place.boxes.push(boxOf(lane, tops, left, top));
    for (const [level, cell] of lane.cells) {
      const x = left + tops.get(level).left, y = top + (inGang ? TITLE : 0);
      cell.forEach((index, number) => {
        place.x[index] = x + Math.floor(number / lane.rows) * (CARD.width + GAP.subcolumn);
        place.y[index] = y + (number % lane.rows) * (CARD.height + GAP.row);
      });
    }
    top += lane.height + GAP.lane;
  }
}

function boxOf(lane, columns, left, top) {
  const used = [...lane.cells.keys()].map((level) => columns.get(level));
  const start = Math.min(...used.map((column) => column.left));
  const end = Math.max(...used.map((column) => column.left + column.width));
  return { gang: lane.gang, x: left + start - GAP.inside, y: top, width: end - start + 2 * GAP.inside, height: lane.height };
}
