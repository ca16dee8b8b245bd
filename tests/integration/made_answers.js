// Changes the answers of the aggregator that the members of `made` name (made_map.py), before the page sees them.
{
  const asked = window.fetch;
  const made = MADE;
  const answer = (body, status = 200) => new Response(JSON.stringify(body),
    { status, headers: { "Content-Type": "application/json" } });
  const cells = (row, columns) => {
    let text = "";
    for (let i = 0; i < columns; i += 1)
      text += String.fromCharCode(row === 1_234 && i > columns * 2 / 3 ? 160 : (row * 31 + i * 7) % 97 === 0 ? 24 : 0);
    return btoa(text);
  };
  const time = (ms) => new Date(ms).toISOString();
  const matrix = (url, real) => {
    let begin = made.windows ? Date.now() - made.windows * made.window_ms : Date.parse(real.columns[0]);
    let end = made.windows ? Date.now() : Date.parse(real.end);
    begin = Math.max(begin, Date.parse(url.searchParams.get("from") ?? "") || 0);
    end = Math.min(end, Date.parse(url.searchParams.get("to") ?? "") || Infinity);
    const windows = Math.max(1, Math.floor((end - begin) / made.window_ms));
    const count = Math.min(Number(url.searchParams.get("width") ?? 120), made.windows ? windows : 1_000);
    const rows = [];
    for (let i = 0; i < made.nodes; i += 1)
      rows.push({ node: `${i < 4 ? "" : `rack-${i >> 6}-`}node-${String(i).padStart(2, "0")}`, rank: null, phase: null, cells: cells(i, count) });
    return { ...real, columns: Array.from({ length: count }, (_, i) => time(begin + (end - begin) * i / count)),
             end: time(end), rows: rows.slice(0, Number(url.searchParams.get("rows"))),
             left_out: Math.max(0, made.nodes - Number(url.searchParams.get("rows"))) };
  };
  const often = (rows, count, change) => rows.length === 0 ? rows
    : Array.from({ length: count }, (_, i) => change(rows[i % rows.length], i));
  window.fetch = async (address, init) => {
    const url = new URL(address);
    const [, kind] = /\/api\/v1\/jobs\/[^/]+\/(\w+)$/.exec(url.pathname) ?? [];
    if (made.unexplained && /\/api\/v1\/incidents\/[^/]+\/brief$/.test(url.pathname)) {
      const real = await (await asked(address, init)).json();
      return answer({ ...real, brief: { ...real.brief, report: { ...real.brief.report, faults: [] } } });
    }
    if (made.users && /\/api\/v1\/jobs$/.test(url.pathname)) {
      const real = await (await asked(address, init)).json();
      return answer({ ...real, jobs: made.users.map((users, i) => ({ ...real.jobs[0], id: `job-${i}`, incident: null, users })) });
    }
    const list = /\/api\/v1\/(alerts|status|agents)$/.exec(url.pathname)?.[1];
    if (kind === "snapshot" && made.gone && url.searchParams.get("at"))
      return answer({ error: { code: "not_found", message: "nothing is kept of that time" } }, 404);
    if (list && made[list]) {
      const real = await asked(address, init);
      return answer({ ...list === "status" ? await real.json() : {}, ...made[list] });
    }
    if (made.terms && url.pathname.endsWith("/scores/terms")) {
      const at = { node: url.searchParams.get("node"), begin: url.searchParams.get("at"), end: url.searchParams.get("to") };
      return answer({ job: "job-1005", attempt: 0, what: "nodes", by: "time", ...at, laps: [], left_out: 2,
        left_out_score: 0.5, ...made.terms });
    }
    if (kind === "scores" && made.nodes && url.searchParams.get("what") === "nodes") {
      const real = await asked(address, init);
      return real.ok ? answer(matrix(url, await real.json())) : real;
    }
    if (kind === "brief" && made.events) {
      const { report: real, whole } = await (await asked(address, init)).json();
      const at = Date.parse(real.job.begin);
      const long = Date.parse(real.job.end) - at;
      const report = { ...real, events: often(real.events, made.events, (one, i) => ({ ...one, template_id: `made-${i}`,
        role: ["root", "direct", "consequence"][i % 3], first: { ...one.first, time: time(at + long * i / made.events) } })),
        iterations: often([{ score: 9, nodes: [], events: [] }], made.iterations, (one, i) => ({ ...one, iteration: i,
          begin: time(at + long * i / made.iterations), end: time(at + long * (i + 0.5) / made.iterations) })) };
      return answer({ report, whole: { ...whole, event_nodes: report.events.map((one) => one.nodes.length) } });
    }
    if (kind === "flows" && made.groups) {
      const { job } = await (await asked(new URL("snapshot", url).href, init)).json();
      const at = Date.parse(job.begin);
      const long = (Date.parse(job.end) - at) / made.steps;
      const groups = Array.from({ length: made.groups }, (_, i) => ({ label: i < 2 ? "DP" : "PP", collectives: 1,
        cards: [`10.0.0.${2 * i}`, `10.0.0.${2 * i + 1}`] }));
      const steps = Array.from({ length: made.steps }, (_, i) => ({ begin: time(at + i * long), end_us: long * 900,
        slow: i === made.steps - 2, lanes: groups.map((_, j) => j === 5 && i === 3 ? null
          : [long * 100 * j, long * (100 * j + 300)].map(Math.round)) }));
      return answer({ job: job.id, on: true, flows: [{ id: "flows-1", servers: ["node-02"], first: job.begin, last: job.end,
        silent: false, period_s: long / 1_000, strategy: null, cards: groups.flatMap((one) => one.cards), groups, pairs: [],
        lossy_steps: 0, steps, findings: [{ kind: "slow_gpu", at: job.end, since: job.end, place: ["10.0.0.4<b>"],
          ambiguous: false, factor: 1.7, steps: 4 }] }] });
    }
    return asked(address, init);
  };
}
