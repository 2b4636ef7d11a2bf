// Draws the picture. Only what is seen is drawn, and from afar without what could not be read.

const TEXT_SCALE = 0.27; // names are drawn from here on
const KIND_SCALE = 0.65; // and kinds from here on
const LINE_SCALE = 0.06;
const MOST_MOVING_LINES = 600; // more lines than this wait until the view rests
const REST_MS = 120;
const KIND_FONT = "10px system-ui, sans-serif";
const NAME_SIZE = 12;
const SMALLEST_TEXT = 9; // on the screen; names and titles grow in the picture as it shrinks
const FAINT = 0.32;
const FAR_STRIPE = 64; // the width of a domain's stripe from afar
const NEAR_STRIPE = 9;

class Painter {
  /** `state` holds graph, layout, colours, lines, selected, hovered, lit (a Set or null), matches (a Set or null), owners and order. */
  constructor(canvas, viewport, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.viewport = viewport;
    this.state = state;
    this.names = new Map();
    this.frame = 0;
    this.moving = false;
  }

  request() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The view moves: as `request`, but what is slow to draw waits until it rests. */
  move() {
    clearTimeout(this.rest);
    this.moving = true;
    this.rest = setTimeout(() => {
      this.moving = false;
      this.request();
    }, REST_MS);
    this.request();
  }

  draw() {
    const { context, viewport, state } = this;
    const ratio = devicePixelRatio || 1;
    const width = Math.round(viewport.width * ratio), height = Math.round(viewport.height * ratio);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = state.colours.paper;
    context.fillRect(0, 0, width, height);
    context.setTransform(viewport.scale * ratio, 0, 0, viewport.scale * ratio, viewport.x * ratio, viewport.y * ratio);
    this.window = viewport.window;
    const size = Math.max(NAME_SIZE, Math.round(SMALLEST_TEXT / viewport.scale));
    this.nameFont = `${size}px system-ui, sans-serif`;
    this.titleFont = `600 ${Math.min(size, TITLE - 6)}px system-ui, sans-serif`;
    this.columns();
    this.boxes();
    this.edges();
    this.cards();
    this.selectedEdges();
  }

  sees(x, y, width, height) {
    const [left, top, right, bottom] = this.window;
    return x < right && y < bottom && x + width > left && y + height > top;
  }

  columns() {
    const { context, state } = this;
    for (const column of state.layout.columns) {
      if (!this.sees(column.x - 8, 0, column.width + 16, column.height)) continue;
      context.fillStyle = state.colours.band;
      context.fillRect(column.x - 8, 0, column.width + 16, column.height);
      if (this.viewport.scale < TEXT_SCALE) continue;
      context.fillStyle = state.colours.muted;
      context.font = this.titleFont;
      context.textBaseline = "middle";
      context.fillText(levelName(column.level), column.x, HEADER / 2);
      context.textBaseline = "alphabetic";
    }
  }

  boxes() {
    const { context, state } = this;
    for (const box of state.layout.boxes) {
      if (!this.sees(box.x, box.y, box.width, box.height)) continue;
      const gang = state.graph.nodes[box.gang];
      const domain = gang.domains.find((each) => each.scope === "gang");
      context.globalAlpha = state.lit && !state.lit.has(box.gang) ? 0.5 : 1;
      this.box(box, domain);
      if (this.viewport.scale >= TEXT_SCALE) this.title(box, gang, domain);
    }
    context.globalAlpha = 1;
  }

