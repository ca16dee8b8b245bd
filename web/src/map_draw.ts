// Draws the map: rows over time or iterations, with the lanes of the job's course below, on one axis.
import ticksOf from "d3-array/src/ticks"; // the whole package is a tenth of the page
import { harmless, spoken, timeText } from "./format";
import type { Zone } from "./format";
import { serverNow } from "./live";
import { SILENT, UNKNOWN, failureOf, pictureOf } from "./map_data";
import type { MapRow, Matrix } from "./map_data";
import { drawLanes } from "./map_lanes";
import { AXIS, NARROW_LEFT, laneName, xOf } from "./map_layout";
import type { Cell, Colours, Layout, Scene, View } from "./map_layout";

const LABEL_MIN = 11; // px of a row from which on it is named
const RAMP = [0, 0.3, 0.65, 1, 1.6]; // of an alarm, where each colour of the ramp stands

type Rgb = readonly [number, number, number];

function partsOf(colour: string): Rgb {
  const parts = colour.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    : (colour.match(/\d+(\.\d+)?/g) ?? ["0", "0", "0"]).map(Number);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

function packed([red, green, blue]: Rgb): number {
  return (255 << 24 | Math.round(blue) << 16 | Math.round(green) << 8 | Math.round(red)) >>> 0;
}

/** The colour of the ramp at this part of an alarm, between the two that stand beside it. */
function heat(ramp: readonly Rgb[], part: number): Rgb {
  const next = RAMP.findIndex((stop) => stop >= part);
  if (next <= 0) return ramp[next < 0 ? ramp.length - 1 : 0]!;
  const [from, to] = [ramp[next - 1]!, ramp[next]!];
  const share = (part - RAMP[next - 1]!) / (RAMP[next]! - RAMP[next - 1]!);
  const mixed = (i: 0 | 1 | 2) => from[i] + (to[i] - from[i]) * share;
  return [mixed(0), mixed(1), mixed(2)];
}

/** The colour of each value, which depends on what an alarm is. */
function fillCells(colours: Colours, matrix: Matrix): void {
  const ramp = colours.ramp.map(partsOf);
  for (let value = 0; value < SILENT; value += 1)
    colours.cells[value] = packed(heat(ramp, value * matrix.step / matrix.alarm));
  colours.cells[SILENT] = packed(partsOf(colours.silent));
  colours.cells[UNKNOWN] = packed(partsOf(colours.unknown));
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
    ticks = ticksOf(view.from, view.to, many).filter((tick) => Number.isInteger(tick))
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
/** Where a row is drawn; null: it is not in view. */
function boxOf(scene: Scene, row: MapRow): { top: number; height: number } | null {
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
  drawLanes(to, scene);
  labels(to, scene);
  sinceLine(to, scene);
  if (scene.hover) frame(to, scene, scene.hover, colours.soft);
  if (scene.chosen) frame(to, scene, scene.chosen, colours.text);
}
