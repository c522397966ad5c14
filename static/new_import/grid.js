// The grid of the new import page: a field dragged by its name onto a column that no field fills goes into that column;
// values that are replaced are sent as one list of pairs; a grid that is cut off shows where.

const DRAGGED = "text/x-millrace-field"; // the id of the control with the field's column

document.addEventListener("dragstart", (event) => {
  const name = event.target.closest?.("[data-field]");
  if (!name) return;
  event.dataTransfer.setData(DRAGGED, name.dataset.field);
  event.dataTransfer.effectAllowed = "link";
  name.closest("[data-grid]").classList.add("dragging");
});

document.addEventListener("dragend", () => {
  for (const each of document.querySelectorAll(".dragging, .drop-target")) each.classList.remove("dragging", "drop-target");
});

function targetOf(event) {
  return event.dataTransfer.types.includes(DRAGGED) ? event.target.closest?.("[data-column]") : null;
}

document.addEventListener("dragover", (event) => {
  const column = targetOf(event);
  for (const each of document.querySelectorAll(".drop-target")) each.classList.toggle("drop-target", each === column);
  if (!column) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "link";
  column.classList.add("drop-target");
});

document.addEventListener("drop", (event) => {
  const column = targetOf(event);
  if (!column) return;
  event.preventDefault();
  const control = document.getElementById(event.dataTransfer.getData(DRAGGED));
  if (!control || control.form !== column.closest("form")) return;
  control.value = column.dataset.column;
  control.dispatchEvent(new Event("change", { bubbles: true }));
});

// A field is no file: the page does not ask to drop it.
document.addEventListener("dragenter", (event) => event.dataTransfer.types.includes(DRAGGED) && event.stopPropagation(), true);

// A grid that is wider than its card shows at which edges it continues.
function markEdges() {
  for (const box of document.querySelectorAll(".grid-box")) {
    const right = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.dataset.more = `${box.scrollLeft > 1 ? "left" : ""} ${right > 1 ? "right" : ""}`.trim();
  }
}
markEdges();
document.addEventListener("htmx:afterSettle", markEdges);
// The next fields begin where the grid does.
document.addEventListener("click", ({ target }) => {
  target.closest(".grid-next")?.closest(".mapping-grid").scrollIntoView();
});
// The grid scrolls, not the page: such an event does not bubble.
document.addEventListener("scroll", markEdges, { capture: true, passive: true });
addEventListener("resize", markEdges);

document.addEventListener(
  "change",
  ({ target }) => {
    const list = target.closest("[data-list]");
    if (!list) return;
    const pairs = [...list.querySelectorAll("[data-old]")].map((each) => [each.dataset.old, each.value]);
    const replaced = pairs.filter(([old, value]) => value !== old);
    target.form.elements[list.dataset.list].value = replaced.length ? JSON.stringify(replaced) : "";
  },
  true, // before the form is sent
);
