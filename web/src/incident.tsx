// An incident as a story: what went well last, what came first, what followed where, how it ended.
import { Fragment, useContext, useEffect, useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { Agent, Incident as Row, IncidentBrief, Report } from "./api_types";
import { askViewAhead, incidentPath, toldBy } from "./brief";
import type { Told, ToldEvent } from "./brief";
import { counted, grouped, harmless, millis, span, spoken } from "./format";
import { Later } from "./later";
import { useAsked } from "./live";
import { LinesPanel, RawLines, useLines } from "./lines";
import type { LinesQuery } from "./handed";
import { NearFaults } from "./near";
import { Ago, LimitContext, NotYet, Section, Sentence, Since, StateMark, Time, Wild } from "./parts";
import { Acknowledge, MaintenanceButton, SilentIncident } from "./quiet";
import { Fact, KnownFault, Suspects, Template, Verdict } from "./report";
import { to } from "./route";
import type { Route } from "./route";

const INCIDENT_MS = 10_000;
const AGENTS_MS = 60_000;
const BEFORE_MS = 60_000;
const GUESS = "unknown"; // id of a fault that is placed by likeness alone
const BEFORE = 10; // incidents of a node that are listed

interface Trigger {
  cause: string;
  evidence: string | null;
  node: string;
  rank: number | null;
  detail: string;
}

interface Evidence {
  openings: number;
  /** Why it is not open any more. */
  resolved_by?: string;
  triggers: Trigger[];
}

interface Step {
  at: number | null;
  time: string | null;
  kind: "well" | "root" | "direct" | "consequence" | "sign" | "alert" | "over";
  what: ReactNode;
  lines?: LinesQuery;
  /** Where else it is shown. */
  link?: { to: string; word: string };
  /** A sign that made somebody look, and that the report does not count. */
  aside?: boolean;
}

const FOLDED_FROM = 2; // consequences that follow the first ones

function eventStep(event: ToldEvent): Step {
  const nodes = event.on ?? event.nodes.length;
  const where = nodes > 1 ? `, then on ${counted(nodes - 1, "more node")}` : "";
  return {
    at: millis(event.first.time), time: event.first.time, kind: event.role,
    what: <><span className="note"><Wild text={event.first.node} />{event.first.rank !== null && `, rank ${event.first.rank}`}
      {where}{event.count > 1 && `, ${grouped(event.count)} times`}</span><Template text={event.template} /></>,
    lines: { template: event.template_id, around: event.first.time ?? "" },
  };
}

function triggerStep(trigger: Trigger, report: Report): Step {
  const who = trigger.node + (trigger.rank !== null && trigger.rank !== undefined ? ` rank ${trigger.rank}` : "");
  return {
    at: millis(trigger.evidence), time: trigger.evidence,
    // Processes of other nodes leave because of it.
    kind: trigger.cause === "process_left" && trigger.node && trigger.node !== report.nodes[0]?.node ? "consequence" : "sign",
    aside: trigger.cause === "error_line" && (report.events.length > 0 ||
      (millis(trigger.evidence) ?? 0) < (millis(report.verdict.since) ?? 0)),
    what: <>{who && <span className="note"><Wild text={who} /></span>}<Template
      text={trigger.detail || spoken(trigger.cause)} plain /></>,
    lines: trigger.node && trigger.evidence ? { node: trigger.node, rank: trigger.rank ?? undefined, around: trigger.evidence } : undefined,
  };
}

/** Of a sign that came again and again, the first and the last. */
function endsOfEach(triggers: readonly Trigger[]): Trigger[] {
  const key = (one: Trigger) => one.cause === "error_line" || one.cause === "process_left" ? `${one.cause} ${one.detail} ${one.node}`
    : `${one.cause} ${one.node}`;
  return triggers.filter((one, i) => !triggers.slice(0, i).some((other) => key(other) === key(one))
    || !triggers.slice(i + 1).some((other) => key(other) === key(one)));
}

/** All that is known of the incident, in order of time; without a row of it, what the report says. */
export function storyOf(row: Row | null, report: Told, evidence: Evidence | null, seesSite = false): Step[] {
  const steps: Step[] = [];
  const training = report.stages.find((stage) => stage.stage === report.verdict.stage);
  const progress = report.verdict.iteration;
  if (progress !== null && progress > 0) {
    steps.push({ at: null, time: null, kind: "well",
                 what: <>Iteration {grouped(progress - 1)} was the last {report.verdict.state === "slow" ? "that took as long as before"
                   : "that all ranks completed"}
                   {training?.begin && <> <span className="note">{spoken(training.stage ?? "it")} since <Time
                     at={training.begin} /></span></>}</>,
                 link: row ? { to: to("jobs", row.job, { map: "ranks" }), word: "Iterations on the map" } : undefined });
  }
  const said = (trigger: Trigger) => report.events.some((event) => trigger.detail === `new line: ${event.template}`);
  const signs = [...report.events.map(eventStep),
                 ...endsOfEach(evidence?.triggers ?? []).filter((trigger) => !said(trigger))
                   .map((trigger) => triggerStep(trigger, report))];
  if (row) {
    signs.push({ at: millis(row.opened), time: row.opened, kind: "alert", what: <>The incident opened; sinks that are set up get an alert</>,
                 link: seesSite ? { to: to("alerts", "", { q: row.job }), word: "What was sent" } : undefined });
  }
  signs.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity) || rank(a) - rank(b));
  steps.push(...signs);
  if (row?.resolved) {
    steps.push({ at: millis(row.resolved), time: row.resolved, kind: "over", what: <>It was resolved{evidence?.resolved_by
      && <>: <Sentence text={evidence.resolved_by} /></>}</> });
  }
  return steps;
}

