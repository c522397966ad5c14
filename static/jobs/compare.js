// The chart of the comparison page: the seconds that each import's sessions spent in each phase.
(() => {
  const data = document.getElementById("compare-phases");
  if (!data) return;
  const { imports, phases } = JSON.parse(data.textContent);
  const COLOURS = ["#94a3b8", "#a78bfa", "#7c3aed", "#f59f00", "#0b7285", "#2f9e6b", "#d6336c"];
  const HEIGHT = 3.2; // rem per bar
  const LEGEND = window.innerWidth < 768 ? 10 : 5; // rem, with the axis

  document.querySelector(".compare-chart").style.height = `${LEGEND + HEIGHT * imports.length}rem`;
  const chart = new Chart(document.getElementById("compare-chart"), {
    type: "bar",
    data: {
      labels: imports,
      datasets: phases.map(({ name, seconds }, at) => ({ label: name, data: seconds, backgroundColor: COLOURS[at % COLOURS.length], maxBarThickness: 28 })),
    },
    options: {
      indexAxis: "y",
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: charts.axis({ stacked: true, ticks: { callback: (seconds) => `${charts.short(seconds)} s` } }),
        y: charts.axis({ stacked: true, grid: { display: false }, ticks: { autoSkip: false } }),
      },
      plugins: {
        legend: { position: "bottom", labels: { boxWidth: 12, boxHeight: 12 } },
        tooltip: { callbacks: { label: (bar) => `${bar.dataset.label}: ${charts.short(bar.raw)} s` } },
      },
    },
  });
  charts.paint(chart);
  document.addEventListener("millrace:theme", () => charts.paint(chart));
})();
