// All jobs, the sick first: what an alert does not say is seen here at a glance.
import { useContext, useEffect, useMemo, useRef } from "react";
import type { Job } from "./api_types";
import { certainty, grouped, harmless, millis, percent, sized, toneOf } from "./format";
import { NO_JOB, serverNow, setServerNow, useAsked } from "./live";
import { Ago, BEHIND_BATCHES, Empty, Failure, LimitContext, NotYet, Sentence, Since, StateMark, Wild,
  useRows } from "./parts";
import { Pace, notePace } from "./pace";
import { Had, SilentBadge } from "./quiet";
import { setQuery, to } from "./route";
import type { Route } from "./route";
import { useSentences } from "./sentences";
import type { Said } from "./sentences";

const JOBS_MS = 5_000;
const REST_MS = 15_000;

type Kind = "sick" | "suspect" | "running" | "ended";
const KINDS: { kind: Kind; word: string }[] = [
  { kind: "sick", word: "failing" }, { kind: "suspect", word: "suspect" },
  { kind: "running", word: "running" }, { kind: "ended", word: "ended" },
];

function kindOf(job: Job): Kind {
  if (job.incident !== null) return "sick";
  if (job.suspect) return "suspect";
  if (job.ended) return "ended";
  return toneOf(job.state) === "bad" || job.state === "slow" ? "sick"
    : job.state === "finished" ? "ended" : "running";
}

const NONE: Record<Kind, number> = { sick: 0, suspect: 0, running: 0, ended: 0 };
const ORDER: Record<Kind, number> = { sick: 0, suspect: 1, running: 2, ended: 3 };
const WORST: Record<string, number> = { bad: 0, uneasy: 1, good: 2, quiet: 3 };

function bySickness(a: Job, b: Job): number {
  return ORDER[kindOf(a)] - ORDER[kindOf(b)] ||
    WORST[toneOf(a.state)]! - WORST[toneOf(b.state)]! ||
    (millis(b.since) ?? 0) - (millis(a.since) ?? 0) || a.id.localeCompare(b.id);
}

function coverage(job: Job): string {
  const expected = job.ranks_expected;
  if (expected === null || expected <= job.ranks_mapped) return "";
  return `${grouped(expected - job.ranks_mapped)} of ${grouped(expected)} ranks are not seen`;
}

const USERS_SHOWN = 2;

function Users(props: { of: Job }) {
  const users = props.of.users ?? [];
  if (users.length === 0) return null;
  const more = users.length - USERS_SHOWN;
  return (
    <> <span className="note user" title="who owns its log files"><Wild text={users.slice(0, USERS_SHOWN).join(", ")} />{
      more > 0 && ` and ${more} more`}</span></>
  );
}

function Row(props: { job: Job; said: Said | null }) {
  const { job, said } = props;
  const gap = coverage(job);
  const sure = job.confidence ?? null;
  return (
    <li className={`job ${kindOf(job) === "ended" ? "quiet" : toneOf(job.state, job.suspect)}${
      job.acknowledged_by || job.silent_until ? " attended" : ""}`}>
      <a className="cover" href={to("jobs", job.id)} aria-label={`job ${job.id}, ${job.state}`} />
      <div className="what">
        <StateMark state={job.state} suspect={job.suspect} />
        <span className="for">{sure !== null && <abbr title={`${certainty(sure)} that this is its state`}>{
          percent(sure)}</abbr>}{job.since && job.incident !== null && <>{sure !== null && ", "}for <Since at={job.since} /></>}</span>
      </div>
      <div className="who">
        <strong><Wild text={job.id} /></strong>
        <Users of={job} />
        {job.attempt > 0 && <span className="note"> attempt {job.attempt}</span>}
        <Had by={job.acknowledged_by} /><SilentBadge until={job.silent_until} />
        {job.incident !== null
          ? <a className="sentence" href={to("incidents", job.incident)}>
              <Sentence text={said?.text ?? "An incident is open"} /></a>
          : job.notice && <span className="sentence note"><Wild text={job.notice} /></span>}
      </div>
      <div className="where">
        <span className="label">iteration</span>
        <span className="number">{job.iteration === null ? "–" : grouped(job.iteration)}</span>
        <Pace job={job} />
      </div>
      <div className="size">
        <span className="label">nodes · ranks</span>
        <span className="number">{grouped(job.nodes)} · {grouped(job.ranks)}</span>
        {gap && <span className="warn">{gap}</span>}
      </div>
      <div className="last">
        <span className="label">last line</span>
        <Ago at={job.last_seen} />
      </div>
    </li>
  );
}

