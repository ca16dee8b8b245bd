// Draws the map: rows over time or iterations, and lanes of the job's course below, on one axis.
import scaleLinear from "d3-scale/src/linear"; // the whole package is a tenth of the page
import type { Incident, Report, ReportEvent } from "./api_types";
import { harmless, millis, span, spoken, timeText } from "./format";
import type { Zone } from "./format";
import { serverNow } from "./live";
import { SILENT, UNKNOWN, failureOf, onAxis, pictureOf } from "./map_data";
import type { MapRow, Matrix } from "./map_data";

export interface View {
  from: number; // on the axis: ms, or iterations
  to: number;
  top: number; // first row that is seen
  rows: number; // how many are
}

export interface Colours {
  text: string;
  soft: string;
  line: string;
  back: string;
  accent: string;
  silent: string;
  unknown: string;
  root: string;
  direct: string;
  consequence: string;
  lane: string;
  phases: string[];
  cells: Uint32Array;
  ramp: string[];
}

export interface Layout {
  width: number;
  height: number;
  left: number; // of the cells
  right: number;
  pinnedTop: number;
  pinnedRow: number; // height
  restTop: number;
  restHeight: number;
  laneTop: number;
  courseTop: number;
  eventsTop: number;
  incidentsTop: number;
}

const AXIS = 24;
const PINNED_ROW = 24;
const GAP = 8;
const ROW_MAX = 22;
const REST_MAX = 380;
const STAGES = 22;
const ITERATIONS = 40;
const COURSE = 72; // what iterations or their phases take
const EVENTS = 26;
const INCIDENTS = 18;
const NARROW_LEFT = 60; // px: names stand upon the map up to it
const NEAR = 9; // px: of a mark
const LABEL_MIN = 11; // px of a row from which on it is named
const EVENTS_MAX = 60;

export function layoutOf(width: number, matrix: Matrix, incidents: boolean): Layout {
  const left = width < 640 ? 8 : Math.min(280, Math.max(110, 14 + 6.6 * longest(matrix)));
  const pinnedTop = AXIS;
  const pinned = matrix.pinned.length * PINNED_ROW;
  const restTop = pinnedTop + pinned + (pinned > 0 && matrix.rows.length > 0 ? GAP : 0);
  const restHeight = Math.min(matrix.rows.length * ROW_MAX, REST_MAX);
  const laneTop = restTop + restHeight + GAP;
  // A map of iterations has no stages: they are of times.
  const courseTop = laneTop + (matrix.by === "time" ? STAGES : 0);
  const eventsTop = courseTop + (matrix.course.length > 0 ? COURSE : ITERATIONS);
  const incidentsTop = eventsTop + EVENTS;
  return { width, height: incidentsTop + (incidents && matrix.by === "time" ? INCIDENTS : 0), left, right: width - 12, pinnedTop,
           pinnedRow: PINNED_ROW, restTop, restHeight, laneTop, courseTop, eventsTop, incidentsTop };
}

function longest(matrix: Matrix): number {
  let most = 0;
  for (const row of matrix.pinned) most = Math.max(most, row.label.length + (row.lost ? 3 : 1));
  for (const row of matrix.rows.slice(0, 50)) most = Math.max(most, row.label.length + (row.lost ? 2 : 0));
  return most - matrix.prefix.length;
}

export const PHASES = 6; // that have a colour of their own; the last stands for all that follow