  box(box, domain) {
    const { context, state } = this;
    const alpha = context.globalAlpha;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 10);
    context.fillStyle = state.colours.gang;
    context.fill();
    if (domain) {
      context.fillStyle = state.colours[domain.colour];
      context.globalAlpha = alpha * 0.12;
      context.fill();
      context.globalAlpha = alpha;
    }
    context.strokeStyle = domain ? state.colours[domain.colour] : state.colours["gang-edge"];
    context.lineWidth = domain ? 2 : 1.25;
    context.stroke();
  }

  title(box, gang, domain) {
    const { context, state } = this;
    context.fillStyle = state.colours.ink;
    const text = this.shortened(`gang ${gang.name}`, box.width - 28, this.titleFont);
    context.font = this.titleFont;
    context.textBaseline = "middle";
    context.fillText(text, box.x + 14, box.y + TITLE / 2 + 1);
    context.textBaseline = "alphabetic";
    if (!domain || this.viewport.scale < KIND_SCALE) return;
    const used = context.measureText(text).width + 28;
    context.font = KIND_FONT;
    context.fillStyle = state.colours.muted;
    if (box.width - used > 60) context.fillText(this.shortened(describeDomain(domain), box.width - used - 8, KIND_FONT), box.x + used, box.y + TITLE / 2 + 5);
  }

  edges() {
    if (this.viewport.scale < LINE_SCALE) return;
    const { state } = this;
    const faint = state.lit ? 0.35 : 1;
    if (state.owners) this.lines(state.lines.owner, [], 0.55 * faint);
    if (state.order) this.lines(state.lines.after, [5, 4], 0.75 * faint);
  }

  lines(lines, dash, alpha) {
    const { context, state } = this;
    const [left, top, right, bottom] = this.window;
    let count = 0;
    context.beginPath();
    for (let at = 0; at < lines.length; at += 4) {
      const x1 = lines[at], y1 = lines[at + 1], x2 = lines[at + 2], y2 = lines[at + 3];
      if (Math.max(x1, x2) + 60 < left || Math.min(x1, x2) - 60 > right || Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
      curve(context, x1, y1, x2, y2);
      count++;
    }
    if (this.moving && count > MOST_MOVING_LINES) return;
    context.setLineDash(this.viewport.scale < TEXT_SCALE ? [] : dash);
    context.globalAlpha = alpha;
    context.strokeStyle = state.colours.line;
    context.lineWidth = 1.2;
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  selectedEdges() {
    const { context, state } = this;
    const focus = state.selected >= 0 ? state.selected : state.hovered;
    if (focus < 0 || !state.shown[focus]) return;
    const node = state.graph.nodes[focus];
    for (const [type, dash] of [["owner", []], ["after", [6, 4]]]) {
      context.beginPath();
      for (const edge of [...node.into, ...node.outOf]) {
        if (edge.type === type) routeEdge(edge, state.layout, focus, (...line) => curve(context, ...line));
      }
      context.setLineDash(dash);
      context.strokeStyle = state.colours.accent;
      context.lineWidth = Math.max(1.6, 1 / this.viewport.scale);
      context.stroke();
    }
    context.setLineDash([]);
  }

  cards() {
    const seen = [];
    const { x, y } = this.state.layout;
    const [left, top, right, bottom] = this.window;
    for (let index = 0; index < x.length; index++) {
      if (x[index] < right && x[index] + CARD.width > left && y[index] < bottom && y[index] + CARD.height > top) seen.push(index);
    }
    if (this.viewport.scale < TEXT_SCALE) this.blocks(seen);
    else for (const index of seen) this.card(index);
    if (this.viewport.scale < TEXT_SCALE) for (const index of seen) if (this.isSpecial(index)) this.ring(index);
  }

  alpha(index) {
    const { lit } = this.state;
    return lit && !lit.has(index) && index !== this.state.hovered ? FAINT : 1;
  }

  isSpecial(index) {
    const { selected, hovered, matches } = this.state;
    return index === selected || index === hovered || (matches !== null && matches.has(index));
  }

  /** From afar: one path for each colour. */
  blocks(seen) {
    const { context, state } = this;
    const paths = new Map();
    for (const index of seen) {
      const key = `${kindVariable(state.graph.nodes[index].kind)} ${this.alpha(index)}`;
      if (!paths.has(key)) paths.set(key, new Path2D());
      paths.get(key).rect(state.layout.x[index], state.layout.y[index], CARD.width, CARD.height);
    }
    for (const [key, path] of paths) {
      const [name, alpha] = key.split(" ");
      context.fillStyle = state.colours[name];
      context.globalAlpha = Number(alpha) * 0.75;
      context.fill(path);
    }
    for (const index of seen) {
      context.globalAlpha = this.alpha(index);
      this.stripe(index);
    }
    context.globalAlpha = 1;
  }

  card(index) {
    const { context, state } = this;
    const node = state.graph.nodes[index], x = state.layout.x[index], y = state.layout.y[index];
    context.globalAlpha = this.alpha(index);
    context.fillStyle = state.colours.card;
    context.strokeStyle = state.colours.edge;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(x, y, CARD.width, CARD.height, 6);
    context.fill();
    context.stroke();
    context.fillStyle = state.colours[kindVariable(node.kind)];
    context.beginPath();
    context.roundRect(x, y, 5, CARD.height, [6, 0, 0, 6]);
    context.fill();
    this.stripe(index);
    this.text(node, x, y);
    if (this.isSpecial(index)) this.ring(index);
    context.globalAlpha = 1;
  }

  text(node, x, y) {
    const { context, state } = this;
    const withKind = this.viewport.scale >= KIND_SCALE;
    context.fillStyle = state.colours.ink;
    const name = this.shortened(node.name, CARD.width - 30, this.nameFont);
    context.font = this.nameFont;
    context.textBaseline = withKind ? "alphabetic" : "middle";
    context.fillText(name, x + 13, y + (withKind ? 33 : CARD.height / 2 + 1));
    context.textBaseline = "alphabetic";
    if (!withKind) return;
    context.font = KIND_FONT;
    context.fillStyle = state.colours.muted;
    context.fillText(node.kind, x + 13, y + 16);
    let right = x + CARD.width - 20;
    for (const domain of node.domains) {
      if (domain.type !== "topology" || domain.scope === "gang") continue; // the gang's own is the colour of its box
      context.fillStyle = state.colours[domain.colour];
      context.fillRect(right, y + 8, 8, 8);
      right -= 11;
    }
  }

  /** The MNNVL domain of an object: a stripe at its right edge. */
  stripe(index) {
    const { context, state } = this;
    const domain = state.graph.nodes[index].domains.find((each) => each.type === "mnnvl");
    if (!domain) return;
    context.fillStyle = state.colours[domain.colour];
    const width = this.viewport.scale < TEXT_SCALE ? FAR_STRIPE : NEAR_STRIPE;
    context.fillRect(state.layout.x[index] + CARD.width - width, state.layout.y[index], width, CARD.height);
  }

  ring(index) {
    const { context, state } = this;
    const strong = index === state.selected;
    context.beginPath();
    context.roundRect(state.layout.x[index] - 2, state.layout.y[index] - 2, CARD.width + 4, CARD.height + 4, 8);
    context.strokeStyle = state.colours.accent;
    context.lineWidth = Math.max(strong ? 3 : 1.5, (strong ? 2.5 : 1.5) / this.viewport.scale);
    context.stroke();
  }

  /** The text with its middle left out where it is wider than `width`: both ends of a name tell it from others. */
  shortened(text, width, font) {
    const key = `${font}\n${Math.round(width)}\n${text}`;
    let short = this.names.get(key);
    if (short === undefined) {
      this.context.font = font;
      short = elide(text, (part) => this.context.measureText(part).width <= width);
      this.names.set(key, short);
    }
    return short;
  }
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
