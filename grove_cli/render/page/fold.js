// What is drawn as one card: an object, a stack of objects that are alike, a folded gang, or a run of folded gangs.
//
// Whoever looks at three thousand objects wants to read names and numbers, not to see three thousand grey dots. So the picture is
// folded until its texts can be read, and everything that is folded opens on a click.

const MAX_LOOSE = 4; // so many objects that are alike and in no gang are drawn one by one in a folded picture
const MAX_IN_GANG = 8; // the same within a gang
const natural = new Intl.Collator("en", { numeric: true });

// From this scale on a card has room for two lines of SMALLEST_TEXT: name and numbers of a gang, kind and name of an object.
const TWO_LINES = 0.42;

/** The ways to fold, from open to most folded; `least` is the scale at which what they draw can still be read. */
const FOLDINGS = [
  { gangs: false, aligned: true, least: 0.5 },
  { gangs: false, aligned: false, least: 0.5 },
  ...[1, 10, 50].map((run) => ({ gangs: true, aligned: false, run, least: TWO_LINES })),
  ...[50, 250, 1000, 5000].map((run) => ({ gangs: true, aligned: false, run, across: true, least: TWO_LINES })),
];

class Folds {
  constructor() {
    this.way = FOLDINGS[0];
    this.opened = new Set(); // keys that people opened
    this.closed = new Set(); // and closed
  }

  start(way) {
    this.way = way;
    this.opened.clear();
    this.closed.clear();
  }

  isOpen(key) {
    return this.way.gangs ? this.opened.has(key) : !this.closed.has(key);
  }

  /** Takes over into another graph which gangs are open; what else was opened there folds again. */
  carry(before, after) {
    const at = new Map(after.nodes.map((node) => [node.id, node.index]));
    for (const keys of [this.opened, this.closed]) {
      const gangs = [...keys].map((key) => /^gang (\d+)$/.exec(key)).filter(Boolean);
      keys.clear();
      for (const [, index] of gangs) {
        const now = at.get(before.nodes[index].id);
        if (now !== undefined) keys.add(gangKey(now));
      }
    }
  }

  toggle(key) {
    const [from, to] = this.isOpen(key) ? [this.opened, this.closed] : [this.closed, this.opened];
    from.delete(key);
    to.add(key);
  }
}

function gangKey(index) {
  return `gang ${index}`;
}

/** One card for each of the objects, or for those of one kind and rule together where they are many and not opened. */
function cardsOf(indices, lane, graph, folds) {
  if (!folds.way.gangs) return indices.map((index) => objectCard(index, lane));
  const alike = new Map();
  for (const index of indices) {
    const { kind, rule, level } = graph.nodes[index];
    const key = `stack ${lane.gang} ${level} ${kind} ${rule}`;
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(index);
  }
  const most = lane.gang < 0 ? MAX_LOOSE : MAX_IN_GANG;
  return [...alike].flatMap(([key, members]) =>
    members.length <= most || folds.isOpen(key) ? members.map((index) => objectCard(index, lane)) : [{ type: "stack", key, index: members[0], members, prefix: lane.prefix }],
  );
}

function objectCard(index, lane) {
  return { type: "object", key: "", index, members: [index], prefix: lane.prefix };
}

/** Gangs in their order as cards and lanes: a lane for each that is open, a card for each that is not, or for a run of them. */
function foldGangs(lanes, graph, folds, prefix) {
  const parts = [];
  for (const run of runsOf(lanes, graph, folds)) {
    const key = `gangs ${run[0].gang} ${run.length}`;
    if (run.length > 1 && !folds.isOpen(key)) parts.push({ card: gangsCard(run, key, prefix) });
    else for (const lane of run) parts.push(folds.isOpen(gangKey(lane.gang)) ? { lane } : { card: gangCard(lane, prefix) });
  }
  return parts;
}

/**
 * Neighbours whose names differ in numbers alone, at most `run` of them together. They differ in one number, that of the set's replica or
 * that of the scaling group's, unless runs go `across` both.
 */
function runsOf(lanes, graph, folds) {
  const { run: most = 1, across = false } = folds.way;
  const runs = [];
  let first, differs; // the parts of the name that a run begins with, and where its second one differs
  for (const lane of lanes) {
    const { namespace, name } = graph.nodes[lane.gang];
    const parts = [namespace, ...name.split(/(\d+)/)]; // numbers have even positions
    const last = runs.at(-1);
    const found = last && last.length < most ? differencesOf(first, parts) : null;
    if (found && (across || (found.length === 1 && (last.length === 1 || found[0] === differs)))) {
      [differs] = found;
      last.push(lane);
    } else {
      first = parts;
      runs.push([lane]);
    }
  }
  return runs;
}

/** Where two names differ, in parts; null where they differ in more than numbers. */
function differencesOf(one, other) {
  if (one.length !== other.length) return null;
  const places = one.map((_, at) => at).filter((at) => one[at] !== other[at]);
  return places.every((at) => at > 0 && at % 2 === 0) ? places : null;
}

function gangCard(lane, prefix) {
  return { type: "gang", key: gangKey(lane.gang), index: lane.gang, members: lane.members, gangs: [lane.gang], prefix };
}

function gangsCard(run, key, prefix) {
  return { type: "gangs", key, index: run[0].gang, members: run.flatMap((lane) => lane.members), gangs: run.map((lane) => lane.gang), prefix };
}

/** Everything that has to be opened before an object has a card of its own. */
function openingsOf(item, index, graph) {
  const node = graph.nodes[index];
  const keys = new Set(item && item.type !== "object" ? [item.key] : []);
  if (node.gang >= 0 && node.gang !== index) keys.add(gangKey(node.gang));
  return [...keys];
}

/** What the names begin with, up to a dash; empty for one name alone. */
function commonPrefix(names) {
  if (names.length < 2) return "";
  let [first] = names;
  for (const name of names) while (!name.startsWith(first)) first = first.slice(0, -1);
  return first.slice(0, first.lastIndexOf("-") + 1);
}