/** Colours of the sheet, for the scheme of now. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const ramp = [0, 1, 2, 3, 4].map((i) => of(`heat-${i}`));
  return { text: of("text"), soft: of("soft"), line: of("line"), back: of("surface"), accent: of("bad"),
           silent: of("silent"), unknown: of("unknown"), root: of("bad"), direct: of("uneasy"),
           consequence: of("soft"), lane: of("lane"),
           phases: Array.from({ length: PHASES }, (_, i) => of(`phase-${i}`)), cells: new Uint32Array(256), ramp };
}

function packed(colour: string): number {
  const parts = colour.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    : (colour.match(/\d+(\.\d+)?/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
  return (255 << 24 | Math.round(parts[2]!) << 16 | Math.round(parts[1]!) << 8 | Math.round(parts[0]!)) >>> 0;
}

/** The colour of each value, which depends on what an alarm is. */
export function fillCells(colours: Colours, matrix: Matrix): void {
  const scale = scaleLinear<string>().domain([0, 0.3, 0.65, 1, 1.6]).range(colours.ramp).clamp(true);
  for (let value = 0; value < SILENT; value += 1)
    colours.cells[value] = packed(scale(value * matrix.step / matrix.alarm));
  colours.cells[SILENT] = packed(colours.silent);
  colours.cells[UNKNOWN] = packed(colours.unknown);
}

/** Pictures of the rows, made again only where what they show has changed. */
export class Pictures {
  private key: unknown[] = [];
  private pinned: HTMLCanvasElement | null = null;
  private rest: HTMLCanvasElement | null = null;
  private fold = 1;

  draw(to: CanvasRenderingContext2D, matrix: Matrix, rows: readonly MapRow[], view: View, layout: Layout,
       colours: Colours): void {
    const fold = Math.max(1, Math.floor(view.rows / Math.max(layout.restHeight, 1)));
    const key = [matrix, rows, colours, fold];
    if (key.some((part, i) => part !== this.key[i])) {
      this.key = key;
      this.fold = fold;
      fillCells(colours, matrix);
      this.pinned = pictureOf(matrix, matrix.pinned, 0, matrix.pinned.length, 1, colours.cells);
      this.rest = pictureOf(matrix, rows, 0, rows.length, fold, colours.cells);
    }
    const x = xOf(view, layout);
    const left = x(matrix.begin);
    const width = x(matrix.begin + matrix.column * matrix.columns) - left;
    to.imageSmoothingEnabled = false;
    if (matrix.pinned.length > 0)
      to.drawImage(this.pinned!, left, layout.pinnedTop, width, matrix.pinned.length * layout.pinnedRow);
    if (rows.length === 0) return;
    const scale = layout.restHeight / view.rows;
    to.save();
    to.beginPath();
    to.rect(0, layout.restTop, layout.width, layout.restHeight);
    to.clip();
    to.drawImage(this.rest!, left, layout.restTop - view.top * scale, width, this.rest!.height * this.fold * scale);
    to.restore();
  }
}

/** Lines between groups, and thin ones between rows that are high enough to be told apart. */
function separators(to: CanvasRenderingContext2D, scene: Scene): void {
  const { view, layout, rows, colours } = scene;
  if (scene.byGroup) {
    to.fillStyle = colours.soft;
    for (const { top } of groupsIn(scene)) if (top > layout.restTop) to.fillRect(layout.left, Math.round(top), layout.right - layout.left, 1);
  }
  const height = layout.restHeight / view.rows;
  if (height < 5) return;
  to.beginPath();
  for (let i = Math.ceil(view.top); i < Math.min(rows.length, view.top + view.rows); i += 1) {
    const y = Math.round(layout.restTop + (i - view.top) * height) + 0.5;
    to.moveTo(layout.left, y);
    to.lineTo(layout.right, y);
  }
  to.strokeStyle = colours.back;
  to.lineWidth = 1;
  to.stroke();
}

interface GroupBox { name: string; top: number; height: number }
const GROUPS_MAX = 60; // that are drawn

/** Where groups of rows that are in view begin. */
function groupsIn(scene: Scene): GroupBox[] {
  const { view, layout, rows } = scene;
  const height = layout.restHeight / view.rows;
  const boxes: GroupBox[] = [];
  const until = Math.min(rows.length, view.top + view.rows);
  for (let i = Math.floor(view.top); i < until; i += 1) {
    const name = rows[i]!.group;
    const last = boxes[boxes.length - 1];
    if (last?.name === name) last.height += height;
    else boxes.push({ name, top: layout.restTop + Math.max(0, i - view.top) * height, height });
  }
  return boxes.length > GROUPS_MAX ? [] : boxes;
}