const RANKS: Record<Step["kind"], number> = { well: 0, root: 1, direct: 2, sign: 3, consequence: 4, alert: 5, over: 6 };

function rank(step: Step): number {
  return RANKS[step.kind];
}

const NAMES: Record<Step["kind"], string> = {
  well: "last progress", root: "root", direct: "direct", consequence: "consequence", sign: "sign", alert: "alert",
  over: "resolved",
};

export function Story(props: { steps: Step[]; ask: (query: LinesQuery) => void }) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const consequences = props.steps.filter((step) => step.kind === "consequence");
  const asides = props.steps.filter((step) => step.aside);
  const folded = new Set([...open ? [] : consequences.slice(FOLDED_FROM), ...all ? [] : asides]);
  const first = props.steps.find((step) => step.at !== null && step.kind !== "well" && !step.aside)?.at ?? null;
  const shown = props.steps.filter((step) => !folded.has(step));
  const last = shown.reduce((at, step, i) => step.kind === "consequence" ? i : at, -1);
  const more = <li className="fold"><span className="when" /><button type="button" className="fold" aria-expanded={open}
    onClick={() => setOpen(!open)}>{open ? "▾ fewer consequences"
      : `▸ ${counted(consequences.length - FOLDED_FROM, "more consequence")}`}</button></li>;
  return (
    <ol className="story">
      {shown.map((step, i) => <Fragment key={i}>
        <li className={step.kind}>
          <span className="when">{step.time && step.at !== shown[i - 1]?.at && <><Time at={step.time} precise />
            {first !== null && step.at !== null && step.at !== first && <span className="note">{
              `${step.at > first ? "+" : "−"}${span(Math.abs(step.at - first))}`}</span>}</>}</span>
          <span className="what"><span className={`role ${step.kind}`}>{NAMES[step.kind]}</span> {step.what}
            {step.lines && <RawLines query={step.lines} ask={props.ask}>Raw lines</RawLines>}
            {step.link && <a className="note" href={step.link.to}>{step.link.word}</a>}
          </span>
        </li>
        {i === last && consequences.length > FOLDED_FROM && more}
      </Fragment>)}
      {asides.length > 0 && <li className="fold"><span className="when" /><button type="button" className="fold" aria-expanded={all}
        onClick={() => setAll(!all)}>{all ? "▾ without lines that have no part in it"
          : `▸ ${counted(asides.length, "new line")} that looked like trouble and ${asides.length === 1 ? "has" : "have"} no part in it`}
      </button></li>}
    </ol>
  );
}

const NAMED_MAX = 6; // on each side of the graph
const ROW = 30; // px, as in the style sheet

interface Edge { from: string; to: string; weight: number }

