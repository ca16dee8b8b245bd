// Where no known fault fits a failure: the known ones whose words are nearest to those of its lines.
import { idIn } from "./api";
import { handed } from "./handed";
import { percent, spoken } from "./format";
import { useAsked } from "./live";
import { Section, Wild } from "./parts";
import { to } from "./route";

const NEAR_MS = 600_000; // it changes with the library alone
const NO_JOB = "";

export function NearFaults(props: { incident: string }) {
  const asked = useAsked("near_faults", idIn("incidents/{id}/near_faults", props.incident), NEAR_MS, NO_JOB);
  const rows = asked.data?.faults ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title="The nearest known faults" note="by the words that they share with these events; where to look, not what it is">
      <ul className="plain near">{rows.map(({ fault, likeness, shared, template }) => (
        <li key={fault.id}><p>{handed ? <b><Wild text={fault.title} /></b> : <a href={to("faults", fault.id)}><Wild text={fault.title} /></a>} <span className="note">{
          spoken(fault.category)} · {percent(likeness)} of the weight of their words</span></p>
          <p className="note">shares {shared.map((word, i) => <span key={word}>{i > 0 && ", "}<b><Wild text={word} /></b></span>)} with <Wild
            className="said" text={template.split("<*>").join("⋯")} /></p></li>))}</ul>
    </Section>
  );
}
