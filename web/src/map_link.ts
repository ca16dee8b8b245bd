// What the address says of the map: the part of the axis, the rows, and the cell whose "why" is open.
import { useMemo, useRef } from "react";
import { millis } from "./format";
import type { Cell, View } from "./map_layout";
import type { MapRow, Matrix } from "./map_data";
import { setQuery } from "./route";
import type { Route } from "./route";

export interface Range { from: number; to: number }

/** In place of a begin: the whole axis, where only a part of it is shown at first. */
const ALL = "all";

export function textOf(at: number, by: string): string {
  return by === "time" ? new Date(at).toISOString() : String(Math.max(0, Math.floor(at)));
}

/** A place on an axis, of time or of iterations; null: none. */
function placeIn(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : millis(text);
}

interface RangeLink {
  /** What the address names; null: nothing. */
  range: Range | null;
  all: boolean;
  /** `busy`: a part is shown where the address names none. */
  choose: (next: Range | null, busy: boolean) => void;
}

/** The part of the axis that the address names, and what changes it. */
export function useRangeLink(route: Route, by: string): RangeLink {
  const [from, to] = ["from", "to"].map((name) => route.query.get(name) ?? "") as [string, string];
  const own = useRef<{ from: string; to: string; range: Range } | null>(null); // as it was chosen, not rounded
  const range = useMemo(() => {
    if (own.current?.from === from && own.current.to === to) return own.current.range;
    const [begin, end] = [placeIn(from), placeIn(to)];
    return begin !== null && end !== null && end > begin ? { from: begin, to: end } : null;
  }, [from, to]);
  const choose = (next: Range | null, busy: boolean) => {
    own.current = next && { from: textOf(next.from, by), to: textOf(next.to, by), range: next };
    setQuery({ from: own.current?.from ?? (busy ? ALL : ""), to: own.current?.to ?? "" });
  };
  return { range, all: from === ALL, choose };
}

/** A cell by names: its row, and a place on the axis within its column. */
export interface NamedCell { key: string; row: string; at: number }

export function useNamedCell(route: Route): NamedCell | null {
  const [row, at] = ["cell", "cell_at"].map((name) => route.query.get(name) ?? "") as [string, string];
  return useMemo(() => row ? { key: `${row}\n${at}`, row, at: placeIn(at) ?? NaN } : null, [row, at]);
}

export function cellOf(matrix: Matrix, named: NamedCell): Cell | null {
  const row = [...matrix.pinned, ...matrix.rows].find((one) => one.key === named.row);
  const column = Math.floor((named.at - matrix.begin) / matrix.column);
  return row && column >= 0 && column < matrix.columns ? { row, column } : null;
}

/** The address names this cell, and what the map must show for it to be there; null: none. */
export function nameCell(matrix: Matrix, cell: Cell | null, push: boolean): void {
  const at = cell && textOf(matrix.begin + (cell.column + 0.5) * matrix.column, matrix.by);
  setQuery({ cell: cell?.row.key ?? "", cell_at: at ?? "",
             ...cell && { map: matrix.what, phase: matrix.phase ?? "" } }, push);
}

/** The cell of the address, as last known: what is zoomed away goes on to be explained. */
export function useLinkedCell(matrix: Matrix, named: NamedCell | null): { matrix: Matrix; cell: Cell } | null {
  const held = useRef<{ key: string; matrix: Matrix; cell: Cell } | null>(null);
  const cell = useMemo(() => named && cellOf(matrix, named), [matrix, named]);
  if (named && cell) held.current = { key: named.key, matrix, cell };
  return named && held.current?.key === named.key ? held.current : null;
}

/** The rows of the address: the first one by name, and how many; null: all. */
export function rowsIn(query: URLSearchParams, rows: readonly MapRow[]): Pick<View, "top" | "rows"> | null {
  const count = Number(query.get("rows") ?? 0);
  if (!(count >= 1) || count >= rows.length) return null;
  const top = rows.findIndex((row) => row.key === query.get("top"));
  return { top: Math.max(0, Math.min(top, rows.length - count)), rows: count };
}

export function nameRows(view: View, rows: readonly MapRow[]): void {
  const part = view.rows < rows.length;
  setQuery({ top: part ? rows[Math.round(view.top)]?.key ?? "" : "",
             rows: part ? String(Math.round(view.rows)) : "" });
}
