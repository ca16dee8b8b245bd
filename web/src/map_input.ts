// What wheel, pointers, fingers and keys do to the map.
import { useEffect, useMemo, useRef } from "react";
import type { KeyboardEvent, PointerEvent, RefObject } from "react";
import type { Board, Choice } from "./map_board";
import type { Cell, Scene, View } from "./map_layout";
import type { Range } from "./map_link";

/** A place on the canvas. */
export interface Place { x: number; y: number }

/** The cell at this place; null: there is none. */
export function cellAt(scene: Scene | null, x: number, y: number): Cell | null {
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

/** The view, kept within the axis and the rows. */
function within(view: View, whole: Range, rows: number, column: number): View {
  const size = Math.min(Math.max(view.to - view.from, column * 4), whole.to - whole.from);
  const from = Math.max(whole.from, Math.min(view.from, whole.to - size));
  const seen = Math.min(Math.max(view.rows, Math.min(5, rows)), rows);
  return { from, to: from + size, rows: seen, top: Math.max(0, Math.min(view.top, rows - seen)) };
}

function part(share: number): number {
  return Math.max(0, Math.min(1, share));
}

export interface Moves {
  /** By this factor around parts of the axis and of the rows, from 0 to 1. */
  zoom: (factor: number, across: number, down?: number, what?: "columns" | "rows" | "both") => void;
  /** In pixels. */
  pan: (dx: number, dy: number) => void;
  /** All of the job. */
  whole: () => void;
  /** Brings the row of this number into view. */
  reach: (row: number) => void;
  /** The part of the axis, and of the rows, at a place. */
  across: (x: number) => number;
  down: (y: number) => number;
}

export function useMoves({ moving, whole, rows: { length }, matrix: { column }, layout }: Board): Moves {
  return useMemo(() => {
    const set = (view: View) => moving.set(within(view, whole, length, column));
    return {
      zoom(factor, across, down = 0.5, what = "columns") {
        const { now } = moving;
        const pivot = now.from + (now.to - now.from) * across;
        const size = (now.to - now.from) * (what === "rows" ? 1 : factor);
        const seen = what === "columns" ? now.rows : now.rows * factor;
        const row = now.top + now.rows * down;
        set({ from: pivot - size * across, to: pivot + size * (1 - across), rows: seen, top: row - seen * down });
      },
      pan(dx, dy) {
        const { now } = moving;
        const across = (now.to - now.from) * dx / (layout.right - layout.left);
        const down = layout.restHeight > 0 ? now.rows * dy / layout.restHeight : 0;
        set({ from: now.from - across, to: now.to - across, rows: now.rows, top: now.top - down });
      },
      whole: () => moving.set({ ...whole, top: 0, rows: length }),
      reach(row) {
        const { now } = moving;
        const last = now.top + now.rows;
        set({ ...now, top: row < now.top ? row : row >= last ? row - now.rows + 1 : now.top });
      },
      across: (x) => part((x - layout.left) / (layout.right - layout.left)),
      down: (y) => layout.restHeight > 0 ? part((y - layout.restTop) / layout.restHeight) : 0.5,
    };
  }, [moving, whole, length, column, layout]);
}

/** React's own listeners may not keep the page from zooming, or from scrolling. */
export function useWheel(canvas: RefObject<HTMLCanvasElement>, moves: Moves): void {
  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      if (!event.ctrlKey && !event.metaKey) return moves.pan(-event.deltaX, 0);
      const box = element.getBoundingClientRect();
      moves.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), moves.across(event.clientX - box.left),
        moves.down(event.clientY - box.top), event.shiftKey ? "both" : "columns");
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
  }, [canvas, moves]);
}

interface Pointed {
  over: (at: Place) => void;
  left: () => void;
  /** Pressed and let go at the same place. */
  click: (at: Place) => void;
}

/** One pointer that is held down moves the map, two zoom it. */
export function usePointers(canvas: RefObject<HTMLCanvasElement>, moves: Moves, on: Pointed) {
  const held = useRef(new Map<number, Place>());
  const moved = useRef(false);
  const where = (event: PointerEvent): Place => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pinch = (before: Place, here: Place, other: Place) => {
    const gap = (a: Place) => Math.max(20, Math.hypot(a.x - other.x, a.y - other.y));
    moves.zoom(gap(before) / gap(here), moves.across((here.x + other.x) / 2));
    moves.pan((here.x - before.x) / 2, (here.y - before.y) / 2);
  };
  const onPointerMove = (event: PointerEvent) => {
    const here = where(event);
    const before = held.current.get(event.pointerId);
    if (!before) return on.over(here);
    const other = [...held.current].find(([id]) => id !== event.pointerId)?.[1];
    if (!other && !moved.current && Math.hypot(here.x - before.x, here.y - before.y) <= 4) return;
    moved.current = true;
    if (other) pinch(before, here, other);
    else moves.pan(here.x - before.x, here.y - before.y);
    held.current.set(event.pointerId, here);
  };
  return {
    onPointerDown(event: PointerEvent) {
      canvas.current!.setPointerCapture(event.pointerId);
      held.current.set(event.pointerId, where(event));
      if (held.current.size === 1) moved.current = false;
    },
    onPointerMove,
    onPointerUp(event: PointerEvent) {
      held.current.delete(event.pointerId);
      if (!moved.current) on.click(where(event));
    },
    onPointerCancel: (event: PointerEvent) => { held.current.delete(event.pointerId); },
    onPointerLeave: on.left,
  };
}

const NEARER = 0.6;

/** Keys go from cell to cell and move the map; `wholeJob` is what 0 does besides. */
export function keysOf(board: Board, moves: Moves, choice: Choice, named: boolean, wholeJob: () => void) {
  const { matrix, rows } = board;
  const step = (across: number, down: number) => {
    const all = [...matrix.pinned, ...rows];
    const from = choice.chosen ? all.findIndex((row) => row.key === choice.chosen!.row.key) : 0;
    const row = all[Math.max(0, Math.min(all.length - 1, Math.max(from, 0) + down))];
    if (!row) return;
    const column = Math.max(0, Math.min(matrix.columns - 1, (choice.chosen?.column ?? matrix.columns - 1) + across));
    if (named) choice.open({ row, column }, false);
    else choice.mark({ row, column });
    const at = rows.findIndex((one) => one.key === row.key);
    if (at >= 0) moves.reach(at);
  };
  const { pan, zoom } = moves;
  return (event: KeyboardEvent) => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => event.shiftKey ? pan(80, 0) : step(-1, 0), ArrowRight: () => event.shiftKey ? pan(-80, 0) : step(1, 0),
      ArrowUp: () => event.shiftKey ? pan(0, 60) : step(0, -1), ArrowDown: () => event.shiftKey ? pan(0, -60) : step(0, 1),
      "+": () => zoom(NEARER, 0.5), "=": () => zoom(NEARER, 0.5), "-": () => zoom(1 / NEARER, 0.5),
      "0": () => { moves.whole(); wholeJob(); },
      i: () => zoom(NEARER, 0.5, 0.5, "rows"), o: () => zoom(1 / NEARER, 0.5, 0.5, "rows"),
      Enter: () => choice.open(choice.chosen), Escape: () => choice.open(null),
    };
    const found = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    found();
  };
}
