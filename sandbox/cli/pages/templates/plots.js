"use strict";
(() => {
  const data = document.getElementById("plots");
  if (!data) return;
  const colours = ["#1d4ed8", "#b3201b", "#176d3b", "#7a3b9c", "#a35b00", "#0e7490", "#6b7280"];
  const drawn = (plot) => {
    const xs = [...new Set(plot.lines.flatMap((line) => line.xs))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, number) => [x, number]));
    const series = plot.lines.map((line) => {
      const ys = Array(xs.length).fill(null);
      line.xs.forEach((x, number) => { ys[place.get(x)] = line.ys[number]; });
      return ys;
    });
    const frame = document.createElement("div");
    frame.className = "plot";
    document.getElementById("plotted").append(frame);
    const widest = xs[xs.length - 1], room = widest > 0 ? widest * 1.05 : 1;
    new uPlot({
      title: plot.title, width: 520, height: 300,
      scales: { x: { time: false, range: [0, room] }, y: { range: [0, 1.03] } },
      axes: [{ label: plot.x }, { label: plot.y }],
      series: [{ label: plot.x }, ...plot.lines.map((line, number) => ({
        label: line.name, stroke: colours[number % colours.length], spanGaps: true, width: plot.points ? 0 : 2,
        paths: plot.points ? () => null : uPlot.paths.stepped({ align: 1 }),
        points: { show: plot.points, size: 11, fill: colours[number % colours.length] },
      }))],
    }, [xs, ...series], frame);
  };
  JSON.parse(data.textContent).forEach(drawn);
})();
