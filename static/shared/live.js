// For pages that update themselves: polling for changes, and running clocks.
const live = (() => {
  const VISIBLE = 1000;
  const HIDDEN = 10000;
  const REFUSED = [403, 404]; // the right has ended, or the page is about what was deleted: millrace.js says so

  // Polls every second (every 10 s while the page is hidden) until `ended()`, or until it is refused, by triggering
  // the event "poll" on `page`. What has ended may begin again, so it is asked for once each time the page is shown again.
  // `onEnd` runs when it has ended, `onPost` after a button's request, `onShow` when the page is visible again before that.
  function follow(page, { ended, onEnd = () => {}, onPost = () => {}, onShow = () => {} }) {
    const unreachable = document.getElementById(page.dataset.unreachable);
    let timer;
    let refused = false;
    let running = !ended();

    function pollIn(milliseconds) {
      clearTimeout(timer);
      timer = setTimeout(() => htmx.trigger(page, "poll"), milliseconds);
    }
    const rhythm = () => (document.hidden ? HIDDEN : VISIBLE);

    // After an answer, which may have begun or ended what the page shows.
    function continueIn(milliseconds) {
      const before = running;
      running = !ended();
      if (running) pollIn(milliseconds);
      else if (before) onEnd();
    }

    function shownAgain() {
      if (refused) return;
      pollIn(0);
      if (running) onShow();
    }

    document.addEventListener("htmx:afterRequest", (event) => {
      const { elt, requestConfig, xhr } = event.detail;
      if (elt === page) {
        const answered = [200, 204, 286].includes(xhr.status);
        // The answer is another page, as that which adds a second factor: reload to show it.
        if (answered && xhr.responseURL && !xhr.responseURL.includes(page.getAttribute("hx-get"))) return location.reload();
        refused = REFUSED.includes(xhr.status);
        unreachable.hidden = answered || refused || !running;
        if (answered) continueIn(rhythm());
        else if (!refused) pollIn(HIDDEN);
      } else if (requestConfig.verb === "post") {
        // Recognised by the method, not by the element: the answer has just replaced the button.
        unreachable.hidden = xhr.status > 0; // millrace.js reports other failures
        onPost();
        if (!refused) continueIn(0);
      }
    });
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) shownAgain();
      else if (running && !refused) pollIn(HIDDEN);
    });
    // The browser has kept the page, and shows it again by its way back.
    addEventListener("pageshow", (event) => event.persisted && shownAgain());
    if (running) pollIn(rhythm());
  }

  // --- clocks, which advance between two answers ---
  let ahead = 0; // seconds by which the browser's clock is ahead of the server's

  // `state`: an element that has just come from the server, with the server's time.
  function compareClocks(state) {
    ahead = Date.now() / 1000 - state.dataset.now;
  }
  document.addEventListener("htmx:oobAfterSwap", ({ target }) => target.dataset.now && compareClocks(target));
  // By the browser's way back comes the page that it has kept: that time is over.
  if (performance.getEntriesByType("navigation")[0]?.type !== "back_forward") compareClocks(document.querySelector("[data-now]"));

  setInterval(() => {
    for (const clock of document.querySelectorAll("[data-since]")) {
      const seconds = Date.now() / 1000 - ahead - clock.dataset.since;
      clock.textContent = charts.duration(Math.max(0, Math.floor(seconds)));
    }
  }, 1000);

  // The JSON at a URL; undefined after an error, which the next poll reports.
  async function data(address) {
    try {
      const answer = await fetch(address, { headers: { Accept: "application/json" } });
      return answer.ok && !answer.redirected ? await answer.json() : undefined;
    } catch {
      return undefined;
    }
  }

  return { follow, data };
})();
