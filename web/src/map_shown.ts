// Which scores the map shows, as a matrix, and which part of their axis.
import { useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "./api";
import type { Job, Node, Report, Scores } from "./api_types";
import { millis } from "./format";
import { handed } from "./handed";
import { serverNow } from "./live";
import { ROWS_MAX, columnsOf, useLost, useScores } from "./map_asked";
import type { What } from "./map_asked";
import { busyRange, failureOf, matrixOf, onAxis } from "./map_data";
import type { Matrix } from "./map_data";
import { useRangeLink } from "./map_link";
import type { Range } from "./map_link";
import type { Route } from "./route";

const SHORT_MS = 120_000; // of a job that has hardly been compared yet
const BEHIND = 0.06; // of the axis: what is shown behind a failure at least
const BEYOND = 0.3; // of the axis: how far it goes on behind the last score, to show a silence

const WHATS: { what: What; word: string; says: string }[] = [
  { what: "nodes", word: "lines", says: "how much the lines of a node differ from its peers and its own past" },
  { what: "ranks", word: "iterations", says: "how much longer than usual iterations take on the slowest rank of a node" },
  { what: "phases", word: "phases", says: "how much longer than usual a phase takes on the slowest rank of a node" },
];

/** The whole axis: the scores, and beyond them what the failure and the silence behind it need to be seen. */
function wholeRange(matrix: Matrix, job: Job | null, report: Report, upTo: number | null): Range {
  const { end } = matrix;
  if (matrix.by !== "time") return { from: matrix.begin, to: end };
  const long = end - matrix.begin;
  const begin = onAxis(report, millis(report.job.begin)) ?? matrix.begin;
  const from = begin < matrix.begin && matrix.begin - begin <= Math.max(long, SHORT_MS) ? begin : matrix.begin;
  const last = upTo ?? (job === null || job.ended ? millis(report.job.end) ?? end : serverNow());
  const failed = failureOf(report);
  const most = Math.max(end + BEYOND * long, failed === null ? 0 : failed + BEYOND * Math.max(failed - from, 0));
  // Of a job whose last line tells of the failure, too, something is seen behind it.
  const least = failed === null || upTo !== null ? end : failed + BEHIND * Math.max(failed - from, 0);
  return { from, to: Math.max(end, least, Math.min(last, most)) };
}

/** What of the axis is shown: of a link only what there is of it now. */
function usable(wanted: Range | null, whole: Range, otherwise: Range | null): Range | null {
  return wanted && wanted.from < whole.to && wanted.to > whole.from ? wanted : otherwise;
}

export interface Wanted {
  job: Job | null;
  id: string;
  report: Report;
  nodes: ReadonlyMap<string, Node>;
  route: Route;
  /** The past is shown as of this time; null, or missing: now. */
  upTo?: number | null;
}

/** The kind that the address names, else the one that tells most of such a job. */
function useWhat({ report, route }: Wanted, short: boolean) {
  const wanted = route.query.get("map") as What | null;
  const usual: What = wanted ?? (report.verdict.state === "slow" ? "phases" : short ? "ranks" : "nodes");
  const whats = handed ? WHATS.filter(({ what }) => handed!.scores.some((one) => one.what === what)) : WHATS;
  const about = whats.find((one) => one.what === usual) ?? whats[0]!;
  return { whats, about, what: about.what };
}

export interface Shown {
  whats: typeof WHATS;
  about: typeof WHATS[number];
  what: What;
  scores: Scores | null;
  matrix: Matrix | null;
  error: ApiError | null;
  again: () => void;
  /** The axis of the whole job; null: not known yet. */
  whole: Range | null;
  /** The part of it that is shown; null: all. */
  range: Range | null;
  choose: (next: Range | null) => void;
}

/** `width` is that of the map in pixels; 0: not known yet. */
export function useShown(props: Wanted, width: number): Shown {
  const { route, report } = props;
  const [shortOf, setShortOf] = useState<number | null>(null); // an attempt that is too short for its lines to be compared
  const { attempt } = report.job;
  const { whats, about, what } = useWhat(props, shortOf === attempt);
  const phase = route.query.get("phase") ?? "";
  const last = useRef<Scores | null>(null);
  const upTo = props.upTo ?? null;
  const axis = `${what}\n${upTo}`;
  // What the axis is, and the part of it that is shown where the address names none.
  const [known, setKnown] = useState<{ axis: string; whole: Range; busy: Range | null } | null>(null);
  const base = known?.axis === axis ? known : null;
  const by = last.current?.what === what ? last.current.by : what === "nodes" ? "time" : "iteration";
  const link = useRangeLink(route, by);
  const range = base && usable(link.range, base.whole, link.all ? null : base.busy);
  const rowsAtMost = Math.max(1, Math.min(ROWS_MAX, what === "nodes" ? report.job.nodes : report.job.ranks));
  const asked = useScores(props.id, what, range, by === "time" || upTo === null ? upTo : report.verdict.iteration, by,
    width && columnsOf(rowsAtMost));
  if (asked.data) last.current = asked.data;
  useEffect(() => {
    if (asked.data?.what === "nodes" && asked.data.columns.length === 0 && asked.data.attempt === attempt
      && report.verdict.iteration !== null && failureOf(report) !== null) setShortOf(attempt);
  }, [asked.data]);
  const scores = last.current?.what === what ? last.current : null;
  const lost = useLost();
  const before = useRef({ axis, range: link.range });
  useEffect(() => { // what was a part of another axis; the range of a link, or of the way back, is one of this
    const former = before.current;
    before.current = { axis, range: link.range };
    if (axis !== former.axis && link.range === former.range && (link.range || link.all)) link.choose(null, false);
  }, [axis, link.range]);
  const matrix = useMemo(() => scores && matrixOf(scores, { report, nodes: props.nodes, upTo, lost }, phase),
    [scores, report, props.nodes, phase, upTo, lost]);
  useEffect(() => {
    if (!matrix || !asked.data || range !== null) return;
    setKnown({ axis, whole: wholeRange(matrix, props.job, report, upTo), busy: base ? base.busy : busyRange(matrix, report) });
  }, [matrix, range, axis]);
  return { whats, about, what, scores, matrix, error: asked.error, again: asked.again, whole: base?.whole ?? null, range,
           choose: (next) => link.choose(next, base?.busy != null) };
}
