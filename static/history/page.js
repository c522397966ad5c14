// The history page: draws the chart again for each new view, and searches among the columns.
(() => {
  const { axis, colour, duration, moment, short, size, timeAxis } = charts;
  let chart;
  let drawn;
  // The canvas has no id: htmx would copy the old one's inline styles to the new one, which the CSP forbids.
  const canvasShown = () => document.querySelector(".history-canvas canvas");

  // --- values on axes and in tooltips, by the kind of the fact ---
  const day = (seconds) => moment(seconds, { day: "numeric", month: "short", year: "2-digit" });
  const minute = (seconds) => moment(seconds, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const HALF_A_DAY = 43200; // seconds on each side of the only moment there is
  const FORMS = {
    bytes: size,
    moment: day,
    seconds: (value) => (value < 10 ? `${+value.toPrecision(3)} s` : duration(Math.round(value))),
    milliseconds: (value) => `${short(value)} ms`,
    share: (value) => `${Math.round(value * 100)} %`,
    "rows per second": (value) => `${short(value)} rows/s`,
    "bytes per second": (value) => `${size(value)}/s`,
  };
  const form = (about) => FORMS[about.form] ?? short;

  // --- settings against timings: points, medians as a line, the middle half of the runs as a bar through them ---
  const SHAPES = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded"];
  // Spreads points with equal x, by an amount from -0.5 to 0.5 that is constant for each import.
  const jitter = (job) => ((job * 0.618034) % 1) - 0.5;

  // Returns a function that places groups side by side, by as little as keeps the axis readable.
  function placedBySide(data) {
    if (!data.x.logarithmic) return (x, by) => (data.x.labels ? x + 0.2 * by : x);
    const all = data.groups.flatMap((group) => group.points.map(([x]) => x));
    const step = Math.min(1.1, (Math.max(...all) / Math.min(...all)) ** 0.015);
    return (x, by) => x * step ** by;
  }

  const middleHalves = {
    id: "middleHalves",
    afterDatasetsDraw(drawing) {
      const { ctx, data, scales } = drawing;
      data.datasets.forEach((set, number) => {
        if (!set.spread || !drawing.isDatasetVisible(number)) return;
        ctx.save();
        ctx.strokeStyle = set.borderColor;
        ctx.lineWidth = 3;
        for (const { x, low, high } of set.data) {
          ctx.beginPath();
          ctx.moveTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(low));
          ctx.lineTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(high));
          ctx.stroke();
        }
        ctx.restore();
      });
    },
  };

  function settings(data) {
    const placed = placedBySide(data);
    const label = (group) => (data.coloured ? `${data.coloured} ${group.label}` : "Imports");
    const datasets = data.groups.flatMap((group, number) => {
      const by = data.groups.length > 1 ? (2 * number) / (data.groups.length - 1) - 1 : 0;
      return [
        { label: label(group), group: number, data: group.points.map(([x, y, job]) => ({ x: placed(x, by + 0.6 * jitter(job)), y, job })), pointStyle: SHAPES[number], pointRadius: 3, order: 2 },
        {
          label: `${label(group)}, median`, group: number, spread: true, type: "line", borderWidth: 2, pointStyle: SHAPES[number], pointRadius: 5, order: 1,
          showLine: !data.x.labels, data: group.medians.map(([x, y, low, high, jobs]) => ({ x: placed(x, by), y, low, high, jobs })),
        },
      ];
    });
    const ticks = data.x.labels
      ? { stepSize: 1, autoSkip: false, callback: (value) => data.x.labels[value] ?? "" }
      : { maxRotation: 0, autoSkipPadding: 16, callback: form(data.x) };
    const x = axis({ type: data.x.logarithmic ? "logarithmic" : "linear", beginAtZero: false, ticks, title: { display: true, text: data.x.title } });
    if (data.x.labels) Object.assign(x, { min: -0.5, max: data.x.labels.length - 0.5, afterBuildTicks: (scale) => (scale.ticks = data.x.labels.map((_, value) => ({ value }))) });
    else if (data.x.logarithmic && data.x.form === "bytes") x.afterBuildTicks = powersOfTwo;
    const summary = (point) => `${form(data.y)(point.y)}${point.low === undefined ? "" : `, middle half ${form(data.y)(point.low)} to ${form(data.y)(point.high)}, ${point.jobs} imports`}`;
    return {
      type: "scatter",
      data: { datasets },
      plugins: [middleHalves],
      options: {
        scales: { x, y: axis({ ticks: { maxTicksLimit: 8, callback: form(data.y) }, title: { display: true, text: data.y.title } }) },
        plugins: {
          legend: {
            display: data.coloured !== "",
            position: "bottom",
            labels: { usePointStyle: true, boxHeight: 7, filter: (item, { datasets }) => !datasets[item.datasetIndex].spread },
            // Shows or hides a group's medians together with its points.
            onClick: (_event, { datasetIndex }) => {
              const shown = !chart.isDatasetVisible(datasetIndex);
              chart.setDatasetVisibility(datasetIndex, shown);
              chart.setDatasetVisibility(datasetIndex + 1, shown);
              chart.update();
            },
          },
          tooltip: { callbacks: { title: ([each]) => (each.raw.job ? `Import ${each.raw.job}` : "Median"), label: ({ raw, dataset }) => [dataset.label, summary(raw)] } },
        },
        onClick: (_event, [hit]) => toImport(hit && datasets[hit.datasetIndex].data[hit.index].job),
      },
    };
  }

  // Ticks at powers of two, because people set sizes to those.
  function powersOfTwo(scale) {
    const first = Math.ceil(Math.log2(scale.min));
    const every = Math.max(1, Math.ceil((Math.log2(scale.max) - first) / 10));
    scale.ticks = [];
    for (let power = first; 2 ** power <= scale.max; power += every) scale.ticks.push({ value: 2 ** power });
  }

  // --- over time, with a line where settings or the server changed ---
  const changes = {
    id: "changes",
    beforeDatasetsDraw({ ctx, chartArea, scales }) {
      ctx.save();
      for (const change of drawn.changes) {
        const at = scales.x.getPixelForValue(change.at);
        ctx.strokeStyle = colour(change.server ? "--history-server" : "--history-change");
        ctx.setLineDash(change.server ? [] : [3, 4]);
        ctx.beginPath();
        ctx.moveTo(at, chartArea.top);
        ctx.lineTo(at, chartArea.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
  };

  function time(data) {
    const changed = new Map(data.changes.map((change) => [change.job, change.words]));
    const points = data.points.map(([x, y, job]) => ({ x, y, job }));
    const [first, last] = [points[0].x, points.at(-1).x];
    const room = first === last ? HALF_A_DAY : 0;
    return {
      type: "scatter",
      data: { datasets: [{ label: data.y.title, group: 0, data: points, pointRadius: 3, clip: 6, showLine: data.joined, borderWidth: 1 }] },
      plugins: [changes],
      options: {
        scales: {
          x: timeAxis(first - room, last + room),
          y: axis({ ticks: { maxTicksLimit: 8, callback: form(data.y) }, title: { display: true, text: data.y.title } }),
        },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { title: ([each]) => `Import ${each.raw.job}, ${minute(each.raw.x)}`, label: ({ raw }) => [form(data.y)(raw.y), ...(changed.get(raw.job) ?? []).slice(0, 8)] } },
        },
        onClick: (_event, [hit]) => toImport(hit && points[hit.index].job),
      },
    };
  }

  // --- where the time goes ---
  // A bar that is longer than the axis is interrupted near its end, and has its length there.
  const cutOff = {
    id: "cutOff",
    afterDatasetsDraw(drawing) {
      const { ctx, chartArea, data, scales } = drawing;
      if (!drawn.end) return;
      ctx.save();
      ctx.font = `600 13px ${drawing.options.font.family}`;
      Object.assign(ctx, { textAlign: "right", textBaseline: "middle" });
      data.labels.forEach((_, bar) => {
        const length = data.datasets.reduce((sum, set, number) => sum + (drawing.isDatasetVisible(number) ? set.data[bar] : 0), 0);
        if (length <= drawn.end) return;
        const [y, text] = [scales.y.getPixelForValue(bar), `… ${FORMS.seconds(length)}`];
        const width = ctx.measureText(text).width + 8;
        ctx.clearRect(chartArea.right - width, y - 10, width + 1, 20);
        ctx.fillStyle = colour("--chart-axis");
        ctx.fillText(text, chartArea.right - 2, y);
      });
      ctx.restore();
    },
  };

  function phases(data) {
    canvasShown().parentElement.style.height = `${7 + 1.2 * data.labels.length}rem`;
    return {
      type: "bar",
      plugins: [cutOff],
      data: { labels: data.labels, datasets: data.parts.map((part, number) => ({ label: part.label, group: number, data: part.seconds, maxBarThickness: 18 })) },
      options: {
        indexAxis: "y",
        interaction: { mode: "index", axis: "y", intersect: false },
        scales: {
          x: axis({ stacked: true, max: data.end ?? undefined, ticks: { maxRotation: 0, autoSkipPadding: 24, callback: FORMS.seconds } }),
          y: axis({ stacked: true, grid: { display: false }, ticks: { autoSkip: data.labels.length > 30 } }),
        },
        plugins: {
          legend: { position: "bottom", labels: { boxWidth: 12, boxHeight: 12 } },
          tooltip: { callbacks: { label: ({ dataset, raw }) => `${dataset.label}: ${FORMS.seconds(raw)}` } },
        },
        onClick: (_event, [hit]) => toImport(hit && data.jobs[hit.index]),
      },
    };
  }

  function toImport(job) {
    if (job) location.href = `/jobs/${job}/`;
  }

  // Colours are set before the chart is created: its elements keep their first colours.
  function make() {
    chart?.destroy();
    const config = { settings, time, phases }[drawn.kind](drawn);
    for (const set of config.data.datasets) {
      // Few groups in order are as far apart as the colours go.
      const own = colour(drawn.inOrder ? `--history-${1 + Math.round((5 * set.group) / Math.max(1, drawn.groups.length - 1))}` : `--history-word-${1 + (set.group % 7)}`);
      set.borderColor = own;
      set.backgroundColor = set.spread || drawn.kind === "phases" ? own : `${own}80`;
    }
    Object.assign(config.options, { animation: false, maintainAspectRatio: false });
    chart = new Chart(canvasShown(), config);
    charts.paint(chart);
  }

  async function draw() {
    chart?.destroy();
    chart = undefined;
    const canvas = canvasShown();
    if (!canvas) return;
    let data;
    try {
      const answer = await fetch(canvas.dataset.url, { headers: { Accept: "application/json" } });
      if (!answer.ok || answer.redirected) throw new Error(answer.status);
      data = await answer.json();
    } catch {
      document.getElementById("history-canvas-problem").hidden = false;
      return;
    }
    if (!canvas.isConnected) return; // replaced by another view in the meantime
    drawn = data;
    make();
  }

  // --- columns: a search among them, and one parameter with commas for all of them ---
  function prepare() {
    const search = document.getElementById("history-columns-search");
    if (!search) return;
    search.hidden = false;
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      for (const group of document.querySelectorAll("#history-columns fieldset")) {
        const labels = [...group.querySelectorAll("label")];
        for (const label of labels) label.hidden = !`${label.textContent} ${label.firstChild.value}`.toLowerCase().includes(wanted);
        group.hidden = labels.every((label) => label.hidden);
      }
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // would send the form
    });
    enableComparison();
  }
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters } = event.detail;
    if (elt.closest("#history-columns") && parameters.getAll?.("columns").length) {
      const columns = parameters.getAll("columns").join(",");
      parameters.delete("columns");
      parameters.append("columns", columns);
    }
  });

  // --- the button to compare needs two imports ---
  function enableComparison() {
    const button = document.getElementById("history-compare-button");
    if (button) button.disabled = document.querySelectorAll("#history input[name=jobs]:checked").length < 2;
  }
  document.addEventListener("change", (event) => {
    if (event.target.name === "jobs") enableComparison();
  });

  function shown() {
    prepare();
    draw();
  }
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "history") shown();
  });
  document.addEventListener("millrace:theme", () => chart && make());
  shown();
})();