/** From the axis to pixels. */
export function xOf(view: View, layout: Layout): (value: number) => number {
  const scale = scaleLinear().domain([view.from, view.to]).range([layout.left, layout.right]);
  return (value) => scale(value);
}

export interface Scene {
  matrix: Matrix;
  rows: readonly MapRow[];
  view: View;
  layout: Layout;
  colours: Colours;
  report: Report;
  zone: Zone;
  /** Row that the pointer is at, and the one that was chosen. */
  hover: Cell | null;
  chosen: Cell | null;
  /** Rows stand by group. */
  byGroup: boolean;
  incidents: readonly Incident[];
}

export interface Cell {
  row: MapRow;
  column: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Between ticks of a time axis: what a clock divides evenly. */
const TICKS = [1_000, 2_000, 5_000, 10_000, 15_000, 30_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
  4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];

/** At most `many` times between two, at whole steps. */
function timeTicks(from: number, to: number, many: number): number[] {
  const step = TICKS.find((one) => (to - from) / one <= many) ?? Math.ceil((to - from) / many / DAY) * DAY;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

function axis(to: CanvasRenderingContext2D, scene: Scene): void {
  const { view, layout, colours, matrix } = scene;
  const room = layout.right - layout.left;
  const many = Math.max(2, Math.floor(room / (layout.left > NARROW_LEFT ? 110 : 85)));
  let ticks: { at: number; text: string }[];
  if (matrix.by === "time") {
    const format = view.to - view.from > 2 * 86_400_000 ? [5, 10] : view.to - view.from > 1_200_000 ? [11, 16] : [11, 19];
    const ahead = scene.zone === "utc" ? 0 : -new Date(view.from).getTimezoneOffset() * 60_000;
    ticks = timeTicks(view.from + ahead, view.to + ahead, many)
      .map((at) => ({ at: at - ahead, text: new Date(at).toISOString().slice(format[0], format[1]) }));
  } else {
    ticks = scaleLinear().domain([view.from, view.to]).ticks(many).filter((tick) => Number.isInteger(tick))
      .map((tick) => ({ at: tick, text: `${tick}` }));
  }
  const x = xOf(view, layout);
  if (matrix.by === "time") laneName(to, scene, dayOf(view.from, scene.zone), AXIS / 2 - 1);
  to.fillStyle = colours.soft;
  to.textBaseline = "middle";
  to.textAlign = "left";
  const bottom = layout.height;
  const tag = tagOf(to, scene);
  for (const tick of ticks) {
    const at = Math.round(x(tick.at)) + 0.5;
    const end = at + 4 + to.measureText(tick.text).width;
    if (at < layout.left || end > layout.right + 10) continue;
    to.fillStyle = colours.line;
    to.fillRect(at - 0.5, AXIS - 6, 1, 6);
    to.fillRect(at - 0.5, layout.laneTop, 1, bottom - layout.laneTop);
    to.fillStyle = colours.soft;
    if (!tag || end < tag.left || at > tag.left + tag.width) to.fillText(tick.text, at + 4, AXIS / 2 - 1);
  }
}

/** The day, where it is not that of now. */
function dayOf(at: number, zone: Zone): string {
  const text = timeText(at, zone, serverNow());
  return text.includes(" ") ? text.slice(0, text.indexOf(" ")) : "";
}

/** Names stand upon the rows where there is no room beside them. */
function namesUpon(to: CanvasRenderingContext2D, scene: Scene, height: number): void {
  const { matrix, rows, view, layout, colours } = scene;
  const write = (name: string, y: number, pinned: boolean, high: number) => {
    to.font = `${pinned ? 600 : 400} 12px system-ui, sans-serif`;
    const text = fitting(to, name, layout.width / 2);
    const half = Math.min(9, high / 2 - 1);
    to.fillStyle = colours.back;
    to.globalAlpha = pinned ? 1 : 0.8;
    to.fillRect(layout.left + 3, y - half, to.measureText(text).width + 8, 2 * half);
    to.globalAlpha = 1;
    to.fillStyle = pinned ? colours.accent : colours.text;
    to.fillText(text, layout.left + 7, y);
  };
  to.textAlign = "left";
  matrix.pinned.forEach((row, i) => write(nameOf(row, matrix),
    layout.pinnedTop + (i + 0.5) * layout.pinnedRow, true, layout.pinnedRow));
  if (height >= LABEL_MIN) {
    for (let i = Math.floor(view.top); i < Math.min(rows.length, view.top + view.rows); i += 1)
      write(nameOf(rows[i]!, matrix), layout.restTop + (i + 0.5 - view.top) * height, false, height);
  } else if (scene.byGroup) {
    for (const box of groupsIn(scene)) if (box.height >= LABEL_MIN)
      write(harmless(box.name), box.top + LABEL_MIN / 2 + 1, false, LABEL_MIN + 2);
  }
}

function labels(to: CanvasRenderingContext2D, scene: Scene): void {
  const { matrix, rows, view, layout, colours } = scene;
  to.textBaseline = "middle";
  const height = layout.restHeight / view.rows;
  if (layout.left > NARROW_LEFT) {
    to.textAlign = "right";
    const room = layout.left - 14;
    const named = (row: MapRow, y: number, bold: boolean) => {
      to.font = `${bold ? 600 : 400} 12px system-ui, sans-serif`;
      to.fillStyle = bold ? colours.accent : colours.soft;
      to.fillText(fitting(to, nameOf(row, matrix), room), layout.left - 10, y);
    };
    matrix.pinned.forEach((row, i) => named(row, layout.pinnedTop + (i + 0.5) * layout.pinnedRow, true));
    const every = Math.max(1, Math.ceil(LABEL_MIN / height));
    if (every <= 1) {
      for (let i = Math.floor(view.top); i < Math.min(rows.length, view.top + view.rows); i += 1)
        named(rows[i]!, layout.restTop + (i + 0.5 - view.top) * height, false);
    } else if (scene.byGroup) {
      to.font = "400 12px system-ui, sans-serif";
      to.fillStyle = colours.soft;
      let free = layout.restTop;
      for (const box of groupsIn(scene)) {
        const y = Math.max(box.top + Math.min(box.height, 2 * LABEL_MIN) / 2, free + LABEL_MIN / 2);
        if (y > box.top + box.height || box.height < LABEL_MIN / 2) continue;
        to.fillText(fitting(to, harmless(box.name), room), layout.left - 10, y);
        free = y + LABEL_MIN / 2;
      }
    } else {
      to.font = "400 12px system-ui, sans-serif";
      to.fillStyle = colours.soft;
      to.fillText(`${rows.length} ${matrix.pinned.length > 0 ? "others" : "nodes"}`, layout.left - 10, layout.restTop + 9);
    }
  } else {
    namesUpon(to, scene, height);
  }
}

function nameOf(row: MapRow, matrix: Matrix): string {
  return `${row.lost ? "⊘ " : ""}${harmless(row.label.slice(matrix.prefix.length))}`;
}

/** The end of a name tells more than its beginning. */
function fitting(to: CanvasRenderingContext2D, text: string, room: number): string {
  if (to.measureText(text).width <= room) return text;
  let from = 1;
  while (from < text.length && to.measureText(`…${text.slice(from)}`).width > room) from += 1;
  return `…${text.slice(from)}`;
}

/** Rows that the report suspects: framed from where on it does. */
function suspicion(to: CanvasRenderingContext2D, scene: Scene): void {
  const { matrix, view, layout, colours } = scene;
  const x = xOf(view, layout);
  matrix.pinned.forEach((row, i) => {
    const y = layout.pinnedTop + i * layout.pinnedRow;
    to.strokeStyle = colours.line;
    to.lineWidth = 1;
    to.strokeRect(layout.left + 0.5, y + 1.5, layout.right - layout.left - 1, layout.pinnedRow - 3);
    if (row.suspectFrom === null) return;
    const from = Math.max(x(row.suspectFrom), layout.left);
    if (from > layout.right) return;
    to.globalAlpha = 0.1 + 0.25 * row.confidence;
    to.fillStyle = colours.accent;
    to.fillRect(from, y + 1, layout.right - from, layout.pinnedRow - 2);
    to.globalAlpha = 1;
    to.strokeStyle = colours.accent;
    to.lineWidth = 2;
    to.strokeRect(from, y + 2, layout.right - from - 1, layout.pinnedRow - 4);
  });
}

/** Where the failure begins, and the box of its name above; null: not in view. */
function tagOf(to: CanvasRenderingContext2D, scene: Scene): { x: number; left: number; width: number; text: string } | null {
  const { matrix, view, layout, report } = scene;
  const { verdict } = report;
  const failed = failureOf(report);
  const at = matrix.by === "time" || failed === null ? failed : verdict.iteration;
  if (at === null) return null;
  const x = Math.round(xOf(view, layout)(at));
  if (x < layout.left || x > layout.right) return null;
  const before = to.font;
  to.font = "600 12px system-ui, sans-serif";
  const text = spoken(verdict.state);
  const width = to.measureText(text).width + 12;
  to.font = before;
  return { x, left: Math.min(Math.max(x - width / 2, layout.left), layout.right - width), width, text };
}

function sinceLine(to: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours } = scene;
  const tag = tagOf(to, scene);
  if (!tag) return;
  const { x, left, width, text } = tag;
  to.fillStyle = colours.accent;
  to.fillRect(x - 1, AXIS - 8, 2, layout.height - AXIS + 8);
  to.font = "600 12px system-ui, sans-serif";
  to.textBaseline = "middle";
  to.fillRect(left, 2, width, 18);
  to.fillStyle = colours.back;
  to.textAlign = "left";
  to.fillText(text, left + 6, 11);
}

/** `within`: it stands in the lane where there is no room beside it. */
function laneName(to: CanvasRenderingContext2D, scene: Scene, text: string, y: number, within = false): void {
  const { left } = scene.layout;
  const beside = left > NARROW_LEFT;
  if (!beside && !within) return;
  to.font = `400 ${beside ? 12 : 11}px system-ui, sans-serif`;
  to.fillStyle = scene.colours.soft;
  to.textAlign = beside ? "right" : "left";
  to.textBaseline = "middle";
  to.fillText(text, left + (beside ? -10 : 4), y);
}

function stages(to: CanvasRenderingContext2D, scene: Scene): void {
  const { view, layout, colours, report, matrix } = scene;
  const top = layout.laneTop + 2;
  if (matrix.by !== "time") return;
  laneName(to, scene, "stage", top + 9);
  const x = xOf(view, layout);
  to.font = "400 11px system-ui, sans-serif";
  to.textAlign = "left";
  let free = layout.left;
  const spans = [...report.stages].sort((a, b) => (millis(a.begin) ?? 0) - (millis(b.begin) ?? 0));
  const paths = [new Path2D(), new Path2D()]; // stages that follow each other are told apart
  const names: { text: string; from: number }[] = [];
  spans.forEach((stage, i) => {
    const begin = millis(stage.begin);
    const end = millis(stage.end);
    if (begin === null || end === null || stage.stage === null) return;
    const from = Math.max(x(begin), layout.left);
    const until = Math.min(Math.max(x(end), from + 2), layout.right);
    if (until <= layout.left || from >= layout.right) return;
    paths[i % 2]!.rect(from, top, until - from, 18);
    const text = spoken(stage.stage);
    if (until - from > to.measureText(text).width + 10 && from + 6 >= free) {
      names.push({ text, from });
      free = from + 10 + to.measureText(text).width;
    }
  });
  to.fillStyle = colours.lane;
  to.fill(paths[0]!);
  to.globalAlpha = 0.55;
  to.fill(paths[1]!);
  to.globalAlpha = 1;
  to.fillStyle = colours.text;
  names.forEach(({ text, from }) => to.fillText(text, from + 6, top + 9));
}

/** Iterations that stand out, as high as they were long. */
function iterations(to: CanvasRenderingContext2D, scene: Scene): void {
  const { view, layout, colours, report, matrix } = scene;
  const top = layout.courseTop;
  laneName(to, scene, "odd iterations", top + ITERATIONS / 2);
  const x = xOf(view, layout);
  const lengths = report.iterations.map((one) => {
    const begin = millis(one.begin);
    const end = millis(one.end);
    return begin !== null && end !== null && end >= begin ? end - begin : 0;
  });
  const most = Math.max(...lengths, 1);
  to.fillStyle = colours.direct;
  to.beginPath();
  report.iterations.forEach((one, i) => {
    const at = matrix.by === "time" ? millis(one.begin) : one.iteration;
    const until = matrix.by === "time" ? millis(one.end) : one.iteration + 1;
    if (at === null) return;
    const left = x(at);
    if (left > layout.right || left < layout.left) return;
    const height = Math.max(4, lengths[i]! / most * (ITERATIONS - 10));
    to.rect(left, top + ITERATIONS - 3 - height, Math.max(3, Math.min(x(until ?? at), layout.right) - left - 1), height);
  });
  to.fill();
  to.font = "400 11px system-ui, sans-serif";
  to.fillStyle = colours.soft;
  to.textAlign = "left";
  if (report.iterations.length === 0) to.fillText(layout.left > NARROW_LEFT ? "none stands out" : "no iteration stands out", layout.left + 4, top + ITERATIONS / 2);
  else if (lengths.some((one) => one > 0)) to.fillText(`longest ${span(most)}`, layout.left + 4, top + 8);
}

/** A column of the course, in pixels. */
function columnBox(scene: Scene, column: number): { left: number; width: number } | null {
  const { matrix, view, layout } = scene;
  const x = xOf(view, layout);
  const left = Math.max(x(matrix.begin + column * matrix.column), layout.left);
  const right = Math.min(x(matrix.begin + (column + 1) * matrix.column), layout.right);
  return right > left ? { left, width: right - left } : null;
}

/** How long iterations take: on average as a step, the slowest rank as a bar; far beyond what is usual in another colour. */
function pace(to: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours, matrix } = scene;
  const { mean, most } = matrix.course[0]!;
  const known = mean.filter((one): one is number => one !== null).sort((a, b) => a - b);
  const usual = known[known.length >> 1] ?? 0;
  const top = Math.max(...most.map((one) => one ?? 0), 1e-9);
  const bottom = layout.courseTop + COURSE - 6;
  const tall = (ms: number) => Math.max(1, ms / top * (COURSE - 22));
  const [calm, odd, line] = [new Path2D(), new Path2D(), new Path2D()];
  mean.forEach((ms, i) => {
    const box = columnBox(scene, i);
    if (ms === null || !box) return;
    const highest = most[i] ?? ms;
    (highest > ODD * usual ? odd : calm).rect(box.left, bottom - tall(highest), Math.max(box.width - (box.width > 4 ? 1 : 0), 0.7), tall(highest));
    line.rect(box.left, bottom - tall(ms), box.width, 1.5);
  });
  to.fillStyle = colours.lane;
  to.fill(calm);
  to.fillStyle = colours.direct;
  to.fill(odd);
  to.fillStyle = colours.text;
  to.fill(line);
  laneName(to, scene, "iteration time", layout.courseTop + COURSE / 2);
  note(to, scene, `usually ${span(usual)}, at most ${span(top)}`);
}

