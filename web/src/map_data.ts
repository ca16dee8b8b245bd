// The matrix of scores as rows to draw: decoded, ordered, joined with what is known of each node.
import type { Node, Place, Report, Scores } from "./api_types";
import { millis } from "./format";

export type Order = "suspicion" | "name" | "first" | "group";
export const UNKNOWN = 255;
/** Column values of the picture: a score from 0 to 253, or one of these. */
export const SILENT = 254;

export interface MapRow {
  key: string;
  label: string;
  node: string;
  cells: Uint8Array;
  /** Largest cell; -1: none is known. */
  most: number;
  /** Column of the first alarm; Infinity: none. */
  firstSign: number;
  confidence: number;
  /** Place in the report's order of suspicion; Infinity: not in it. */
  suspicion: number;
  /** Where its lines end, on the axis; null: they go on, or times do not tell. */
  silentFrom: number | null;
  /** From where on the report suspects it; null: it does not. */
  suspectFrom: number | null;
  /** The rack, or what else its name begins with; empty where names tell no groups. */
  group: string;
  /** None of the agents that ship for it is there any more. */
  lost: boolean;
}

/** What an iteration, or one of its phases, takes, by column: ms, null where nothing is known. */
export interface Course {
  phase: string | null;
  mean: readonly (number | null)[];
  most: readonly (number | null)[];
}

export interface Matrix {
  what: Scores["what"];
  /** Of a map of phases: all there are, and the one whose rows these are. */
  phases: string[];
  phase: string | null;
  by: Scores["by"];
  /** Score of one step of a cell. */
  step: number;
  /** Score from which on a cell is an alarm. */
  alarm: number;
  begin: number;
  /** Width of a column, on the axis: ms or iterations. The last one may hold less. */
  column: number;
  /** Of the last column. */
  end: number;
  columns: number;
  pinned: MapRow[];
  rows: MapRow[];
  leftOut: number;
  /** Behind it all rows are silent; Infinity: one of them goes on, or times do not tell. */
  lastLine: number;
  /** What all labels begin with, and which is not worth its room. */
  prefix: string;
  /** Of a map of iterations: one; of phases: one each, those that take longest first. */
  course: Course[];
}

/** The job as it is to be drawn beside its scores. */
export interface Known {
  report: Report;
  nodes: ReadonlyMap<string, Node>;
  /** As of this time of the past; null: now. */
  upTo: number | null;
  /** Names of agents that are lost. */
  lost: ReadonlySet<string>;
}

const PINNED_MAX = 6;
const PINNED_SHARE = 0.2; // confidence from which on a node stands on top
const WHOLE_LEAST = 0.75; // of all other phases together: the timer of an iteration
const WHOLE_MOST = 1.4;
const ALARM_RATIO = Math.LN2; // twice as long as usual

export function placeOf(place: Place | null): number | null {
  if (place === null) return null;
  return typeof place === "number" ? place : millis(place);
}

