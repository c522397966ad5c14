// <div data-refresh="5" hx-trigger="refresh">: asks the server every 5 seconds while the page can be seen.
(() => {
  const last = new WeakMap();

  function refresh() {
    if (document.hidden) return;
    for (const each of document.querySelectorAll("[data-refresh]")) {
      if (Date.now() - (last.get(each) ?? loaded) < each.dataset.refresh * 1000) continue;
      last.set(each, Date.now());
      htmx.trigger(each, "refresh");
    }
  }

  const loaded = Date.now();
  setInterval(refresh, 1000);
  document.addEventListener("visibilitychange", refresh);
})();
