// What the pages' charts share: numbers as people read them, and colours that follow the scheme.
const charts = (() => {
  // 3725 -> "1 h 2 min".
  function duration(seconds) {
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  // 41234 -> "41.2k".
  function short(number) {
    const [unit, name] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => Math.abs(number) >= least) ?? [1, ""];
    return `${+(number / unit).toPrecision(3)}${name}`;
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const axis = (own) => ({ beginAtZero: true, border: { display: false }, ticks: {}, grid: {}, title: {}, ...own });

  // Axes, grid and letters in the colours of the scheme; what belongs to the chart's own lines is painted before.
  function paint(chart) {
    for (const each of Object.values(chart.options.scales)) {
      each.ticks.color = each.title.color = colour("--chart-axis");
      each.grid.color = colour("--chart-grid");
    }
    chart.options.color = colour("--chart-axis");
    chart.options.font = { family: getComputedStyle(document.body).fontFamily, size: 13 };
    chart.update("none");
  }

  return { axis, colour, duration, paint, short };
})();
