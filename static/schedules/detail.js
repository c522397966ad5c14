// The page of one schedule: the chart of its imports' throughput over time.
(() => {
  const canvas = document.getElementById("schedule-chart");
  if (!canvas) return;
  const { axis, colour, moment, paint, short } = charts;
  const points = JSON.parse(document.getElementById("schedule-throughput").textContent).map(([x, y, job, outcome, look]) => ({ x, y, job, outcome, look }));
  const DAYS = 4 * 86400; // seconds; within fewer days, the days alone would be the same text again and again
  const shortSpan = points.at(-1).x - points[0].x < DAYS;
  const parts = { day: "numeric", month: "short", ...(shortSpan && { hour: "2-digit", minute: "2-digit" }) };
  const day = (seconds) => moment(seconds, parts, canvas.dataset.zone);
  const chart = new Chart(canvas, {
    type: "scatter",
    data: { datasets: [{ data: points, showLine: points.length < 100, borderWidth: 1, pointRadius: 3 }] },
    options: {
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: axis({ type: "linear", beginAtZero: false, ticks: { maxRotation: 0, autoSkipPadding: 24, callback: day } }),
        y: axis({ ticks: { maxTicksLimit: 6, callback: short } }),
      },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { title: ([each]) => `Import ${each.raw.job}, ${day(each.raw.x)}`, label: ({ raw }) => `${short(raw.y)} rows/s, ${raw.outcome}` } },
      },
      onClick: (_event, [hit]) => hit && (location.href = `/jobs/${points[hit.index].job}/`),
    },
  });
  function show() {
    const [drawn] = chart.data.datasets;
    drawn.borderColor = colour("--chart-grid");
    drawn.backgroundColor = drawn.pointBorderColor = points.map(({ look }) => colour(`--tblr-${look}`));
    paint(chart);
  }
  show();
  document.addEventListener("millrace:theme", show);
})();
