// Keys of the page. They work wherever the focus is, but for places that have a use for them: texts, lists, and what scrolls.

const PAN_STEP = 80;
const ZOOM_STEP = 1.25;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const OWN_ARROWS = "input, textarea, select, [contenteditable], #list, #details, #sidebar details";

/** `actions` has choose(index), toggle(), fit(), search(), close(). */
function listenToKeys(viewport, state, actions) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return; // which has keys of its own
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
    const arrows = !event.target.closest?.(OWN_ARROWS) && DIRECTIONS[event.key];
    if (event.key === "Escape") actions.close();
    else if (typing) return;
    else if (event.key === "/") actions.search();
    else if (event.key === "+" || event.key === "=") viewport.zoom(ZOOM_STEP);
    else if (event.key === "-") viewport.zoom(1 / ZOOM_STEP);
    else if (event.key === "0") actions.fit();
    else if (event.key === "Enter" && (event.target === document.body || event.target.id === "stage")) actions.toggle();
    else if (arrows && event.shiftKey) viewport.pan(-arrows[0] * PAN_STEP, -arrows[1] * PAN_STEP);
    else if (arrows) actions.choose(nextIn(arrows, state, viewport));
    else return;
    event.preventDefault();
  });
}

/** The object on the nearest card in a direction, from the selected one; without one, on the card nearest to the middle of the view. */
function nextIn([dx, dy], state, viewport) {
  const { items, of } = state.layout;
  const from = state.selected >= 0 ? of[state.selected] : -1;
  const middle = (item) => [item.x + item.width / 2, item.y + item.height / 2];
  const [fx, fy] = from < 0 ? viewport.toPicture(viewport.width / 2, viewport.height / 2) : middle(items[from]);
  let best = from, least = Infinity;
  for (let number = 0; number < items.length; number++) {
    if (number === from) continue;
    const [x, y] = middle(items[number]);
    const along = (x - fx) * dx + (y - fy) * dy, aside = Math.abs((x - fx) * dy) + Math.abs((y - fy) * dx);
    if (from >= 0 && along <= 0) continue;
    const distance = from < 0 ? Math.hypot(x - fx, y - fy) : along + 3 * aside;
    if (distance < least) [best, least] = [number, distance];
  }
  return best < 0 ? -1 : items[best].index;
}