/** Who named whom: by the clues of the report, which know nodes by their addresses; without them as the lines print it. */
function accusationsOf(report: Told, nodeAt: ReadonlyMap<string, string>): Edge[] {
  const edges = new Map<string, Edge>();
  const add = (from: string, to_: string, weight: number) => {
    const key = `${from}\n${to_}`;
    edges.set(key, { from, to: to_, weight: (edges.get(key)?.weight ?? 0) + weight });
  };
  const accusers = (event: ToldEvent | undefined, peer: string | undefined) => event?.nodes ?? (peer ? [peer] : []);
  for (const clue of report.clues ?? []) {
    if (clue.kind !== "blamed" && clue.kind !== "named_by_peers") continue;
    const fact = (kind: string) => clue.facts.find((one) => one.kind === kind)?.value;
    const event = report.events.find((one) => one.template_id === fact("event"));
    const named = clue.node ?? "";
    for (const from of accusers(event, fact("peer"))) if (named && from !== named) add(from, named, clue.strength);
  }
  if (edges.size > 0) return [...edges.values()];
  for (const event of report.events.filter((one) => one.why.includes("accused"))) {
    const named = event.parameters.filter((one) => ["rank", "host", "address"].includes(one.kind)).slice(0, NAMED_MAX);
    for (const from of event.nodes) {
      if (named.length === 0) add(from, "a peer without a name", event.count);
      for (const one of named) {
        const host = nodeAt.get(one.value) ?? one.value;
        if (host !== from) add(from, one.kind === "rank" ? `rank ${one.value}` : host, one.count);
      }
    }
  }
  return [...edges.values()];
}

