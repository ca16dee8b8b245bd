// A report, in the order of the text report: verdict, suspects, events, fault, course, what was read.
import { useState } from "react";
import type { ReactNode } from "react";
import type { Node, Report, ReportNode } from "./api_types";
import type { Told, ToldEvent } from "./brief";
import { certainty, counted, grouped, harmless, millis, percent, ranksText, scopeText, sized, some, span,
  spoken, toneOf } from "./format";
import { RawLines } from "./lines";
import { Ago, Section, Sentence, StateMark, Time, Wild, useOperatesSite } from "./parts";
import { SilentBadge } from "./quiet";
import { to } from "./route";
import type { LinesQuery } from "./handed";

const SHARE_MIN = 0.01; // suspects below it are counted, not shown
const SUSPECTS_MAX = 5;

function isGood(state: string): boolean {
  return state === "healthy" || state === "finished";
}

export function Fact(props: { name: string; children: ReactNode }) {
  return <div><dt>{props.name}</dt><dd>{props.children}</dd></div>;
}

/** What happened, since when, where; before anything else is read. */
export function Verdict(props: { report: Report; suspect?: boolean; link?: ReactNode; children?: ReactNode }) {
  const { verdict, job, advice } = props.report;
  const good = isGood(verdict.state);
  const scope = good ? "" : scopeText(verdict.scope);
  return (
    <header className={`verdict ${toneOf(verdict.state, props.suspect)}`}>
      <p className="over">
        <StateMark state={verdict.state} suspect={props.suspect} large />
        {verdict.state !== "unknown" &&
          <span>{certainty(verdict.confidence)} <b>{percent(verdict.confidence)}</b></span>}
        {scope && <span>{scope}</span>}
        {props.link}
      </p>
      <h1><Sentence text={verdict.summary} /></h1>
      {advice && <p className="advice"><Sentence text={advice} /></p>}
      <dl className="facts">
        {verdict.since && <Fact name={good ? "Last progress" : "Since"}>
          <Time at={verdict.since} precise /> <span className="note"><Ago at={verdict.since} /></span></Fact>}
        {verdict.stage && <Fact name="Stage">{spoken(verdict.stage)}</Fact>}
        {verdict.iteration !== null && <Fact name="Iteration">{grouped(verdict.iteration)}</Fact>}
        <Fact name="Size">{counted(job.nodes, "node")} · {counted(job.ranks, "rank")}</Fact>
        {(job.attempt > 0 || job.attempts.length > 1) && <Fact name="Attempt">{job.attempt}
          {job.attempts.length > 1 && <span className="note"> after {job.attempts
            .filter((one) => one.attempt !== job.attempt).slice(-3)
            .map((one) => spoken(one.state)).join(", ")}</span>}</Fact>}
        {props.children}
      </dl>
    </header>
  );
}

interface SuspectsProps {
  report: Told;
  ask: (query: LinesQuery) => void;
  /** Asks for maintenance of a node; without it none is offered. */
  silence?: (node: string) => void;
  silent?: ReadonlyMap<string, Node>;
}

function Suspect(props: SuspectsProps & { node: ReportNode; first: boolean }) {
  const { node } = props;
  const own = props.report.ranks.filter((rank) => rank.node === node.node && rank.rank !== null);
  const may = useOperatesSite();
  const stopped = own.filter((rank) => rank.process === "gone" || rank.process === "stopped");
  const facts = [ranksText(node.ranks), stopped.length > 0
    ? `${stopped.length === own.length ? "all" : ranksText(stopped.map((rank) => rank.rank!))} ${stopped[0]!.process}` : ""]
    .filter(Boolean);
  return (
    <li className={props.first ? "first" : ""}>
      <div className="line">
        <strong><Wild text={node.node} /></strong><SilentBadge until={props.silent?.get(node.node)?.silent_until} />
        <span>{certainty(node.confidence)} <b>{percent(node.confidence)}</b></span>
      </div>
      <meter min={0} max={1} value={node.confidence} aria-label={`confidence that ${harmless(node.node)} is at fault`} />
      <p className="note">{facts.join(" · ")}{node.first_seen && <>{facts.length > 0 && " · "}first sign <Time
        at={node.first_seen} precise /></>}</p>
      {node.why.length > 0 && <ul className="why">
        {node.why.map((why, i) => <li key={i}><Sentence text={why} /></li>)}</ul>}
      <RawLines ask={props.ask} query={{ node: node.node, around: node.first_seen ?? props.report.verdict.since ?? "" }}>
        Raw lines of this node</RawLines>
      {may && props.silence && <button type="button" className="quiet" onClick={() => props.silence!(node.node)}>
        Maintenance …</button>}
    </li>
  );
}

