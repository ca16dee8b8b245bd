// Reports of a job that were kept when an incident opened or somebody asked, and the way to each of them.
import { idIn } from "./api";
import { millis } from "./format";
import { useAsked } from "./live";
import { Time } from "./parts";
import { setQuery } from "./route";

const KEPT_MS = 60_000;
const SHOWN = 8;

export function KeptReports(props: { job: string; at: number }) {
  const asked = useAsked("snapshots", `${idIn("jobs/{id}/snapshots", props.job)}?count=${SHOWN}`, KEPT_MS, props.job);
  const rows = asked.data?.snapshots ?? [];
  if (rows.length === 0) return null;
  return (
    <span className="chips" role="group" aria-label="Reports that were kept">
      <span className="note">kept</span>
      {[...rows].reverse().map((row) => <button type="button" key={row.id} aria-pressed={millis(row.at) === props.at}
        title={row.why === "incident" ? "when an incident opened" : `asked for by ${row.who}`}
        onClick={() => setQuery({ at: row.at })}><Time at={row.at} /></button>)}
    </span>
  );
}