function decoded(cells: string): Uint8Array {
  const text = atob(cells);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

interface Folded {
  node: string;
  phase: string | null;
  cells: Uint8Array;
}

/** A row for each node, and phase: the worst of its ranks. */
function foldedByNode(scores: Scores): Folded[] {
  const rows = new Map<string, Folded>();
  for (const row of scores.rows) {
    const key = `${row.node}\n${row.phase ?? ""}`;
    const cells = decoded(row.cells);
    const known = rows.get(key);
    if (!known) {
      rows.set(key, { node: row.node, phase: row.phase, cells });
      continue;
    }
    for (let i = 0; i < cells.length; i += 1) {
      const cell = cells[i]!;
      const before = known.cells[i]!;
      if (cell !== UNKNOWN && (before === UNKNOWN || cell > before)) known.cells[i] = cell;
    }
  }
  return [...rows.values()];
}

/** The beginning that all names share, up to a separator; empty where little would be saved. */
function sharedPrefix(names: readonly string[]): string {
  if (names.length < 2) return "";
  let size = names[0]!.length;
  for (const name of names) {
    size = Math.min(size, name.length);
    while (size > 0 && !name.startsWith(names[0]!.slice(0, size))) size -= 1;
  }
  const shared = names[0]!.slice(0, size);
  const cut = Math.max(shared.lastIndexOf("-", size - 2), shared.lastIndexOf("."), shared.lastIndexOf("_")) + 1;
  const words = shared.slice(0, cut).replace(/\w+[-._]$/, "");
  return words.length >= 6 ? words : "";
}

/** What the name of a node begins with where it counts twice, such as `rack-07` of rack-07-node-3; empty: it does not. */
function groupOf(node: string): string {
  const name = /\.[a-z]+$/i.test(node) ? node.split(".")[0]! : node; // a domain ends with letters
  return /^(.*\d)(?:[-._][a-z]*[-._]?|[a-z]+[-._]?)\d+$/i.exec(name)?.[1] ?? "";
}

/** Groups by name; none where they are all one, or hardly larger than a node. */
function groupsOf(names: readonly string[]): ReadonlyMap<string, string> {
  const groups = new Map(names.map((name) => [name, groupOf(name)]));
  const count = new Set(groups.values()).size;
  return count > 1 && count <= groups.size / 2 ? groups : new Map();
}

/** A time at which a line without one was read, after all that was printed, stands at the end of the job. */
export function onAxis(report: Report, ms: number | null): number | null {
  const begin = millis(report.job.begin);
  const end = millis(report.job.end);
  if (ms === null || begin === null || end === null) return ms;
  return ms - end > Math.max(end - begin, 60_000) ? end : ms;
}

/** Where on the axis of times the failure begins; null: there is none. */
export function failureOf(report: Report): number | null {
  return isBad(report.verdict.state) ? onAxis(report, millis(report.verdict.since)) : null;
}

/** The part of the axis that the job's lines are in, where that is little of it; null: most of it. */
export function busyRange(matrix: Matrix, report: Report): { from: number; to: number } | null {
  const begin = millis(report.job.begin);
  const end = millis(report.job.end);
  if (matrix.by !== "time" || begin === null || end === null || end <= begin) return null;
  if (matrix.column * matrix.columns < 4 * (end - begin)) return null;
  return { from: begin, to: end + Math.max(0.2 * (end - begin), matrix.column > 10_000 ? 10_000 : matrix.column) };
}

function isBad(state: string): boolean {
  return state !== "healthy" && state !== "finished" && state !== "unknown";
}

/** Where on the axis the report's suspicion of a node begins. */
function beginOfSuspicion(report: Report, at: number, by: Scores["by"]): number | null {
  const node = report.nodes[at]!;
  if (!isBad(report.verdict.state) || (at > 0 && node.confidence < PINNED_SHARE)) return null;
  if (by === "iteration") return report.verdict.iteration;
  return onAxis(report, millis(node.first_seen) ?? millis(report.verdict.since));
}

/**
 * The phase that tells most: few nodes take longer in it. Where one node is slow in its own work, all others are slow
 * in the phase in which they wait for it.
 */
function tellingPhase(rows: readonly Folded[], phases: readonly string[], least: number): string | null {
  const share = (phase: string) => {
    const own = rows.filter((row) => row.phase === phase);
    const loud = own.filter((row) => row.cells.some((cell) => cell !== UNKNOWN && cell >= least)).length;
    return loud === 0 ? 2 : loud / own.length;
  };
  return [...phases].sort((a, b) => share(a) - share(b))[0] ?? null;
}

/** Without a timer that takes as long as all others together: it is that of the whole iteration. */
function partsOf(course: readonly Course[]): Course[] {
  const isWhole = (one: Course) => {
    const others = course.filter((other) => other !== one);
    let own = 0;
    let rest = 0;
    one.mean.forEach((ms, i) => {
      if (ms === null) return;
      own += ms;
      rest += others.reduce((sum, other) => sum + (other.mean[i] ?? 0), 0);
    });
    return others.length > 2 && own > WHOLE_LEAST * rest && own < WHOLE_MOST * rest;
  };
  return course.filter((one) => !isWhole(one));
}

export function matrixOf(scores: Scores, known: Known, wantedPhase = ""): Matrix {
  const starts = scores.columns.map((place) => placeOf(place) ?? 0);
  const begin = starts[0] ?? 0;
  const end = placeOf(scores.end) ?? begin;
  const columns = starts.length;
  const column = Math.max(columns > 1 ? starts[1]! - begin : end - begin, 1);
  const alarm = scores.what === "nodes" ? 3 * Math.log(Math.max(known.nodes.size || known.report.job.nodes, 2)) : ALARM_RATIO;
  const { report } = known;
  const places = new Map(report.nodes.map((node, i) => [node.node, i]));
  const folded = foldedByNode(scores);
  const phases = [...new Set(folded.map((row) => row.phase))].filter((phase): phase is string => phase !== null).sort();
  const named = report.notable?.find((one) => one.phase !== null && phases.includes(one.phase))?.phase;
  const phase = phases.includes(wantedPhase) ? wantedPhase
    : named ?? tellingPhase(folded, phases, alarm / scores.step);
  // Whether a node that has printed since was silent then is not known.
  const silentFrom = (node: string) => {
    const last = scores.by === "time" ? millis(known.nodes.get(node)?.last_line) : null;
    return last !== null && last <= (known.upTo ?? Infinity) ? last : null;
  };
  const shown = folded.filter((row) => row.phase === phase);
  const groups = groupsOf(shown.map((row) => row.node));
  const isLost = (node: string) => {
    const agents = known.nodes.get(node)?.agents ?? [];
    return agents.length > 0 && agents.every((agent) => known.lost.has(agent));
  };
  const rows = shown.map((row): MapRow => {
    const { cells } = row;
    let most = -1;
    let firstSign = Infinity;
    for (let i = 0; i < cells.length; i += 1) {
      const cell = cells[i]!;
      if (cell === UNKNOWN) continue;
      if (cell > most) most = cell;
      if (firstSign === Infinity && cell * scores.step >= alarm) firstSign = i;
    }
    const at = places.get(row.node);
    return {
      key: row.node, label: row.node, node: row.node, cells, most,
      firstSign, confidence: at === undefined ? 0 : report.nodes[at]!.confidence,
      suspicion: at ?? Infinity,
      silentFrom: silentFrom(row.node),
      suspectFrom: at === undefined ? null : beginOfSuspicion(report, at, scores.by),
      group: groups.get(row.node) ?? "", lost: isLost(row.node),
    };
  });
  const lastLine = rows.reduce((last, row) => Math.max(last, row.silentFrom ?? Infinity), begin + column * columns);
  const isPinned = (row: MapRow) => row.suspectFrom !== null;
  const pinned = rows.filter(isPinned).sort((a, b) => a.suspicion - b.suspicion || b.most - a.most).slice(0, PINNED_MAX);
  const taken = new Set(pinned.map((row) => row.key));
  return { what: scores.what, phases, phase, by: scores.by, step: scores.step, alarm, begin, end, column, columns, pinned,
           rows: rows.filter((row) => !taken.has(row.key)), leftOut: scores.left_out, lastLine,
           prefix: sharedPrefix(rows.map((row) => row.node)),
           course: partsOf((scores.course ?? []).map((one) => ({ phase: one.phase, mean: one.mean_ms, most: one.most_ms }))) };
}

const collator = new Intl.Collator("en", { numeric: true });

export function ordered(rows: readonly MapRow[], order: Order): MapRow[] {
  const byName = (a: MapRow, b: MapRow) => collator.compare(a.label, b.label);
  const bySuspicion = (a: MapRow, b: MapRow) =>
    b.confidence - a.confidence || b.most - a.most || byName(a, b);
  return [...rows].sort(order === "name" ? byName
    : order === "group" ? (a, b) => collator.compare(a.group, b.group) || byName(a, b)
    : order === "first" ? (a, b) => (a.firstSign === b.firstSign ? 0 : a.firstSign - b.firstSign) || bySuspicion(a, b)
    : bySuspicion);
}

/** The value of a cell in the picture. */
export function valueOf(matrix: Matrix, row: MapRow, column: number): number {
  if (row.silentFrom !== null && matrix.begin + column * matrix.column > row.silentFrom) return SILENT;
  const cell = row.cells[column]!;
  return cell === UNKNOWN ? UNKNOWN : Math.min(cell, 253);
}

export function scoreOf(matrix: Matrix, row: MapRow, column: number): number | null {
  const cell = row.cells[column];
  return cell === undefined || cell === UNKNOWN ? null : cell * matrix.step;
}

/**
 * A picture of rows `from` to `to`, a pixel a cell; `fold` rows share a pixel, which has the worst of them: a single
 * bad row among two thousand is still seen.
 */
export function pictureOf(matrix: Matrix, rows: readonly MapRow[], from: number, to: number, fold: number,
                          colours: Uint32Array): HTMLCanvasElement {
  const height = Math.max(1, Math.ceil((to - from) / fold));
  const width = Math.max(1, matrix.columns);
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < height; y += 1) {
    const last = Math.min(from + (y + 1) * fold, to);
    for (let x = 0; x < matrix.columns; x += 1) {
      let worst = -1;
      let silent = 0;
      for (let i = from + y * fold; i < last; i += 1) {
        const value = valueOf(matrix, rows[i]!, x);
        if (value === SILENT) silent += 1;
        else if (value !== UNKNOWN && value > worst) worst = value;
      }
      const calm = worst * matrix.step < matrix.alarm / 3;
      pixels[y * width + x] = colours[silent > 0 && calm ? SILENT : worst < 0 ? UNKNOWN : worst]!;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
