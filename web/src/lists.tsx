// Agents and known faults, each a list with a search.
import { idIn } from "./api";
import type { Agent, Fault } from "./api_types";
import { counted, grouped, harmless, millis, sized, span, spoken } from "./format";
import { NO_JOB, useAsked } from "./live";
import { Ago, BEHIND_BATCHES, Empty, NotYet, Section, StateMark, Time, Wild, useRows } from "./parts";
import { setQuery, to } from "./route";
import type { Route } from "./route";

const AGENTS_MS = 5_000;
const FAULTS_MS = 60_000;
const INCIDENTS_MS = 30_000;

export function Search(props: { route: Route; what: string }) {
  return <div className="filter" role="search"><input id="search" type="search" aria-label={`Filter ${props.what}`}
    placeholder={`Filter ${props.what}`} value={props.route.query.get("q") ?? ""}
    onChange={(event) => setQuery({ q: event.target.value })} /></div>;
}

/** How an agent is, the worst first. */
function troubleOf(agent: Agent): { rank: number; word: string; tone: string } {
  if (agent.lost) return { rank: 0, word: "lost", tone: "bad" };
  if (!agent.connected) return { rank: 1, word: "not connected", tone: "uneasy" };
  if (agent.shedding !== "nothing") return { rank: 2, word: `leaves out ${agent.shedding}`, tone: "uneasy" };
  if (agent.batches_held >= BEHIND_BATCHES) return { rank: 3, word: `${sized(agent.bytes_held)} behind`, tone: "uneasy" };
  return { rank: 4, word: "connected", tone: "good" };
}

/** By how much a clock is ahead. */
function clock(ms: number): string {
  const whole = Math.round(ms);
  return whole === 0 ? "right" : `${whole > 0 ? "+" : "−"}${Math.abs(whole) < 1_000 ? `${Math.abs(whole)} ms` : span(Math.abs(whole))}`;
}

export function Agents(props: { route: Route }) {
  const asked = useAsked("agents", "agents", AGENTS_MS);
  const rows = asked.data?.agents;
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const found = (rows ?? []).filter((agent) => `${agent.agent} ${agent.address} ${troubleOf(agent).word}`.toLowerCase().includes(text))
    .sort((a, b) => troubleOf(a).rank - troubleOf(b).rank);
  const [shown, rest] = useRows(found);
  if (!rows) return <NotYet error={asked.error} what="the list of agents" again={asked.again} />;
  const lost = rows.filter((agent) => agent.lost).length;
  return (
    <main id="main">
      <div className="title"><h1>{rows.length === 0 ? "No agent is known" : lost > 0
        ? `${grouped(lost)} of ${grouped(rows.length)} agents ${lost === 1 ? "is" : "are"} lost`
        : rows.length === 1 ? "The agent is there" : `All ${grouped(rows.length)} agents are there`}</h1></div>
      {asked.data?.blind && <p className="advice">Too many agents fell silent at once for any to be called lost: look at the
        network between nodes and aggregator first.</p>}
      {rows.length === 0 && <Empty><p>Start <code>l4-agent</code> on the nodes; <code>l4 setup</code> writes its
        settings.</p></Empty>}
      {rows.length > 0 && <Search route={props.route} what="agents" />}
      {rows.length > 0 && <div className="scroll"><table>
        <thead><tr><th>Agent</th><th>How it is</th><th>Heard</th><th className="right">Files</th><th className="right">Clock</th>
          <th>Version</th></tr></thead>
        <tbody>{shown.map((agent) => {
          const trouble = troubleOf(agent);
          return <tr key={agent.agent}><td><b><Wild text={agent.agent} /></b> <span className="note"><Wild text={agent.address} /></span>
            {(agent.hints ?? []).map((hint, i) => <div key={i} className="note"><Wild text={hint} /></div>)}</td>
            <td><span className={`state ${trouble.tone}`}>{trouble.word}</span></td>
            <td data-label="heard"><Ago at={agent.heard} /></td><td className="right" data-label="files">{grouped(agent.files)}</td>
            <td className="right" data-label="clock">{agent.offset_ms === null ? "–" : clock(agent.offset_ms)}</td>
            <td className="note"><Wild text={agent.software} /></td></tr>;
        })}</tbody></table></div>}
      {rest}
      {rows.length > 0 && found.length === 0 && <Empty><p>No agent matches.</p></Empty>}
    </main>
  );
}

