// Whom alerts reach: each sink with what it has taken, what waits and what failed; what is silent.
import { useContext, useState } from "react";
import { post } from "./api";
import type { Delivery, Sink, SinkTest } from "./api_types";
import { counted, grouped, span, spoken } from "./format";
import { Search } from "./lists";
import { useAsked } from "./live";
import { Ago, Empty, NotYet, RoleContext, Section, Time, Wild, useRows } from "./parts";
import { Silence, useRequest } from "./quiet";
import { to } from "./route";
import type { Route } from "./route";

const SINKS_MS = 5_000;
const SILENT_MS = 30_000;

/** How a sink is, the worst first. */
function troubleOf(sink: Sink): { rank: number; word: string; tone: string } {
  if (sink.trouble !== null) return { rank: 0, word: "fails", tone: "bad" };
  if (sink.dropped > 0) return { rank: 1, word: "has lost alerts", tone: "uneasy" };
  if (sink.tried === null) return { rank: 3, word: "not used yet", tone: "quiet" };
  return { rank: 2, word: "well", tone: "good" };
}

/** Sends a test alert through a sink and says what came of it. */
function Try(props: { sink: string; again: () => void }) {
  const [result, setResult] = useState<SinkTest | null>(null);
  const { busy, said, run } = useRequest(props.again);
  const start = () => {
    setResult(null);
    run(post<{ sinks: SinkTest[] }>("alerts/test", { sink: props.sink }).then((answer) => setResult(answer.sinks[0] ?? null)));
  };
  return <>
    <button type="button" disabled={busy} onClick={start}>{busy ? "Sending …" : "Send a test"}</button>
    <div className="note" role="status">{result && (result.took ? `taken in ${span(result.ms)}`
      : <span className="warn"><Wild text={result.error ?? "not taken"} /></span>)}{said && <span className="warn">
      <Wild text={said} /></span>}</div>
  </>;
}

function Sinks(props: { rows: readonly Sink[]; again: () => void }) {
  const may = useContext(RoleContext) === "operate";
  return (
    <div className="scroll"><table>
      <thead><tr><th>Sink</th><th>How it is</th><th>Last sent</th><th className="right">Taken</th><th className="right">Waiting</th>
        <th className="right">Failed tries</th><th className="right">Lost</th>{may && <th>Test</th>}</tr></thead>
      <tbody>{props.rows.map((sink) => {
        const trouble = troubleOf(sink);
        return <tr key={sink.sink}><td><b><Wild text={sink.sink} /></b> <span className="note"><Wild text={sink.kind} /></span></td>
          <td><span className={`state ${trouble.tone}`}>{trouble.word}</span>
            {sink.trouble && <div className="note"><Wild text={sink.trouble} /></div>}</td>
          <td data-label="last sent"><Ago at={sink.tried} /></td><td className="right" data-label="taken">{grouped(sink.posted)}</td>
          <td className="right" data-label="waiting">{grouped(sink.waiting)}</td><td className="right" data-label="failed tries">{grouped(sink.failures)}</td>
          <td className="right" data-label="lost">{grouped(sink.dropped)}</td>
          {may && <td className="name"><Try sink={sink.sink} again={props.again} /></td>}</tr>;
      })}</tbody></table></div>
  );
}

/** How an alert fares at its sink. */
function fateOf(row: Delivery): { word: string; tone: string } {
  if (row.status === "lost") return { word: "lost", tone: "bad" };
  if (row.status === "taken") return { word: row.taken > 1 ? `taken ${grouped(row.taken)} times` : "taken", tone: "good" };
  return row.failures > 0 ? { word: `failed ${row.failures === 1 ? "once" : `${grouped(row.failures)} times`}`, tone: "bad" }
    : { word: "waits", tone: "uneasy" };
}

