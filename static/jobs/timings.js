// The chart of chunk timings: seconds by phase, the longest chunk behind each bar, and marks for retries and rejects.
(() => {
  const COLOURS = ["#a78bfa", "#7c3aed", "#f59f00", "#0b7285", "#2f9e6b", "#d6336c"];
  let chart;

  function draw() {
    const data = document.getElementById("timings-data");
    if (!data) return;
    const { phases, points } = JSON.parse(data.textContent);
    const [first, last, laps, longest, retried, rejected] = [0, 1, 2, 3, 4, 5];
    const several = points.some((point) => point[first] !== point[last]);
    const at = (point) => (point[first] + point[last]) / 2;
    const chunks = (point) => (point[first] === point[last] ? `Chunk ${point[first]}` : `Chunks ${point[first]} to ${point[last]}`);

    // Milliseconds below 0.1 s, as in the texts of the page; on the axis the same unit everywhere.
    const longestOfAll = Math.max(...points.map((point) => point[longest]));
    const took = (seconds) => (longestOfAll < 0.1 ? `${charts.short(1000 * seconds)} ms` : `${charts.short(seconds)} s`);

    // Each set of marks has a stack of its own, so that it is not placed on top of the bars.
    const marks = (label, which, pointStyle, colour) => ({
      type: "scatter",
      label,
      stack: label,
      data: points.filter((point) => point[which]).map((point) => ({ x: at(point), y: point[longest], many: point[which], point })),
      pointStyle,
      pointRadius: 5,
      pointBorderWidth: 2,
      borderColor: charts.colour(colour),
      backgroundColor: "transparent",
    });
    const line = {
      type: "line",
      label: "longest",
      stack: "longest",
      data: points.map((point) => ({ x: at(point), y: point[longest], point })),
      borderColor: charts.colour("--chart-axis"),
      borderWidth: 1,
      pointRadius: 0,
      pointStyle: "line",
    };
    const bar = (label, which) => ({
      type: "bar",
      label,
      stack: "phases",
      data: points.map((point) => ({ x: at(point), y: point[laps][which], point })),
      backgroundColor: COLOURS[which],
      barPercentage: 1,
      categoryPercentage: points.length > 60 ? 1 : 0.8,
      maxBarThickness: 48,
      pointStyle: "rect",
    });
    const drawn = [marks("tried again", retried, "triangle", "--job-retried"), marks("rows rejected", rejected, "crossRot", "--job-failed")];

    // A phase of which no bar shows anything needs no place in the legend.
    const visible = longestOfAll / 200;
    const bars = phases.map(bar).filter((set) => set.data.some(({ y }) => y > visible));

    chart?.destroy();
    chart = new Chart(document.getElementById("timings-chart"), {
      data: { datasets: [...drawn.filter((set) => set.data.length), ...(several ? [line] : []), ...bars] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "x", intersect: false },
        scales: {
          x: charts.axis({
            type: "linear",
            stacked: true,
            offset: false,
            beginAtZero: false,
            min: points[0][first] - 0.5,
            max: points.at(-1)[last] + 0.5,
            grid: { display: false },
            ticks: { precision: 0, maxRotation: 0, autoSkipPadding: 24, includeBounds: false },
            title: { display: true, text: "chunk" },
          }),
          y: charts.axis({ stacked: true, ticks: { maxTicksLimit: 6, callback: took } }),
        },
        plugins: {
          legend: { position: "bottom", labels: { boxWidth: 12, boxHeight: 10, usePointStyle: true } },
          tooltip: {
            filter: ({ raw }) => raw.y > 0,
            callbacks: {
              title: ([item]) => (item ? chunks(item.raw.point) : ""),
              label: ({ dataset, raw }) => (raw.many ? `${charts.short(raw.many)} ${dataset.label}` : `${dataset.label}: ${took(raw.y)}`),
            },
          },
        },
      },
    });
    charts.paint(chart);
  }

  document.addEventListener("htmx:afterSettle", ({ target }) => target.id === "job-timings" && draw());
  document.addEventListener("millrace:theme", () => chart && draw());
  draw();
})();
