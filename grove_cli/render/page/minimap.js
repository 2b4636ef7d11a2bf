// A small picture of the whole, with a frame around what is seen. It is there only while something is out of sight.

const MAP = { width: 190, height: 130 };
const ALL_SEEN = 0.98;

class Minimap {
  constructor(canvas, viewport, state) {
    Object.assign(this, { canvas, viewport, state });
    this.context = canvas.getContext("2d");
    const move = (event) => event.buttons && this.go(event);
    canvas.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      canvas.setPointerCapture(event.pointerId);
      this.go(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      event.stopPropagation();
      move(event);
    });
  }

  /** Makes the picture of the whole anew: after what is shown has changed, or the colours have. */
  remake() {
    const { layout, graph, colours } = this.state;
    const ratio = devicePixelRatio || 1;
    this.scale = Math.min(MAP.width / Math.max(1, layout.width), MAP.height / Math.max(1, layout.height));
    this.whole = document.createElement("canvas");
    this.whole.width = this.canvas.width = Math.ceil(MAP.width * ratio);
    this.whole.height = this.canvas.height = Math.ceil(MAP.height * ratio);
    const context = this.whole.getContext("2d");
    context.scale(this.scale * ratio, this.scale * ratio);
    context.fillStyle = colours["gang-edge"];
    for (const { x, y, width, height } of layout.boxes) context.fillRect(x, y, width, height);
    for (const item of layout.items) {
      context.fillStyle = colours[kindVariable(graph.nodes[item.index].kind)];
      context.fillRect(item.x, item.y, item.width, item.height);
    }
  }

  draw() {
    const { layout, colours } = this.state;
    const [left, top, right, bottom] = this.viewport.window;
    const seen = (from, to, size) => Math.max(0, Math.min(to, size) - Math.max(from, 0)) / Math.max(1, size);
    this.canvas.hidden = seen(left, right, layout.width) > ALL_SEEN && seen(top, bottom, layout.height) > ALL_SEEN;
    if (this.canvas.hidden) return;
    const { context, scale } = this;
    const ratio = devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.whole, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(left * scale, top * scale, (right - left) * scale, (bottom - top) * scale);
  }

  go(event) {
    const frame = this.canvas.getBoundingClientRect();
    const { viewport, scale } = this;
    const x = (event.clientX - frame.left) / scale, y = (event.clientY - frame.top) / scale;
    viewport.moveTo(viewport.scale, viewport.open / 2 - x * viewport.scale, viewport.height / 2 - y * viewport.scale);
  }
}
