// The canvas of the map with what stands under it: lanes of flows, the cell in words, and why it has its colour.
import { useContext, useMemo, useRef, useState } from "react";
import type { FlowJob, Incident, Node, Report } from "./api_types";
import { counted, grouped, harmless, millis, spoken, timeText } from "./format";
import { hasLines } from "./handed";
import type { LinesQuery } from "./handed";
import { Later } from "./later";
import { serverNow } from "./live";
import { useChoice, useMovingView, usePainting } from "./map_board";
import type { Board } from "./map_board";
import { scoreOf } from "./map_data";
import type { MapRow, Matrix } from "./map_data";
import { cellAt, keysOf, useMoves, usePointers, useWheel } from "./map_input";
import type { Place } from "./map_input";
import { markAt } from "./map_lanes";
import type { Mark } from "./map_lanes";
import { layoutOf, xOf } from "./map_layout";
import type { Cell, Scene } from "./map_layout";
import { nameCell } from "./map_link";
import type { NamedCell, Range } from "./map_link";
import { Wild, ZoneContext } from "./parts";
import { go, setQuery, to } from "./route";
import type { Route } from "./route";
import { Why } from "./why";

const FIRST_TIME_MS = 100_000_000_000; // what is less is an iteration

/** The former cell where it is the same one. */
function same(last: Cell | null, now: Cell | null): Cell | null {
  return last && now && last.row === now.row && last.column === now.column ? last : now;
}

interface CanvasProps {
  id: string;
  report: Report;
  nodes: ReadonlyMap<string, Node>;
  route: Route;
  ask: (query: LinesQuery) => void;
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

export function Canvas(props: CanvasProps) {
  const { matrix, rows, width, report, byGroup, incidents, whole } = props;
  const zone = useContext(ZoneContext);
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useMemo(() => layoutOf(width, matrix, incidents.length > 0), [width, matrix, incidents.length > 0]);
  const moving = useMovingView(props);
  const board: Board = { canvas, matrix, rows, layout, whole, moving };
  const choice = useChoice(matrix, props.cell);
  const { hover, chosen, linked } = choice;
  const [mark, setMark] = useState(""); // the one that the pointer is at, in words
  const sceneNow = usePainting(board, (colours): Scene => {
    const { now } = moving;
    return { matrix, rows, view: now.rows ? now : { ...now, rows: Math.max(rows.length, 1) }, layout, colours, report, zone,
             hover, chosen, byGroup, incidents };
  });
  const moves = useMoves(board);
  useWheel(canvas, moves);
  const click = (at: Place) => {
    const scene = sceneNow();
    const found = markAt(scene, at.x, at.y);
    if (found?.incident) return go(to("incidents", found.incident.id));
    if (!found?.event) return choice.open(cellAt(scene, at.x, at.y));
    const lines = { template: found.event.template_id, around: found.event.first.time ?? "" };
    if (hasLines(lines)) props.ask(lines);
  };
  const over = (at: Place) => {
    const scene = sceneNow();
    setMark(markText(markAt(scene, at.x, at.y), matrix, zone));
    choice.setHover((last) => same(last, cellAt(scene, at.x, at.y)));
  };
  const left = () => {
    choice.setHover(() => null);
    setMark("");
  };
  const pointers = usePointers(canvas, moves, { over, left, click });
  const close = () => {
    if (props.cell) nameCell(matrix, null, true);
    choice.mark(chosen);
    canvas.current?.focus();
  };
  const all = useMemo(() => [...matrix.pinned, ...rows], [matrix, rows]);
  const told = hover ?? chosen;
  return (
    <>
      <canvas ref={canvas} className="map" tabIndex={0} role="application" aria-roledescription="map of nodes over time"
        aria-label={nameOf(matrix, all.length, chosen && said(chosen, matrix, zone))} {...pointers}
        onKeyDown={keysOf(board, moves, choice, props.cell !== null, () => props.setRange(null))}
        onDoubleClick={(event) => moves.zoom(0.4, moves.across(event.nativeEvent.offsetX))} />
      {props.flows.length > 0 && matrix.by === "time" && <Later of={({ FlowLanes }) => <FlowLanes flows={props.flows}
        left={layout.left} right={layout.right} width={width} moving={moving} x={() => xOf(moving.now, layout)} />} />}
      <p className="readout" role="status">{mark || (told ? said(told, matrix, zone) : "\u00a0")}</p>
      {props.cell && !linked && <Gone cell={props.cell} matrix={matrix} />}
      {props.cell && linked && <Why of={props.cell.key} job={props.id} cell={linked.cell} matrix={linked.matrix} rows={all}
        report={report} nodes={props.nodes} ask={props.ask} close={close} />}
    </>
  );
}

/** The canvas in words, for who does not see it. */
function nameOf(matrix: Matrix, rows: number, chosen: string | null): string {
  const first = matrix.pinned[0];
  return `${counted(rows, "row")} over ${matrix.by === "time" ? "time" : "iterations"}.` +
    (first ? ` ${harmless(first.label)} is suspected most.` : " None is suspected.") +
    (chosen ? ` Chosen: ${chosen}` : " Arrow keys choose a cell.");
}

/** In place of a "why" to which the address leads, and which is not there. */
export function Gone(props: { cell: NamedCell; matrix?: Matrix }) {
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

