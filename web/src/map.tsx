// The map: nodes over time, coloured by how much they differ, in which the bad one is seen at once.
import { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { KeyboardEvent, PointerEvent } from "react";
import { askAhead, idIn } from "./api";
import type { FlowJob, Incident, Job, Node, Report, Scores } from "./api_types";
import { counted, grouped, harmless, millis, spoken, timeText } from "./format";
import { serverNow, useAsked } from "./live";
import { handed, hasLines } from "./handed";
import type { LinesQuery } from "./handed";
import { Later } from "./later";
import { PHASES, Pictures, coloursOf, drawScene, layoutOf, markAt, xOf } from "./map_draw";
import type { Cell, Colours, Layout, Mark, Scene, View } from "./map_draw";
import { busyRange, failureOf, matrixOf, onAxis, ordered, scoreOf } from "./map_data";
import type { MapRow, Matrix, Order } from "./map_data";
import { nameCell, nameRows, rowsIn, textOf, useLinkedCell, useNamedCell, useRangeLink } from "./map_link";
import type { NamedCell, Range } from "./map_link";
import { MovingView, prepared } from "./map_view";
import { Empty, Failure, LimitContext, Loading, Section, Wild, ZoneContext } from "./parts";
import { go, setQuery, to } from "./route";
import type { Route } from "./route";
import { Why } from "./why";

const SCORES_MS = 10_000;
const PAST_MS = 3_600_000; // the past does not change
const AGENTS_MS = 15_000;
const INCIDENTS_MS = 15_000;
const FLOWS_MS = 10_000;
const FLOW_STEPS = 400; // the latest
const NO_FLOWS_MS = 600_000; // where no records of flows are received
const ROWS_MAX = 4_096;
const CELLS_MAX = 2_000_000; // of an answer, which has at most 4 MiB
const SHORT_MS = 120_000; // of a job that has hardly been compared yet
const FIRST_TIME_MS = 100_000_000_000; // what is less is an iteration
const BEHIND = 0.06; // of the axis: what is shown behind a failure at least
const BEYOND = 0.3; // of the axis: how far it goes on behind the last score, to show a silence

type What = Scores["what"];
const WHATS: { what: What; word: string; says: string }[] = [
  { what: "nodes", word: "lines", says: "how much the lines of a node differ from its peers and its own past" },
  { what: "ranks", word: "iterations", says: "how much longer than usual iterations take on the slowest rank of a node" },
  { what: "phases", word: "phases", says: "how much longer than usual a phase takes on the slowest rank of a node" },
];
const ORDERS: { order: Order; word: string }[] = [
  { order: "suspicion", word: "suspicion" }, { order: "name", word: "name" }, { order: "first", word: "first sign" },
  { order: "group", word: "rack" },
];

/** The whole axis: the scores, and beyond them what the failure and the silence behind it need to be seen. */
function wholeRange(matrix: Matrix, job: Job | null, report: Report, upTo: number | null): Range {
  const end = matrix.begin + matrix.column * matrix.columns;
  if (matrix.by !== "time") return { from: matrix.begin, to: end };
  const long = end - matrix.begin;
  const begin = onAxis(report, millis(report.job.begin)) ?? matrix.begin;
  const from = begin < matrix.begin && matrix.begin - begin <= Math.max(long, SHORT_MS) ? begin : matrix.begin;
  const last = upTo ?? (job === null || job.ended ? millis(report.job.end) ?? end : serverNow());
  const failed = failureOf(report);
  const most = Math.max(end + BEYOND * long, failed === null ? 0 : failed + BEYOND * Math.max(failed - from, 0));
  // Of a job whose last line tells of the failure, too, something is seen behind it.
  const least = failed === null || upTo !== null ? end : failed + BEHIND * Math.max(failed - from, 0);
  return { from, to: Math.max(end, least, Math.min(last, most)) };
}

/** How many columns are worth their room: of the window, since the map's own width is known only when it is there. */
function columnsOf(rows: number): number {
  return Math.floor(Math.max(40, Math.min(1_000, window.innerWidth / 4, CELLS_MAX / Math.max(rows, 1))));
}

function scoresPath(job: string, asked: Record<string, string>): string {
  return `${idIn("jobs/{id}/scores", job)}?${new URLSearchParams(asked)}`;
}

/** Asks for what the map most likely shows first, while the report is on its way. */
export function askScoresAhead(job: string, query: URLSearchParams): void {
  if ((query.get("map") ?? "nodes") === "nodes" && !query.get("at"))
    askAhead(scoresPath(job, { what: "nodes", rows: String(ROWS_MAX), width: String(columnsOf(0)) }));
}

/** `upTo`: where the past that is shown ends, on the axis; null: now. */
function useScores(job: string, what: What, range: Range | null, upTo: number | null, by: string, width: number) {
  const asked: Record<string, string> = { what, rows: String(ROWS_MAX), width: String(width) };
  if (range) asked["from"] = textOf(range.from, by);
  const to = Math.min(range?.to ?? Infinity, upTo ?? Infinity);
  if (to < Infinity) asked["to"] = textOf(to, by);
  return useAsked("scores", width > 0 ? scoresPath(job, asked) : null, upTo === null ? SCORES_MS : PAST_MS,
    upTo === null ? job : "");
}

/** Flows of the job on the training network; empty where none are received. */
function useFlows(job: string): readonly FlowJob[] {
  const [none, setNone] = useState(false);
  const asked = useAsked("job_flows", handed ? null : `${idIn("jobs/{id}/flows", job)}?count=${FLOW_STEPS}`,
    none ? NO_FLOWS_MS : FLOWS_MS, "");
  useEffect(() => setNone(asked.data?.on === false), [asked.data]);
  return useMemo(() => asked.data?.flows.filter((one) => one.groups.length > 0 && one.steps.length > 0) ?? [], [asked.data]);
}

/** Names of agents that are lost; nobody's in one file, and none for a token that is limited to jobs. */
function useLost(): ReadonlySet<string> {
  const limit = useContext(LimitContext);
  const status = useAsked("status", handed || limit !== null ? null : "status", AGENTS_MS);
  const asked = useAsked("agents", status.data?.agents_lost ? "agents" : null, AGENTS_MS); // a long list
  const names = (asked.data?.agents ?? []).filter((agent) => agent.lost).map((agent) => agent.agent).join("\n");
  return useMemo(() => new Set(names ? names.split("\n") : []), [names]);
}

const NO_INCIDENTS: readonly Incident[] = [];

function useIncidents(job: string): readonly Incident[] {
  const asked = useAsked("incidents", handed ? null : `incidents?job=${encodeURIComponent(job)}&count=50`, INCIDENTS_MS, job);
  return asked.data?.incidents ?? NO_INCIDENTS;
}

/** Size in CSS pixels of an element that fills its row. */
function useWidth(): [React.RefObject<HTMLDivElement>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

function useScheme(): string {
  const query = useMemo(() => window.matchMedia("(prefers-color-scheme: dark)"), []);
  const [scheme, setScheme] = useState(query.matches ? "dark" : "light");
  useEffect(() => {
    const change = () => setScheme(query.matches ? "dark" : "light");
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, [query]);
  return scheme;
}

function cellAt(scene: Scene | null, x: number, y: number): Cell | null {
  if (!scene) return null;
  const { matrix, layout, view, rows } = scene;
  if (x < 0 || x > layout.right) return null;
  const at = view.from + (Math.max(x, layout.left) - layout.left) / (layout.right - layout.left) * (view.to - view.from);
  const column = Math.max(0, Math.min(Math.floor((at - matrix.begin) / matrix.column), matrix.columns - 1));
  const pinned = Math.floor((y - layout.pinnedTop) / layout.pinnedRow);
  if (pinned >= 0 && pinned < matrix.pinned.length) return { row: matrix.pinned[pinned]!, column };
  if (y < layout.restTop || y >= layout.restTop + layout.restHeight) return null;
  const row = rows[Math.floor(view.top + (y - layout.restTop) / layout.restHeight * view.rows)];
  return row ? { row, column } : null;
}

/** The former cell where it is the same one. */
function same(last: Cell | null, now: Cell | null): Cell | null {
  return last && now && last.row === now.row && last.column === now.column ? last : now;
}

/** The view, kept within the axis and the rows. */
function within(view: View, whole: Range, rows: number, column: number): View {
  const size = Math.min(Math.max(view.to - view.from, column * 4), whole.to - whole.from);
  const from = Math.max(whole.from, Math.min(view.from, whole.to - size));
  const seen = Math.min(Math.max(view.rows, Math.min(5, rows)), rows);
  return { from, to: from + size, rows: seen, top: Math.max(0, Math.min(view.top, rows - seen)) };
}

export interface MapProps {
  job: Job | null;
  id: string;
  report: Report;
  nodes: ReadonlyMap<string, Node>;
  route: Route;
  /** The past is shown as of this time; null, or missing: now. */
  upTo?: number | null;
  ask: (query: LinesQuery) => void;
}

export function NodeMap(props: MapProps) {
  const { route } = props;
  const wanted = route.query.get("map") as What | null;
  const [shortOf, setShortOf] = useState<number | null>(null); // an attempt that is too short for its lines to be compared
  const { attempt } = props.report.job;
  const short = shortOf === attempt;
  const usual: What = wanted ?? (props.report.verdict.state === "slow" ? "phases" : short ? "ranks" : "nodes");
  const whats = handed ? WHATS.filter(({ what }) => handed!.scores.some((one) => one.what === what)) : WHATS;
  const what = whats.some((one) => one.what === usual) ? usual : whats[0]!.what;
  const order = (route.query.get("order") ?? "suspicion") as Order;
  const phase = route.query.get("phase") ?? "";
  const [box, width] = useWidth();
  const last = useRef<Scores | null>(null);
  const upTo = props.upTo ?? null;
  const axis = `${what}\n${upTo}`;
  // What the axis is, and the part of it that is shown where the address names none.
  const [known, setKnown] = useState<{ axis: string; whole: Range; busy: Range | null } | null>(null);
  const base = known?.axis === axis ? known : null;
  const by = last.current?.what === what ? last.current.by : what === "nodes" ? "time" : "iteration";
  const link = useRangeLink(route, by);
  const range = base && usable(link.range, base.whole, link.all ? null : base.busy);
  const chooseRange = (next: Range | null) => link.choose(next, base?.busy != null);
  const cell = useNamedCell(route);
  const rowsAtMost = Math.max(1, Math.min(ROWS_MAX, what === "nodes" ? props.report.job.nodes : props.report.job.ranks));
  const columns = width && columnsOf(rowsAtMost);
  const asked = useScores(props.id, what, range, by === "time" || upTo === null ? upTo : props.report.verdict.iteration, by, columns);
  if (asked.data) last.current = asked.data;
  useEffect(() => {
    if (asked.data?.what === "nodes" && asked.data.columns.length === 0 && asked.data.attempt === attempt
      && props.report.verdict.iteration !== null && failureOf(props.report) !== null) setShortOf(attempt);
  }, [asked.data]);
  const scores = last.current?.what === what ? last.current : null;
  const flows = useFlows(props.id);
  const lost = useLost();
  const incidents = useIncidents(props.id);
  const before = useRef({ axis, range: link.range });
  useEffect(() => { // what was a part of another axis; the range of a link, or of the way back, is one of this
    const last = before.current;
    before.current = { axis, range: link.range };
    if (axis !== last.axis && link.range === last.range && (link.range || link.all)) link.choose(null, false);
  }, [axis, link.range]);
  const matrix = useMemo(() => scores && matrixOf(scores, { report: props.report, nodes: props.nodes, upTo, lost },
    phase), [scores, props.report, props.nodes, phase, upTo, lost]);
  useEffect(() => {
    if (!matrix || !asked.data || range !== null) return;
    setKnown({ axis, whole: wholeRange(matrix, props.job, props.report, upTo),
               busy: base ? base.busy : busyRange(matrix, props.report) });
  }, [matrix, range, axis]);
  const rows = useMemo(() => matrix ? ordered(matrix.rows, order) : [], [matrix, order]);
  const hasGroups = matrix !== null && matrix.rows.some((row) => row.group);
  const about = WHATS.find((one) => one.what === what)!;
  const none = matrix && matrix.columns === 0;
  return (
    <Section title="Where and when" id="map" note={about.says}>
      <div className="map-tools">
        <div className="chips" role="group" aria-label="What the map shows">
          {whats.map((one) => <button type="button" key={one.what} aria-pressed={one.what === what}
            onClick={() => setQuery({ map: one.what, cell: "", cell_at: "" })}>{one.word}</button>)}
        </div>
        {matrix && matrix.phases.length > 1 && <label className="note">phase <select value={matrix.phase ?? ""}
          onChange={(event) => setQuery({ phase: event.target.value })}>
          {matrix.phases.map((one) => <option key={one} value={one}>{harmless(one)}</option>)}</select></label>}
        <div className="chips" role="group" aria-label="Order of rows">
          <span className="note">order</span>
          {ORDERS.filter((one) => one.order !== "group" || hasGroups).map((one) => <button type="button" key={one.order} aria-pressed={one.order === order}
            onClick={() => setQuery({ order: one.order === "suspicion" ? "" : one.order, top: "" })}>
            {one.word}</button>)}
        </div>
        {range && <button type="button" className="quiet" onClick={() => chooseRange(null)}>Whole job</button>}
      </div>
      <div ref={box} className="map-box">
        {!matrix && asked.error && <Failure error={asked.error} what="The map" again={asked.again} />}
        {!matrix && !asked.error && <Loading what="scores" />}
        {none && <Empty><p>{what === "nodes" ? "There is nothing to compare yet: nodes are compared from the first "
          + "windows of 10 s on." : what === "ranks" ? "No rank has completed enough iterations to be compared."
          : "The lines of this job print no timers."}</p></Empty>}
        {none && cell && <Gone cell={cell} />}
        {matrix && !none && width > 0 && base && <Canvas key={what} {...props} matrix={matrix} rows={rows} width={width}
          cell={cell} whole={base.whole} range={range} setRange={chooseRange} flows={flows}
          byGroup={hasGroups && order === "group"} incidents={incidents} />}
      </div>
      {matrix && matrix.leftOut > 0 && <p className="note">{what === "nodes"
        ? `The ${grouped(scores!.rows.length)} nodes that differ most; ${grouped(matrix.leftOut)} calmer ones are left out.`
        : `Of the ${grouped(scores!.rows.length)} ranks that differ most, the slowest of each node; ${grouped(matrix.leftOut)} calmer ones are left out.`}</p>}
      {matrix && !none && <Legend matrix={matrix} />}
    </Section>
  );
}

/** What of the axis is shown: of a link only what there is of it now. */
function usable(wanted: Range | null, whole: Range, otherwise: Range | null): Range | null {
  return wanted && wanted.from < whole.to && wanted.to > whole.from ? wanted : otherwise;
}

/** In place of a "why" to which the address leads, and which is not there. */
function Gone(props: { cell: NamedCell; matrix?: Matrix }) {
  const { cell, matrix } = props;
  const zone = useContext(ZoneContext);
  const row = matrix && [...matrix.pinned, ...matrix.rows].some((one) => one.key === cell.row);
  const when = Number.isNaN(cell.at) ? "" : matrix?.by === "iteration" || cell.at < FIRST_TIME_MS
    ? ` at iteration ${grouped(cell.at)}` : ` at ${timeText(cell.at, zone, serverNow())}`;
  const close = () => setQuery({ cell: "", cell_at: "" });
  return <div className="box" role="status"><p>This link leads to <Wild text={cell.row} />{when}, {row
    ? "a time of which the map shows nothing" : "which has no row in this map"}, or not any more. <button
    type="button" className="quiet" onClick={close}>Close</button></p></div>;
}

function Legend(props: { matrix: Matrix }) {
  const { course, what } = props.matrix;
  const lost = [...props.matrix.pinned, ...props.matrix.rows].some((row) => row.lost);
  const phases = what === "phases" ? course.map((one) => harmless(one.phase ?? "")) : [];
  return <>
    {phases.length > 0 && <p className="legend">{phases.slice(0, PHASES - (phases.length > PHASES ? 1 : 0)).map((name, i) =>
      <span key={i}><i className={`swatch phase-${i}`} />{name}</span>)}
      {phases.length > PHASES && <span><i className={`swatch phase-${PHASES - 1}`} />{counted(phases.length - PHASES + 1, "other")}</span>}</p>}
    <p className="legend" aria-hidden="true">
      {lost && <span>⊘ agent lost</span>}
      <span><i className="ramp" />as usual → alarm</span>
      <span><i className="swatch silent" />silent</span>
      <span><i className="swatch suspect" />suspected</span>
      <span><i className="mark root" />root</span>
      <span><i className="mark direct" />direct</span>
      <span><i className="mark consequence" />consequence</span>
      <span className="hint">a mark opens its lines · drag pans · Ctrl+wheel, + and − zoom · arrows choose a cell · Enter says why</span>
    </p>
  </>;
}

interface CanvasProps extends MapProps {
  matrix: Matrix;
  rows: readonly MapRow[];
  width: number;
  /** The one whose "why" the address opens. */
  cell: NamedCell | null;
  /** The axis of the whole job. */
  whole: Range;
  /** The part of it that the scores are of; null: all. */
  range: Range | null;
  setRange: (range: Range | null) => void;
  flows: readonly FlowJob[];
  byGroup: boolean;
  incidents: readonly Incident[];
}

/** What pointers do to the view: one pans, two zoom. */
interface Grip { x: number; y: number }

function Canvas(props: CanvasProps) {
  const { matrix, rows, width, report, byGroup, incidents } = props;
  const zone = useContext(ZoneContext);
  const scheme = useScheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const pictures = useRef(new Pictures());
  const layout: Layout = useMemo(() => layoutOf(width, matrix, incidents.length > 0),
    [width, matrix, incidents.length > 0]);
  const { whole } = props;
  const asked = useRef<Range | null>(null); // the range that this view has asked for itself
  const rest = useRef(() => {});
  const [moving] = useState(() => new MovingView({ ...(props.range ?? whole), top: 0, rows: rows.length,
    ...rowsIn(props.route.query, rows) }, () => rest.current()));
  const [hover, setHover] = useState<Cell | null>(null);
  const [mark, setMark] = useState(""); // the one that the pointer is at, in words
  const linked = useLinkedCell(matrix, props.cell);
  const [marked, setMarked] = useState<Cell | null>(null); // by keys
  const chosen = !props.cell ? marked : linked?.matrix === matrix ? linked.cell : null;
  const colours = useRef<{ scheme: string; of: Colours } | null>(null);
  const grips = useRef(new Map<number, Grip>());
  const moved = useRef(false);

  // It grows while the job runs, and another range may be chosen outside.
  useEffect(() => {
    if (props.range !== null && props.range === asked.current) return;
    moving.set({ ...moving.now, ...(props.range ?? whole) });
  }, [whole, props.range]);
  useEffect(() => {
    const { now } = moving;
    if (now.rows > rows.length || now.top + now.rows > rows.length || now.rows === 0)
      moving.set({ ...now, top: 0, rows: rows.length });
  }, [rows.length]);
  const [top, count] = [props.route.query.get("top"), props.route.query.get("rows")];
  useEffect(() => { // what this view has named itself changes nothing
    const wanted = rowsIn(props.route.query, rows) ?? { top: 0, rows: rows.length };
    if (wanted.rows !== Math.round(moving.now.rows) || wanted.top !== Math.round(moving.now.top))
      moving.set({ ...moving.now, ...wanted });
  }, [top, count]);
  rest.current = () => {
    const { from, to } = moving.now;
    nameRows(moving.now, rows);
    if (from === props.range?.from && to === props.range.to) return;
    const all = from <= whole.from && to >= whole.to;
    if (all && props.range === null) return;
    asked.current = all ? null : { from, to };
    props.setRange(asked.current);
  };

  // Other columns after a zoom: what is chosen stays at its time.
  const drawn = useRef(matrix);
  useEffect(() => {
    const before = drawn.current;
    drawn.current = matrix;
    const now = coloursOf(canvas.current!);
    if (now.back !== colours.current?.of.back) colours.current = { scheme, of: now }; // the scheme changed unnoticed
    if (before === matrix) return;
    setHover(null);
    setMarked((cell) => {
      const row = cell && [...matrix.pinned, ...matrix.rows].find((one) => one.key === cell.row.key);
      if (!cell || !row) return null;
      const at = before.begin + (cell.column + 0.5) * before.column;
      const column = Math.floor((at - matrix.begin) / matrix.column);
      return { row, column: Math.max(0, Math.min(column, matrix.columns - 1)) };
    });
  }, [matrix]);

  if (canvas.current && colours.current?.scheme !== scheme)
    colours.current = { scheme, of: coloursOf(canvas.current) };
  const sceneNow = (): Scene | null => {
    const { now } = moving;
    return colours.current && { matrix, rows, view: now.rows ? now : { ...now, rows: Math.max(rows.length, 1) }, layout,
      colours: colours.current.of, report, zone, hover, chosen, byGroup, incidents };
  };
  const paint = useRef(() => {});
  useEffect(() => {
    paint.current = () => {
      const element = canvas.current!;
      if (colours.current?.scheme !== scheme) colours.current = { scheme, of: coloursOf(element) };
      drawScene(prepared(element, width, layout.height), sceneNow()!, pictures.current);
    };
    moving.redraw();
  });
  useEffect(() => {
    const release = moving.drawnBy(() => paint.current());
    return () => {
      release();
      moving.stop();
    };
  }, [moving]);

  const zoom = useCallback((factor: number, at: number, withRows: boolean, middle: number, rowsOnly = false) => {
    const before = moving.now;
    const pivot = before.from + (before.to - before.from) * at;
    const size = (before.to - before.from) * (rowsOnly ? 1 : factor);
    const seen = withRows ? before.rows * factor : before.rows;
    const row = before.top + before.rows * middle;
    moving.set(within({ from: pivot - size * at, to: pivot + size * (1 - at), rows: seen, top: row - seen * middle },
      whole, rows.length, matrix.column));
  }, [whole, rows.length, matrix.column]);
  const pan = useCallback((dx: number, dy: number) => {
    const before = moving.now;
    const across = (before.to - before.from) * dx / (layout.right - layout.left);
    const down = layout.restHeight > 0 ? before.rows * dy / layout.restHeight : 0;
    moving.set(within({ from: before.from - across, to: before.to - across, rows: before.rows, top: before.top - down },
      whole, rows.length, matrix.column));
  }, [whole, rows.length, matrix.column, layout]);

  // React's own wheel listeners may not keep the page from zooming.
  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      if (!event.ctrlKey && !event.metaKey) return pan(-event.deltaX, 0);
      const box = element.getBoundingClientRect();
      const at = (event.clientX - box.left - layout.left) / (layout.right - layout.left);
      const middle = layout.restHeight > 0 ? (event.clientY - box.top - layout.restTop) / layout.restHeight : 0.5;
      zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), Math.max(0, Math.min(1, at)), event.shiftKey,
        Math.max(0, Math.min(1, middle)));
    };
    const touched = (event: TouchEvent) => { // two fingers move the map alone
      if (event.touches.length > 1) event.preventDefault();
    };
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("touchmove", touched, { passive: false });
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("touchmove", touched);
    };
  }, [zoom, pan, layout]);

  const where = (event: PointerEvent): Grip => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent) => {
    canvas.current!.setPointerCapture(event.pointerId);
    grips.current.set(event.pointerId, where(event));
    if (grips.current.size === 1) moved.current = false;
  };
  const move = (event: PointerEvent) => {
    const here = where(event);
    const before = grips.current.get(event.pointerId);
    if (!before) {
      const scene = sceneNow();
      setMark(markText(markAt(scene, here.x, here.y), matrix, zone));
      return setHover((last) => same(last, cellAt(scene, here.x, here.y)));
    }
    const other = [...grips.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const gap = (a: Grip, b: Grip) => Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
      const middle = ((here.x + other.x) / 2 - layout.left) / (layout.right - layout.left);
      zoom(gap(before, other) / gap(here, other), Math.max(0, Math.min(1, middle)), false, 0.5);
      pan((here.x - before.x) / 2, (here.y - before.y) / 2);
      moved.current = true;
    } else if (moved.current || Math.hypot(here.x - before.x, here.y - before.y) > 4) {
      moved.current = true;
      pan(here.x - before.x, here.y - before.y);
    } else {
      return undefined;
    }
    grips.current.set(event.pointerId, here);
    return undefined;
  };
  const up = (event: PointerEvent) => {
    const here = where(event);
    grips.current.delete(event.pointerId);
    if (moved.current) return;
    const scene = sceneNow();
    const found = markAt(scene, here.x, here.y);
    if (found?.incident) return go(to("incidents", found.incident.id));
    if (!found?.event) return open(cellAt(scene, here.x, here.y));
    const lines = { template: found.event.template_id, around: found.event.first.time ?? "" };
    return hasLines(lines) ? props.ask(lines) : undefined;
  };
  const open = (cell: Cell | null, push = true) => {
    setMarked(cell);
    if (cell || props.cell) nameCell(matrix, cell, push);
  };
  const close = () => {
    if (props.cell) nameCell(matrix, null, true);
    setMarked(chosen);
    canvas.current?.focus();
  };

  const all = useMemo(() => [...matrix.pinned, ...rows], [matrix, rows]);
  const step = (across: number, downward: number) => {
    const from = chosen ? all.findIndex((row) => row.key === chosen.row.key) : 0;
    const row = all[Math.max(0, Math.min(all.length - 1, (from < 0 ? 0 : from) + downward))];
    if (!row) return;
    const column = Math.max(0, Math.min(matrix.columns - 1, (chosen?.column ?? matrix.columns - 1) + across));
    if (props.cell) open({ row, column }, false);
    else setMarked({ row, column });
    const at = rows.findIndex((one) => one.key === row.key);
    const { now } = moving;
    if (at >= 0) moving.set(within({ ...now, top: at < now.top ? at : at >= now.top + now.rows ? at - now.rows + 1 : now.top },
      whole, rows.length, matrix.column));
  };
  const key = (event: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      ArrowLeft: () => event.shiftKey ? pan(80, 0) : step(-1, 0), ArrowRight: () => event.shiftKey ? pan(-80, 0) : step(1, 0),
      ArrowUp: () => event.shiftKey ? pan(0, 60) : step(0, -1), ArrowDown: () => event.shiftKey ? pan(0, -60) : step(0, 1),
      "+": () => zoom(0.6, 0.5, false, 0.5), "=": () => zoom(0.6, 0.5, false, 0.5), "-": () => zoom(1 / 0.6, 0.5, false, 0.5),
      "0": () => { moving.set({ ...whole, top: 0, rows: rows.length }); props.setRange(null); },
      i: () => zoom(0.6, 0.5, true, 0.5, true), o: () => zoom(1 / 0.6, 0.5, true, 0.5, true),
      Enter: () => open(chosen), Escape: () => open(null),
    };
    const found = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    found();
  };
  const first = matrix.pinned[0];
  return (
    <>
      <canvas ref={canvas} className="map" tabIndex={0} role="application"
        aria-roledescription="map of nodes over time"
        aria-label={`${counted(all.length, "row")} over ${matrix.by === "time" ? "time" : "iterations"}.` +
          (first ? ` ${harmless(first.label)} is suspected most.` : " None is suspected.") +
          (chosen ? ` Chosen: ${said(chosen, matrix, zone)}` : " Arrow keys choose a cell.")}
        onPointerDown={down} onPointerMove={move} onPointerUp={up}
        onPointerCancel={(event) => grips.current.delete(event.pointerId)}
        onPointerLeave={() => { setHover(null); setMark(""); }} onKeyDown={key}
        onDoubleClick={(event) => zoom(0.4, Math.max(0, Math.min(1, (event.nativeEvent.offsetX - layout.left) /
          (layout.right - layout.left))), false, 0.5)} />
      {props.flows.length > 0 && matrix.by === "time" && <Later of={({ FlowLanes }) => <FlowLanes flows={props.flows}
        left={layout.left} right={layout.right} width={width} moving={moving} x={() => xOf(moving.now, layout)} />} />}
      <p className="readout" role="status">{mark || (hover ?? chosen ? said((hover ?? chosen)!, matrix, zone) : "\u00a0")}</p>
      {props.cell && !linked && <Gone cell={props.cell} matrix={matrix} />}
      {props.cell && linked && <Why of={props.cell.key} cell={linked.cell} matrix={linked.matrix} rows={all} report={report}
        nodes={props.nodes} ask={props.ask} close={close} />}
    </>
  );
}

