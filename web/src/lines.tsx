// Raw lines, read on the nodes when somebody asks for them.
import { useEffect, useMemo, useRef, useState } from "react";
import type { ReactNode } from "react";
import { ApiError, get, idIn } from "./api";
import type { Line, Lines as Answer } from "./api_types";
import { counted, harmless } from "./format";
import { handed, hasLines } from "./handed";
import type { LinesQuery } from "./handed";
import { Copy, Empty, Failure, Loading, Time, Wild } from "./parts";
import { setQuery, useRoute } from "./route";
import type { Route } from "./route";

const KEYS = ["node", "rank", "template", "around"] as const;
const CONTEXTS = [5, 0, 20, 100]; // the first one where nothing is chosen

/** The raw lines that the address asks for, and what changes that: a link shows them, too. */
export function useLines(route: Route): [LinesQuery | null, (query: LinesQuery | null) => void] {
  const [node, rank, template, around] = KEYS.map((key) => route.query.get(`lines_${key}`) ?? "");
  const query = useMemo(() => node || rank || template
    ? { node, template, around, rank: /^\d+$/.test(rank!) ? Number(rank) : undefined } : null, [node, rank, template, around]);
  const ask = (next: LinesQuery | null) =>
    setQuery({ ...Object.fromEntries(KEYS.map((key) => [`lines_${key}`, String(next?.[key] ?? "")])),
               lines_q: "", lines_context: "" });
  return [query, ask];
}

/** The way to raw lines, where there are any. */
export function RawLines(props: { query: LinesQuery; ask: (query: LinesQuery) => void; children: ReactNode }) {
  if (!hasLines(props.query)) return null;
  return <button type="button" className="quiet" onClick={() => props.ask(props.query)}>{props.children}</button>;
}

const LIMIT = 200;
const SHOWN_MAX = 2_000;

function pathOf(job: string, query: LinesQuery, context: number): string {
  const asked = new URLSearchParams({ context: String(context), limit: String(LIMIT) });
  if (query.template) asked.set("template", query.template);
  if (query.node) asked.set("node", query.node);
  if (query.rank !== undefined) asked.set("rank", String(query.rank));
  if (query.around) asked.set("around", query.around);
  return `${idIn("jobs/{id}/lines", job)}?${asked}`;
}

interface Log {
  key: string;
  node: string;
  rank: number | null;
  file: string;
  lines: Line[];
}

function logsOf(lines: readonly Line[]): Log[] {
  const logs: Log[] = [];
  for (const line of lines) {
    const key = `${line.agent}\n${line.node}\n${line.file}`;
    const last = logs[logs.length - 1];
    if (last?.key === key) last.lines.push(line);
    else logs.push({ key, node: line.node, rank: line.rank, file: line.file, lines: [line] });
  }
  // Of a log without times only the end is known, which may be of another time.
  const timed = (log: Log) => log.lines.some((line) => line.time !== null);
  return logs.sort((a, b) => Number(timed(b)) - Number(timed(a)));
}

function Rows(props: { log: Log }) {
  const { log } = props;
  return (
    <section className={log.lines.every((line) => line.hit) ? "log all" : "log"}
      aria-label={`${harmless(log.node)}, ${harmless(log.file)}`}>
      <h3><Wild text={log.node} />{log.rank !== null && <span className="note"> rank {log.rank}</span>}
        <span className="file"><Wild text={log.file} /></span></h3>
      <ol>
        {log.lines.map((line, i) => {
          const before = log.lines[i - 1];
          const gap = before && before.line !== null && line.line !== null && line.line > before.line + 1;
          return (
            <li key={line.offset} className={`${line.hit ? "hit" : ""} ${gap ? "gap" : ""}`}>
              <span className="no" aria-hidden="true">{line.line ?? "·"}</span>
              <code><Wild text={line.text} />{line.cut && <i title="the line goes on"> …</i>}</code>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Missing(props: { answer: Answer }) {
  if (props.answer.complete) return null;
  return (
    <ul className="missing">{props.answer.missing.slice(0, 8).map((one, i) => (
      <li key={i}>{one.file && <><Wild text={one.file} />: </>}<Wild text={one.text} /></li>))}</ul>
  );
}

function said(query: LinesQuery): string {
  const who = [query.node, query.rank !== undefined ? `rank ${query.rank}` : ""].filter(Boolean).join(", ");
  return who ? `Raw lines of ${who}` : "Raw lines of this event";
}

/** A panel beside the view; Escape closes it and gives the focus back. */
export function LinesPanel(props: { job: string; query: LinesQuery; close: () => void }) {
  const { query } = useRoute();
  const context = CONTEXTS.find((one) => String(one) === query.get("lines_context")) ?? CONTEXTS[0]!;
  const text = query.get("lines_q") ?? "";
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [round, setRound] = useState(0);
  const panel = useRef<HTMLElement>(null);
  const path = pathOf(props.job, props.query, context);
  useEffect(() => {
    const stopper = new AbortController();
    setAnswer(null);
    setError(null);
    get("lines", path, stopper.signal).then(setAnswer, (failed: unknown) => {
      if (stopper.signal.aborted) return;
      setError(failed instanceof ApiError ? failed : new ApiError(0, "failed", String(failed)));
    });
    return () => stopper.abort();
  }, [path, round]);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  const shown = useMemo(() => (answer?.lines ?? []).filter((line) =>
    line.text.toLowerCase().includes(text.toLowerCase())).slice(0, SHOWN_MAX), [answer, text]);
  return (
    <aside className="panel" role="dialog" aria-modal="false" aria-label={harmless(said(props.query))} tabIndex={-1}
      ref={panel} onKeyDown={(event) => { if (event.key === "Escape") props.close(); }}>
      <header>
        <h2><Wild text={said(props.query)} /></h2>
        <button type="button" className="quiet" onClick={props.close} aria-label="Close raw lines">✕</button>
        {props.query.around && !handed && <p className="note">around <Time at={props.query.around} precise /></p>}
        <div className="tools">
          <input type="search" value={text} placeholder="Search in these lines" aria-label="Search in these lines"
            onChange={(event) => setQuery({ lines_q: event.target.value })} />
          {!handed && <label>context <select value={context}
            onChange={(event) => setQuery({ lines_context: event.target.value })}>
            {[...CONTEXTS].sort((a, b) => a - b).map((one) =>
              <option key={one} value={one}>{one}</option>)}</select></label>}
          {answer && shown.length > 0 && <Copy what="lines"
            text={shown.map((line) => `${line.node} ${line.file}:${line.line ?? ""} ${line.text}`).join("\n")} />}
        </div>
      </header>
      <div className="body" tabIndex={0} role="region" aria-label="Lines">
        {!answer && !error && <Loading what="lines from the nodes" />}
        {error && <Failure error={error} what="Lines" again={() => setRound(round + 1)} />}
        {answer && <Missing answer={answer} />}
        {answer && answer.lines.length === 0 && <Empty><p>The nodes have no such line (any more).</p></Empty>}
        {answer && answer.lines.length > 0 && shown.length === 0 &&
          <Empty><p>None of {counted(answer.lines.length, "line")} holds this text.</p></Empty>}
        {logsOf(shown).map((log) => <Rows key={log.key} log={log} />)}
        {handed && <p className="note">These are the lines that the report holds of its events; the logs have more.</p>}
        {answer && answer.redacted > 0 && <p className="note">Secrets were blotted out in {
          counted(answer.redacted, "line")}.</p>}
      </div>
    </aside>
  );
}
