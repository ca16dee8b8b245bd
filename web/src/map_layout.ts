// Where things stand on the map's canvas, and in which colours: what all that draws on it shares.
import type { Incident, Report } from "./api_types";
import type { Zone } from "./format";
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

export const AXIS = 24;
const PINNED_ROW = 24;
const GAP = 8;
const ROW_MAX = 22;
const REST_MAX = 380;
const STAGES = 22;
export const ITERATIONS = 40;
export const COURSE = 72; // what iterations or their phases take
export const EVENTS = 26;
export const INCIDENTS = 18;
export const NARROW_LEFT = 60; // px: names stand upon the map up to it

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
/** From the axis to pixels. */
export function xOf(view: View, layout: Layout): (value: number) => number {
  const step = (layout.right - layout.left) / (view.to - view.from || 1);
  return (value) => layout.left + (value - view.from) * step;
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

/** `within`: it stands in the lane where there is no room beside it. */
export function laneName(to: CanvasRenderingContext2D, scene: Scene, text: string, y: number, within = false): void {
  const { left } = scene.layout;
  const beside = left > NARROW_LEFT;
  if (!beside && !within) return;
  to.font = `400 ${beside ? 12 : 11}px system-ui, sans-serif`;
  to.fillStyle = scene.colours.soft;
  to.textAlign = beside ? "right" : "left";
  to.textBaseline = "middle";
  to.fillText(text, left + (beside ? -10 : 4), y);
}