/** Each alert on its way to a sink, or there: first what waits, then the newest. */
function Deliveries(props: { rows: readonly Delivery[]; text: string }) {
  const found = props.rows.filter((row) => `${row.sink} ${row.job ?? ""} ${row.event ?? ""} ${row.text} ${fateOf(row).word}`
    .toLowerCase().includes(props.text)).sort((a, b) => Number(b.status === "waiting") - Number(a.status === "waiting")
    || Date.parse(b.tried ?? b.created) - Date.parse(a.tried ?? a.created));
  const [shown, rest] = useRows(found);
  const waiting = props.rows.filter((row) => row.status === "waiting").length;
  return (
    <Section title="What was sent" id="sent" note={waiting > 0 ? `${counted(waiting, "alert")} not taken yet`
      : props.rows.length > 0 ? "nothing waits" : "nothing since the aggregator started"}>
      {shown.length > 0 && <div className="scroll"><table>
        <thead><tr><th>Alert</th><th>Sink</th><th>How it is</th><th>Last tried</th></tr></thead>
        <tbody>{shown.map((row) => {
          const fate = fateOf(row);
          const name = row.job ?? "the aggregator";
          return <tr key={row.id}><td>{row.event && <span className="role">{spoken(row.event)}</span>} {row.incident
            ? <a href={to("incidents", row.incident)}><Wild text={name} /></a> : <Wild text={name} />}
            <div className="note"><Wild text={row.text} /></div></td>
            <td data-label="sink"><Wild text={row.sink} /></td>
            <td><span className={`state ${fate.tone}`}>{fate.word}</span>{row.status === "waiting" && row.trouble &&
              <div className="note"><Wild text={row.trouble} /></div>}{row.status === "waiting" && row.next && row.failures > 0 &&
              <div className="note">again <Time at={row.next} /></div>}</td>
            <td data-label="last tried">{row.tried ? <Ago at={row.tried} /> : <span className="none">not yet</span>}</td></tr>;
        })}</tbody></table></div>}
      {rest}
      {props.rows.length > 0 && found.length === 0 && <p className="note">No alert matches.</p>}
    </Section>
  );
}

function headline(rows: readonly Sink[]): string {
  const failing = rows.filter((sink) => sink.trouble !== null).length;
  if (rows.length === 0) return "Nobody is alerted";
  if (failing > 0) return `${failing} of ${counted(rows.length, "sink")} ${failing === 1 ? "fails" : "fail"}`;
  return rows.length === 1 ? "The sink takes alerts" : `All ${rows.length} sinks take alerts`;
}

export function Alerts(props: { route: Route }) {
  const asked = useAsked("status", "status", SINKS_MS);
  const silent = useAsked("maintenance", "maintenance", SILENT_MS);
  const sent = useAsked("alerts", "alerts", SINKS_MS);
  const rows = asked.data?.sinks;
  if (!rows) return <NotYet error={asked.error} what="the list of sinks" again={asked.again} />;
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const found = rows.filter((sink) => `${sink.sink} ${sink.kind} ${troubleOf(sink).word}`.toLowerCase().includes(text))
    .sort((a, b) => troubleOf(a).rank - troubleOf(b).rank);
  const held = silent.data?.maintenance ?? [];
  return (
    <main id="main">
      <div className="title"><h1>{headline(rows)}</h1>{rows.length > 0 &&
        <span className="note">Counted since the aggregator started; an open incident waits here until a sink has taken it.</span>}</div>
      {rows.length === 0 && <Empty><p>No sink is set up, so incidents are seen only on this page and by <code>l4 incidents</code>.</p>
        <p className="note">Name a webhook, Slack, PagerDuty, Alertmanager or a program in <code>[alerts]</code> of
          the settings of <code>l4-aggregator</code>.</p></Empty>}
      {rows.length > 0 && <Search route={props.route} what="sinks and alerts" />}
      {found.length > 0 && <Sinks rows={found} again={asked.again} />}
      {rows.length > 0 && sent.data && <Deliveries rows={sent.data.alerts} text={text} />}
      {held.length > 0 && <Section title="In maintenance" note="Nobody is alerted about these.">
        <div className="plain">{held.map((row) => <Silence key={row.id} row={row} again={silent.again}
          what={<>{row.kind === "job" ? "Jobs" : "Nodes"} called <Wild text={row.pattern} /></>} />)}</div></Section>}
    </main>
  );
}