const ODD = 1.5; // times the usual length

function note(to: CanvasRenderingContext2D, scene: Scene, text: string): void {
  to.font = "400 11px system-ui, sans-serif";
  to.fillStyle = scene.colours.soft;
  to.textAlign = "left";
  to.textBaseline = "middle";
  to.fillText(text, scene.layout.left + 4, scene.layout.courseTop + 8);
}

/** Phases upon each other: what an iteration is made of. */
function stacked(to: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours, matrix } = scene;
  const { course } = matrix;
  const sums = course[0]!.mean.map((_, i) => course.reduce((sum, one) => sum + (one.mean[i] ?? 0), 0));
  const top = Math.max(...sums, 1e-9);
  const bottom = layout.courseTop + COURSE - 6;
  const paths = colours.phases.map(() => new Path2D());
  sums.forEach((sum, i) => {
    const box = columnBox(scene, i);
    if (sum === 0 || !box) return;
    let y = bottom;
    course.forEach((one, phase) => {
      const height = (one.mean[i] ?? 0) / top * (COURSE - 22);
      y -= height;
      if (height > 0) paths[Math.min(phase, PHASES - 1)]!.rect(box.left, y, box.width, height);
    });
  });
  paths.forEach((path, i) => {
    to.fillStyle = colours.phases[i]!;
    to.fill(path);
  });
  laneName(to, scene, "phases", layout.courseTop + COURSE / 2);
  note(to, scene, `at most ${span(top)} together`);
}

