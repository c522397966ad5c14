// For pages that update themselves: polling for changes, and running clocks.
const live = (() => {
  const VISIBLE = 1000;
  const HIDDEN = 10000;
  const REFUSED = [403, 404]; // the right has ended, or the page is about what was deleted: millrace.js says so

  // Polls every second (every 10 s while the page is hidden) until `ended()`, or until it is refused, by triggering
  // the event "poll" on `page`.
  // `onEnd` runs after the last answer, `onPost` after a button's request, `onShow` when the page is visible again.
  function follow(page, { ended, onEnd = () => {}, onPost = () => {}, onShow = () => {} }) {
    const unreachable = document.getElementById(page.dataset.unreachable);
    let timer;
    let refused = false;
    const over = () => refused || ended();

    function pollIn(milliseconds) {
      clearTimeout(timer);
      timer = setTimeout(() => htmx.trigger(page, "poll"), milliseconds);
    }
    const pollAgain = () => pollIn(document.hidden ? HIDDEN : VISIBLE);

    document.addEventListener("htmx:afterRequest", (event) => {
      const { elt, requestConfig, xhr } = event.detail;
      if (elt === page) {
        const answered = [200, 204, 286].includes(xhr.status);
        // The answer is another page, as that which adds a second factor: reload to show it.
        if (answered && xhr.responseURL && !xhr.responseURL.includes(page.getAttribute("hx-get"))) return location.reload();
        refused = REFUSED.includes(xhr.status);
        unreachable.hidden = answered || refused;
        if (refused) return;
        if (xhr.status === 286) return onEnd();
        if (!answered) return pollIn(HIDDEN);
        pollAgain();
      } else if (requestConfig.verb === "post") {
        // Recognised by the method, not by the element: the answer has just replaced the button.
        unreachable.hidden = xhr.status > 0; // millrace.js reports other failures
        onPost();
        if (!over()) pollIn(0);
      }
    });
    document.addEventListener("visibilitychange", () => {
      if (over()) return;
      pollIn(document.hidden ? HIDDEN : 0);
      if (!document.hidden) onShow();
    });
    if (!ended()) pollAgain();
  }

  // Advances the clocks between two answers.
  setInterval(() => {
    for (const clock of document.querySelectorAll("[data-since]")) {
      clock.textContent = charts.duration(Math.max(0, Math.floor(Date.now() / 1000 - clock.dataset.since)));
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
