// The map: nodes over time, coloured by how much they differ, in which the bad one is seen at once.
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { counted, grouped, harmless } from "./format";
import type { LinesQuery } from "./handed";
import { useFlows, useIncidents } from "./map_asked";
import { Canvas, Gone } from "./map_canvas";
import { ordered } from "./map_data";
import type { Matrix, Order } from "./map_data";
import { PHASES } from "./map_layout";
import { useNamedCell } from "./map_link";
import { useShown } from "./map_shown";
import type { Shown, Wanted } from "./map_shown";
import { Empty, Failure, Loading, Section } from "./parts";
import { setQuery } from "./route";

const ORDERS: { order: Order; word: string }[] = [
  { order: "suspicion", word: "suspicion" }, { order: "name", word: "name" }, { order: "first", word: "first sign" },
  { order: "group", word: "rack" },
];

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

/** What is shown of which axis, and in which order. */
function Tools(props: { shown: Shown; order: Order; hasGroups: boolean }) {
  const { shown: { whats, what, matrix, range, choose }, order } = props;
  return (
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
        {ORDERS.filter((one) => one.order !== "group" || props.hasGroups).map((one) => <button type="button" key={one.order}
          aria-pressed={one.order === order}
          onClick={() => setQuery({ order: one.order === "suspicion" ? "" : one.order, top: "" })}>
          {one.word}</button>)}
      </div>
      {range && <button type="button" className="quiet" onClick={() => choose(null)}>Whole job</button>}
    </div>
  );
}

const NOTHING = {
  nodes: "There is nothing to compare yet: nodes are compared from the first windows of 10 s on.",
  ranks: "No rank has completed enough iterations to be compared.",
  phases: "The lines of this job print no timers.",
};

interface MapProps extends Wanted {
  ask: (query: LinesQuery) => void;
}

export function NodeMap(props: MapProps) {
  const { route, id, report, nodes, ask } = props;
  const [box, width] = useWidth();
  const shown = useShown(props, width);
  const { what, matrix, scores, whole, error } = shown;
  const order = (route.query.get("order") ?? "suspicion") as Order;
  const cell = useNamedCell(route);
  const flows = useFlows(id);
  const incidents = useIncidents(id);
  const rows = useMemo(() => matrix ? ordered(matrix.rows, order) : [], [matrix, order]);
  const hasGroups = matrix !== null && matrix.rows.some((row) => row.group);
  const none = matrix && matrix.columns === 0;
  return (
    <Section title="Where and when" id="map" note={shown.about.says}>
      <Tools shown={shown} order={order} hasGroups={hasGroups} />
      <div ref={box} className="map-box">
        {!matrix && error && <Failure error={error} what="The map" again={shown.again} />}
        {!matrix && !error && <Loading what="scores" />}
        {none && <Empty><p>{NOTHING[what]}</p></Empty>}
        {none && cell && <Gone cell={cell} />}
        {matrix && !none && width > 0 && whole && <Canvas key={what} id={id} report={report} nodes={nodes} route={route}
          ask={ask} matrix={matrix} rows={rows} width={width} cell={cell} whole={whole} range={shown.range}
          setRange={shown.choose} flows={flows} byGroup={hasGroups && order === "group"} incidents={incidents} />}
      </div>
      {matrix && matrix.leftOut > 0 && <p className="note">{what === "nodes"
        ? `The ${grouped(scores!.rows.length)} nodes that differ most; ${grouped(matrix.leftOut)} calmer ones are left out.`
        : `Of the ${grouped(scores!.rows.length)} ranks that differ most, the slowest of each node; ${grouped(matrix.leftOut)} calmer ones are left out.`}</p>}
      {matrix && !none && <Legend matrix={matrix} />}
    </Section>
  );
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
