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
    this.covered = 0; // how much of the right side a panel lies on
    this.gliding = 0;
  }

  /** The width that nothing lies on; all of it where a panel covers nearly everything, as on a telephone. */
  get open() {
    return this.width - this.covered > this.width / 3 ? this.width - this.covered : this.width;
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

  /** The scale at which the whole picture is seen; a small one not larger than it is. */
  scaleOf(width, height) {
    return Math.max(SMALLEST_SCALE, Math.min(1, (this.open - 2 * MARGIN) / Math.max(1, width), (this.height - 2 * MARGIN) / Math.max(1, height)));
  }

  /** Shows the whole picture. */
  fit(width, height) {
    const scale = this.scaleOf(width, height);
    this.moveTo(scale, (this.open - width * scale) / 2, Math.max(MARGIN, (this.height - height * scale) / 2));
  }

  /** Brings a part of the picture to the middle, near enough to be read. Glides, unless people prefer less motion. */
  show({ x, y, width, height }) {
    const largest = Math.min((this.open - 2 * MARGIN) / width, (this.height - 2 * MARGIN) / height);
    const scale = Math.max(Math.min(this.scale, largest), Math.min(READABLE_SCALE, largest), READABLE_SCALE / 2);
    const centred = (room, start, size) => (size * scale > room - MARGIN ? MARGIN - start * scale : room / 2 - (start + size / 2) * scale);
    const goal = { scale, x: centred(this.open, x, width), y: centred(this.height, y, height) };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.moveTo(goal.scale, goal.x, goal.y);
    else this.glide({ scale: this.scale, x: this.x, y: this.y }, goal, performance.now());
  }

  /** Moves no farther than it takes to have a part of the picture in view, and beside what covers the stage. */
  reveal({ x, y, width, height }) {
    const [left, top] = this.toStage(x, y), [right, bottom] = this.toStage(x + width, y + height);
    const into = (from, to, room) => (from < MARGIN ? MARGIN - from : to > room - MARGIN ? Math.max(room - MARGIN - to, MARGIN - from) : 0);
    const across = into(left, right, this.open), down = into(top, bottom, this.height);
    if (across || down) this.pan(across, down);
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
