// Mouse, touch and wheel on the stage: drag moves, wheel and pinch zoom, a click chooses.

const CLICK_DISTANCE = 4;
const NOTHING = { item: -1 };

class Pointer {
  /** `actions` has hover(under, x, y) and choose(under), with what `under` returns. */
  constructor(stage, viewport, state, actions) {
    Object.assign(this, { stage, viewport, state, actions });
    this.down = new Map();
    this.moved = 0;
    stage.addEventListener("pointerdown", (event) => this.press(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.release(event));
    stage.addEventListener("pointerleave", () => actions.hover(NOTHING, 0, 0));
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

  /** What is at a point of the stage: `item`, the number of a card, or -1; else the `box` whose title it is, and whether on its `handle`. */
  under(x, y) {
    const [px, py] = this.viewport.toPicture(x, y);
    const { items, boxes } = this.state.layout;
    const within = (place, height) => px >= place.x && py >= place.y && px <= place.x + place.width && py <= place.y + height;
    const item = items.findIndex((each) => within(each, each.height));
    if (item >= 0) return { item };
    const box = boxes.find((each) => within(each, TITLE));
    return { item: -1, box, handle: box !== undefined && px > box.x + box.width - HANDLE - GAP.inside / 2 };
  }
}
