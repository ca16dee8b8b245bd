// Healthy runs that jobs are compared with: a list with a search.
import type { PoolRun } from "./api_types";
import { counted, grouped, harmless } from "./format";
import { Search } from "./lists";
import { useAsked } from "./live";
import { Empty, NotYet, Time, Wild, useRows } from "./parts";
import type { Route } from "./route";

const POOL_MS = 30_000;
/** Who said that a run ended well. */
const ORIGINS: Record<PoolRun["origin"], string> = {
  logs: "its own last lines", outcome: "a reported outcome", folder: "a folder of runs",
};

export function Pool(props: { route: Route }) {
  const asked = useAsked("pool", "pool", POOL_MS);
  const rows = asked.data?.runs;
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const found = (rows ?? []).filter((run) => `${run.run} ${run.kind ?? ""} ${ORIGINS[run.origin]}`.toLowerCase().includes(text));
  const [shown, rest] = useRows(found);
  if (!rows) return <NotYet error={asked.error} what="the pool" again={asked.again} />;
  return (
    <main id="main">
      <div className="title"><h1>{rows.length === 0 ? "No healthy run is kept" : counted(rows.length, "healthy run")}</h1></div>
      {rows.length === 0 ? <Empty><p>A job that ends well joins the pool; later jobs of its kind are compared with it, so that
        what is usual for them is not taken for a fault.</p><p className="note">If its logs do not say how it ended,{" "}
        <code>l4 outcome JOB success</code> does.</p></Empty> : <>
        <Search route={props.route} what="runs" />
        {found.length === 0 ? <Empty><p>No run matches.</p></Empty>
          : <div className="scroll"><table>
            <thead><tr><th>Run</th><th>Ended</th><th className="right">Nodes</th><th className="right">Ranks</th>
              <th className="right">Lines</th><th className="right">Known events</th><th>Well, says</th></tr></thead>
            <tbody>{shown.map((run) => <tr key={run.run}>
              <td><b><Wild text={run.job} /></b>{run.attempt > 0 && <span className="note"> attempt {run.attempt}</span>}
                {run.kind && <div className="note" title="Jobs of this kind are compared with it">kind {harmless(run.kind)}</div>}</td>
              <td data-label="ended"><Time at={run.ended} /></td><td className="right" data-label="nodes">{grouped(run.nodes)}</td>
              <td className="right" data-label="ranks">{grouped(run.ranks)}</td><td className="right" data-label="lines">{grouped(run.lines)}</td>
              <td className="right" data-label="known events">{run.events_known === undefined ? "–" : grouped(run.events_known)}</td>
              <td className="note" data-label="well, says">{ORIGINS[run.origin]}</td></tr>)}</tbody></table></div>}
        {rest}
      </>}
    </main>
  );
}