/** Agents and the aggregator itself, in one line each; `known`: the token is not limited to jobs, which may not see this. */
function Health(props: { known: boolean }) {
  const status = useAsked("status", props.known ? "status" : null, REST_MS);
  const agents = useAsked("agents", props.known ? "agents" : null, REST_MS, NO_JOB); // a long list
  const own = status.data;
  useEffect(() => {
    const now = millis(own?.now);
    if (now !== null && Math.abs(now - serverNow()) > 2_000) setServerNow(now);
  }, [own]);
  if (!own) { // keeps the room of what comes
    return status.error ? null : <dl className="health" aria-hidden="true">{["Agents", "Aggregator", "Alerts"].map((word) =>
      <div key={word}><dt>{word}</dt><dd>…</dd></div>)}</dl>;
  }
  const known = agents.data?.agents ?? [];
  const lost = known.filter((agent) => agent.lost).length;
  const behind = known.filter((agent) => agent.batches_held >= BEHIND_BATCHES).length;
  const shedding = known.filter((agent) => agent.shedding !== "nothing").length;
  const sinks = own.sinks.filter((sink) => sink.trouble !== null);
  const free = own.disk_free_bytes;
  return (
    <dl className="health">
      <div className={lost > 0 || agents.data?.blind ? "bad" : ""}>
        <dt>Agents</dt>
        <dd><a href={to("agents")}>{grouped(own.agents_connected)} connected</a>
          {lost > 0 && <> · <b>{grouped(lost)} lost</b></>}
          {behind > 0 && <> · {grouped(behind)} behind</>}
          {shedding > 0 && <> · {grouped(shedding)} shedding</>}
          {agents.data?.blind && <> · too many fell silent at once to call any lost</>}</dd>
      </div>
      <div className={own.status === "ok" ? "" : "bad"}>
        <dt>Aggregator</dt>
        <dd>{own.status === "ok" ? "well" : <b><Wild text={own.reasons.join("; ")} /></b>}
          {free !== null && <> · {sized(free)} free</>}</dd>
      </div>
      <div className={sinks.length > 0 ? "bad" : ""}>
        <dt>Alerts</dt>
        <dd><a href={to("alerts")}>{own.sinks.length === 0 ? "no sink is set up"
          : sinks.length === 0 ? `${own.sinks.length === 1 ? "1 sink" : `${own.sinks.length} sinks`}, all well`
          : <b><Wild text={`${sinks[0]!.sink}: ${sinks[0]!.trouble}`} /></b>}</a></dd>
      </div>
    </dl>
  );
}

/** Jobs whose logs this user owns; only where there is somebody to choose. */
function UserChoice(props: { jobs: readonly Job[]; chosen: string }) {
  const { jobs, chosen } = props;
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const job of jobs) for (const user of job.users ?? []) found.set(user, (found.get(user) ?? 0) + 1);
    return found;
  }, [jobs]);
  if (counts.size < 2 && !chosen) return null;
  const names = [...new Set([...counts.keys(), ...chosen ? [chosen] : []])].sort((a, b) => a.localeCompare(b));
  return (
    <select value={chosen} aria-label="Jobs of user" onChange={(event) => setQuery({ user: event.target.value })}>
      <option value="">all users</option>
      {names.map((name) => <option key={name} value={name}>{harmless(name)} ({counts.get(name) ?? 0})</option>)}
    </select>
  );
}

