// <div data-refresh="5" hx-trigger="refresh">: asks the server every 5 seconds while the page can be seen, and nobody
// has a menu open or is typing in it. The answer changes only what differs: focus, selection, open details and what was
// entered stay.
(() => {
  const last = new WeakMap();
  const isUsed = (each) => each.querySelector("details.menu[open], input:focus, select:focus");

  function refresh() {
    if (document.hidden) return;
    for (const each of document.querySelectorAll("[data-refresh]")) {
      if (!last.has(each)) last.set(each, Date.now());
      if (isUsed(each) || Date.now() - last.get(each) < each.dataset.refresh * 1000) continue;
      last.set(each, Date.now());
      htmx.trigger(each, "refresh");
    }
  }

  const isOpened = (name, element) => name === "open" && element.matches("details");
  const isEntered = (name, element) => name === "value" && element.matches("input, textarea") && element.value !== element.defaultValue;
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (...change) => !isOpened(...change) && !isEntered(...change);
  setInterval(refresh, 1000);
  document.addEventListener("visibilitychange", refresh);
})();
