// What a map's canvas holds beside React: the part that is in view, the cell that is chosen, and its painting.
import { useEffect, useMemo, useRef, useState } from "react";
import type { RefObject } from "react";
import type { MapRow, Matrix } from "./map_data";
import { Pictures, drawScene } from "./map_draw";
import { coloursOf } from "./map_layout";
import type { Cell, Colours, Layout, Scene } from "./map_layout";
import { nameCell, nameRows, rowsIn, useLinkedCell } from "./map_link";
import type { NamedCell, Range } from "./map_link";
import { MovingView, prepared } from "./map_view";
import type { Route } from "./route";

/** A canvas, what it shows and how it lies there. */
export interface Board {
  canvas: RefObject<HTMLCanvasElement>;
  matrix: Matrix;
  rows: readonly MapRow[];
  layout: Layout;
  /** The axis of the whole job. */
  whole: Range;
  moving: MovingView;
}

interface Shown {
  rows: readonly MapRow[];
  whole: Range;
  /** The part of it that the scores are of; null: all. */
  range: Range | null;
  setRange: (range: Range | null) => void;
  route: Route;
}

/** The part that is in view. The address, the range that was chosen outside and the length of the job change it; where it
    has come to rest, it names itself in the address, and asks for the scores of its range. */
export function useMovingView({ rows, whole, range, setRange, route }: Shown): MovingView {
  const asked = useRef<Range | null>(null); // the range that this view has asked for itself
  const rest = useRef(() => {});
  const [moving] = useState(() => new MovingView({ ...(range ?? whole), top: 0, rows: rows.length,
    ...rowsIn(route.query, rows) }, () => rest.current()));
  // It grows while the job runs, and another range may be chosen outside.
  useEffect(() => {
    if (range !== null && range === asked.current) return;
    moving.set({ ...moving.now, ...(range ?? whole) });
  }, [whole, range]);
  useEffect(() => {
    const { now } = moving;
    if (now.rows > rows.length || now.top + now.rows > rows.length || now.rows === 0)
      moving.set({ ...now, top: 0, rows: rows.length });
  }, [rows.length]);
  const [top, count] = [route.query.get("top"), route.query.get("rows")];
  useEffect(() => { // what this view has named itself changes nothing
    const wanted = rowsIn(route.query, rows) ?? { top: 0, rows: rows.length };
    if (wanted.rows !== Math.round(moving.now.rows) || wanted.top !== Math.round(moving.now.top))
      moving.set({ ...moving.now, ...wanted });
  }, [top, count]);
  rest.current = () => {
    const { from, to } = moving.now;
    nameRows(moving.now, rows);
    if (from === range?.from && to === range.to) return;
    const all = from <= whole.from && to >= whole.to;
    if (all && range === null) return;
    asked.current = all ? null : { from, to };
    setRange(asked.current);
  };
  return moving;
}

export interface Choice {
  /** That the pointer is at. */
  hover: Cell | null;
  setHover: (change: (last: Cell | null) => Cell | null) => void;
  /** The one with a frame: of the address, else that of the keys. */
  chosen: Cell | null;
  mark: (cell: Cell | null) => void;
  /** The one whose "why" is open, in the columns in which it was last known. */
  linked: { matrix: Matrix; cell: Cell } | null;
  open: (cell: Cell | null, push?: boolean) => void;
}

/** The cells that stand out. `named` is that of the address. */
export function useChoice(matrix: Matrix, named: NamedCell | null): Choice {
  const [hover, setHover] = useState<Cell | null>(null);
  const linked = useLinkedCell(matrix, named);
  const [marked, setMarked] = useState<Cell | null>(null); // by keys
  const chosen = !named ? marked : linked?.matrix === matrix ? linked.cell : null;
  // Other columns after a zoom: what is chosen stays at its time.
  const drawn = useRef(matrix);
  useEffect(() => {
    const before = drawn.current;
    drawn.current = matrix;
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
  const open = (cell: Cell | null, push = true) => {
    setMarked(cell);
    if (cell || named) nameCell(matrix, cell, push);
  };
  return { hover, setHover, chosen, mark: setMarked, linked, open };
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

/** Draws what `sceneIn` makes, once a frame and only where something has changed; the answer gives the scene of now. */
export function usePainting(board: Board, sceneIn: (colours: Colours) => Scene): () => Scene | null {
  const { canvas, matrix, layout, moving } = board;
  const scheme = useScheme();
  const pictures = useRef(new Pictures());
  const colours = useRef<{ scheme: string; of: Colours } | null>(null);
  useEffect(() => {
    const now = coloursOf(canvas.current!);
    if (now.back !== colours.current?.of.back) colours.current = { scheme, of: now }; // the scheme changed unnoticed
  }, [matrix]);
  if (canvas.current && colours.current?.scheme !== scheme)
    colours.current = { scheme, of: coloursOf(canvas.current) };
  const sceneNow = () => colours.current && sceneIn(colours.current.of);
  const paint = useRef(() => {});
  useEffect(() => {
    paint.current = () => {
      const element = canvas.current!;
      if (colours.current?.scheme !== scheme) colours.current = { scheme, of: coloursOf(element) };
      drawScene(prepared(element, layout.width, layout.height), sceneNow()!, pictures.current);
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
  return sceneNow;
}
