// Why a cell has its colour: the score in words, the node beside its peers, and the way to its lines.
import { useEffect, useRef } from "react";
import type { Node, Report } from "./api_types";
import { counted, grouped, harmless, millis, ranksText, span } from "./format";
import { handed } from "./handed";
import type { LinesQuery } from "./handed";
import { RawLines } from "./lines";
import { scoreOf } from "./map_data";
import type { MapRow, Matrix } from "./map_data";
import type { Cell } from "./map_layout";
import { Ago, Sentence, Time, Wild } from "./parts";
import { Fact } from "./report";
import { Terms } from "./terms";

function inWords(matrix: Matrix, score: number): string {
  if (score === 0) return "This window is like those of its peers and like its own past.";
  if (matrix.what === "nodes") {
    const line = matrix.alarm / 3 * 2;
    return score >= matrix.alarm
      ? `It differs by ${score.toFixed(1)} nats: an alarm, from ${matrix.alarm.toFixed(1)} on. One new line on one node counts ${line.toFixed(1)}.`
      : `It differs by ${score.toFixed(1)} nats. One new line on one node counts ${line.toFixed(1)}, an alarm begins at ${matrix.alarm.toFixed(1)}.`;
  }
  const unit = matrix.what === "ranks" ? "This iteration" : "This phase";
  return `${unit} takes ${Math.exp(score).toFixed(2)} times as long as usual, on the slowest rank of the node.`;
}

function much(matrix: Matrix, score: number): string {
  return score === 0 ? "is as usual" : matrix.what === "nodes" ? `has ${score.toFixed(1)} nats`
    : `takes ${Math.exp(score).toFixed(2)} times as long as usual`;
}

/** The middle one; null: there is none. */
function middleOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((one): one is number => one !== null).sort((a, b) => a - b);
  return known[known.length >> 1] ?? null;
}

/** How many other rows have a score as high in the same column, and the middle one of theirs. */
function peersOf(matrix: Matrix, rows: readonly MapRow[], cell: Cell): { as: number; middle: number; all: number } {
  const own = scoreOf(matrix, cell.row, cell.column) ?? 0;
  const others = rows.filter((row) => row.key !== cell.row.key)
    .map((row) => scoreOf(matrix, row, cell.column)).filter((one): one is number => one !== null);
  return { as: others.filter((one) => one >= own && own > 0).length, middle: middleOf(others) ?? 0,
           all: others.length };
}

/** What is known of the node now, and the same of the middle one of the others. */
function Beside(props: { node: Node; others: readonly Node[] }) {
  const { node, others } = props;
  const iteration = middleOf(others.map((one) => one.iteration));
  const records = middleOf(others.map((one) => one.records));
  const last = middleOf(others.map((one) => millis(one.last_line)));
  const behind = last === null ? null : last - (millis(node.last_line) ?? last);
  const peers = (text: string) => <span className="note">the middle one of {counted(others.length, "other")}: {text}</span>;
  return (
    <dl className="facts small">
      <Fact name="Last line"><Time at={node.last_line} precise /> <span className="note"><Ago at={node.last_line} />{
        behind !== null && behind !== 0 && `, ${span(Math.abs(behind))} ${behind > 0 ? "before" : "after"} the middle one of the others`
      }</span></Fact>
      {node.iteration !== null && <Fact name="Iteration">{grouped(node.iteration)} {iteration !== null && peers(grouped(iteration))}</Fact>}
      <Fact name="Records">{grouped(node.records)} {records !== null && peers(grouped(records))}</Fact>
      <Fact name="Ranks">{ranksText(node.ranks) || "none known"}</Fact>
      <Fact name="Agent"><Wild text={node.agents.join(", ") || "none"} /></Fact>
    </dl>
  );
}

/** `of` names the cell, in whichever columns. */
export function Why(props: { of: string; job: string; cell: Cell; matrix: Matrix; rows: readonly MapRow[]; report: Report;
                             nodes: ReadonlyMap<string, Node>; ask: (query: LinesQuery) => void; close: () => void }) {
  const { cell, matrix, report } = props;
  const box = useRef<HTMLDivElement>(null);
  const node = props.nodes.get(cell.row.node);
  const score = scoreOf(matrix, cell.row, cell.column);
  const at = matrix.begin + cell.column * matrix.column;
  const silent = cell.row.silentFrom !== null && at > cell.row.silentFrom;
  const time = matrix.by === "time" ? new Date(at).toISOString() : null;
  const peers = peersOf(matrix, props.rows, cell);
  const clues = (report.clues ?? []).filter((clue) => clue.node === cell.row.node).map((clue) => clue.text);
  const reasons = [...new Set([...node?.why ?? [], ...clues])];
  const events = report.events.filter((event) => event.first.node === cell.row.node).slice(0, 3);
  useEffect(() => box.current?.focus(), [props.of]);
  return (
    <div className="box whybox" role="region" tabIndex={-1} ref={box} aria-label={`Why, ${harmless(cell.row.label)}`}
      onKeyDown={(event) => { if (event.key === "Escape") props.close(); }}>
      <header><h3><Wild text={cell.row.label} /> <span className="note">{time ? <Time at={time} />
        : `iteration ${grouped(at)}`}</span></h3>
        <button type="button" className="quiet" onClick={props.close} aria-label="Close">✕</button></header>
      <p>{silent ? "The node prints nothing any more." : score === null ? "Of this window nothing is known."
        : inWords(matrix, score)}
        {!silent && score !== null && score > 0 && peers.all > 0 && ` ${peers.as === 0 ? "No other row differs as much then"
          : `${counted(peers.as, "other row")} of ${grouped(peers.all)} differ as much then`}; the middle one of them ${
          much(matrix, peers.middle)}.`}</p>
      {score !== null && (score > 0 || matrix.what !== "nodes") && <Terms job={props.job} matrix={matrix} row={cell.row}
        column={cell.column} />}
      {node && <Beside node={node} others={[...props.nodes.values()].filter((one) => one !== node)} />}
      {reasons.length > 0 && <><p className="note">What speaks against the node in the whole job</p><ul className="why">
        {reasons.map((why) => <li key={why}><Sentence text={why} /></li>)}</ul></>}
      {events.length > 0 && <ul className="why">{events.map((event) => (
        <li key={event.template_id}>{event.role}: <Sentence text={event.template} /></li>))}</ul>}
      {!handed && <button type="button"
        onClick={() => props.ask({ node: cell.row.node, around: time ?? report.verdict.since ?? "" })}>
        Raw lines of {harmless(cell.row.node)}{time ? " around then" : ""}</button>}
      {handed && <RawLines ask={props.ask} query={{ node: cell.row.node }}>Raw lines of {harmless(cell.row.node)}</RawLines>}
    </div>
  );
}
