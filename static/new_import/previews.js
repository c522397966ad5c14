// The new import page around its previews: what is sent with a request, the page's address, and what stays when a new
// preview replaces the old one.

const drop = document.getElementById("drop");
const files = document.getElementById("files");

// Leaving for the page of the started job would end other uploads: `stay` makes the answer a link on this page.
document.addEventListener("htmx:configRequest", (event) => {
  if (files.children.length > 1) event.detail.parameters.stay = "1";
});

for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(name, (event) => {
    const words = event.target.closest(".source")?.querySelector(".start-message");
    if (!words) return;
    const known = {
      0: "No connection to Millrace. Uploads continue by themselves when it is back; your last change was not sent.",
      404: "This upload is no longer there; perhaps it was removed in another tab. Reload the page.",
    }[event.detail.xhr.status];
    const unknown = "The server did not answer as it should. Try that again, or reload the page.";
    const said = reasonOf(event.detail.xhr) || (known ?? unknown);
    if (words.textContent === said) return; // said once, also by what asks every second
    words.setAttribute("role", "alert");
    words.textContent = said;
  });
}

// The page has the address of the file that it shows alone, so that a reload or a sign-in leads back to the file and its
// choices. Once the import is started, the browser's way back leads to the empty page: nothing is loaded twice.
const empty = files.children.length ? drop.dataset.empty : location.href;
new MutationObserver(() => {
  const [shown, ...others] = files.children;
  const address = shown ? shown.dataset.address : empty;
  if (address && !others.length) history.replaceState(null, "", address);
}).observe(files, { childList: true });
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const next = event.detail.xhr.getResponseHeader("HX-Redirect");
  if (next && !new URL(next, location).searchParams.has("next")) history.replaceState(null, "", empty);
});

// A new preview keeps open parts, scroll positions and the text that is being typed.
const pageState = new Map();
const isText = (each) => each instanceof HTMLInputElement || each instanceof HTMLTextAreaElement;
document.addEventListener("htmx:beforeSwap", (event) => {
  for (const each of event.detail.target.querySelectorAll("details[id][open]")) pageState.set(each.id, true);
  for (const each of event.detail.target.querySelectorAll("[data-keep-scroll]")) pageState.set(each.id, each.scrollLeft);
  const active = document.activeElement;
  if (isText(active) && event.detail.target.contains(active) && active.value !== active.defaultValue) {
    pageState.set(active.id, active.value);
  }
});
document.addEventListener("htmx:afterSettle", () => {
  for (const [id, value] of pageState) {
    const element = document.getElementById(id);
    if (element instanceof HTMLDetailsElement) element.open = true;
    else if (isText(element) && element.value !== value) {
      element.value = value;
      // For a value set by a script, the browser fires no change event when the field is left.
      element.addEventListener("blur", () => element.dispatchEvent(new Event("change", { bubbles: true })), { once: true });
    } else if (element?.hasAttribute("data-keep-scroll")) element.scrollLeft = value;
  }
  pageState.clear();
});

// While the answer to a press is on its way, the form takes nothing more: the answer may bring other fields, and the request
// of a change would take the place of the press. A change of which fields are shown counts as a press, typing does not.
const isPress = (event) =>
  event && event.type !== "input" && (event.type !== "change" || event.target.matches(".grid-window *"));

document.addEventListener("htmx:beforeSend", ({ detail: { elt, requestConfig } }) => {
  const source = elt.closest(".source");
  if (!source || !isPress(requestConfig.triggeringEvent)) return;
  noteFocus(source);
  source.inert = true;
});
document.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
  const source = elt.closest(".source");
  if (!source?.inert) return;
  source.inert = false;
  if (source.isConnected) returnFocus(); // There was no answer that replaces it.
});

// An inert form and a new preview take the focus away. It returns to its control; if that is gone, after an answer it goes to
// the next question, else to the nearest control before it.
const CONTROLS = "input, select, textarea, button, summary, a[href], [tabindex]";
let focus = null; // the id of the form's section, whether a question had it, and the ids up to its control, the last one first

function noteFocus(section) {
  const active = document.activeElement;
  if (!section.contains(active)) return;
  const controls = [...section.querySelectorAll(CONTROLS)];
  const ids = controls.slice(0, controls.indexOf(active) + 1).map((each) => each.id);
  focus = { section: section.id, asked: Boolean(active.closest(".questions")), ids: ids.reverse() };
}
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => target.matches(".source") && noteFocus(target));
document.addEventListener("htmx:afterSettle", returnFocus);

function returnFocus() {
  const section = document.getElementById(focus?.section);
  if (section?.inert) return; // Another part of it has settled.
  const { ids = [], asked } = focus ?? {};
  focus = null;
  if (!section || !document.activeElement.contains(section)) return; // It has gone elsewhere since.
  const questions = asked ? section.querySelectorAll(".questions button, .start-bar .btn") : [];
  for (const each of [...questions, ...ids.map((id) => document.getElementById(id)), ...section.querySelectorAll("a[href]")]) {
    each?.focus({ preventScroll: true }); // One that is disabled or hidden does not take it.
    if (document.activeElement === each) return;
  }
}
