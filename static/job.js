// The page of one import: asks for what has changed, draws the curve, opens what a square of the chunk map has to tell.
(() => {
  const { axis, colour, duration, short } = charts;
  const VISIBLE = 1000;
  const HIDDEN = 10000;
  const CURVE_EVERY = 2000;

  const page = document.getElementById("job-live");
  const unreachable = document.getElementById("job-unreachable");
  const ended = () => "ended" in document.getElementById("job-seen").dataset;

  // --- what has changed ---
  let timer;

  function pollIn(milliseconds) {
    clearTimeout(timer);
    timer = setTimeout(() => htmx.trigger(page, "poll"), milliseconds);
  }
  function pollOn() {
    pollIn(document.hidden ? HIDDEN : VISIBLE);
  }

  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, requestConfig, xhr } = event.detail;
    if (elt === page) {
      const answered = [200, 204, 286].includes(xhr.status);
      // A session that has ended answers with the sign-in page: let it show itself.
      if (answered && xhr.responseURL && !xhr.responseURL.includes(page.getAttribute("hx-get"))) return location.reload();
      unreachable.hidden = answered;
      if (xhr.status === 286) return drawCurve();
      if (!answered) return pollIn(HIDDEN);
      pollOn();
    } else if (requestConfig.verb === "post") {
      // Not told by its element: the answer has just replaced the button.
      unreachable.hidden = xhr.status === 200;
      document.getElementById("job-troubled").replaceChildren(); // of the run before
      if (!ended()) pollIn(0);
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (ended()) return;
    pollIn(document.hidden ? HIDDEN : 0);
    if (!document.hidden) drawCurve();
  });

  // Rows that did not go in are swapped whole when there are more: who reads them stays where they are.
  let read = 0;
  const rowsBox = () => document.getElementById("job-rows-box");
  document.addEventListener("htmx:oobBeforeSwap", () => (read = rowsBox()?.scrollTop ?? read));
  document.addEventListener("htmx:oobAfterSwap", () => rowsBox()?.scrollTo(0, read));

  // --- time goes on between two answers ---
  setInterval(() => {
    const clock = document.querySelector("#job-figures [data-since]");
    if (clock) clock.textContent = duration(Math.max(0, Math.floor(Date.now() / 1000 - clock.dataset.since)));
  }, 1000);

  // --- the curve ---
  const canvas = document.getElementById("job-chart");
  let chart;
  let settled = 0;

  // 90 -> "1 min 30 s", but 120 -> "2 min".
  const tick = (seconds) => duration(seconds).replace(/ 0 (s|min)$/, "");

  // The next step that people count time in: 40 s and 6 min 40 s are none.
  function roundStep(least) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
    return steps.find((step) => step >= least) ?? 86400;
  }

  function makeChart() {
    chart = new Chart(canvas, {
      type: "line",
      data: { datasets: [{ data: [], borderWidth: 2, pointRadius: 0, pointHitRadius: 12, fill: "origin", cubicInterpolationMode: "monotone" }] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        parsing: false,
        normalized: true,
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: axis({ type: "linear", ticks: { maxRotation: 0, autoSkipPadding: 24, includeBounds: false, callback: (seconds) => tick(+seconds.toFixed(1)) } }),
          y: axis({ ticks: { maxTicksLimit: 6, callback: short } }),
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([point]) => `after ${duration(Math.round(point.raw.x))}`,
              label: (point) => [`${short(point.raw.y)} rows/s`, `${short(point.raw.bytes)}B/s`],
            },
          },
        },
      },
    });
    const line = chart.data.datasets[0];
    // Chunks in flight are not counted yet: from the oldest of them on, the curve may still rise.
    line.segment = { borderDash: (segment) => (segment.p1.parsed.x > settled ? [4, 4] : undefined) };
    paint();
  }

  function paint() {
    if (!chart) return;
    const line = chart.data.datasets[0];
    line.borderColor = colour("--job-curve");
    line.backgroundColor = `${colour("--job-curve")}22`;
    charts.paint(chart);
  }

  async function drawCurve() {
    let curve;
    try {
      const answer = await fetch(page.dataset.rates, { headers: { Accept: "application/json" } });
      if (!answer.ok || answer.redirected) return;
      curve = await answer.json();
    } catch {
      return; // the next poll says that nothing can be reached
    }
    const empty = curve.points.length === 0;
    canvas.hidden = empty;
    document.getElementById("job-chart-empty").hidden = !empty;
    if (empty) return;
    if (!chart) makeChart();
    settled = curve.settled;
    const points = curve.points.map(([x, y, bytes]) => ({ x, y, bytes }));
    chart.data.datasets[0].data = points;
    chart.options.scales.x.max = curve.seconds;
    chart.options.scales.x.ticks.stepSize = roundStep(curve.seconds / 6);
    chart.update("none");
    const highest = Math.max(...points.map((point) => point.y));
    canvas.setAttribute("aria-label", `Committed rows per second over ${duration(Math.round(curve.seconds))}, at most ${short(highest)}`);
  }
  setInterval(() => {
    if (!document.hidden && !ended()) drawCurve();
  }, CURVE_EVERY);
  document.addEventListener("millrace:theme", paint);

  // --- what a troubled chunk has to tell ---
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-troubled]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const panel = document.getElementById("job-troubled");
    await htmx.ajax("GET", link.href, { target: panel, swap: "innerHTML" });
    panel.scrollIntoView({ block: "nearest" });
    panel.focus({ preventScroll: true });
  });

  drawCurve();
  if (!ended()) pollOn();
})();
