// An incident as a story: what went well last, what came first, what followed where, how it ended.
import { Fragment, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { idIn } from "./api";
import type { Incident as Row, Report, ReportEvent } from "./api_types";
import { counted, grouped, harmless, millis, some, span, spoken } from "./format";
import { Tell } from "./confirm";
import { Later } from "./later";
import { useAsked } from "./live";
import { LinesPanel, RawLines } from "./lines";
import type { LinesQuery } from "./handed";
import { Ago, NotYet, Section, Since, StateMark, Time, Wild } from "./parts";
import { Acknowledge, MaintenanceButton, SilentIncident } from "./quiet";
import { Fact, KnownFault, Suspects, Template, Verdict } from "./report";
import { to } from "./route";
import type { Route } from "./route";

const INCIDENT_MS = 10_000;
const BEFORE_MS = 60_000;
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
  triggers: Trigger[];
}

interface Step {
  at: number | null;
  time: string | null;
  kind: "well" | "root" | "direct" | "consequence" | "sign" | "alert" | "over";
  what: ReactNode;
  lines?: LinesQuery;
}

const FOLDED_FROM = 2; // consequences that follow the first ones

function eventStep(event: ReportEvent): Step {
  const where = event.nodes.length > 1 ? `, then on ${counted(event.nodes.length - 1, "more node")}` : "";
  return {
    at: millis(event.first.time), time: event.first.time, kind: event.role,
    what: <><span className="note"><Wild text={event.first.node} />{event.first.rank !== null && `, rank ${event.first.rank}`}
      {where}{event.count > 1 && `, ${grouped(event.count)} times`}</span><Template text={event.template} /></>,
    lines: { template: event.template_id, around: event.first.time ?? "" },
  };
}

function triggerStep(trigger: Trigger): Step {
  const who = trigger.node + (trigger.rank !== null && trigger.rank !== undefined ? ` rank ${trigger.rank}` : "");
  return {
    at: millis(trigger.evidence), time: trigger.evidence, kind: "sign",
    what: <>{who && <span className="note"><Wild text={who} /></span>}<Template
      text={trigger.detail || spoken(trigger.cause)} plain /></>,
  };
}

/** Of a sign that came again and again, the last. */
function lastOfEach(triggers: readonly Trigger[]): Trigger[] {
  const key = (one: Trigger) => `${one.cause} ${one.evidence} ${one.node}`;
  return triggers.filter((one, i) => !triggers.slice(i + 1).some((other) => key(other) === key(one)));
}

/** All that is known of the incident, in order of time; without a row of it, what the report says. */
export function storyOf(row: Row | null, report: Report, evidence: Evidence | null): Step[] {
  const steps: Step[] = [];
  const training = report.stages.find((stage) => stage.stage === report.verdict.stage);
  const progress = report.verdict.iteration;
  if (progress !== null && progress > 0) {
    steps.push({ at: null, time: null, kind: "well",
                 what: <>Iteration {grouped(progress - 1)} was the last that all ranks completed
                   {training?.begin && <> <span className="note">{spoken(training.stage ?? "it")} since <Time
                     at={training.begin} /></span></>}</> });
  }
  const said = (trigger: Trigger) => report.events.some((event) => trigger.detail === `new line: ${event.template}`);
  const signs = [...report.events.map(eventStep),
                 ...lastOfEach(evidence?.triggers ?? []).filter((trigger) => !said(trigger)).map(triggerStep)];
  if (row) {
    signs.push({ at: millis(row.opened), time: row.opened, kind: "alert", what: <>The incident opened; sinks that are set up get an alert</> });
  }
  signs.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity) || rank(a) - rank(b));
  steps.push(...signs);
  if (row?.resolved) {
    steps.push({ at: millis(row.resolved), time: row.resolved, kind: "over", what: <>It was resolved</> });
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
  const consequences = props.steps.filter((step) => step.kind === "consequence");
  const folded = new Set(open ? [] : consequences.slice(FOLDED_FROM));
  const first = props.steps.find((step) => step.at !== null && step.kind !== "well")?.at ?? null;
  const shown = props.steps.filter((step) => !folded.has(step));
  const last = shown.reduce((at, step, i) => step.kind === "consequence" ? i : at, -1);
  const more = <li className="fold"><span className="when" /><button type="button" className="fold" aria-expanded={open}
    onClick={() => setOpen(!open)}>{open ? "▾ fewer consequences" : `▸ ${counted(folded.size, "more consequence")}`}</button></li>;
  return (
    <ol className="story">
      {shown.map((step, i) => <Fragment key={i}>
        <li className={step.kind}>
          <span className="when">{step.time && step.at !== shown[i - 1]?.at && <><Time at={step.time} precise />
            {first !== null && step.at !== null && step.at !== first && <span className="note">{
              `${step.at > first ? "+" : "−"}${span(Math.abs(step.at - first))}`}</span>}</>}</span>
          <span className="what"><span className={`role ${step.kind}`}>{NAMES[step.kind]}</span> {step.what}
            {step.lines && <RawLines query={step.lines} ask={props.ask}>Raw lines</RawLines>}
          </span>
        </li>
        {i === last && consequences.length > FOLDED_FROM && more}
      </Fragment>)}
    </ol>
  );
}

