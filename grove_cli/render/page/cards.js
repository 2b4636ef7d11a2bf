// Draws one card: an object, a stack of objects, a folded gang or a run of them.

const TEXT_SCALE = 0.24; // objects have names from here on
const NUMBER_SCALE = 0.55; // the numbers of MNNVL domains
const KIND_SCALE = 0.65; // and kinds from here on
const FAINT = 0.32;
const BAR = 5; // the width of the bar that says the kind
const FAR_STRIPE = 64; // the width of a domain's stripe from afar
const NEAR_STRIPE = 7;
const KIND_FONT = `10px ${FONT}`;

class Cards {
  /** `view` has the scale. `state` holds graph, layout and colours. */
  constructor(context, view, state, labels) {
    Object.assign(this, { context, view, state, labels });
  }

  draw(item, alpha) {
    const { context, state } = this;
    context.globalAlpha = alpha;
    if (item.type === "stack" || item.type === "gangs") for (const shift of [6, 3]) this.sheet(item, shift);
    this.sheet(item, 0);
    const node = state.graph.nodes[item.index];
    context.fillStyle = state.colours[kindVariable(node.kind)];
    context.beginPath();
    context.roundRect(item.x, item.y, BAR, item.height, [6, 0, 0, 6]);
    context.fill();
    const right = this.stripe(item);
    if (item.gangs) this.gang(item, right);
    else this.object(item, node, right);
    context.globalAlpha = 1;
  }

  sheet(item, shift) {
    const { context, state } = this;
    const domain = item.gangs && state.graph.nodes[item.index].domains.find((each) => each.scope === "gang");
    context.beginPath();
    context.roundRect(item.x + shift, item.y + shift, item.width, item.height, 6);
    context.fillStyle = state.colours.card;
    context.fill();
    if (domain) {
      const alpha = context.globalAlpha;
      context.fillStyle = state.colours[domain.colour];
      context.globalAlpha = alpha * 0.12;
      context.fill();
      context.globalAlpha = alpha;
    }
    context.strokeStyle = domain ? state.colours[domain.colour] : item.gangs ? state.colours["gang-edge"] : state.colours.edge;
    context.lineWidth = domain ? 1.5 : 1;
    context.stroke();
  }

  /** The MNNVL domain of a card as a stripe at its right edge with its number beside it. Returns the room that it takes. */
  stripe(item) {
    const { context, state } = this;
    const domains = this.domainsOf(item);
    if (domains.size !== 1) return 0;
    const [domain] = domains;
    const far = this.view.scale < TEXT_SCALE && !item.gangs;
    const width = far ? FAR_STRIPE : NEAR_STRIPE;
    context.fillStyle = state.colours[domain.colour];
    context.fillRect(item.x + item.width - width, item.y, width, item.height);
    if (far || this.view.scale < NUMBER_SCALE) return width + 4;
    context.fillStyle = state.colours.muted;
    context.font = `${Math.min(15, sizeAt(this.view.scale, 10))}px ${FONT}`;
    const text = String(domain.number), taken = context.measureText(text).width + width + 4;
    context.fillText(text, item.x + item.width - taken, item.y + 15);
    return width + 4;
  }

  /** The MNNVL domains of all that is on a card; looked for once. */
  domainsOf(item) {
    item.mnnvl ??= new Set(item.members.flatMap((index) => this.state.graph.nodes[index].domains.filter((each) => each.type === "mnnvl")));
    return item.mnnvl;
  }

  gang(item, right) {
    const { state } = this;
    item.lines ??= gangLines(item, state.graph);
    this.lines(item, item.lines.filter(([text]) => text), right + this.moods(item, right, item.height / 2), TITLE_SIZE);
  }