/** Incidents of the job, from when they opened to when they were over. */
/** Where the bar of an incident begins and ends; null: it is not in view. */
function barOf(scene: Scene, one: Incident): { from: number; until: number } | null {
  const { view, layout, report, matrix } = scene;
  if (matrix.by !== "time") return null;
  const x = xOf(view, layout);
  const from = Math.max(x(onAxis(report, millis(one.opened)) ?? 0), layout.left);
  const over = one.resolved ? x(onAxis(report, millis(one.resolved)) ?? 0) : layout.right;
  const until = Math.min(Math.max(over, from + 3), layout.right);
  return until > layout.left && from < layout.right ? { from, until } : null;
}

function incidents(to: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours, matrix } = scene;
  if (scene.incidents.length === 0 || matrix.by !== "time") return;
  laneName(to, scene, "incidents", layout.incidentsTop + INCIDENTS / 2 - 1, true);
  to.fillStyle = colours.accent;
  to.beginPath();
  for (const one of scene.incidents) {
    const bar = barOf(scene, one);
    if (bar) to.rect(bar.from, layout.incidentsTop + 5, bar.until - bar.from, 6);
  }
  to.fill();
}

const ROLES = ["consequence", "direct", "root"] as const;

/** The events of a role that have a mark, and where. */
function marksOf(scene: Scene, role: string): { event: ReportEvent; at: number }[] {
  const { view, layout, report, matrix } = scene;
  const x = xOf(view, layout);
  const { since, iteration } = report.verdict;
  const failedIn = (event: ReportEvent) => (millis(event.first.time) ?? 0) >= (millis(since) ?? Infinity) ? iteration : null;
  return report.events.filter((one) => one.role === role).slice(0, EVENTS_MAX).flatMap((event) => {
    const place = matrix.by === "time" ? onAxis(report, millis(event.first.time))
      : event.iteration ?? failedIn(event);
    const at = place === null ? NaN : x(place);
    return at >= layout.left - 4 && at <= layout.right + 4 ? [{ event, at }] : [];
  });
}