/** Who named whom as the silent one. */
export function Accusations(props: { report: Report }) {
  const rows = props.report.events.filter((event) => event.why.includes("accused"));
  if (rows.length === 0) return null;
  return (
    <Section title="Who accused whom">
      <ul className="plain accused">{rows.slice(0, 6).map((event) => {
        const named = event.parameters.filter((one) => ["rank", "host", "address"].includes(one.kind));
        return <li key={event.template_id}><span><Wild text={some(event.nodes, 3)} /></span>
          <span aria-hidden="true">→</span><span className="visually-hidden">named</span>
          <span>{named.length > 0 ? named.slice(0, 4).map((one, i) => <b key={i}>{i > 0 && ", "}{one.kind === "rank" ? "rank " : ""}
            <Wild text={one.value} /></b>) : <span className="note">a peer without a name</span>}</span></li>;
      })}</ul>
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

export function Incident(props: { route: Route }) {
  const { id } = props.route;
  const asked = useAsked("incident", idIn("incidents/{id}", id), INCIDENT_MS);
  const [lines, setLines] = useState<LinesQuery | null>(null);
  const [silencing, setSilencing] = useState(false);
  const row = asked.data;
  useEffect(() => {
    document.title = row ? `${spoken(row.state)} · ${row.job}` : "incident";
  }, [row]);
  if (!row) return <NotYet error={asked.error} what="the incident" again={asked.again} />;
  const report = row.report as Report | null;
  const crumbs = <nav className="crumbs" aria-label="Where you are"><a href={to("incidents")}>Incidents</a>
    <span aria-hidden="true"> / </span><b><Wild text={row.job} /></b>
    <a className="right" href={to("jobs", row.job)}>The job and its map →</a>
    {row.status === "resolved" && <a href={to("jobs", row.job, { at: row.updated })}>as it stood</a>}</nav>;
  if (!report) {
    return <main id="main">{crumbs}<p>The report of this incident is not kept any more. It was <b>{spoken(row.state)}</b>.</p></main>;
  }
  const evidence = row.evidence as Evidence | null;
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
      </div>
      <div className="pair">
        <KnownFault report={report} />
        <Suspects report={report} ask={setLines} />
      </div>
      <Section title="What happened" note={<>updated <Ago at={row.updated} /></>}>
        <Story steps={storyOf(row, report, evidence)} ask={setLines} />
      </Section>
      <Accusations report={report} />
      {report.nodes[0] && <Before incident={row} node={report.nodes[0].node} />}
      <Tell incident={row} />
      {silencing && <Later of={({ MaintenanceDialog }) => <MaintenanceDialog job={row.job} node={report.nodes[0]?.node ?? ""}
        close={() => setSilencing(false)} done={asked.again} />} />}
      {lines && <LinesPanel key={JSON.stringify(lines)} job={row.job} query={lines} close={() => setLines(null)} />}
    </main>
  );
}
