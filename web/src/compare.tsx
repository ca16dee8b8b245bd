// An incident beside a healthy run of the pool: which of its lines a run that went well prints, too.
import { idIn } from "./api";
import type { PoolRun, Report } from "./api_types";
import { counted, grouped, percent, spoken } from "./format";
import { useAsked } from "./live";
import { Section, Wild } from "./parts";
import { setQuery, to, useRoute } from "./route";

const POOL_MS = 300_000;
const EVENTS_MAX = 12;

/** The run that is most like the job: of as many nodes, and the newest of those. */
function likest(runs: readonly PoolRun[], nodes: number): PoolRun | undefined {
  const far = (run: PoolRun) => Math.abs(Math.log(Math.max(run.nodes, 1) / Math.max(nodes, 1)));
  return [...runs].sort((a, b) => far(a) - far(b) || Date.parse(b.ended) - Date.parse(a.ended))[0];
}

function perNode(lines: number, nodes: number): string {
  return grouped(lines / Math.max(nodes, 1));
}

function Beside(props: { report: Report; run: PoolRun }) {
  const { report, run } = props;
  const asked = useAsked("pool_run", idIn("pool/{id}", run.run), POOL_MS, "");
  const whole = asked.data?.runs[0];
  const known = (id: string, text: string) => (whole?.events ?? []).find((one) => one.id === id || one.template === text);
  const shown = report.events.slice(0, EVENTS_MAX);
  const rest = report.events.length - shown.length;
  return <>
    <p className="note">This job: {counted(report.job.nodes, "node")}, {counted(report.job.ranks, "rank")}, {perNode(report.job.lines,
      report.job.nodes)} lines a node. The healthy one: {counted(run.nodes, "node")}, {counted(run.ranks, "rank")}, {perNode(run.lines,
      run.nodes)} lines a node.</p>
    {asked.error && <p className="warn"><Wild text={asked.error.message} /></p>}
    {whole && <div className="scroll compare"><table>
      <thead><tr><th>Line</th><th className="right">Here</th><th>In the healthy run</th></tr></thead>
      <tbody>{shown.map((event) => {
        const usual = known(event.template_id, event.template);
        return <tr key={event.template_id}><td><span className={`role ${event.role}`}>{event.role}</span> <Wild className="template"
          text={event.template} /></td>
          <td className="right" data-label="here">{counted(event.count, "time")}</td>
          <td data-label="in the healthy run">{usual ? <>on {percent(usual.node_share)} of the nodes, at most {counted(
            usual.node_count_max, "time")} on one</> : <b>never</b>}</td></tr>;
      })}</tbody></table></div>}
    {whole && rest > 0 && <p className="note">and {counted(rest, "more line")}</p>}
    {whole && report.events.length === 0 && <p className="note">No line tells of the failure, so there is none to compare.</p>}
    {whole && (whole.pauses ?? []).length > 0 && <p className="note">Its longest pause between lines: {whole.pauses!.map((pause) =>
      `${spoken(pause.stage || "training")}${pause.startup ? " at the start" : ""} ${grouped(pause.longest_ms / 1_000)} s`).join(", ")}.</p>}
  </>;
}

export function Compare(props: { report: Report }) {
  const { report } = props;
  const asked = useAsked("pool", "pool?count=1000", POOL_MS, "");
  const chosen = useRoute().query.get("run");
  const runs = asked.data?.runs;
  if (!runs) return null;
  const run = runs.find((one) => one.run === chosen) ?? likest(runs, report.job.nodes);
  return (
    <Section title="Compared with a healthy run" note={run && <label>run <select value={run.run}
      onChange={(event) => setQuery({ run: event.target.value })}>{runs.map((one) =>
        <option key={one.run} value={one.run}>{one.run}</option>)}
      </select></label>}>
      {run ? <Beside key={run.run} report={report} run={run} /> : <p className="note">No healthy run is kept yet. A job that ends well
        joins <a href={to("pool")}>the pool</a>.</p>}
    </Section>
  );
}
