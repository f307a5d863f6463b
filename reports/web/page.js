(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (selector, within) => (within || document).querySelector(selector);
  const $$ = (selector, within) => [...(within || document).querySelectorAll(selector)];
  const el = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
    e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
    return e;
  };
  const target = (run) => run.world + " " + run.version;
  const classOf = (verdict) => verdict.replace(" ", "-");
  const duration = (s) => {
    const h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60);
    return (h ? h + "h" : "") + (h || m ? m + "m" : "") + Math.round(s % 60 * 10) / 10 + "s";
  };
  const upstream = (names) => (names || []).flatMap((name) => [data.links[name] ? el("a", { href: data.links[name], rel: "noreferrer" }, name) : name, " "]);
  const why = (run) => run.findings && run.findings.length ? `${run.findings[0].oracle}: expected ${run.findings[0].expected}, saw ${run.findings[0].seen.split("\n")[0]}` : (run.deviations || []).join(", ");
  data.runs.forEach((run, i) => { run.id = i; });

  // Light and dark: what the system prefers, until somebody says otherwise.
  const theme = $("#theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = (on) => {
    document.documentElement.dataset.theme = on ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(on));
  };
  paint(dark.matches);
  dark.addEventListener("change", (e) => paint(e.matches));
  theme.addEventListener("click", () => paint(theme.getAttribute("aria-pressed") !== "true"));

  // What needs looking at first.
  const look = data.runs.filter((run) => run.verdict === "fail").concat(data.runs.filter((run) => run.verdict === "inconclusive"));
  if (look.length) {
    const list = el("ul", { class: "plain" });
    for (const run of look.slice(0, 20)) {
      list.append(el("li", {}, el("span", { class: "badge " + classOf(run.verdict) }, run.verdict), " ", el("a", { href: "#run=" + run.id }, run.scenario),
        el("span", { class: "muted" }, ` ${target(run)}, seed ${run.seed}: `), why(run)));
    }
    if (look.length > 20) list.append(el("li", {}, `and ${look.length - 20} more, in the table below`));
    $("#look").append(el("h3", {}, "Look at these first"), list);
  }

  // The machines of one target at a time.
  const targets = [...new Set(data.coverage.map((c) => c.world + " " + c.release))];
  const drawn = {};
  const choose = (name) => {
    for (const figure of $$("#drawings figure")) figure.hidden = figure.dataset.target !== name;
    for (const b of $$("#targets button")) b.setAttribute("aria-pressed", String(b.dataset.name === name));
    if (!drawn[name]) { // arrow heads: an SVG marker would not take its edge's colour
      drawn[name] = true;
      for (const edge of $$("#drawings figure:not([hidden]) .edge")) {
        const line = $(".line", edge), length = line.getTotalLength();
        const tip = line.getPointAtLength(length), back = line.getPointAtLength(Math.max(length - 9, 0));
        const angle = Math.atan2(tip.y - back.y, tip.x - back.x);
        const corner = (turn) => `${tip.x - 9 * Math.cos(angle + turn)},${tip.y - 9 * Math.sin(angle + turn)}`;
        const head = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
        head.setAttribute("points", `${tip.x},${tip.y} ${corner(0.42)} ${corner(-0.42)}`);
        $(".head", edge).replaceWith(head);
      }
    }
  };
  for (const name of targets) {
    const b = el("button", { type: "button", "data-name": name }, name);
    b.addEventListener("click", () => choose(name));
    $("#targets").append(b);
  }
  if (targets.length) choose(targets[0]);

  $("#deviating").addEventListener("change", (e) => $("#drawings").classList.toggle("as-demanded", !e.target.checked));

  const nameOf = (t) => (t.of ? t.of + " " : "") + t.from + " → " + t.to;
  const showEdge = (kind, on, id) => {
    const coverage = data.coverage.find((c) => c.kind === kind && c.world + " " + c.release === on);
    const t = coverage.transitions.find((t) => nameOf(t) === id);
    for (const e of $$(".edge")) e.classList.toggle("chosen", e.dataset.id === id && e.closest("figure").dataset.kind === kind && !e.closest("figure").hidden);
    const panel = el("div", { class: "panel" }, el("h3", {}, id), el("p", { class: t.status }, t.status + (t.deviation ? ", by a deviation" : "") + `: ${t.runs} runs on ${on}`));
    if (t.reason) panel.append(el("p", {}, t.reason));
    if (t.inputs) panel.append(el("p", {}, el("span", { class: "muted" }, "made when: "), t.inputs.join("; ")));
    if (t.scenarios) {
      const list = el("ul", { class: "plain columns" });
      for (const name of t.scenarios) {
        const run = data.runs.find((run) => run.scenario === name && target(run) === on);
        list.append(el("li", {}, el("a", { href: "#run=" + run.id }, name)));
      }
      const filtered = new URLSearchParams({ transition: [kind, on, id].join(", ") });
      panel.append(list, el("p", {}, el("a", { href: "#scenarios?" + filtered }, "Show them in the table")));
    }
    $$("#drawings figure").find((f) => f.dataset.kind === kind && f.dataset.target === on).append($("#edge"));
    $("#edge").replaceChildren(panel);
    panel.scrollIntoView({ block: "nearest" });
  };
  $("#drawings").addEventListener("click", (e) => {
    const edge = e.target.closest(".edge"), link = e.target.closest("button.link");
    if (edge) { const f = edge.closest("figure").dataset; showEdge(f.kind, f.target, edge.dataset.id); }
    if (link) showEdge(link.dataset.kind, link.dataset.target, link.dataset.id);
  });
  $("#drawings").addEventListener("keydown", (e) => {
    const edge = e.target.closest && e.target.closest(".edge");
    if (edge && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); edge.dispatchEvent(new MouseEvent("click", { bubbles: true })); }
  });

  // One row for a scenario on a target.
  const rank = { fail: 0, inconclusive: 1, "known deviation": 2, pass: 3 };
  const rows = new Map();
  for (const run of data.runs) {
    const key = run.scenario + "\n" + target(run);
    if (!rows.has(key)) rows.set(key, { runs: [], scenario: run.scenario, target: target(run), world: run.world, release: run.version, faults: run.faults || [], seconds: 0, verdict: run.verdict, phase: run.phase });
    const row = rows.get(key);
    row.runs.push(run);
    row.seconds = Math.max(row.seconds, run.simulatedSeconds);
    if (rank[run.verdict] < rank[row.verdict]) { row.verdict = run.verdict; row.phase = run.phase; }
  }
  for (const row of rows.values()) {
    row.text = [row.scenario, row.target, ...row.runs.flatMap((run) => [run.description || "", run.phase, ...(run.deviations || []), ...(run.reports || [])])].join("\n").toLowerCase();
    row.worst = row.runs.find((run) => run.verdict === row.verdict);
  }
  const body = $("#table tbody");
  for (const row of rows.values()) {
    const seeds = el("td", {});
    row.runs.slice(0, 12).forEach((run) => {
      seeds.append(el("a", { href: "#run=" + run.id, class: classOf(run.verdict), title: `seed ${run.seed}: ${run.verdict}` }, String(run.seed)), " ");
    });
    if (row.runs.length > 12) seeds.append(el("a", { href: "#run=" + row.worst.id }, `and ${row.runs.length - 12} more`));
    row.element = el("tr", {},
      el("th", { scope: "row" }, el("a", { href: "#run=" + row.worst.id }, row.scenario)),
      el("td", {}, row.target), el("td", { class: "badge " + classOf(row.verdict) }, row.verdict), el("td", {}, row.phase), el("td", {}, row.faults.join(", ")),
      el("td", { class: "number" }, duration(row.seconds)), seeds);
  }
  const filters = $("#filters");
  for (const [name, key] of [["world", "world"], ["release", "release"]]) {
    for (const value of [...new Set([...rows.values()].map((row) => row[key]))].sort()) filters.elements[name].append(el("option", {}, value));
  }
  const sorted = { by: "scenario", down: false };
  let sort = sorted;
  const sortBy = (order) => {
    sort = order;
    for (const th of $$("#table thead th")) {
      th.removeAttribute("aria-sort");
      if ($(`[data-sort=${order.by}]`, th)) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    }
  };
  // Who made a transition, as the filter names it: kind, target, name.
  const makers = (named) => {
    const [kind, on, ...id] = named.split(", ");
    const coverage = data.coverage.find((c) => c.kind === kind && c.world + " " + c.release === on);
    const t = coverage && coverage.transitions.find((t) => nameOf(t) === id.join(", "));
    return { on, scenarios: new Set(t && t.scenarios) };
  };
  const order = (row) => sort.by === "verdict" ? rank[row.verdict] : row[sort.by];
  const filter = () => {
    const f = Object.fromEntries(new FormData(filters));
    const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
    const made = f.transition && makers(f.transition);
    $("#made").hidden = !made;
    const shown = [...rows.values()].filter((row) => (!made || row.target === made.on && made.scenarios.has(row.scenario)) && words.every((w) => row.text.includes(w)) && (!f.verdict || row.runs.some((run) => run.verdict === f.verdict)) &&
      (!f.world || row.world === f.world) && (!f.release || row.release === f.release) && (!f.faults || (f.faults === "none" ? !row.faults.length : row.faults.includes(f.faults))));
    shown.sort((a, b) => { const x = order(a), y = order(b); return (x < y ? -1 : x > y ? 1 : a.scenario < b.scenario ? -1 : 1) * (sort.down ? -1 : 1); });
    body.replaceChildren(...shown.map((row) => row.element));
    $("#count").textContent = `${shown.length} of ${rows.size} scenarios, ${shown.reduce((n, row) => n + row.runs.length, 0)} runs`;
  };
  const state = () => {
    const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
    if (sort.by !== sorted.by || sort.down) query.set("sort", (sort.down ? "-" : "") + sort.by);
    history.replaceState(null, "", "#scenarios" + (String(query) ? "?" + query : ""));
  };
  filters.addEventListener("input", () => { filter(); state(); });
  filters.addEventListener("submit", (e) => e.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => { filter(); state(); }));
  $("#table thead").addEventListener("click", (e) => {
    const by = e.target.dataset && e.target.dataset.sort;
    if (!by) return;
    sortBy({ by, down: sort.by === by && !sort.down });
    filter();
    state();
  });

  // A run.
  const unpack = async (id) => {
    const packed = document.getElementById("timeline-" + id);
    if (!packed) return null;
    const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  };
  const finding = (f, timeline) => {
    const jump = f.around && f.around.length ? f.around[Math.floor(f.around.length / 2)].seq : 0;
    const dl = el("dl", {}, el("dt", {}, "expected"), el("dd", {}, f.expected), el("dt", {}, "saw"), el("dd", {}, f.seen), el("dt", {}, "at"), el("dd", {}, f.at));
    if (f.rules && f.rules.length) dl.append(el("dt", {}, "by rule"), el("dd", {}, f.rules.join(", ")));
    const div = el("div", { class: "finding" }, el("strong", {}, f.oracle), f.object ? " " + f.object : "", dl);
    if (jump) {
      const b = el("button", { type: "button", class: "link" }, "show it in the timeline");
      b.addEventListener("click", () => timeline.velosimFocus && timeline.velosimFocus(jump));
      div.append(b);
    }
    return div;
  };
  const side = async (run, seq) => {
    const box = el("div", { class: "side" });
    const timeline = el("div", {});
    let t = null, missing = "There is no timeline of this run here.";
    try { t = await unpack(run.id); } catch (e) { missing = `This browser cannot unpack the timeline: ${e.message}`; }
    if (!t) {
      box.append(el("p", { class: "muted" }, missing));
      return { box, timeline, t };
    }
    box.append(timeline);
    const draw = () => {
      velosim.timeline(timeline, t, { onEvent: (n) => { if (run.id === current) history.replaceState(null, "", `#run=${run.id}&event=${n}`); } });
      if (seq) timeline.velosimFocus(seq);
    };
    return { box, timeline, t, draw };
  };
  let current = -1;
  const title = document.title;
  const showRun = async (id, seq) => {
    const run = data.runs[id];
    if (!run) return;
    current = id;
    const heading = $("#run-title"), out = $("#run-body");
    heading.textContent = run.scenario;
    document.title = `${run.scenario}, ${target(run)}: ${run.verdict}`;
    const mine = await side(run, seq);
    if (current !== id) return;
    const parts = [];
    parts.push(el("p", {}, el("span", { class: "badge " + classOf(run.verdict) }, run.verdict), ...(run.deviations || []).flatMap((rule, i) => [i ? ", " : " by ", el("a", { href: "#rule-" + rule }, rule)]),
      el("span", { class: "muted" }, ` ${target(run)}, seed ${run.seed}, ${duration(run.simulatedSeconds)} simulated in ${duration(run.wallSeconds)} `), ...upstream(run.reports)));
    if (run.description) parts.push(el("p", {}, run.description));
    if (mine.t && mine.t.why.length) {
      const list = el("ul", { class: "why" });
      for (const reason of mine.t.why) {
        const li = el("li", {}, reason.text + " ");
        if (reason.seq) {
          const b = el("button", { type: "button", class: "link", "aria-label": "show it in the timeline: " + reason.text }, "show");
          b.addEventListener("click", () => mine.timeline.velosimFocus(reason.seq));
          li.append(b);
        }
        list.append(li);
      }
      parts.push(el("h3", {}, "Why it ended so"), list);
    }
    if (run.findings && run.findings.length) parts.push(el("h3", {}, "Findings"), ...run.findings.map((f) => finding(f, mine.timeline)));
    parts.push(el("h3", {}, "Timeline"), mine.box);
    const others = data.runs.filter((other) => other.scenario === run.scenario && other.id !== run.id);
    if (others.length) {
      const beside = el("div", {});
      const select = el("select", {}, el("option", { value: "" }, "none"));
      for (const other of others) select.append(el("option", { value: other.id }, `${target(other)}, seed ${other.seed}: ${other.verdict}`));
      select.addEventListener("change", async () => {
        beside.replaceChildren();
        if (select.value === "") return;
        const s = await side(data.runs[select.value]);
        beside.replaceChildren(el("h3", {}, select.selectedOptions[0].textContent), s.box);
        if (s.draw) s.draw();
      });
      parts.push(el("label", {}, "Compare with another run of the scenario", select), beside);
    }
    if (run.replay) {
      const copy = el("button", { type: "button" }, "Copy"), command = el("code", {}, run.replay);
      copy.addEventListener("click", () => {
        const byHand = () => { getSelection().selectAllChildren(command); copy.textContent = "Selected"; };
        if (!navigator.clipboard) return byHand(); // some browsers give none to files
        navigator.clipboard.writeText(run.replay).then(() => { copy.textContent = "Copied"; }, byHand);
      });
      parts.push(el("h3", {}, "Run it again"), el("p", { class: "replay" }, command, copy));
    }
    out.replaceChildren(...parts);
    $("#run").hidden = false;
    $("#all").hidden = true;
    if (mine.draw) mine.draw();
    if (!seq) { scrollTo(0, 0); heading.focus({ preventScroll: true }); }
  };

  const route = () => {
    const hash = location.hash.slice(1);
    const run = hash.match(/^run=(\d+)(?:&event=(\d+))?$/);
    if (run) return void showRun(Number(run[1]), Number(run[2] || 0));
    current = -1;
    document.title = title;
    $("#run").hidden = true;
    $("#all").hidden = false;
    const [part, query] = hash.split("?");
    if (part === "scenarios" && query !== undefined) {
      filters.reset();
      const wanted = new URLSearchParams(query);
      for (const [key, value] of wanted) if (filters.elements[key]) filters.elements[key].value = value;
      const order = (wanted.get("sort") || "").match(/^(-?)(scenario|target|verdict|phase|seconds)$/);
      sortBy(order ? { by: order[2], down: !!order[1] } : sorted);
    }
    filter();
    const section = part && document.getElementById(part);
    if (section) section.scrollIntoView();
  };
  addEventListener("hashchange", route);
  route();
  document.documentElement.dataset.ready = "yes";
})();
