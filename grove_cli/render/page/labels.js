// Texts that stay readable: as large on the screen as they must be, and as short as they then have to be.

const FONT = "system-ui, sans-serif";
const NAME_SIZE = 12; // in the picture
const TITLE_SIZE = 14; // of a folded gang
const SMALLEST_TEXT = 10; // on the screen; texts grow in the picture as it shrinks
const UNREADABLE = 5; // on the screen; what would be smaller is not drawn
const LINE = 1.28; // the height of a line by the size of its text

/** The size that a text needs at a scale, in the picture. */
function sizeAt(scale, size = NAME_SIZE, smallest = SMALLEST_TEXT) {
  return Math.max(size, Math.ceil(smallest / scale));
}

class Labels {
  constructor(context) {
    this.context = context;
    this.known = new Map();
  }

  /** The first of the texts, from long to short, that fits the width; of the last as much as fits, without its middle. */
  fit(texts, width, font) {
    const key = `${font}\n${Math.round(width)}\n${texts.join("\n")}`;
    let found = this.known.get(key);
    if (found === undefined) {
      this.context.font = font;
      const fits = (text) => this.context.measureText(text).width <= width;
      found = texts.find(fits) ?? elide(texts.at(-1), fits);
      this.known.set(key, found);
    }
    return found;
  }
}

/** A name, and the same without what it shares with its neighbours. */
function namesOf(name, prefix) {
  const short = prefix && name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return short ? [name, `…${short}`] : [name];
}

/** The longest `start…end` of the text that `fits`. */
function elide(text, fits) {
  if (fits(text)) return text;
  const characters = Array.from(text);
  let low = 0, high = characters.length;
  const cut = (kept) => `${characters.slice(0, Math.ceil(kept / 2)).join("")}…${characters.slice(characters.length - Math.floor(kept / 2)).join("")}`;
  while (low < high) {
    const kept = (low + high + 1) >> 1;
    if (fits(cut(kept))) low = kept;
    else high = kept - 1;
  }
  return cut(low);
}

/** What a folded gang, or a run of them, says: lines, the most important first, each as texts from long to short. */
function gangLines(item, graph) {
  const gangs = item.gangs.map((index) => graph.nodes[index]);
  const sum = (key) => gangs.reduce((total, gang) => total + (gang.size?.[key] ?? 0), 0);
  const [pods, gpus] = [counted(sum("pods"), "pod"), sum("gpus") ? counted(sum("gpus"), "GPU") : ""];
  const states = [...new Set(gangs.map((gang) => gang.state).filter(Boolean))].join(", ");
  const numbers = [pods, gpus].filter(Boolean).join(" · ");
  if (item.type === "gangs") {
    const many = counted(gangs.length, "gang");
    return [gangsOf(gangs, item.prefix), [`${many} · ${numbers}`, `${many} · ${pods}`, many], [states]];
  }
  const constraint = constraintOf(gangs[0]);
  const about = [[states, constraint], [states, constraint.split(",")[0]]].map((parts) => parts.filter(Boolean).join(" · "));
  return [namesOf(gangs[0].name, item.prefix), [`${counted(sum("cliques"), "clique")} · ${numbers}`, numbers, pods], about];
}

/** `demo-0-model-0 to 9`, or `demo-(0 to 9)-model-0` for gangs whose names all end alike. */
function gangsOf(gangs, prefix) {
  const pieces = gangs.map(({ name }) => name.split("-"));
  const [first, last] = [pieces[0], pieces.at(-1)];
  const at = first.findIndex((piece, number) => piece !== last[number]);
  const rest = first.slice(at + 1).join("-");
  if (!rest || pieces.some((one) => one.slice(at + 1).join("-") !== rest)) return rangeOf(gangs, prefix);
  return namesOf([...first.slice(0, at), `(${first[at]} to ${last[at]})`, rest].join("-"), prefix);
}

/** `demo-0-model-0 to 9`; the last name in full where it differs in more than its end. */
function rangeOf(nodes, prefix) {
  const [first, last] = [nodes[0].name, nodes.at(-1).name];
  const shared = commonPrefix([first, last]);
  const end = last.slice(shared.length);
  return namesOf(first, prefix).map((name) => `${name} to ${end}`);
}

/** The constraint of a gang as a whole in few words: `rack required`; the last part of a label's key names it. */
function constraintOf(gang) {
  const domain = gang.domains.find((each) => each.scope === "gang");
  return domain ? describeDomain(domain).replace(/[^\s,]*\//g, "") : "";
}
