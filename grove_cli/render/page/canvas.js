// Draws the picture. Only what is seen is drawn, and from afar without what could not be read.

const LINE_SCALE = 0.06;
const MAX_MOVING_LINES = 600; // more lines than this wait until the view rests
const REST_MS = 120;
const HANDLE = 22; // the width of what folds a gang, at the right end of its title
const ARROW = 8;
const LINE_ALPHA = 0.3;

class Painter {
  /**
   * `state` holds graph, layout, colours, lines, selected (an object), hovered (a card), lit and matches (Sets of objects, or null), and
   * which lines are drawn: owners, order, startup.
   */
  constructor(canvas, viewport, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.viewport = viewport;
    this.state = state;
    this.labels = new Labels(this.context);
    this.frame = 0;
    this.moving = false;
    this.drawn = () => {}; // called after each frame
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
    const { viewport } = this;
    const ratio = devicePixelRatio || 1;
    const width = Math.round(viewport.width * ratio), height = Math.round(viewport.height * ratio);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.paint(this.context, viewport, ratio);
    this.drawn();
  }

  /** Draws on any context what a view shows: its `width`, `height`, `scale`, `x`, `y` and `window`. */
  paint(context, view, ratio) {
    const { state } = this;
    [this.on, this.view] = [context, view];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = state.colours.paper;
    context.fillRect(0, 0, view.width, view.height);
    context.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
    this.window = view.window;
    this.titleFont = `600 ${Math.min(sizeAt(view.scale), TITLE - 4)}px ${FONT}`;
    this.columns();
    this.sets();
    this.boxes();
    this.frames();
    this.edges();
    this.cards();
    this.selectedEdges();
  }

  sees({ x, y, width, height }) {
    const [left, top, right, bottom] = this.window;
    return x < right && y < bottom && x + width > left && y + height > top;
  }

  columns() {
    const { on: context, state } = this;
    for (const column of state.layout.columns) {
      const band = { x: column.x - 8, y: 0, width: column.width + 16, height: column.height };
      if (!this.sees(band)) continue;
      context.fillStyle = state.colours.band;
      context.fillRect(band.x, band.y, band.width, band.height);
      if (this.view.scale < TEXT_SCALE) continue;
      context.fillStyle = state.colours.muted;
      context.font = this.titleFont;
      context.textBaseline = "middle";
      context.fillText(levelName(column.level), column.x, HEADER / 2);
      context.textBaseline = "alphabetic";
    }
  }

  /** A frame around the gangs of each set, where there are several. */
  sets() {
    const { on: context, state } = this;
    for (const set of state.layout.sets) {
      if (!this.sees(set)) continue;
      context.beginPath();
      context.roundRect(set.x, set.y, set.width, set.height, 12);
      context.fillStyle = state.colours.band;
      context.fill();
      if (this.view.scale < TEXT_SCALE) continue;
      context.fillStyle = state.colours.ink;
      context.textBaseline = "middle";
      const text = this.labels.fit([`set ${state.graph.nodes[set.index].name}`, state.graph.nodes[set.index].name], set.width - 28, this.titleFont);
      context.font = this.titleFont;
      context.fillText(text, set.x + 14, set.y + TITLE / 2 + 1);
      context.textBaseline = "alphabetic";
    }
  }