  /** As many lines as there is room for; the first in ink. */
  lines(item, lines, right, base) {
    const { context, state } = this;
    let size = sizeAt(this.view.scale, base);
    const count = Math.max(1, Math.min(lines.length, Math.floor((item.height - 4) / (size * LINE))));
    if (count === 1) size = Math.min(size, item.height * 0.75);
    if (size * this.view.scale < UNREADABLE) return;
    context.textBaseline = "middle";
    lines.slice(0, count).forEach((texts, number) => {
      const font = `${number ? "" : "600 "}${number ? Math.min(size, Math.max(base - 2, size * 0.92)) : size}px ${FONT}`;
      context.fillStyle = number ? state.colours.muted : state.colours.ink;
      const text = this.labels.fit(texts, item.width - 22 - right, font);
      context.font = font;
      context.fillText(text, item.x + 14, item.y + item.height / 2 + (number - (count - 1) / 2) * size * LINE);
    });
    context.textBaseline = "alphabetic";
  }

  object(item, node, right) {
    const { context, state } = this;
    const { x, y } = item;
    const withKind = this.view.scale >= KIND_SCALE;
    const size = Math.min(sizeAt(this.view.scale), CARD.height * 0.75);
    if (size * this.view.scale < UNREADABLE) return;
    const font = `${size}px ${FONT}`;
    const dots = this.moods(item, right, withKind ? 33 - size / 3 : CARD.height / 2);
    const name = this.labels.fit(this.namesOn(item, node), item.width - 20 - right - dots, font);
    context.fillStyle = state.colours.ink;
    context.font = font;
    context.textBaseline = withKind ? "alphabetic" : "middle";
    context.fillText(name, x + 13, y + (withKind ? 33 : CARD.height / 2 + 1));
    context.textBaseline = "alphabetic";
    if (!withKind) return;
    context.font = KIND_FONT;
    context.fillStyle = state.colours.muted;
    const kind = item.type === "stack" ? this.countOn(item) : node.kind;
    const [first] = node.state.split(",");
    const states = node.state && item.type === "object" ? [node.state, first, first.split(" by ")[0]] : [];
    const texts = [...states.map((state) => `${kind} · ${state}`), kind];
    const room = item.width - 36 - right;
    context.fillText(texts.find((text) => context.measureText(text).width <= room) ?? kind, x + 13, y + 16);
    this.constraints(item, node);
  }

  /** How far the objects of a card have come: a dot for each mood but ready, or one for that. Returns the room that they take. */
  moods(item, right, down) {
    const { context, state } = this;
    const found = new Set(item.members.map((index) => state.graph.nodes[index].mood));
    const shown = MOODS.filter((mood) => found.has(mood) && (mood !== "ready" || found.size === 1));
    const radius = Math.min(7, Math.max(4, 3 / this.view.scale));
    shown.forEach((mood, at) => {
      context.fillStyle = state.colours[`mood-${mood}`];
      context.beginPath();
      context.arc(item.x + item.width - right - 4 - radius - at * 2.5 * radius, item.y + down, radius, 0, 2 * Math.PI);
      context.fill();
    });
    return shown.length ? 4 + shown.length * 2.5 * radius : 0;
  }

  namesOn(item, node) {
    if (item.type === "object") return namesOf(node.name, item.prefix);
    if (this.view.scale < KIND_SCALE) return [this.countOn(item)];
    return rangeOf(item.members.map((index) => this.state.graph.nodes[index]), item.prefix);
  }

  countOn(item) {
    return `${item.members.length.toLocaleString("en")} × ${this.state.graph.nodes[item.index].kind}`;
  }

  /** Topology constraints narrower than the gang's, as squares; the gang's own is the colour of its box. */
  constraints(item, node) {
    const { context, state } = this;
    let right = item.x + item.width - 36;
    for (const domain of node.domains) {
      if (domain.type !== "topology" || domain.scope === "gang") continue;
      context.fillStyle = state.colours[domain.colour];
      context.fillRect(right, item.y + 8, 8, 8);
      right -= 11;
    }
  }

  ring(item, strong) {
    const { context, state } = this;
    context.beginPath();
    context.roundRect(item.x - 2, item.y - 2, item.width + 4, item.height + 4, 8);
    context.strokeStyle = state.colours.accent;
    context.lineWidth = Math.max(strong ? 3 : 1.5, (strong ? 2.5 : 1.5) / this.view.scale);
    context.stroke();
  }
}
