"use strict";
// Draws the figures that stand in the page as JSON. data-drawn says when all are there, for those who wait for it.
(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const config = {
    responsive: true,
    displaylogo: false,
    // The last would send what is drawn to a server.
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"],
    showSendToCloud: false,
    plotlyServerURL: "",
    toImageButtonOptions: { format: "svg" },
  };
  const drawn = [];
  for (const figure of figures) {
    drawn.push(Plotly.newPlot(figure.key, figure.data, figure.layout, config));
  }
  Promise.all(drawn).then(
    () => { document.body.dataset.drawn = String(drawn.length); },
    (error) => { console.error(error); },
  );
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const figure of figures) Plotly.Plots.resize(figure.key);
  });
})();
