// The page of one import: polls for changes, draws the throughput curve, and shows the problems of a chunk.
(() => {
  const { axis, colour, duration, short } = charts;
  const CURVE_EVERY = 2000;

  const page = document.getElementById("job-live");
  const state = () => document.getElementById("job-page-state").dataset;
  const ended = () => "ended" in state();

  // How far the import is, in the title of the tab.
  document.addEventListener("htmx:oobAfterSwap", () => (document.title = state().title));

  // The whole list of rejected rows is replaced when there are more: its scroll position stays.
  let scrolled = 0;
  const rowsBox = () => document.getElementById("job-rows-box");
  document.addEventListener("htmx:oobBeforeSwap", () => (scrolled = rowsBox()?.scrollTop ?? scrolled));
  document.addEventListener("htmx:oobAfterSwap", () => rowsBox()?.scrollTo(0, scrolled));

  // --- the curve ---
  const canvas = document.getElementById("job-chart");
  let chart;
  let settled = 0;

  // 90 -> "1 min 30 s", but 120 -> "2 min".
  const tick = (seconds) => duration(seconds).replace(/ 0 (s|min)$/, "");

  // The next larger step in which people count time, in seconds: not 40 s or 6 min 40 s.
  function roundStep(least) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
    return steps.find((step) => step >= least) ?? 86400;
  }

  function makeChart() {
    chart = new Chart(canvas, {
      type: "line",
      data: {
        datasets: [
          { label: "Committed by this import", data: [], borderWidth: 2, pointRadius: 0, pointHitRadius: 12, fill: "origin", cubicInterpolationMode: "monotone" },
          { label: "Written by the server, all connections", data: [], borderWidth: 1.5, borderDash: [2, 3], pointRadius: 0, pointHitRadius: 12 },
        ],
      },
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
          // Only where there is something to tell apart.
          legend: { display: false, position: "bottom", labels: { boxWidth: 24, boxHeight: 0 } },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([point]) => `after ${duration(Math.round(point.raw.x))}`,
              label: ({ dataset, raw }) => [`${dataset.label}: ${short(raw.y)} rows/s`, ...("bytes" in raw ? [`${charts.size(raw.bytes)}/s`] : [])],
            },
          },
        },
      },
    });
    const line = chart.data.datasets[0];
    // Dashed after `settled`: chunks in flight are not counted yet, so the curve may still rise there.
    line.segment = { borderDash: (segment) => (segment.p1.parsed.x > settled ? [4, 4] : undefined) };
    paint();
  }

  function paint() {
    if (!chart) return;
    const [line, server] = chart.data.datasets;
    line.borderColor = colour("--job-curve");
    line.backgroundColor = `${colour("--job-curve")}22`;
    server.borderColor = server.backgroundColor = colour("--job-server");
    charts.paint(chart);
  }

  async function drawCurve() {
    const curve = await live.data(page.dataset.rates);
    if (!curve) return;
    // Of a load of less than a moment there is no curve: one point says no more than the figure above it.
    const empty = curve.points.length < 2;
    document.getElementById("job-throughput").hidden = empty && (ended() || "loaded" in state());
    canvas.hidden = empty;
    document.getElementById("job-chart-empty").hidden = !empty;
    if (empty) return;
    if (!chart) makeChart();
    settled = curve.settled;
    const points = curve.points.map(([x, y, bytes]) => ({ x, y, bytes }));
    // Nothing after `settled` is unknown, not none: the chunks in flight are not counted yet.
    while (!ended() && points.at(-1)?.y === 0 && points.at(-1).x > settled) points.pop();
    chart.data.datasets[0].data = points;
    // The looks at the server and the chunks end at slightly different times.
    chart.data.datasets[1].data = curve.server.map(([x, y]) => ({ x, y })).filter(({ x }) => x <= curve.seconds);
    chart.options.plugins.legend.display = chart.data.datasets[1].data.length > 1;
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

  // --- details and problems of chunks ---
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-problem-chunks], a[data-chunk-details]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    chunkMap.show(link.href);
  });

  drawCurve();
  live.follow(page, {
    ended,
    onEnd: () => {
      drawCurve();
      document.dispatchEvent(new Event("millrace:ended"));
    },
    onPost: () => chunkMap.close(), // what it shows is of the previous run
    onShow: drawCurve,
  });
})();