/** The node at each address, where only one agent comes from there. */
function namesOf(agents: readonly Agent[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const shared = new Set<string>();
  for (const { agent, address } of agents) {
    if (names.has(address)) shared.add(address);
    names.set(address, agent);
  }
  shared.forEach((address) => names.delete(address));
  return names;
}

/** The names of one side, those with most weight first; the last stands for all that have no room. */
function sideOf(edges: readonly Edge[], side: "from" | "to"): string[] {
  const weights = new Map<string, number>();
  for (const edge of edges) weights.set(edge[side], (weights.get(edge[side]) ?? 0) + edge.weight);
  return [...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

/** How many more nodes print an accusing event than the report lists. */
function unseenOf(report: Told): number {
  return Math.max(0, ...report.events.filter((one) => one.why.includes("accused")).map(({ on, nodes }) => (on ?? nodes.length) - nodes.length));
}

/** Who named whom as the silent one, as a graph: the more lines lead to a name, the more it stands out. */
export function Accusations(props: { report: Told; agents?: readonly Agent[] }) {
  const nodeAt = useMemo(() => namesOf(props.agents ?? []), [props.agents]);
  const edges = useMemo(() => accusationsOf(props.report, nodeAt), [props.report, nodeAt]);
  if (edges.length === 0) return null;
  const [left, right] = [sideOf(edges, "from"), sideOf(edges, "to")];
  const place = (names: string[], name: string) => Math.min(names.indexOf(name), NAMED_MAX - 1) * ROW + ROW / 2;
  const rows = (names: string[]) => Math.min(names.length, NAMED_MAX);
  const height = Math.max(rows(left), rows(right)) * ROW;
  const most = Math.max(...edges.map((edge) => edge.weight), 1e-9);
  const suspect = props.report.nodes[0]?.node;
  const side = (names: string[], unseen = 0) => <ul>{names.slice(0, NAMED_MAX).map((name, i) => <li key={name} className={name === suspect ? "bad" : ""}>
    {i === NAMED_MAX - 1 && names.length > NAMED_MAX ? `${grouped(names.length + unseen - NAMED_MAX + 1)} more` : <Wild text={name} />}</li>)}</ul>;
  return (
    <Section title="Who accused whom" note="nodes whose lines name another one as silent, gone or failed">
      <div className="accused">
        {side(left, unseenOf(props.report))}
        <svg viewBox={`0 0 100 ${height}`} height={height} preserveAspectRatio="none" role="img"
          aria-label={edges.slice(0, 3 * NAMED_MAX).map((edge) => `${harmless(edge.from)} named ${harmless(edge.to)}`).join(", ")}>
          {edges.map((edge, i) => {
            const [from, until] = [place(left, edge.from), place(right, edge.to)];
            return <path key={i} d={`M0 ${from}C50 ${from} 50 ${until} 100 ${until}`} vectorEffect="non-scaling-stroke"
              className={edge.to === suspect ? "bad" : ""} strokeWidth={1 + 3 * edge.weight / most} />;
          })}
        </svg>
        {side(right)}
      </div>
    </Section>
  );
}

/** Other incidents in which the same node was suspected first. */
function Before(props: { incident: Row; node: string }) {
  const asked = useAsked("incidents", `incidents?node=${encodeURIComponent(props.node)}&count=${BEFORE}`, BEFORE_MS);
  const rows = asked.data?.incidents.filter((row) => row.id !== props.incident.id);
  if (!rows) return null;
  return (
    <Section title={`What else ${harmless(props.node)} did`} note={rows.length === 0 ? "it was suspected first in no other incident that is kept" : undefined}>
      {rows.length > 0 && <ul className="plain">{rows.map((row) => <li key={row.id}><StateMark state={row.state} /> <a
        href={to("incidents", row.id)}><Wild text={row.job} /></a> <span className="note"><Ago at={row.opened} />{row.status === "open"
        && ", open"}</span></li>)}</ul>}
    </Section>
  );
}

/** A known fault fits, and not only a guess by words. */
export function isExplained(report: Report): boolean {
  return report.faults.length > 0 && !report.faults.some((fault) => fault.id === GUESS);
}

function jobOf({ incident }: IncidentBrief): string {
  return incident.job;
}

export function Incident(props: { route: Route }) {
  const { id } = props.route;
  useState(() => askViewAhead(props.route)); // before anything else is asked for
  const asked = useAsked("incident_brief", incidentPath(id), INCIDENT_MS, jobOf);
  const [lines, setLines] = useLines(props.route);
  const [silencing, setSilencing] = useState(false);
  const limit = useContext(LimitContext);
  const row = asked.data?.incident;
  const report = useMemo(() => asked.data?.brief ? toldBy(asked.data.brief) : null, [asked.data]);
  const accused = report?.events.some((event) => event.why.includes("accused"));
  const agents = useAsked("agents", limit === null && accused ? "agents" : null, AGENTS_MS);
  useEffect(() => {
    document.title = row ? `${spoken(row.state)} · ${row.job}` : "incident";
  }, [row]);
  if (!row) return <NotYet error={asked.error} what="the incident" again={asked.again} />;
  const crumbs = <nav className="crumbs" aria-label="Where you are"><a href={to("incidents")}>Incidents</a>
    <span aria-hidden="true"> / </span><b><Wild text={row.job} /></b>
    <a className="right" href={to("jobs", row.job)}>The job and its map →</a>
    {row.status === "resolved" && <a href={to("jobs", row.job, { at: row.updated })}>as it stood</a>}</nav>;
  if (!report) {
    return <main id="main">{crumbs}<p>The report of this incident is not kept any more. It was <b>{spoken(row.state)}</b>.</p></main>;
  }
  const evidence = asked.data!.evidence as Evidence | null;
  const opened = millis(row.opened);
  const since = millis(report.verdict.since);
  return (
    <main id="main" className={lines ? "beside" : ""}>
      {crumbs}
      <Verdict report={report}>
        <Fact name={row.status === "open" ? "Open for" : "Was open for"}>{row.status === "open" ? <Since at={row.opened} />
          : span((millis(row.resolved) ?? 0) - (opened ?? 0))}</Fact>
        {opened !== null && since !== null && opened >= since && <Fact name="Found after">{span(opened - since)}</Fact>}
      </Verdict>
      <div className="duties">
        <Acknowledge key={row.acknowledged_by} incident={row} again={asked.again} />
        <SilentIncident incident={row} again={asked.again} />
        <MaintenanceButton open={() => setSilencing(true)} />
        {row.status === "open" && <Later of={({ Keep }) => <Keep job={row.job} />} />}
      </div>
      <div className="pair">
        <KnownFault report={report} />
        <Suspects report={report} ask={setLines} />
      </div>
      {!isExplained(report) && report.events.length > 0 && <NearFaults incident={row.id} />}
      <Section title="What happened" note={<>updated <Ago at={row.updated} /></>}>
        <Story steps={storyOf(row, report, evidence, limit === null)} ask={setLines} />
      </Section>
      <Accusations report={report} agents={agents.data?.agents} />
      {report.nodes[0] && <Before incident={row} node={report.nodes[0].node} />}
      <Later of={({ Compare }) => <Compare report={report} />} />
      <Later of={({ Tell }) => <Tell incident={row} />} />
      {silencing && <Later of={({ MaintenanceDialog }) => <MaintenanceDialog job={row.job} node={report.nodes[0]?.node ?? ""}
        close={() => setSilencing(false)} done={asked.again} />} />}
      {lines && <LinesPanel key={JSON.stringify(lines)} job={row.job} query={lines} close={() => setLines(null)} />}
    </main>
  );
}