  /** A frame around neighbours that a topology constraint narrower than the gang's keeps together; the gang's own is the colour of its box. */
  frames() {
    const { on: context, state } = this;
    if (this.view.scale < LINE_SCALE) return;
    state.layout.frames ??= framesOf(state.layout, state.graph);
    context.lineWidth = Math.max(1.5, 1 / this.view.scale);
    for (const frame of state.layout.frames) {
      if (!this.sees(frame)) continue;
      context.beginPath();
      context.roundRect(frame.x, frame.y, frame.width, frame.height, 8);
      context.strokeStyle = state.colours[frame.domain.colour];
      context.globalAlpha = state.lit && !frame.domain.members.some((index) => state.lit.has(index)) ? FAINT : 1;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  boxes() {
    const { on: context, state } = this;
    for (const box of state.layout.boxes) {
      if (!this.sees(box)) continue;
      const gang = state.graph.nodes[box.gang];
      const domain = gang.domains.find((each) => each.scope === "gang");
      context.globalAlpha = state.lit && !state.lit.has(box.gang) ? 0.5 : 1;
      this.box(box, domain);
      if (this.view.scale >= TEXT_SCALE) this.title(box, gang, domain);
    }
    context.globalAlpha = 1;
  }

  box(box, domain) {
    const { on: context, state } = this;
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
    const { on: context, state } = this;
    const middle = box.y + TITLE / 2 + 1, room = box.width - 28 - HANDLE;
    const numbers = gang.size ? [counted(gang.size.pods, "pod"), ...(gang.size.gpus ? [counted(gang.size.gpus, "GPU")] : [])].join(" · ") : "";
    const about = [numbers, gang.state, domain ? describeDomain(domain) : ""].filter(Boolean);
    context.textBaseline = "middle";
    const text = this.labels.fit([`gang ${gang.name}`, gang.name], room, this.titleFont);
    context.font = this.titleFont;
    context.fillStyle = state.colours.ink;
    context.fillText(text, box.x + 14, middle);
    const used = context.measureText(text).width + 26;
    const font = `${Math.min(sizeAt(this.view.scale, 10), TITLE - 6)}px ${FONT}`;
    context.fillStyle = state.colours.muted;
    if (about.length && room - used > 60) {
      const rest = this.labels.fit(about.map((_, at) => about.slice(0, about.length - at).join(" · ")), room - used, font);
      context.font = font;
      context.fillText(rest, box.x + used, middle);
    }
    context.font = this.titleFont;
    context.fillText("−", box.x + box.width - HANDLE, middle);
    context.textBaseline = "alphabetic";
  }

  edges() {
    if (this.view.scale < LINE_SCALE) return;
    const { state } = this;
    const faint = state.lit ? 0.35 : 1;
    if (state.owners) this.lines(state.lines.owner, [], LINE_ALPHA * faint); // those of the card under the pointer are drawn in full
    if (state.order) this.lines(state.lines.after, [5, 4], LINE_ALPHA * faint);
    if (state.startup) this.arrows(faint);
  }

  lines(lines, dash, alpha) {
    const { on: context, state } = this;
    const [left, top, right, bottom] = this.window;
    let count = 0;
    context.beginPath();
    for (let at = 0; at < lines.length; at += 4) {
      const x1 = lines[at], y1 = lines[at + 1], x2 = lines[at + 2], y2 = lines[at + 3];
      if (Math.max(x1, x2) + 60 < left || Math.min(x1, x2) - 60 > right || Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
      curve(context, x1, y1, x2, y2);
      count++;
    }
    if (this.moving && count > MAX_MOVING_LINES) return;
    context.setLineDash(this.view.scale < TEXT_SCALE ? [] : dash);
    context.globalAlpha = alpha;
    context.strokeStyle = state.colours.line;
    context.lineWidth = 1.2;
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** The start-up order: from whose pods are ready first to whose pods wait. Cards of one column are joined at their left sides. */
  arrows(alpha) {
    const { on: context, state } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = context.fillStyle = state.colours.startup;
    context.lineWidth = Math.max(1.6, 1.2 / this.view.scale);
    startupArrows(state.graph.startup, state.layout, (source, target) => {
      const [y1, y2] = [source, target].map((item) => item.y + item.height / 2);
      const ahead = target.x >= source.x + source.width;
      const x1 = ahead ? source.x + source.width : source.x, x2 = target.x - 1;
      const bend = Math.min(GAP.column / 2, 10 + Math.abs(y2 - y1) / 8);
      context.beginPath();
      context.moveTo(x1, y1);
      if (ahead) context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - ARROW, y2);
      else context.bezierCurveTo(Math.min(x1, x2) - bend, y1, Math.min(x1, x2) - bend, y2, x2 - ARROW, y2);
      context.stroke();
      context.beginPath();
      context.moveTo(x2, y2);
      context.lineTo(x2 - ARROW, y2 - ARROW / 2);
      context.lineTo(x2 - ARROW, y2 + ARROW / 2);
      context.closePath();
      context.fill();
    });
    context.globalAlpha = 1;
  }

  selectedEdges() {
    const { on: context, state } = this;
    const focus = state.selected >= 0 ? state.layout.of[state.selected] : state.hovered;
    if (focus < 0) return;
    const nodes = state.layout.items[focus].members.map((index) => state.graph.nodes[index]);
    const edges = new Set(nodes.flatMap((node) => [...node.into, ...node.outOf]));
    for (const [type, dash] of [["owner", []], ["after", [6, 4]]]) {
      context.beginPath();
      for (const edge of edges) {
        if (edge.type === type) routeEdge(edge, state.layout, focus, (...line) => curve(context, ...line));
      }
      context.setLineDash(dash);
      context.strokeStyle = state.colours.accent;
      context.lineWidth = Math.max(1.6, 1 / this.view.scale);
      context.stroke();
    }
    context.setLineDash([]);
  }

  cards() {
    const { items } = this.state.layout;
    const cards = new Cards(this.on, this.view, this.state, this.labels);
    const seen = [];
    for (let number = 0; number < items.length; number++) if (this.sees(items[number])) seen.push(number);
    const far = this.view.scale < TEXT_SCALE;
    if (far) this.blocks(seen.filter((number) => !items[number].gangs), cards);
    for (const number of seen) {
      if (!far || items[number].gangs) cards.draw(items[number], this.alpha(number));
      if (this.isSpecial(number)) cards.ring(items[number], number === this.state.layout.of[this.state.selected]);
    }
  }

  alpha(number) {
    const { litItems, hovered } = this.state;
    return litItems && !litItems.has(number) && number !== hovered ? FAINT : 1;
  }

  isSpecial(number) {
    const { selected, hovered, matches, litItems, layout } = this.state;
    return number === hovered || (selected >= 0 && number === layout.of[selected]) || (matches !== null && selected < 0 && litItems.has(number));
  }

  /** From afar: one path for each colour. */
  blocks(seen, cards) {
    const { on: context, state } = this;
    const { items } = state.layout;
    const paths = new Map();
    for (const number of seen) {
      const key = `${kindVariable(state.graph.nodes[items[number].index].kind)} ${this.alpha(number)}`;
      if (!paths.has(key)) paths.set(key, []);
      paths.get(key).push(items[number]);
    }
    for (const [key, same] of paths) {
      const [name, alpha] = key.split(" ");
      context.fillStyle = state.colours[name];
      context.globalAlpha = Number(alpha) * 0.75;
      context.beginPath();
      for (const { x, y, width, height } of same) context.rect(x, y, width, height);
      context.fill();
    }
    for (const number of seen) {
      context.globalAlpha = this.alpha(number);
      cards.stripe(items[number]);
    }
    context.globalAlpha = 1;
  }
}