/** Incidents in which the alert named this fault, and the one by which it was confirmed. */
function PastIncidents(props: { fault: Fault }) {
  const asked = useAsked("incidents", `incidents?fault=${encodeURIComponent(props.fault.id)}&count=1000`, INCIDENTS_MS);
  const rows = asked.data?.incidents ?? [];
  const by = props.fault.confirmed?.incident;
  const [shown, rest] = useRows(rows);
  const of = new Set(rows.map((row) => row.job)).size;
  return (
    <Section title="When it happened" note={!asked.data ? undefined : rows.length === 0 ? "in no incident that is kept"
      : `${counted(rows.length, "incident")} of ${counted(of, "job")}`}>
      {by && <p className="note">Confirmed by <a href={to("incidents", by)}>this incident</a>.</p>}
      {asked.error && <p className="warn"><Wild text={asked.error.message} /></p>}
      {shown.length > 0 && <div className="scroll"><table>
        <thead><tr><th>State</th><th>Job</th><th>Opened</th><th>Lasted</th></tr></thead>
        <tbody>{shown.map((row) => <tr key={row.id} className={row.status}><td><StateMark state={row.state} /></td>
          <td className="name"><a href={to("incidents", row.id)}><Wild text={row.job} /></a></td>
          <td data-label="opened"><Time at={row.opened} /></td>
          <td data-label="lasted">{row.resolved ? span((millis(row.resolved) ?? 0) - (millis(row.opened) ?? 0)) : <b>open</b>}</td>
        </tr>)}</tbody></table></div>}
      {rest}
    </Section>
  );
}

function FaultDetail(props: { id: string }) {
  const asked = useAsked("fault", idIn("faults/{id}", props.id), FAULTS_MS, NO_JOB);
  const fault = asked.data;
  if (!fault) return <NotYet error={asked.error} what="the fault" again={asked.again} />;
  return (
    <main id="main">
      <nav className="crumbs" aria-label="Where you are"><a href={to("faults")}>Faults</a> <span aria-hidden="true">/</span> <b>
        <Wild text={fault.id} /></b></nav>
      <div className="title"><h1><Wild text={fault.title} /></h1></div>
      <p className="note">{fault.category} / {spoken(fault.subcategory)} · {spoken(fault.severity)}{fault.confirmed && <> · confirmed
        by <Wild text={fault.confirmed.by} /> <Time at={fault.confirmed.at} /></>}</p>
      {fault.fix && <section className="section"><h2>What to do</h2><p className="do"><Wild text={fault.fix} /></p></section>}
      {fault.cause && <section className="section"><h2>Cause</h2><p><Wild text={fault.cause} /></p></section>}
      {(fault.matches ?? []).length > 0 && <section className="section"><h2>Lines that show it</h2>
        {fault.matches!.map((line, i) => <pre key={i} className="raw"><Wild text={line} /></pre>)}</section>}
      {(fault.patterns ?? []).length > 0 && <section className="section"><h2>Patterns</h2>
        {fault.patterns!.map((line, i) => <pre key={i} className="raw"><Wild text={line} /></pre>)}</section>}
      <PastIncidents fault={fault} />
    </main>
  );
}

export function Faults(props: { route: Route }) {
  const asked = useAsked("faults", "faults", FAULTS_MS, NO_JOB);
  const rows = asked.data?.faults;
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const found = (rows ?? []).filter((fault: Fault) =>
    `${fault.id} ${fault.title} ${fault.category} ${fault.subcategory} ${fault.family}`.toLowerCase().includes(text))
    .sort((a, b) => Number(b.confirmed !== null) - Number(a.confirmed !== null));
  const [shown, rest] = useRows(found);
  if (props.route.id) return <FaultDetail id={props.route.id} />;
  if (!rows) return <NotYet error={asked.error} what="the list of faults" again={asked.again} />;
  return (
    <main id="main">
      <div className="title"><h1>{grouped(rows.length)} known faults</h1></div>
      <Search route={props.route} what="faults" />
      <div className="scroll"><table><thead><tr><th>Fault</th><th>Kind</th><th>Severity</th></tr></thead>
        <tbody>{shown.map((fault) => <tr key={fault.id}><td><a href={to("faults", fault.id)}><Wild text={fault.title} /></a>
          {fault.confirmed && <span className="note"> confirmed by {harmless(fault.confirmed.by)}</span>}</td>
          <td className="note">{fault.category} / {spoken(fault.subcategory)}</td>
          <td className="note">{spoken(fault.severity)}</td></tr>)}</tbody></table></div>
      {rest}
      {found.length === 0 && <Empty><p>No fault matches.</p></Empty>}
    </main>
  );
}
