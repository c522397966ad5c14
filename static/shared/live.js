// What pages that change by themselves share: they ask for what has changed, and their clocks go on.
const live = (() => {
  const VISIBLE = 1000;
  const HIDDEN = 10000;

  // Asks every second, by the event that `page` has as its hx-trigger, until `ended()`. `onEnd`: the last answer is
  // there; `onPost`: a button was pressed; `onShow`: the page is visible again.
  function follow(page, { ended, onEnd = () => {}, onPost = () => {}, onShow = () => {} }) {
    const unreachable = document.getElementById(page.dataset.unreachable);
    let timer;

    function askIn(milliseconds) {
      clearTimeout(timer);
      timer = setTimeout(() => htmx.trigger(page, "poll"), milliseconds);
    }
    const goOn = () => askIn(document.hidden ? HIDDEN : VISIBLE);

    document.addEventListener("htmx:afterRequest", (event) => {
      const { elt, requestConfig, xhr } = event.detail;
      if (elt === page) {
        const answered = [200, 204, 286].includes(xhr.status);
        // A session that has ended answers with the sign-in page: let it show itself.
        if (answered && xhr.responseURL && !xhr.responseURL.includes(page.getAttribute("hx-get"))) return location.reload();
        unreachable.hidden = answered;
        if (xhr.status === 286) return onEnd();
        if (!answered) return askIn(HIDDEN);
        goOn();
      } else if (requestConfig.verb === "post") {
        // Not told by its element: the answer has just replaced the button.
        unreachable.hidden = xhr.status === 200;
        onPost();
        if (!ended()) askIn(0);
      }
    });
    document.addEventListener("visibilitychange", () => {
      if (ended()) return;
      askIn(document.hidden ? HIDDEN : 0);
      if (!document.hidden) onShow();
    });
    if (!ended()) goOn();
  }

  // Time goes on between two answers.
  setInterval(() => {
    for (const clock of document.querySelectorAll("[data-since]")) {
      clock.textContent = charts.duration(Math.max(0, Math.floor(Date.now() / 1000 - clock.dataset.since)));
    }
  }, 1000);

  // The JSON at an address; nothing where it cannot be had: the next poll says that nothing can be reached.
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
