// Where everything stands. Levels are known, so no search is needed: each level is a column, and each gang a lane across its columns.
// Where lanes below each other would be too small to read, each gang gets columns of its own, and gangs follow each other in rows, as
// words do. Linear in cards.

const CARD = { width: 208, height: 52 };
const FOLDED = { width: 236, height: 76 }; // the card of a gang
const GAP = { row: 10, subcolumn: 12, column: 56, lane: 18, block: 90, inside: 14 };
const TITLE = 30; // of a gang
const HEADER = 30; // of a block
const FEW_ROWS = 8; // up to so many objects of a level stand in one column
const WIDTHS = 24; // so many widths are tried for the rows of gangs

/**
 * Places the objects that `shown` (one flag an object) has. Returns the cards with their places, for each object the card that it is
 * on (`of`; -1 where not shown), the boxes of open gangs, the columns with their headers, and the size of it all. `aspect` is the width
 * by the height of what it is shown on.
 */
function layOut(graph, shown, aspect, folds) {
  const { loose, gangs } = lanesOf(graph, shown, folds);
  const place = { items: [], boxes: [], sets: [], columns: [], width: 0, height: 0 };
  const parts = foldGangs(gangs, graph, folds, commonPrefix(gangs.map((lane) => graph.nodes[lane.gang].name)));
  if (folds.way.aligned && parts.every((part) => part.lane)) putBlock(stack(loose ? [loose, ...gangs] : gangs, true), 0, 0, place);
  else putRows(loose && stack([loose], true), cellsOf(parts, graph), aspect, place);
  place.of = new Int32Array(graph.nodes.length).fill(-1);
  place.items.forEach((item, number) => {
    for (const index of item.members) place.of[index] = number;
  });
  return place;
}

/**
 * A lane for each gang, and one for what is in none. Gangs of a set stand together, in the order of their names, which is that of replicas;
 * where neighbours are drawn as one card, those of one form first.
 */
function lanesOf(graph, shown, folds) {
  const lanes = new Map();
  for (const node of graph.nodes) {
    if (!shown[node.index]) continue;
    if (!lanes.has(node.gang)) lanes.set(node.gang, { gang: node.gang, levels: new Map(), members: [] });
    const lane = lanes.get(node.gang);
    lane.members.push(node.index);
    if (!lane.levels.has(node.level)) lane.levels.set(node.level, []);
    lane.levels.get(node.level).push(node.index);
  }
  for (const lane of lanes.values()) {
    lane.form = [...lane.levels.keys()].sort((one, other) => one - other).join();
    lane.prefix = commonPrefix(lane.members.map((index) => graph.nodes[index].name));
    if (lane.gang >= 0 && !folds.isOpen(gangKey(lane.gang))) continue; // nobody asks what is inside
    lane.cells = new Map([...lane.levels].map(([level, indices]) => [level, cardsOf(indices, lane, graph, folds)]));
    measure(lane);
  }
  const loose = lanes.get(-1);
  lanes.delete(-1);
  const byForm = folds.way.run > 1;
  const keys = ({ gang, form }) => [setOf(graph, gang), byForm ? form : "", graph.nodes[gang].name];
  const gangs = [...lanes.values()].map((lane) => ({ lane, keys: keys(lane) }));
  gangs.sort((one, other) => one.keys.reduce((order, key, at) => order || natural.compare(key, other.keys[at]), 0));
  return { loose, gangs: gangs.map(({ lane }) => lane) };
}

/** What a gang's set is called, with its namespace; empty for a gang of none. */
function setOf(graph, gang) {
  const owner = graph.nodes[graph.nodes[gang].owner];
  return owner ? `${owner.namespace}/${owner.name}` : "";
}

/** How many rows a lane gets: as many as its fullest level needs, until wrapping makes it squarer. */
function measure(lane) {
  const fullest = Math.max(...[...lane.cells.values()].map((cell) => cell.length));
  lane.rows = Math.min(fullest, Math.max(FEW_ROWS, Math.ceil(Math.sqrt(4 * fullest))));
  const inside = lane.rows * (CARD.height + GAP.row) - GAP.row;
  lane.height = lane.gang < 0 ? inside : inside + TITLE + GAP.inside;
}

/** Lanes below each other, their levels in the same columns; `header` is room for the names of the levels. */
function stack(lanes, header) {
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
  const height = (header ? HEADER : 0) + lanes.reduce((sum, lane) => sum + lane.height + GAP.lane, 0);
  return { lanes, columns, header, width: left - GAP.column + GAP.inside, height };
}

/** The gangs of each set as cells; where there are several sets, `set` is each one's position. */
function cellsOf(parts, graph) {
  const groups = new Map();
  for (const { lane, card } of parts) {
    const { owner } = graph.nodes[lane ? lane.gang : card.index];
    if (!groups.has(owner)) groups.set(owner, { set: owner, cells: [] });
    groups.get(owner).cells.push(card ? { card, ...FOLDED } : blockCell(stack([lane], false)));
  }
  const found = [...groups.values()];
  return found.length > 1 ? found : found.map((group) => ({ ...group, set: -1 }));
}

