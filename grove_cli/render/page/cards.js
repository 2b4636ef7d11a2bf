// Draws one card: an object, a stack of objects, a folded gang or a run of them.

const TEXT_SCALE = 0.24; // objects have names from here on
const NUMBER_SCALE = 0.55; // the numbers of MNNVL domains
const SMALLEST_KIND = 9; // on the screen
const TIGHT = 1.12; // the height of a line on a card of two
const FAINT = 0.32;
const BAR = 5; // the width of the bar that says the kind
const FAR_STRIPE = 64; // the width of a domain's stripe from afar
const NEAR_STRIPE = 7;
const SHORT_KINDS = {
  PodCliqueScalingGroup: "ScalingGroup",
  ClusterTopologyBinding: "TopologyBinding",
  HorizontalPodAutoscaler: "Autoscaler",
  ResourceClaimTemplate: "ClaimTemplate",
};

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

  /** The kind above the name; where there is no room for both, which is only from afar, the name. */
  object(item, node, right) {
    const { context, state } = this;
    const size = Math.min(sizeAt(this.view.scale), CARD.height * 0.75);
    if (size * this.view.scale < UNREADABLE) return;
    const kindSize = sizeAt(this.view.scale, SMALLEST_KIND, SMALLEST_KIND);
    const withKind = (size + kindSize) * TIGHT <= CARD.height;
    const middle = item.y + CARD.height / 2;
    const [kindAt, nameAt] = withKind ? [middle - (size * TIGHT) / 2, middle + (kindSize * TIGHT) / 2] : [0, middle + 1];
    const dots = this.moods(item, right, nameAt - item.y);
    const room = item.width - 20 - right;
    context.textBaseline = "middle";
    this.text(this.namesOn(item, node, withKind), item.x + 13, nameAt, room - dots, `${size}px ${FONT}`, state.colours.ink);
    if (withKind) this.text(this.kindsOn(item, node), item.x + 13, kindAt, room, `${kindSize}px ${FONT}`, state.colours.muted);
    context.textBaseline = "alphabetic";
  }

  text(texts, x, y, room, font, colour) {
    const text = this.labels.fit(texts, room, font);
    this.context.font = font;
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }

  /** The kind of a card, from long to short: with the state of its object or the number of them, and alone. */
  kindsOn(item, node) {
    const short = SHORT_KINDS[node.kind] ?? node.kind;
    if (item.type === "stack") return [this.countOn(item, node.kind), this.countOn(item, short), short];
    const [first] = node.state.split(",");
    const states = node.state ? [...new Set([node.state, first, first.split(" by ")[0]])] : [];
    return [...states.flatMap((state) => [`${node.kind} · ${state}`, `${short} · ${state}`]), node.kind, short];
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

  namesOn(item, node, withKind) {
    if (item.type === "object") return namesOf(node.name, item.prefix);
    if (!withKind) return [this.countOn(item, node.kind)];
    return rangeOf(item.members.map((index) => this.state.graph.nodes[index]), item.prefix);
  }

  countOn(item, kind) {
    return `${item.members.length.toLocaleString("en")} × ${kind}`;
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