export function Suspects(props: SuspectsProps) {
  const all = props.report.nodes;
  // Of a job that is well, nodes that only differ are no suspects: notices tell of them.
  const claimed = props.report.certainty?.some((one) => one.of === "node") ?? all.some((node) => node.confidence >= SHARE_MIN);
  if (isGood(props.report.verdict.state) && !claimed) return null;
  const sure = all.filter((node) => node.confidence >= SHARE_MIN).slice(0, SUSPECTS_MAX);
  const shown = sure.length > 0 ? sure : all.slice(0, 1);
  const rest = (props.report.whole?.nodes ?? all.length) - shown.length;
  return (
    <Section title="Who">
      {shown.length === 0 && <p className="note">The logs do not show a node.</p>}
      <ol className="suspects">
        {shown.map((node, i) => (
          <Suspect key={node.node} {...props} node={node} first={i === 0} />))}
      </ol>
      {rest > 0 && <p className="note">and {counted(rest, "more node")}, at most {
        percent(all[shown.length]!.confidence)}</p>}
    </Section>
  );
}

/** What to do first where no known fault says it: by what speaks against the first suspect, else by the state. */
const STEPS: { kinds?: readonly string[]; state?: string; text: (node: string) => string }[] = [
  { kinds: ["process_stopped", "process_traced"],
    text: (node) => `A process on ${node} is stopped, by a signal or a debugger. If nobody did that on purpose, let it go on (kill -CONT PID) or end the job.` },
  { kinds: ["process_waits"],
    text: (node) => `A process on ${node} waits for a device or a file system: look at the kernel log and the mounts there. The node may need a restart.` },
  { kinds: ["agent_lost", "logs_stopped"],
    text: (node) => `See whether ${node} answers (ping, ssh, its management board). If it does not, take it out of service and start again from the last checkpoint.` },
  { kinds: ["nic_errors", "nic_silent_first", "network_first", "network_slow"],
    text: (node) => `Look at the network card, the cable and the switch port of ${node}; take it out of service if errors go on.` },
  { state: "hung",
    text: (node) => `Before you end the job, keep the stacks of the ranks on ${node} (py-spy dump --pid PID): they show where it waits. Then start again from the last checkpoint, without this node if you can.` },
  { state: "slow",
    text: (node) => `Look at ${node}: clocks and temperature of its GPUs (nvidia-smi -q), other processes, its network. Take it out of service if it stays slow.` },
  { state: "node_lost",
    text: (node) => `See whether ${node} answers (ping, ssh, its management board). If it does not, take it out of service and start again from the last checkpoint.` },
  { state: "launch_failed",
    text: (node) => `Read the first lines of the failure on ${node}. It failed before the first iteration: command, settings and environment are likelier than hardware.` },
  { state: "crashed",
    text: (node) => `Read the raw lines of ${node} around the first sign. If the program does not explain it, start again from the last checkpoint without this node.` },
];

function firstStep(report: Report): string | null {
  const suspect = report.nodes[0]?.node;
  const kinds = (report.clues ?? []).filter((clue) => clue.node === suspect).map((clue) => clue.kind);
  const step = STEPS.find((one) => one.kinds ? one.kinds.some((kind) => kinds.includes(kind)) : one.state === report.verdict.state);
  return step?.text(suspect ?? "the nodes") ?? null;
}

export function KnownFault(props: { report: Report }) {
  const [fault, ...others] = props.report.faults;
  const step = firstStep(props.report);
  if (!fault && step === null && props.report.events.length === 0) return null;
  return (
    <Section title="What to do">
      {!fault && step !== null && <p className="do"><Sentence text={step} /></p>}
      {!fault && <p className="note">No known fault {props.report.events.length > 0 ? "matches these events" : "explains it"}. Once you know
        the cause, <code>l4 faults confirm</code> teaches it.</p>}
      {fault && <div className="fault">
        <p className="do"><Wild text={fault.fix} /></p>
        <p><b><Wild text={fault.title} /></b> <span className="note">{fault.category} · {
          certainty(fault.confidence)} {percent(fault.confidence)}</span></p>
        <p className="cause"><span className="label">Cause</span> <Wild text={fault.cause} /></p>
        {others.length > 0 && <p className="note">or {others.slice(0, 3).map((one, i) => (
          <span key={one.id}>{i > 0 && ", "}<Wild text={one.title} /> ({percent(one.confidence)})</span>))}</p>}
      </div>}
    </Section>
  );
}

/** The constant text of a template, with what varies set apart. */
export function Template(props: { text: string; plain?: boolean }) {
  const parts = harmless(props.text).split("<*>");
  return (
    <bdi className={props.plain ? "wild said" : "template wild"}>
      {parts.map((part, i) => <span key={i}>{i > 0 && <i title="varies">⋯</i>}{part}</span>)}
    </bdi>
  );
}

const WHY: Record<string, string> = {
  new: "not in healthy runs, or seen on few nodes", spatial: "this node differs from its peers",
  temporal: "this iteration differs from those before", first: "came first",
  fatal: "tells of an end", accused: "names somebody as the silent one", fault: "is known",
  stall: "stands where the job stood still",
};

