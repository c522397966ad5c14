// The page of one lab: polls for changes, and draws the measurements so far.
(() => {
  const page = document.getElementById("lab-live");
  const pageState = () => document.getElementById("lab-page-state");
  const ended = () => "ended" in pageState().dataset;
  const LINES = ["--lab-line-1", "--lab-line-2", "--lab-line-3", "--lab-line-4", "--lab-line-5"];
  const BAR_PIXELS = 26;
  const LINE_PIXELS = 15;

  // --- bars: the median of each combination, and its runs as dots ---
  const canvas = document.getElementById("lab-bars");
  let bars;

  function makeBars() {
    bars = new Chart(canvas, {
      type: "bar",
      data: { labels: [], datasets: [{ data: [], barPercentage: 0.7, maxBarThickness: 28, order: 1 }, { type: "scatter", data: [], pointRadius: 3.5, pointBorderWidth: 1, order: 0 }] },
      options: {
        animation: false,
        indexAxis: "y",
        maintainAspectRatio: false,
        scales: {
          x: charts.axis({ ticks: { maxTicksLimit: 6, callback: charts.short } }),
          y: charts.axis({ grid: { display: false }, ticks: { autoSkip: false, callback: (at) => lines(bars.short[at] ?? "") } }),
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([point]) => point.datasetIndex ? point.raw.y : bars.data.labels[point.dataIndex],
              label: (point) => tooltip(point, point.datasetIndex ? point.raw.x : point.raw),
            },
          },
        },
      },
    });
  }
  const tooltip = (point, rate) => `${point.datasetIndex ? "one run" : "median"}: ${charts.short(rate)} rows/s`;
  // A name in lines of whole words, each about a third of the chart's width.
  function lines(name) {
    const most = Math.max(12, Math.floor(canvas.clientWidth / 21));
    return name.split(" ").reduce((made, word) => {
      const longer = made.length ? `${made.at(-1)} ${word}` : word;
      return made.length && longer.length <= most ? [...made.slice(0, -1), longer] : [...made, word];
    }, []);
  }

  function drawBars(combinations) {
    canvas.hidden = !combinations.length;
    document.getElementById("lab-planned").hidden = !combinations.some((each) => each.planned);
    document.getElementById("lab-bars-empty").hidden = combinations.length > 0;
    if (!combinations.length) return;
    const most = Math.max(...combinations.map((each) => lines(each.short).length));
    canvas.parentElement.style.height = `${combinations.length * Math.max(BAR_PIXELS, most * LINE_PIXELS + 6) + 70}px`;
    if (!bars) makeBars();
    bars.data.labels = combinations.map((each) => each.name);
    bars.data.datasets[0].data = combinations.map((each) => each.median);
    bars.data.datasets[1].data = combinations.flatMap((each) => each.runs.map((x) => ({ x, y: each.name })));
    bars.short = combinations.map((each) => each.short);
    bars.planned = combinations.map((each) => each.planned);
  }

  // --- a chart for each numeric setting ---
  const curves = new Map();
  const template = document.getElementById("lab-curve");

  function makeCurve(curve) {
    const card = template.content.cloneNode(true).firstElementChild;
    document.getElementById("lab-curves").append(card);
    const times = curve.unit === "times";
    card.querySelector("h2").textContent = times ? "Speed-up by sessions" : `By ${curve.label.toLowerCase()}`;
    card.querySelector(".lab-curve-unit").textContent = times ? "times the fewest at once" : "rows per second, median";
    const chart = new Chart(card.querySelector("canvas"), {
      type: "line",
      data: { labels: [], datasets: [] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "index", intersect: false },
        scales: {
          x: charts.axis({ title: { display: true, text: curve.label } }),
          y: charts.axis({ ticks: { maxTicksLimit: 6, callback: (value) => (times ? `${value}×` : charts.short(value)) } }),
        },
        plugins: {
          legend: { position: "bottom", labels: { boxWidth: 14, boxHeight: 2 } },
          tooltip: { callbacks: { label: ({ dataset, raw }) => `${dataset.label}: ${amount(raw.y)}, ${amount(raw.low)} to ${amount(raw.high)}` } },
        },
      },
    });
    const amount = (value) => (times ? `${value.toFixed(2)}×` : `${charts.short(value)} rows/s`);
    return { card, chart };
  }

  function drawCurve(curve) {
    if (!curves.has(curve.setting)) curves.set(curve.setting, makeCurve(curve));
    const { card, chart } = curves.get(curve.setting);
    chart.data.labels = curve.values;
    chart.data.datasets = curve.lines.map((line) => ({
      label: line.name,
      data: line.points.map((point) => ({ x: curve.values[point.at], ...point })),
      borderWidth: 2,
      pointRadius: 3,
      spanGaps: true,
    }));
    chart.options.plugins.legend.display = curve.lines.length > 1;
    card.querySelector(".lab-curve-conclusion").textContent = curve.says;
    card.querySelector("canvas").setAttribute("aria-label", `${curve.label}: ${curve.says || "see the ranking"}`);
  }

  function paint() {
    if (bars) {
      const [bar, run] = bars.data.datasets;
      bar.backgroundColor = bars.planned.map((planned) => charts.colour(planned ? "--lab-planned" : "--lab-bar"));
      run.backgroundColor = charts.colour("--lab-run");
      run.borderColor = charts.colour("--tblr-bg-surface");
      charts.paint(bars);
    }
    for (const { chart } of curves.values()) {
      chart.data.datasets.forEach((line, number) => {
        line.borderColor = line.backgroundColor = charts.colour(LINES[number % LINES.length]);
      });
      charts.paint(chart);
    }
  }

  let drawn;
  async function draw() {
    if (document.hidden || drawn === pageState().value) return;
    drawn = pageState().value;
    const data = await live.data(page.dataset.charts);
    if (!data) return (drawn = undefined);
    if (canvas) drawBars(data.bars);
    data.curves.forEach(drawCurve);
    paint();
  }

  document.addEventListener("millrace:theme", paint);
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    if (event.detail.target.id === "lab-page-state") setTimeout(draw);
  });

  // --- a square links to its trial in the list, which is opened first ---
  function openTrial() {
    const trial = location.hash.startsWith("#trial-") && document.querySelector(location.hash);
    if (!trial) return;
    trial.closest("details").open = true;
    trial.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", openTrial);

  draw();
  openTrial();
  live.follow(page, { ended, onEnd: draw, onShow: draw });
})();
