// The page of one schedule: the chart of its imports' throughput over time.
(() => {
  const canvas = document.getElementById("schedule-chart");
  if (!canvas) return;
  const { axis, colour, moment, paint, short, timeAxis } = charts;
  const points = JSON.parse(document.getElementById("schedule-throughput").textContent).map(([x, y, job, outcome, look]) => ({ x, y, job, outcome, look }));
  const zone = canvas.dataset.zone;
  const minute = (seconds) => moment(seconds, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }, zone);
  const chart = new Chart(canvas, {
    type: "scatter",
    data: { datasets: [{ data: points, showLine: points.length < 100, borderWidth: 1, pointRadius: 3, clip: 6 }] },
    options: {
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: timeAxis(points[0].x, points.at(-1).x, zone),
        y: axis({ ticks: { maxTicksLimit: 6, callback: short } }),
      },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { title: ([each]) => `Import ${each.raw.job}, ${minute(each.raw.x)}`, label: ({ raw }) => `${short(raw.y)} rows/s, ${raw.outcome}` } },
      },
      onClick: (_event, [hit]) => hit && (location.href = `/jobs/${points[hit.index].job}/`),
    },
  });
  function show() {
    const [drawn] = chart.data.datasets;
    drawn.borderColor = colour("--chart-axis");
    drawn.backgroundColor = drawn.pointBorderColor = points.map(({ look }) => colour(`--tblr-${look}`));
    paint(chart);
  }
  show();
  document.addEventListener("millrace:theme", show);
})();
