// A report as one file: verdict, suspects, story, events and map on one page, without an aggregator.
import { useEffect, useMemo, useState } from "react";
import type { Node } from "./api_types";
import { harmless, spoken } from "./format";
import { handedText } from "./handed";
import type { Handed } from "./handed";
import { Accusations, Story, isExplained, storyOf } from "./incident";
import { LinesPanel, useLines } from "./lines";
import { NodeMap } from "./map";
import { NearFaults } from "./near";
import { Copy, Section, Wild } from "./parts";
import { Events, KnownFault, Notable, Read, Suspects, Verdict } from "./report";
import { useRoute } from "./route";

const STORY_MIN = 2; // steps from which on their order tells something

function Text() {
  const [open, setOpen] = useState(false);
  if (!handedText) return null;
  return (
    <Section title="As text" note={<Copy what="the report" text={handedText} />}>
      <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>{
        open ? "▾" : "▸"} The report as a terminal shows it</button>
      {open && <pre className="text" tabIndex={0} role="region" aria-label="The report as text">{harmless(handedText)}</pre>}
    </Section>
  );
}

export function ReportFile(props: { handed: Handed }) {
  const { report, scores, nodes } = props.handed;
  const route = useRoute();
  const [lines, setLines] = useLines(route);
  useEffect(() => { document.title = `${spoken(report.verdict.state)} · ${harmless(report.job.id)}`; }, [report]);
  const byName = useMemo(() => new Map<string, Node>(nodes.nodes.map((node) => [node.node, node])), [nodes]);
  const steps = storyOf(null, report, null);
  return (
    <main id="main" className={lines ? "beside" : ""}>
      <p className="crumbs"><b><Wild text={report.job.id} /></b>
        <Wild className="from" text={`report of l4 ${report.generator.version}`} /></p>
      <Verdict report={report} />
      <div className="pair">
        <KnownFault report={report} />
        <Suspects report={report} ask={setLines} />
      </div>
      {!isExplained(report) && report.events.length > 0 && <NearFaults incident={report.job.id} />}
      {steps.length >= STORY_MIN && <Section title="What happened"><Story steps={steps} ask={setLines} /></Section>}
      <Accusations report={report} />
      {scores.length > 0 && <NodeMap job={null} id={report.job.id} report={report} nodes={byName} route={route} ask={setLines} />}
      <Events report={report} ask={setLines} />
      <Notable report={report} />
      <Read report={report} />
      <Text />
      {lines && <LinesPanel key={JSON.stringify(lines)} job={report.job.id} query={lines} close={() => setLines(null)} />}
    </main>
  );
}