function Filter(props: { route: Route; jobs: readonly Job[]; counts: Record<Kind, number>; all: number }) {
  const text = props.route.query.get("q") ?? "";
  const chosen = props.route.query.get("state") ?? "";
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="filter" role="search">
      <input ref={input} id="search" type="search" value={text} placeholder="Filter by name, user, state or sentence"
        aria-label="Filter jobs" onChange={(event) => setQuery({ q: event.target.value })} />
      <UserChoice jobs={props.jobs} chosen={props.route.query.get("user") ?? ""} />
      <div className="chips" role="group" aria-label="Show">
        <button type="button" aria-pressed={chosen === ""} onClick={() => setQuery({ state: "" })}>
          all <b>{props.all}</b></button>
        {KINDS.map(({ kind, word }) => (
          <button type="button" key={kind} aria-pressed={chosen === kind}
            disabled={props.counts[kind] === 0 && chosen !== kind}
            onClick={() => setQuery({ state: chosen === kind ? "" : kind })}>
            {word} <b>{props.counts[kind]}</b></button>
        ))}
      </div>
    </div>
  );
}

function headline(jobs: readonly Job[], counts: Record<Kind, number>): string {
  if (jobs.length === 0) return "No job is watched";
  const sick = counts.sick;
  const suspect = counts.suspect;
  const known = jobs.every((job) => job.state !== "unknown");
  if (sick + suspect === 0 && !known) return "No job is failing";
  if (sick + suspect === 0) return jobs.length === 1 ? "The job is well" : `All ${jobs.length} jobs are well`;
  if (sick === 0) return `${suspect} of ${jobs.length} jobs may be failing`;
  return jobs.length === 1 ? "The job is failing" : `${sick} of ${jobs.length} jobs ${sick === 1 ? "is" : "are"} failing`;
}

export function Fleet(props: { route: Route }) {
  const limit = useContext(LimitContext);
  const asked = useAsked("jobs", "jobs", JOBS_MS);
  const jobs = asked.data?.jobs;
  const sentences = useSentences(jobs);
  useEffect(() => {
    if (jobs) notePace(jobs, asked.at);
  }, [jobs, asked.at]);
  const sorted = useMemo(() => [...jobs ?? []].sort(bySickness), [jobs]);
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const kind = props.route.query.get("state") ?? "";
  const user = props.route.query.get("user") ?? "";
  const theirs = sorted.filter((job) => user === "" || job.users?.includes(user));
  const shown = theirs.filter((job) => (kind === "" || kindOf(job) === kind) &&
    [job.id, ...job.users ?? [], job.state, sentences.get(job.id)?.text ?? ""].join(" ").toLowerCase().includes(text));
  const [rows, rest] = useRows(shown);
  if (!jobs) return <NotYet error={asked.error} what="the fleet" again={asked.again} />;
  const counts = { ...NONE };
  for (const job of jobs) counts[kindOf(job)] += 1;
  const counted = { ...NONE };
  for (const job of theirs) counted[kindOf(job)] += 1;
  return (
    <main id="main" className="fleet">
      <div className="title">
        <h1>{headline(jobs, counts)}</h1>
        {(limit === null || limit === undefined) && <Health known={limit === null} />}
        {limit && <p className="note">Your token shows only jobs called <Wild text={limit.join(", ")} />.</p>}
      </div>
      {jobs.length > 0 && <Filter route={props.route} jobs={jobs} counts={counted} all={theirs.length} />}
      {asked.error && <Failure error={asked.error} what="What is new" />}
      {jobs.length === 0 && limit && <Empty>
        <p>None of the jobs that your token shows is watched. One appears here as soon as it writes its first log.</p>
        <p className="note">Who runs L4 can make a token for other jobs.</p></Empty>}
      {jobs.length === 0 && !limit && <Empty>
        <p>No agent has sent a line yet. A job appears here as soon as it writes its first log.</p>
        <p className="note">On the nodes, <code>l4-agent</code> must run and be connected; <code>l4 check</code> says
          what is missing.</p></Empty>}
      {jobs.length > 0 && shown.length === 0 && <Empty>
        <p>No job matches. <button type="button" className="quiet" onClick={() => setQuery({ q: "", state: "", user: "" })}>
          Show all {jobs.length}</button></p></Empty>}
      <ul className="jobs">
        {rows.map((job) => <Row key={job.id} job={job} said={sentences.get(job.id) ?? null} />)}
      </ul>
      {rest}
    </main>
  );
}
