// What the score of a cell is made of: each term in words and numbers, beside what is usual for the peers.
import { useMemo } from "react";
import { idIn } from "./api";
import type { LapTerm, LineTerm, ScoreTerms } from "./api_types";
import { counted, grouped, took } from "./format";
import { handed } from "./handed";
import { useAsked } from "./live";
import type { MapRow, Matrix } from "./map_data";
import type { Cell } from "./map_layout";
import { textOf } from "./map_link";
import { Loading, Wild } from "./parts";

const AGAIN_MS = 3_600_000; // the address changes with the cell
const NO_JOB = ""; // no event changes a window that is over
const SHOWN = 8;

/** The same columns again; asked for anew where the cell has other bounds, or another score. */
function usePath(job: string, matrix: Matrix, { row, column }: Cell): string {
  const begin = matrix.begin + column * matrix.column;
  return useMemo(() => {
    const { by, what, phase } = matrix;
    const asked = { what, from: textOf(matrix.begin, by), to: textOf(matrix.end - 1, by), width: String(matrix.columns),
                    node: row.node, at: textOf(begin, by), ...what === "phases" && phase !== null && { phase } };
    return `${idIn("jobs/{id}/scores/terms", job)}?${new URLSearchParams(asked)}`;
  }, [job, matrix.what, matrix.phase, row.node, begin, matrix.column, row.cells[column]]);
}

/** A count, which is a part of a whole one where windows of the past were joined. */
function many(count: number): string {
  return Number.isInteger(count) ? grouped(count) : count < 10 ? count.toFixed(1) : grouped(Math.round(count));
}

function times(count: number): string {
  return count === 0 ? "not once" : count === 1 ? "once" : `${many(count)} times`;
}

function departureOf(term: LineTerm, nodes: number): string {
  const others = term.nodes_alike > 1 ? `; it is as surprising on ${counted(term.nodes_alike - 1, "other node")}` : "";
  switch (term.departure) {
    case "new": return `no node printed it before, ${term.nodes_alike} of ${nodes} ${term.nodes_alike === 1 ? "does" : "do"} now`;
    case "burst": return `never more than ${many(term.largest_before)} in a window of any node before${others}`;
    default: return `${term.expected_by === "peers" ? "its share of what the peers print" : "as often as before"} would be ${
      many(term.expected)}${others}`;
  }
}

const WORDS: Record<LineTerm["departure"], string> = {
  new: "new", burst: "more often than ever", more: "more than expected", fewer: "fewer than expected",
};

function Line(props: { term: LineTerm; nodes: number }) {
  const { term, nodes } = props;
  return (
    <li>
      <span className="much"><b>{term.nats.toFixed(1)}</b> nats</span>
      <div><p><b>{WORDS[term.departure]}</b> <Wild className="said" text={term.template.split("<*>").join("⋯")} /></p>
        <p className="note">{times(term.count)} here, {times(term.peers_median)} on the middle one of the other nodes; {
          departureOf(term, nodes)}. {term.strength.toFixed(1)} for the count × {
          Math.log(nodes / term.nodes_alike).toFixed(1)} as {term.nodes_alike} of {counted(nodes, "node")} {
          term.nodes_alike === 1 ? "shows" : "show"} it.</p></div>
    </li>
  );
}

function Lap(props: { term: LapTerm }) {
  const { term } = props;
  const what = term.phase === null ? `iteration ${grouped(term.iteration)}` : `${term.phase} of iteration ${grouped(term.iteration)}`;
  return (
    <li>
      <span className="much"><b>{Math.exp(term.score).toFixed(2)}</b> times</span>
      <div><p><b>{term.rank === null ? "a rank without a number" : `rank ${term.rank}`}</b> <Wild text={what} /> took {took(term.ms)}</p>
        <p className="note">usually {took(term.usual_ms)} on this rank; {term.peers_ms === null ? "no other node tells of it"
          : `${took(term.peers_ms)} on the middle one of ${counted(term.peers, "rank")} of other nodes`}.{
          term.exact_ms >= 1_000 && ` Its lines print whole seconds, so ${took(term.exact_ms)} is added to both.`}</p></div>
    </li>
  );
}

function rest(terms: ScoreTerms, shown: number): string {
  const left = terms.left_out + terms.lines.length + terms.laps.length - shown;
  if (left <= 0) return "";
  const more = terms.left_out_score + terms.lines.slice(shown).reduce((sum, one) => sum + one.nats, 0);
  return terms.what === "nodes" ? `${counted(left, "more line")} with ${more.toFixed(1)} nats together.` : `${counted(left, "more rank")}, less slow.`;
}

export function Terms(props: { job: string; matrix: Matrix; row: MapRow; column: number }) {
  const asked = useAsked("score_terms", usePath(props.job, props.matrix, props), AGAIN_MS, NO_JOB);
  const terms = asked.data;
  if (asked.error && handed) return <p className="note">What it is made of stands in this file for the cells in which the first suspects differ most.</p>;
  if (asked.error && !terms) return <p className="note">What it is made of cannot be shown: <Wild text={asked.error.message} />.</p>;
  if (!terms) return <Loading what="what it is made of" />;
  const lines = terms.lines.slice(0, SHOWN);
  const laps = terms.laps.slice(0, SHOWN);
  if (lines.length + laps.length === 0) return null;
  const more = rest(terms, lines.length + laps.length);
  return (
    <div className="terms" role="group" aria-label="What the score is made of">
      <p className="note">{terms.what === "nodes" ? `The ${terms.score.toFixed(1)} nats are the sum of`
        : "The slowest iteration of this window, by rank"}</p>
      <ol>{lines.map((term) => <Line key={term.template_id} term={term} nodes={terms.nodes} />)}
        {laps.map((term, i) => <Lap key={i} term={term} />)}</ol>
      {lines.some((term) => !Number.isInteger(term.count)) && <p className="note">Windows of long ago are joined: their counts
        are spread evenly over them.</p>}
      {more && <p className="note">{more}</p>}
    </div>
  );
}
