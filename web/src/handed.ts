// A report that stands in the document itself: the page was written as one file (aggregator/handout), to be
// opened without an aggregator. What is asked for is answered from it, or not offered.
import type { Answers, Line, Node, Report, ScoreTerms, Scores } from "./api_types";

export interface Handed {
  report: Report;
  /** Maps that were made with it; none where only the report was known. */
  scores: Scores[];
  nodes: { nodes: Node[] };
  /** Of cells in which the first suspects stand out. */
  terms: ScoreTerms[];
  near: Answers["near_faults"];
}

export interface LinesQuery {
  node?: string;
  rank?: number;
  template?: string;
  around?: string;
}

const UNKNOWN = "\u00ff"; // a cell of which nothing is known

/** Whether there is anything to see in a map. */
function tells(scores: Scores): boolean {
  return scores.rows.some((row) => [...atob(row.cells)].some((cell) => cell !== UNKNOWN));
}

function read(): Handed | null {
  const data = document.getElementById("l4-handed");
  if (!data) return null;
  const found = JSON.parse(data.textContent!) as Handed;
  return { ...found, scores: found.scores.filter(tells) };
}

/** null: the page is served by an aggregator. */
export const handed: Handed | null = read();
/** The report as text, which stands in the page until the script shows more. */
export const handedText: string = handed ? document.querySelector("#app > pre")?.textContent ?? "" : "";

/** The lines of the reported events that the query asks for: what the report holds of the logs. */
function linesOf(report: Report, query: LinesQuery): Line[] {
  const lines: Line[] = [];
  for (const event of report.events) {
    if (query.template && event.template_id !== query.template) continue;
    for (const one of event.examples) {
      if (query.node && one.node !== query.node) continue;
      lines.push({ node: one.node, rank: one.rank, agent: "", file: one.file, line: one.line || null, text: one.text,
                   offset: lines.length, time: null, hit: true, cut: false });
    }
  }
  const key = (line: Line) => `${line.node}\n${line.file}`;
  return lines.sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : (a.line ?? 0) - (b.line ?? 0));
}

/** A place on an axis: ms since 1970, or an iteration. */
function placeOf(at: string | number): number {
  return typeof at === "number" || /^\d+$/.test(at) ? Number(at) : Date.parse(at);
}

/** The terms of the cell that the query asks for; undefined: the file does not hold them. */
function termsOf(terms: readonly ScoreTerms[], asked: URLSearchParams): ScoreTerms | undefined {
  const at = placeOf(asked.get("at") ?? "");
  const phase = asked.get("phase");
  return terms.find((one) => one.what === asked.get("what") && one.node === asked.get("node") &&
    placeOf(one.begin) <= at && at < placeOf(one.end) && (phase === null || one.laps.every((lap) => lap.phase === phase)));
}

/** False where a button for these lines would lead to none. */
export function hasLines(query: LinesQuery): boolean {
  return !handed || linesOf(handed.report, query).length > 0;
}

/** The answer to a request of the interface; undefined: the file does not hold it. */
export function answerOf<Key extends keyof Answers>(from: Handed, key: Key, path: string): Answers[Key] | undefined {
  const asked = new URLSearchParams(path.split("?")[1] ?? "");
  const found: Partial<Answers> = {
    scores: from.scores.find((one) => one.what === asked.get("what")),
    score_terms: key === "score_terms" ? termsOf(from.terms, asked) : undefined,
    near_faults: from.near,
    lines: key !== "lines" ? undefined : {
      job: from.report.job.id, agents_asked: 0, agents_answered: 0, redacted: 0, bytes_read: 0, complete: true, missing: [],
      lines: linesOf(from.report, { node: asked.get("node") ?? "", template: asked.get("template") ?? "" }),
    },
  };
  return found[key];
}
