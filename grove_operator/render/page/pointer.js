// Mouse, touch and wheel on the stage: drag moves, wheel and pinch zoom, a click chooses.

const CLICK_DISTANCE = 4;

class Pointer {
  /** `actions` has hover(index, x, y) and choose(index); index -1 is none. */
  constructor(stage, viewport, state, actions) {
    Object.assign(this, { stage, viewport, state, actions });
    this.down = new Map();
    this.moved = 0;
    stage.addEventListener("pointerdown", (event) => this.press(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.release(event));
    stage.addEventListener("pointerleave", () => actions.hover(-1, 0, 0));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  press(event) {
    if (event.button !== 0) return;
    this.down.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (this.down.size === 1) this.moved = 0;
    this.stage.setPointerCapture(event.pointerId);
  }

  move(event) {
    const now = this.at(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      this.actions.hover(this.under(...now), ...now);
      return;
    }
    const other = [...this.down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) this.pinch(before, now, other);
    else this.viewport.pan(now[0] - before[0], now[1] - before[1]);
    this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    this.down.set(event.pointerId, now);
    if (this.moved > CLICK_DISTANCE) this.stage.classList.add("dragging");
  }

  pinch(before, now, other) {
    const apart = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    this.viewport.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  release(event) {
    if (!this.down.delete(event.pointerId)) return;
    this.stage.classList.remove("dragging");
    if (event.type === "pointerup" && !this.down.size && this.moved <= CLICK_DISTANCE) this.actions.choose(this.under(...this.at(event)));
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey && !event.ctrlKey) {
      this.viewport.pan(-(event.deltaX || event.deltaY), 0);
      return;
    }
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.viewport.zoom(Math.exp((-event.deltaY * lines) / (event.ctrlKey ? 120 : 500)), ...this.at(event));
  }

  at(event) {
    const frame = this.stage.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  /** The object at a point of the stage; the gang where the point is on the title of its box. */
  under(x, y) {
    const [px, py] = this.viewport.toPicture(x, y);
    const { layout } = this.state;
    for (let index = 0; index < layout.x.length; index++) {
      if (px >= layout.x[index] && py >= layout.y[index] && px <= layout.x[index] + CARD.width && py <= layout.y[index] + CARD.height) return index;
    }
    const box = layout.boxes.find((each) => px >= each.x && px <= each.x + each.width && py >= each.y && py <= each.y + TITLE);
    return box ? box.gang : -1;
  }
}