export interface Mark { event?: ReportEvent; incident?: Incident }

/** The mark of an event or an incident at this place; of several the one that is drawn last. */
export function markAt(scene: Scene | null, x: number, y: number): Mark | null {
  if (!scene) return null;
  const { eventsTop, incidentsTop } = scene.layout;
  if (y >= eventsTop && y < incidentsTop) {
    const found = ROLES.flatMap((role) => marksOf(scene, role)).reverse()
      .find(({ at }) => Math.abs(at - x) <= NEAR);
    return found ? { event: found.event } : null;
  }
  const isHere = (bar: { from: number; until: number } | null) => bar && x >= bar.from - NEAR && x <= bar.until + NEAR;
  const incident = y < incidentsTop ? undefined : scene.incidents.find((one) => isHere(barOf(scene, one)));
  return incident ? { incident } : null;
}

/** Events by role: a diamond for a root, a ring for its first effect, a dot for what follows. */
function events(to: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours } = scene;
  const middle = layout.eventsTop + EVENTS / 2;
  laneName(to, scene, "events", middle, true);
  for (const role of ROLES) { // each in one path
    to.fillStyle = colours[role];
    to.strokeStyle = colours[role];
    to.lineWidth = 2;
    to.beginPath();
    for (const { at: left } of marksOf(scene, role)) {
      if (role === "root") {
        to.moveTo(left, middle - 7);
        to.lineTo(left + 7, middle);
        to.lineTo(left, middle + 7);
        to.lineTo(left - 7, middle);
        to.closePath();
      } else {
        const radius = role === "direct" ? 5 : 3;
        to.moveTo(left + radius, middle);
        to.arc(left, middle, radius, 0, 2 * Math.PI);
      }
    }
    if (role === "direct") to.stroke();
    else to.fill();
  }
}