export function EventRow(props: { event: ToldEvent; job: string; ask: (query: LinesQuery) => void }) {
  const { event } = props;
  const values = event.parameters.slice(0, 4);
  return (
    <li className={`event ${event.role}`}>
      <div className="line"><span className={`role ${event.role}`}>{event.role}</span>
        {event.first.time && <Time at={event.first.time} precise />}
        <span className="note">{event.count === 1 ? "once" : `${grouped(event.count)} times`} on {
          harmless(some(event.nodes, 2, event.on))}</span></div>
      <Template text={event.template} />
      {event.examples[0] && <pre className="raw"><Wild text={event.examples[0].text} /></pre>}
      <div className="line tail">
        {event.why.map((why) => <abbr key={why} title={WHY[why] ?? ""}>{why}</abbr>)}
        {values.map((value, i) => <span key={i} className="note">{spoken(value.kind)} <Wild text={value.value} /></span>)}
        <RawLines ask={props.ask} query={{ template: event.template_id, around: event.first.time ?? "" }}>Raw lines</RawLines>
      </div>
    </li>
  );
}

export function Events(props: { report: Told; ask: (query: LinesQuery) => void }) {
  const { events, job } = props.report;
  const [open, setOpen] = useState(false);
  const causes = events.filter((event) => event.role !== "consequence");
  const consequences = events.filter((event) => event.role === "consequence");
  const nodes = props.report.whole?.consequence_nodes ?? new Set(consequences.flatMap((event) => event.nodes)).size;
  const times = consequences.reduce((sum, event) => sum + event.count, 0);
  const shown = open ? consequences : [];
  if (events.length === 0) {
    return isGood(props.report.verdict.state) ? null
      : <Section title="What shows it"><p className="note">No message tells of it; what shows it is silence, pace
        or an agent that was lost.</p></Section>;
  }
  return (
    <Section title="What shows it">
      <ul className="events">
        {causes.map((event) => <EventRow key={event.template_id} event={event} job={job.id} ask={props.ask} />)}
      </ul>
      {consequences.length > 0 && <button type="button" className="fold" aria-expanded={open}
        onClick={() => setOpen(!open)}>{open ? "▾" : "▸"} {counted(consequences.length, "consequence")} on {
          counted(nodes, "node")}, {counted(times, "time")}</button>}
      {open && <ul className="events">
        {shown.map((event) => <EventRow key={event.template_id} event={event} job={job.id} ask={props.ask} />)}
      </ul>}
    </Section>
  );
}

const NOTABLE_MAX = 4;

export function Notable(props: { report: Report }) {
  const [open, setOpen] = useState(false);
  const rows = props.report.notable ?? [];
  if (rows.length === 0) return null;
  const shown = open ? rows : rows.slice(0, NOTABLE_MAX);
  return (
    <Section title="Notable" note="worth a look; nothing has failed by it so far">
      <ul className="plain">{shown.map((row, i) => <li key={i}><Sentence text={row.text} /></li>)}</ul>
      {rows.length > NOTABLE_MAX && <button type="button" className="fold" aria-expanded={open}
        onClick={() => setOpen(!open)}>{open ? "▾ fewer" : `▸ ${rows.length - NOTABLE_MAX} more`}</button>}
    </Section>
  );
}

export function Read(props: { report: Told }) {
  const { job, stages, warnings, pool, whole } = props.report;
  const begin = millis(job.begin);
  const end = millis(job.end);
  const course = stages.filter((stage) => stage.stage !== null);
  return (
    <Section title="What was read">
      <dl className="facts small">
        <Fact name="Lines">{grouped(job.lines)} · {sized(job.bytes)}</Fact>
        <Fact name="Sources">{grouped(job.sources)}</Fact>
        <Fact name="Complete">{job.completeness >= 0.99995 ? "yes" : `${(job.completeness * 100).toFixed(1)} % of the bytes`}</Fact>
        {begin !== null && end !== null && end >= begin && <Fact name="Time">
          <Time at={job.begin} /> to <Time at={job.end} /> <span className="note">{span(end - begin)}</span></Fact>}
        {pool.used && <Fact name="Filtered">{counted(pool.events_dropped, "event")} known as normal from {
          counted(pool.jobs, "healthy run")}</Fact>}
      </dl>
      {course.length > 1 && <p className="note course">{course.map((stage, i) => {
        const from = millis(stage.begin);
        const to_ = millis(stage.end);
        return <span key={i}>{i > 0 && " → "}{spoken(stage.stage!)}{from !== null && to_ !== null && to_ >= from
          ? ` ${span(to_ - from)}` : ""}{stage.ranks !== job.ranks && stage.ranks > 0
          ? ` (${counted(stage.ranks, "rank")})` : ""}</span>;
      })}</p>}
      {warnings.length > 0 && <ul className="plain warnings">{warnings.slice(0, 5).map((warning, i) => (
        <li key={i}><Wild text={`${warning.file}: ${warning.reason}`} /></li>))}
        {warnings.length > 5 && <li className="note">and {(whole?.warnings ?? warnings.length) - 5} more</li>}</ul>}
    </Section>
  );
}

export function JobLink(props: { job: string }) {
  return <a href={to("jobs", props.job)}><Wild text={props.job} /></a>;
}
