// Keys on the stage and on the page.

const PAN_STEP = 80;
const ZOOM_STEP = 1.25;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** `actions` has choose(index), fit(), search(), close(). */
function listenToKeys(stage, viewport, state, actions) {
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = DIRECTIONS[event.key];
    if (direction && event.shiftKey) viewport.pan(-direction[0] * PAN_STEP, -direction[1] * PAN_STEP);
    else if (direction) actions.choose(nextIn(direction, state, viewport));
    else if (event.key === "+" || event.key === "=") viewport.zoom(ZOOM_STEP);
    else if (event.key === "-") viewport.zoom(1 / ZOOM_STEP);
    else if (event.key === "0") actions.fit();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) actions.search();
    else if (event.key === "Escape") actions.close();
    else return;
    event.preventDefault();
  });
}

/** The nearest object in a direction, from the selected one; without one, the object that is nearest to the middle of the view. */
function nextIn([dx, dy], state, viewport) {
  const { x, y } = state.layout;
  const from = state.selected >= 0 && state.shown[state.selected] ? state.selected : -1;
  const [cx, cy] = viewport.toPicture(viewport.width / 2, viewport.height / 2);
  const fx = from < 0 ? cx - CARD.width / 2 : x[from], fy = from < 0 ? cy - CARD.height / 2 : y[from];
  let best = from, least = Infinity;
  for (let index = 0; index < x.length; index++) {
    if (index === from || Number.isNaN(x[index])) continue;
    const along = (x[index] - fx) * dx + (y[index] - fy) * dy;
    const aside = Math.abs((x[index] - fx) * dy) + Math.abs((y[index] - fy) * dx);
    if (from >= 0 && along <= 0) continue;
    const distance = from < 0 ? Math.hypot(x[index] - fx, y[index] - fy) : along + 3 * aside;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}