/** A mark in one line, and what a click on it does; empty: there is none. */
function markText(mark: Mark | null, matrix: Matrix, zone: "utc" | "local"): string {
  if (mark?.incident) {
    const { state, opened } = mark.incident;
    return `incident · ${spoken(state)} · opened ${timeText(millis(opened) ?? 0, zone, serverNow())} · a click opens it`;
  }
  if (!mark?.event) return "";
  const { role, first, iteration, template } = mark.event;
  const at = millis(first.time);
  const when = at !== null && (matrix.by === "time" || iteration === null) ? timeText(at, zone, serverNow(), true) : `iteration ${iteration ?? "–"}`;
  return `${role} · ${when} · ${harmless(first.node)} · ${harmless(template.split("<*>").join("⋯"))}`;
}

/** A cell in one line. */
function said(cell: Cell, matrix: Matrix, zone: "utc" | "local"): string {
  const at = matrix.begin + cell.column * matrix.column;
  const when = matrix.by === "time" ? timeText(at, zone, serverNow()) : `iteration ${Math.round(at)}`;
  const score = scoreOf(matrix, cell.row, cell.column);
  const silent = cell.row.silentFrom !== null && at > cell.row.silentFrom;
  const much = silent ? "silent" : score === null ? "not known" : score === 0 ? "as usual"
    : matrix.what === "nodes" ? `${score.toFixed(1)} nats, an alarm from ${matrix.alarm.toFixed(0)} on`
    : `${Math.exp(score).toFixed(2)} times as long as usual`;
  return `${harmless(cell.row.label)}${cell.row.group ? ` in ${harmless(cell.row.group)}` : ""} · ${when} · ${much}${
    cell.row.lost ? " · its agent is lost" : ""}`;
}

