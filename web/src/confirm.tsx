// Telling L4 what an incident was: what would be stored is shown before it is.
import { useState } from "react";
import type { FormEvent } from "react";
import { ApiError, idIn, post } from "./api";
import type { Confirmed, Incident } from "./api_types";
import { counted, harmless, spoken } from "./format";
import { Section, Wild, useOperatesSite } from "./parts";
import { to } from "./route";

const ALSO_MAX = 8; // incidents that are named

interface Outcome { outcome: "success" | "failure"; why_not: string; removed: string[] }

function Found(props: { found: Confirmed }) {
  const { found } = props;
  const { looked_at: seen } = found;
  return (
    <div className="box found" role="status">
      <p><b>{found.stored ? "Stored:" : found.known ? "This is known already:" : "This would be stored:"}</b>{" "}
        <Wild text={found.fault.title} /> <span className="note">{found.fault.category}</span></p>
      {(found.fault.patterns ?? []).map((pattern, i) => <pre key={i} className="raw"><Wild text={pattern} /></pre>)}
      <p className="note">It matches {counted(found.evidence.length, "event")} of this incident and none of {
        counted(seen.templates, "template")} of {counted(seen.jobs + seen.runs, "healthy job")}{!seen.complete
        && ", not all of which could be looked at"}.</p>
      {found.also_matches.length > 0 && <p>It would also have answered {counted(found.also_matches.length,
        "incident")} of the past: {found.also_matches.slice(0, ALSO_MAX).map((past, i) => <span key={past.incident}>{i > 0 && ", "}<a
          href={to("incidents", past.incident)}><Wild text={past.job} /></a> <span className="note">{spoken(past.state)}</span></span>)}
        {found.also_matches.length > ALSO_MAX && " and more"}</p>}
      {found.overlaps.length > 0 && <p>Known faults that match some of the same lines: <Wild
        text={found.overlaps.join(", ")} /></p>}
      {found.stored && <p><a href={to("faults", found.fault.id)}>The fault</a></p>}
    </div>
  );
}

/** What can be told; for who may only read, how it is told on a terminal. */
export function Tell(props: { incident: Incident }) {
  const { incident } = props;
  const may = useOperatesSite();
  const [cause, setCause] = useState("");
  const [fix, setFix] = useState("");
  const [found, setFound] = useState<Confirmed | null>(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const settled = (work: Promise<string>) => {
    setBusy(true);
    setSaid("");
    work.then(setSaid, (error: unknown) => setSaid(error instanceof ApiError ? `${error.message}.` : String(error)))
      .finally(() => setBusy(false));
  };
  const confirm = (dry: boolean) => settled(post<Confirmed>("faults",
    { incident: incident.id, cause, fix, dry_run: dry }).then((answer) => {
    setFound(answer);
    return "";
  }));
  const tell = (outcome: "success" | "failure") => settled(post<Outcome>(idIn("jobs/{id}/outcome", incident.job),
    { outcome }).then((answer) => outcome === "success"
    ? `Noted: it went well.${answer.why_not ? ` ${answer.why_not}.` : " Later jobs are compared with it."}`
    : `Noted: it failed. ${answer.removed.length > 0 ? `${counted(answer.removed.length, "run")} left the pool.` : ""}`));
  if (!may) {
    return <Section title="Tell L4" note="with a token of the role operate that is not limited to jobs">
      <p><code className="block">l4 faults confirm {harmless(incident.id)} --cause '…' --fix '…' --dry-run</code></p>
      <p className="note">What you confirm is known in the next job.</p>
    </Section>;
  }
  return (
    <Section title="Tell L4" note="what you confirm is known in the next job">
      <form className="tell" onSubmit={(event: FormEvent) => { event.preventDefault(); confirm(true); }}>
        <label htmlFor="cause">What was the cause?</label>
        <textarea id="cause" rows={2} maxLength={2_000} value={cause}
          onChange={(event) => { setCause(event.target.value); setFound(null); }} />
        <label htmlFor="fix">What repairs it?</label>
        <textarea id="fix" rows={2} maxLength={2_000} value={fix}
          onChange={(event) => { setFix(event.target.value); setFound(null); }} />
        <div className="buttons">
          <button type="submit" disabled={busy || !cause.trim() || !fix.trim()}>Show what would be stored</button>
          {found && !found.stored && !found.known && <button type="button" className="main" disabled={busy}
            onClick={() => confirm(false)}>Store it</button>}
          <span className="note">or the whole job</span>
          <button type="button" className="quiet" disabled={busy} onClick={() => tell("failure")}>failed</button>
          <button type="button" className="quiet" disabled={busy} onClick={() => tell("success")}>went well</button>
        </div>
      </form>
      <p role="status" className={said.startsWith("Noted") ? "note" : "warn"}><Wild text={said} /></p>
      {found && <Found found={found} />}
    </Section>
  );
}
