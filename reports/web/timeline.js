"use strict";
window.velosim = window.velosim || {};

// velosim.timeline draws a run into an element. Times are seconds. options.onEvent is told the event that was chosen; the element gets
// velosimFocus(seq), which chooses one.
velosim.timeline = function (root, data, options) {
  const SVG = "http://www.w3.org/2000/svg", ROW = 24, HEAD = 22, PAD = 14;
  const svg = (name, attributes, ...children) => {
    const e = document.createElementNS(SVG, name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    e.append(...children);
    return e;
  };
  const html = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    e.append(...children);
    return e;
  };
  let zoom = 1, fitted = true, chosen = null;

  // Every instant at which something happens. Between two of them nothing does: by default such a stretch is drawn no longer than
  // its logarithm.
  const instants = new Set([0, data.end]);
  for (const lane of data.lanes) {
    for (const s of lane.spans || []) instants.add(s.from).add(s.to);
    for (const m of lane.marks || []) instants.add(m.at);
  }
  const times = [...instants].sort((a, b) => a - b);
  const places = [0];
  for (let i = 1; i < times.length; i++) {
    const gap = times[i] - times[i - 1];
    places.push(places[i - 1] + (gap <= 1 ? Math.max(gap, 0.4) : 1 + 1.6 * Math.log2(gap)));
  }
  const place = (t) => {
    if (!fitted) return data.end ? t / data.end : 0;
    let low = 0, high = times.length - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (times[mid] <= t) low = mid; else high = mid - 1; }
    const next = Math.min(low + 1, times.length - 1);
    const part = next === low ? 0 : (t - times[low]) / (times[next] - times[low]);
    return (places[low] + part * (places[next] - places[low])) / (places[places.length - 1] || 1);
  };

  const duration = (s) => {
    if (s < 1) return s ? Math.round(s * 1000) + "ms" : "0s";
    const h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60), rest = s % 60;
    const seconds = (Math.round(rest * 10) / 10) + "s";
    return (h ? h + "h" : "") + (h || m ? m + "m" : "") + seconds;
  };

  const button = (label, text, act) => {
    const b = html("button", { type: "button", "aria-label": label, title: label }, text);
    b.addEventListener("click", act);
    return b;
  };
  const axis = button("Draw time to scale", "to scale", () => {
    fitted = !fitted;
    axis.setAttribute("aria-pressed", String(!fitted));
    draw();
  });
  axis.setAttribute("aria-pressed", "false");
  const names = html("div", { class: "names", "aria-hidden": "true" });
  const canvas = html("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": "Timeline: arrow keys go from event to event, + and - zoom" });
  const detail = html("div", { class: "detail", "aria-live": "polite" }, html("span", { class: "muted" }, "Choose an event for what it was. Idle time is drawn shorter than it was, unless to scale."));
  const log = html("details", {}, html("summary", {}, "As text"), html("pre", {}, data.log));
  const frame = html("div", { class: "timeline" },
    html("div", { class: "tools" }, button("Zoom in", "+", () => zoomed(1.6)), button("Zoom out", "−", () => zoomed(1 / 1.6)), button("Fit the width", "fit", () => zoomed(0)), axis,
      html("span", { class: "muted" }, "0s to " + duration(data.end))),
    html("div", { class: "lanes" }, names, canvas), detail);
  root.replaceChildren(frame, log);

  names.append(html("div", {}, ""));
  for (const lane of data.lanes) names.append(html("div", { class: lane.kind, title: lane.name }, lane.name));

  let items = []; // what can be chosen, in order of time: {seq, at, label, element}

  function zoomed(by) {
    const before = zoom;
    zoom = by ? Math.min(Math.max(zoom * by, 1), 60) : 1;
    const middle = (canvas.scrollLeft + canvas.clientWidth / 2) / before;
    draw();
    canvas.scrollLeft = middle * zoom - canvas.clientWidth / 2;
  }

  function draw() {
    const width = Math.max(canvas.clientWidth || 800, 320) * zoom, height = HEAD + ROW * data.lanes.length;
    const x = (t) => PAD + place(t) * (width - 2 * PAD);
    const drawing = svg("svg", { width, height, role: "presentation" });
    items = [];
    let last = -1e9;
    for (const t of times) {
      if (x(t) - last < 72 || t !== data.end && x(data.end) - x(t) < 130) continue;
      last = x(t);
      const end = last > width - 50;
      drawing.append(svg("g", { class: "tick" }, svg("line", { x1: last, x2: last, y1: HEAD - 4, y2: height }), svg("text", { x: last + (end ? -3 : 3), y: 13, "text-anchor": end ? "end" : "start" }, duration(t))));
    }
    data.lanes.forEach((lane, row) => {
      const y = HEAD + row * ROW;
      if (row % 2) drawing.append(svg("rect", { class: "stripe", x: 0, y, width, height: ROW }));
      for (const s of lane.spans || []) {
        const from = x(s.from), wide = Math.max(x(s.to) - from, 2);
        const g = svg("g", { class: "item span " + s.class }, svg("rect", { x: from, y: y + 4, width: wide, height: ROW - 8, rx: 3 }));
        const text = lane.kind === "phase" ? s.label : lane.kind === "server" ? s.label : "";
        if (text && wide > text.length * 6 + 8) g.append(svg("text", { x: from + 5, y: y + 16 }, text));
        item(g, s.seq, s.from, `${lane.name}: ${s.label}`, `${duration(s.from)} to ${duration(s.to)}`);
        drawing.append(g);
      }
      for (const m of lane.marks || []) {
        const at = x(m.at), c = y + ROW / 2;
        const shape = m.class === "bad" || m.class === "fault" ? `M${at - 6} ${c + 5}L${at} ${c - 6}L${at + 6} ${c + 5}Z` : `M${at} ${c - 5}L${at + 5} ${c}L${at} ${c + 5}L${at - 5} ${c}Z`;
        const g = svg("g", { class: "item mark " + m.class }, svg("path", { d: shape }));
        item(g, m.seq, m.at, `${lane.name}: ${m.label}`, duration(m.at));
        drawing.append(g);
      }
    });
    items.sort((a, b) => a.at - b.at || a.seq - b.seq);
    canvas.replaceChildren(drawing);
    if (chosen !== null) mark(chosen);
  }

  function item(element, seq, at, label, when) {
    const it = { element, seq, at, label, when };
    element.setAttribute("tabindex", "-1");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", `${when}, ${label}`);
    element.addEventListener("pointerenter", () => show(it));
    element.addEventListener("focus", () => show(it));
    element.addEventListener("click", () => choose(it));
    items.push(it);
  }

  function show(it) {
    detail.replaceChildren(html("strong", {}, it.when), " ", it.label, html("span", { class: "muted" }, ` (event ${it.seq})`));
  }

  function mark(seq) {
    for (const it of items) it.element.classList.toggle("chosen", it.seq === seq);
  }

  function choose(it) {
    chosen = it.seq;
    mark(chosen);
    show(it);
    it.element.focus({ preventScroll: true });
    const box = it.element.getBBox();
    if (box.x < canvas.scrollLeft || box.x > canvas.scrollLeft + canvas.clientWidth - 30) canvas.scrollLeft = box.x - canvas.clientWidth / 2;
    if (options && options.onEvent) options.onEvent(it.seq);
  }

  canvas.addEventListener("keydown", (e) => {
    const at = items.findIndex((it) => it.element === document.activeElement);
    const go = { ArrowRight: at + 1, ArrowLeft: at < 0 ? items.length - 1 : at - 1, Home: 0, End: items.length - 1 }[e.key];
    if (e.key === "+" || e.key === "=") zoomed(1.6);
    else if (e.key === "-") zoomed(1 / 1.6);
    else if (e.key === "0") zoomed(0);
    else if (go !== undefined && items[go]) choose(items[go]);
    else return;
    e.preventDefault();
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoomed(e.deltaY < 0 ? 1.25 : 0.8);
  }, { passive: false });

  root.velosimFocus = (seq) => {
    const it = items.find((it) => it.seq === seq) || items.filter((it) => it.seq < seq).pop();
    if (it) choose(it);
  };
  draw();
  if (window.ResizeObserver) {
    let width = canvas.clientWidth;
    new ResizeObserver(() => { if (canvas.clientWidth !== width) { width = canvas.clientWidth; draw(); } }).observe(canvas);
  }
};