/** Where a row is drawn; null: it is not in view. */
export function boxOf(scene: Scene, row: MapRow): { top: number; height: number } | null {
  const { matrix, rows, view, layout } = scene;
  const pinned = matrix.pinned.findIndex((one) => one.key === row.key);
  if (pinned >= 0) return { top: layout.pinnedTop + pinned * layout.pinnedRow, height: layout.pinnedRow };
  const at = rows.findIndex((one) => one.key === row.key);
  const height = layout.restHeight / view.rows;
  const top = layout.restTop + (at - view.top) * height;
  return at < 0 || top + height <= layout.restTop || top >= layout.restTop + layout.restHeight ? null : { top, height };
}

function frame(to: CanvasRenderingContext2D, scene: Scene, cell: Cell, colour: string): void {
  const box = boxOf(scene, cell.row);
  if (!box) return;
  const x = xOf(scene.view, scene.layout);
  const left = Math.max(x(scene.matrix.begin + cell.column * scene.matrix.column), scene.layout.left);
  const right = Math.min(x(scene.matrix.begin + (cell.column + 1) * scene.matrix.column), scene.layout.right);
  to.strokeStyle = colour;
  to.lineWidth = 2;
  const height = Math.max(box.height, 4);
  to.strokeRect(left - 1, box.top - 1, Math.max(right - left, 4) + 2, height + 2);
}

