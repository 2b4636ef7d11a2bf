// What part of the picture is seen: `scale`, and where the picture's origin stands on the stage, in CSS pixels.

const SMALLEST_SCALE = 0.01;
const LARGEST_SCALE = 3;
const READABLE_SCALE = 0.9;
const MARGIN = 28;
const GLIDE_MS = 160;

class Viewport {
  constructor(stage, changed) {
    this.stage = stage;
    this.changed = changed;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.width = 1;
    this.height = 1;
    this.gliding = 0;
  }

  resize() {
    this.width = Math.max(1, this.stage.clientWidth);
    this.height = Math.max(1, this.stage.clientHeight);
    this.changed();
  }

  pan(dx, dy) {
    this.moveTo(this.scale, this.x + dx, this.y + dy);
  }

  /** Zooms by a factor; what is at (x, y) of the stage stays there. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(LARGEST_SCALE, Math.max(SMALLEST_SCALE, this.scale * factor));
    const ratio = scale / this.scale;
    this.moveTo(scale, x - (x - this.x) * ratio, y - (y - this.y) * ratio);
  }

  /** Shows the whole picture; a small one not larger than it is. */
  fit(width, height) {
    const scale = Math.min(1, (this.width - 2 * MARGIN) / Math.max(1, width), (this.height - 2 * MARGIN) / Math.max(1, height));
    this.moveTo(Math.max(SMALLEST_SCALE, scale), (this.width - width * scale) / 2, Math.max(MARGIN, (this.height - height * scale) / 2));
  }

  /** Brings a point of the picture to the middle, near enough to be read. Glides, unless people prefer less motion. */
  show(x, y) {
    const scale = Math.max(this.scale, READABLE_SCALE);
    const goal = { scale, x: this.width / 2 - x * scale, y: this.height / 2 - y * scale };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.moveTo(goal.scale, goal.x, goal.y);
    else this.glide({ scale: this.scale, x: this.x, y: this.y }, goal, performance.now());
  }

  /** Like `show`, but only when the point is not well in view. */
  reveal(x, y) {
    const [left, top] = this.toStage(x, y);
    const inside = left > MARGIN && top > MARGIN && left < this.width - MARGIN && top < this.height - MARGIN;
    if (!inside || this.scale < READABLE_SCALE / 2) this.show(x, y);
  }

  glide(from, to, start) {
    cancelAnimationFrame(this.gliding);
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - start) / GLIDE_MS));
      const eased = 1 - (1 - part) ** 3;
      const between = (key) => from[key] + (to[key] - from[key]) * eased;
      this.place(between("scale"), between("x"), between("y"));
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  moveTo(scale, x, y) {
    cancelAnimationFrame(this.gliding);
    this.place(scale, x, y);
  }

  place(scale, x, y) {
    [this.scale, this.x, this.y] = [scale, x, y];
    this.changed();
  }

  toPicture(x, y) {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  toStage(x, y) {
    return [x * this.scale + this.x, y * this.scale + this.y];
  }

  /** The part of the picture that is seen: left, top, right, bottom. */
  get window() {
    return [...this.toPicture(0, 0), ...this.toPicture(this.width, this.height)];
  }
}
