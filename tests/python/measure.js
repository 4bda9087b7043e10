// Runs in a report: finds texts that overlap each other or a plot, and what is wider than the page. Sends it to the page around.
(function () {
  const corners = (element) => {
    const box = element.getBBox(), place = element.getScreenCTM();
    return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([a, b]) => {
      const point = new DOMPoint(box.x + a * box.width, box.y + b * box.height).matrixTransform(place);
      return [point.x, point.y];
    });
  };
  const rectangle = ({ left, top, right, bottom }) => [[left, top], [right, top], [right, bottom], [left, bottom]];
  // Convex polygons overlap if no edge of either separates them (more than by a pixel).
  const overlap = (a, b) => ![a, b].some((polygon) => polygon.some(([x, y], k) => {
    const [u, v] = polygon[(k + 1) % polygon.length], length = Math.hypot(u - x, v - y) || 1;
    const along = (points) => points.map(([p, q]) => ((p - x) * (v - y) - (q - y) * (u - x)) / length);
    const [of_a, of_b] = [along(a), along(b)];
    return Math.min(...of_a) > Math.max(...of_b) - 1 || Math.min(...of_b) > Math.max(...of_a) - 1;
  }));
  const plotted = (plot) => Object.values(plot._fullLayout._plots).filter(({ mainplot }) => !mainplot).map(({ xaxis, yaxis }) => {
    const at = plot.querySelector("svg.main-svg").getBoundingClientRect();
    return rectangle({
      left: at.left + xaxis._offset, right: at.left + xaxis._offset + xaxis._length,
      top: at.top + yaxis._offset, bottom: at.top + yaxis._offset + yaxis._length,
    });
  });
  function measure() {
    const wrong = [], width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const element of document.querySelectorAll("h1, h2, h3, p, a, figcaption, .plot, pre, .wide")) {
      const { left, right } = element.getBoundingClientRect();
      if (left < 0 || right > width) wrong.push(`off the page: ${element.textContent.slice(0, 60)}`);
      if (element.scrollWidth > element.clientWidth + 1 && element.className === "wide") wrong.push(`wider than its place: ${element.textContent.slice(0, 60)}`);
    }
    let count = 0;
    for (const plot of document.querySelectorAll(".plot")) {
      const frame = plot.getBoundingClientRect(), areas = plotted(plot);
      const buttons = [...plot.querySelectorAll(".modebar-group")].map((group) => ["a button", rectangle(group.getBoundingClientRect()), true]);
      const texts = [...plot.querySelectorAll("svg text")].filter((t) => t.textContent.trim() && t.getBBox().width && getComputedStyle(t).visibility !== "hidden" && getComputedStyle(t).opacity !== "0")
        .map((t) => [t.textContent, corners(t), !t.closest(".annotation")]);
      count += texts.length;
      for (const [text, polygon] of texts) {
        if (polygon.some(([x, y]) => x < frame.left - 1 || x > frame.right + 1 || y < frame.top - 1 || y > frame.bottom + 1)) wrong.push(`${plot.id}: "${text}" is cut off`);
      }
      const all = [...texts, ...buttons];
      all.forEach(([text, polygon, outside], k) => {
        for (const [other, its] of all.slice(k + 1)) {
          if (overlap(polygon, its) && !(text === "a button" && other === "a button")) wrong.push(`${plot.id}: "${text}" and "${other}" overlap`);
        }
        if (outside && areas.some((area) => overlap(polygon, area))) wrong.push(`${plot.id}: "${text}" lies in a plot`);
      });
    }
    window.parent.postMessage({ width: window.innerWidth, texts: count, wrong }, "*");
  }
  const wait = () => (document.body.dataset.drawn ? measure() : setTimeout(wait, 20));
  wait();
})();