export function drawScene(to: CanvasRenderingContext2D, scene: Scene, pictures: Pictures): void {
  const { layout, colours, matrix, view } = scene;
  to.clearRect(0, 0, layout.width, layout.height);
  to.save();
  to.beginPath();
  to.rect(layout.left, 0, layout.right - layout.left, layout.height);
  to.clip();
  to.fillStyle = colours.unknown;
  to.fillRect(layout.left, layout.pinnedTop, layout.right - layout.left, matrix.pinned.length * layout.pinnedRow);
  to.fillRect(layout.left, layout.restTop, layout.right - layout.left, layout.restHeight);
  // Behind the last window that was compared all is silent from the last line on.
  const end = xOf(view, layout)(matrix.lastLine);
  if (matrix.by === "time" && end < layout.right) {
    to.fillStyle = colours.silent;
    to.fillRect(end, layout.pinnedTop, layout.right - end, matrix.pinned.length * layout.pinnedRow);
    to.fillRect(end, layout.restTop, layout.right - end, layout.restHeight);
  }
  pictures.draw(to, matrix, scene.rows, view, layout, colours);
  separators(to, scene);
  suspicion(to, scene);
  to.restore();
  to.font = "400 12px system-ui, sans-serif";
  axis(to, scene);
  stages(to, scene);
  if (matrix.course.length === 0) iterations(to, scene);
  else if (matrix.what === "phases") stacked(to, scene);
  else pace(to, scene);
  events(to, scene);
  incidents(to, scene);
  labels(to, scene);
  sinceLine(to, scene);
  if (scene.hover) frame(to, scene, scene.hover, colours.soft);
  if (scene.chosen) frame(to, scene, scene.chosen, colours.text);
}