/** What is in no gang, and beside it the gangs in rows of the width with which the whole is shown largest. */
function putRows(loose, groups, aspect, place) {
  const start = loose ? loose.width + GAP.block : 0;
  const cells = groups.flatMap((group) => group.cells);
  const widest = Math.max(0, ...cells.map((cell) => cell.width));
  const all = cells.reduce((sum, cell) => sum + cell.width + GAP.lane, -GAP.lane);
  let best = null;
  for (let number = 0; number <= WIDTHS && cells.length; number++) {
    const rows = breakGroups(groups, widest + (all - widest) * (number / WIDTHS) ** 2); // narrow ones matter most
    const [width, height] = [start + rows.width, Math.max(rows.height, loose?.height ?? 0)];
    const scale = Math.min(aspect / width, 1 / height);
    if (!best || scale > best.scale) best = { ...rows, scale };
  }
  if (loose) putBlock(loose, 0, 0, place);
  for (const { cell: group, left, top } of best?.places ?? []) putGroup(group, start + left, top, place);
}

/** Breaks the cells of each set into rows, and then the sets. */
function breakGroups(groups, width) {
  const framed = groups.map(({ set, cells }) => {
    const rows = breakRows(cells, width);
    const [inside, title] = set < 0 ? [0, 0] : [GAP.inside, TITLE];
    return { set, places: rows.places, inside, title, width: rows.width + 2 * inside, height: rows.height + title + inside };
  });
  return breakRows(framed, width + 2 * (framed[0]?.inside ?? 0));
}

/** Writes the places of a set's gangs, and its frame where there are several sets. */
function putGroup({ set, places, inside, title, width, height }, x, y, place) {
  if (set >= 0) place.sets.push({ index: set, x, y, width, height });
  for (const { cell, left, top } of places) {
    const at = [x + inside + left, y + title + top];
    if (cell.card) place.items.push({ ...cell.card, x: at[0], y: at[1], ...FOLDED });
    else putBlock(cell.block, ...at, place);
  }
  grow(place, x + width, y + height);
}

function blockCell(block) {
  return { block, width: block.width, height: block.height - GAP.lane };
}

/** Breaks cells into rows no wider than `width`, and says where each stands. */
function breakRows(cells, width) {
  const places = [];
  let [left, top, tall, wide] = [0, 0, 0, 0];
  for (const cell of cells) {
    if (left > 0 && left + cell.width > width) [left, top, tall] = [0, top + tall + GAP.lane, 0];
    places.push({ cell, left, top });
    wide = Math.max(wide, left + cell.width);
    tall = Math.max(tall, cell.height);
    left += cell.width + GAP.lane;
  }
  return { places, width: wide, height: top + tall };
}

/** Writes the places of a block's objects, boxes and columns. */
function putBlock(block, left, above, place) {
  const tops = new Map(block.columns.map((column) => [column.level, column]));
  if (block.header) for (const { level, left: x, width } of block.columns) place.columns.push({ level, x: left + x, width, height: block.height });
  let top = above + (block.header ? HEADER : 0);
  for (const lane of block.lanes) {
    const inGang = lane.gang >= 0;
    if (inGang) place.boxes.push(boxOf(lane, tops, left, top));
    for (const [level, cell] of lane.cells) {
      const x = left + tops.get(level).left, y = top + (inGang ? TITLE : 0);
      cell.forEach((item, number) => {
        const across = Math.floor(number / lane.rows) * (CARD.width + GAP.subcolumn);
        place.items.push({ ...item, x: x + across, y: y + (number % lane.rows) * (CARD.height + GAP.row), ...CARD });
      });
    }
    top += lane.height + GAP.lane;
  }
  grow(place, left + block.width, above + block.height);
}

function boxOf(lane, columns, left, top) {
  const used = [...lane.cells.keys()].map((level) => columns.get(level));
  const start = Math.min(...used.map((column) => column.left));
  const end = Math.max(...used.map((column) => column.left + column.width));
  return { gang: lane.gang, x: left + start - GAP.inside, y: top, width: end - start + 2 * GAP.inside, height: lane.height };
}

function grow(place, right, bottom) {
  place.width = Math.max(place.width, right);
  place.height = Math.max(place.height, bottom);
}

/** The frames of topology constraints within gangs: around cards that follow each other in a column. Wider domains are further out. */
function framesOf(layout, graph) {
  const frames = [];
  for (const [scope, margin] of [["scaling group", 4.5], ["clique", 2]]) {
    for (const domain of graph.domains) {
      if (domain.type !== "topology" || domain.scope !== scope) continue;
      const cards = [...new Set(domain.members.map((index) => layout.of[index]))].filter((number) => layout.items[number]?.type === "object");
      let frame = null;
      for (const card of cards.map((number) => layout.items[number]).sort((one, other) => one.x - other.x || one.y - other.y)) {
        if (frame && card.x - margin === frame.x && card.y - (frame.y + frame.height - margin) <= GAP.row) frame.height = card.y + card.height + margin - frame.y;
        else frames.push((frame = { domain, x: card.x - margin, y: card.y - margin, width: card.width + 2 * margin, height: card.height + 2 * margin }));
      }
    }
  }
  return frames;
}
