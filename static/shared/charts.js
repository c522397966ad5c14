// For all charts: numbers in the form that the pages use, and the colours of the light or dark theme.
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
  // 2621440 -> "2.5 MiB".
  function size(bytes) {
    const [unit, name] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]].find(([least]) => bytes >= least) ?? [1, "bytes"];
    return `${+(bytes / unit).toPrecision(3)} ${name}`;
  }
  // A moment (seconds since 1970) as the pages write it: 25 Nov, 09:38. In the zone, which is the reader's if none is
  // given; in UTC if the browser does not know it.
  function moment(seconds, parts, timeZone = document.documentElement.dataset.timeZone) {
    const at = new Date(seconds * 1000);
    try {
      return at.toLocaleString("en-GB", { ...parts, timeZone });
    } catch {
      return at.toLocaleString("en-GB", { ...parts, timeZone: "UTC" });
    }
  }
  // What the ticks of a time axis from `first` to `last` say: the parts in which these moments differ, each text once.
  function times(first, last, timeZone) {
    const MINUTES = 10 * 60, DAYS = 4 * 86400, span = last - first;
    const parts = { day: "numeric", month: "short" };
    if (span >= DAYS) parts.year = "2-digit";
    else parts.hour = parts.minute = "2-digit";
    if (span < MINUTES) parts.second = "2-digit";
    const text = (seconds) => moment(seconds, parts, timeZone);
    return (value, at, ticks) => (at && text(ticks[at - 1].value) === text(value) ? "" : text(value));
  }
  // A horizontal axis of time with a tick at both of its ends, and as many between them as have the room.
  function timeAxis(first, last, timeZone) {
    const ROOM = 150; // pixels
    const spread = (scale) => {
      const steps = first === last ? 0 : Math.max(1, Math.min(6, Math.floor(scale.width / ROOM)));
      scale.ticks = Array.from({ length: steps + 1 }, (_, at) => ({ value: first + ((last - first) * at) / (steps || 1) }));
    };
    const ticks = { align: "inner", autoSkip: false, maxRotation: 0, callback: times(first, last, timeZone) };
    return axis({ type: "linear", beginAtZero: false, min: first, max: last, ticks, afterBuildTicks: spread });
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const axis = (own) => ({ beginAtZero: true, border: { display: false }, ticks: {}, grid: {}, title: {}, ...own });

  // Sets the theme's colours for axes, grid and text, and updates the chart. Its data sets get theirs before the call.
  function paint(chart) {
    for (const each of Object.values(chart.options.scales)) {
      each.ticks.color = each.title.color = colour("--chart-axis");
      each.grid.color = colour("--chart-grid");
    }
    chart.options.color = colour("--chart-axis");
    chart.options.font = { family: getComputedStyle(document.body).fontFamily, size: 13 };
    chart.update("none");
  }

  return { axis, colour, duration, moment, paint, short, size, timeAxis };
})();
