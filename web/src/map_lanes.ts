// The lanes below the map, on its axis: stages, what iterations take, events by role, incidents.
import type { Incident, ReportEvent } from "./api_types";
import { millis, span, spoken } from "./format";
import { onAxis } from "./map_data";
import { COURSE, EVENTS, INCIDENTS, ITERATIONS, NARROW_LEFT, PHASES, laneName, xOf } from "./map_layout";
import type { Scene } from "./map_layout";

const NEAR = 9; // px: of a mark
const EVENTS_MAX = 60;

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

export function drawLanes(to: CanvasRenderingContext2D, scene: Scene): void {
  const { course, what } = scene.matrix;
  stages(to, scene);
  if (course.length === 0) iterations(to, scene);
  else if (what === "phases") stacked(to, scene);
  else pace(to, scene);
  events(to, scene);
  incidents(to, scene);
}
