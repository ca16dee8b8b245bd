// Written by tools/page_types from schemas/openapi.yaml and schemas/report.schema.json.

/** What requests answer, by operationId. */
export interface Answers {
  /** GET /api/v1/jobs */
  jobs: {
    jobs: Job[];
    next: Next;
  };
  /** GET /api/v1/jobs/{id} */
  job: Job;
  /** GET /api/v1/jobs/{id}/snapshot */
  snapshot: Report;
  /** GET /api/v1/jobs/{id}/brief */
  brief: Brief;
  /** GET /api/v1/jobs/{id}/snapshots */
  snapshots: {
    snapshots: Snapshot[];
    next: Next;
  };
  /** GET /api/v1/jobs/{id}/nodes */
  nodes: {
    job: string;
    attempt: number;
    nodes: Node[];
    next: Next;
  };
  /** GET /api/v1/jobs/{id}/iterations */
  iterations: {
    job: string;
    attempt: number;
    /** the last that was completed */
    iteration: number | null;
    iterations: Iteration[];
    next: Next;
  };
  /** GET /api/v1/jobs/{id}/scores */
  scores: Scores;
  /** GET /api/v1/jobs/{id}/scores/terms */
  score_terms: ScoreTerms;
  /** GET /api/v1/jobs/{id}/nics */
  nics: Nics;
  /** GET /api/v1/jobs/{id}/flows */
  job_flows: {
    job: string;
    /** flow records are received */
    on: boolean;
    flows: FlowJob[];
  };
  /** GET /api/v1/flows */
  flows: {
    /** flow records are received */
    on: boolean;
    flows: FlowJobRow[];
    next: Next;
  };
  /** GET /api/v1/jobs/{id}/lines */
  lines: Lines;
  /** GET /api/v1/pool */
  pool: PoolPage;
  /** GET /api/v1/pool/{id} */
  pool_run: Pool;
  /** GET /api/v1/agents */
  agents: {
    /** too many agents fell silent at once for any to be called lost */
    blind: boolean;
    agents: Agent[];
    next: Next;
  };
  /** GET /api/v1/status */
  status: Status;
  /** GET /api/v1/alerts */
  alerts: {
    alerts: Delivery[];
    next: Next;
  };
  /** GET /api/v1/incidents */
  incidents: {
    incidents: Incident[];
    next: Next;
  };
  /** GET /api/v1/incidents/{id} */
  incident: Incident;
  /** GET /api/v1/incidents/{id}/brief */
  incident_brief: IncidentBrief;
  /** GET /api/v1/incidents/{id}/near_faults */
  near_faults: {
    faults: NearFault[];
  };
  /** GET /api/v1/labels */
  labels: {
    schema: "l4.labels/1";
    labels: Label[];
    next: Next;
  };
  /** GET /api/v1/maintenance */
  maintenance: {
    maintenance: Maintenance[];
    next: Next;
  };
  /** GET /api/v1/faults */
  faults: {
    faults: Fault[];
    next: Next;
  };
  /** GET /api/v1/faults/{id} */
  fault: Fault;
  /** GET /api/v1/session */
  session: Session;
}

/** for `after`; null if there are no more */
export type Next = string | null;

export interface Snapshot {
  id: string;
  job: string;
  at: string;
  why: "incident" | "asked";
  /** the incident's id, or the name of the token */
  who: string;
  state: string;
}

export interface Brief {
  report: Report;
  /** how many there are in all */
  whole: {
    nodes: Count;
    ranks: Count;
    warnings: Count;
    /** nodes that print a consequence */
    consequence_nodes: number;
    /** of each event, in the order of the report */
    event_nodes: Count[];
  };
}

export type Time = string;

export type TimeOrNull = string | null;

export type Count = number;

export type State = "unknown" | "healthy" | "finished" | "crashed" | "hung" | "slow" | "node_lost" | "launch_failed";

export interface Error {
  error: {
    /** a word for programs, such as not_found */
    code: string;
    /** a sentence for people */
    message: string;
    /** of 422: lines that are no failure and would be taken for one */
    lines?: {
      /** a job, or an entry of the fault library */
      where: string;
      text: string;
    }[];
  };
}

export interface Session {
  /** name of the token; local without tokens */
  who: string;
  role: "read" | "operate";
  /** a cookie and no token came with the request, so one can sign out */
  by_cookie: boolean;
  /** patterns of the jobs that the token is limited to; null: all jobs */
  jobs: string[] | null;
}

export interface Health {
  status: "ok" | "degraded";
  reasons: string[];
}

export interface Ready {
  status: "ready" | "not_ready";
  reasons: string[];
}

export interface Job {
  id: string;
  attempt: number;
  state: State;
  /** that the state is right; null without a report */
  confidence?: number | null;
  /** a failure is suspected and not yet confirmed */
  suspect: boolean;
  /** nobody writes any more */
  ended?: boolean;
  /** when the state began */
  since: TimeOrNull;
  stage: string | null;
  iteration: number | null;
  /** what an iteration took lately, oldest first, by stretches that the times of lines can tell; empty where none print any */
  course_ms?: number[];
  nodes: Count;
  ranks: Count;
  /** ranks of the newest attempt of which the process or a log is known */
  ranks_mapped: Count;
  /** how many it should have; null where no process says */
  ranks_expected: number | null;
  /** owners of its log files, as its nodes name them, a number where they do not; by name, empty where no agent tells */
  users?: string[];
  sources: Count;
  lines: Count;
  /** of its lines */
  begin: TimeOrNull;
  /** newest batch of it */
  last_seen: TimeOrNull;
  /** id of its open incident */
  incident: string | null;
  /** bytes parsed of those known */
  completeness: number;
  /** how much differs and harms nothing, in the newest report */
  notices?: Count;
  /** the newest of it, a sentence */
  notice?: string | null;
  /** who looks after its open incident */
  acknowledged_by?: string | null;
  /** it is in maintenance: nobody is alerted */
  silent_until?: TimeOrNull;
}

export interface Agent {
  /** name of its node */
  agent: string;
  address: string;
  /** its version */
  software: string;
  connected: boolean;
  /** its node counts as lost */
  lost: boolean;
  /** it came with the key that a fleet shares */
  fleet_key: boolean;
  files: Count;
  /** sent and not yet stored */
  batches_in_flight: Count;
  /** kept by the agent */
  batches_held: Count;
  bytes_held: Count;
  shedding: "nothing" | "examples" | "order" | "parameters" | "counts";
  heard: TimeOrNull;
  /** by how much its clock is ahead */
  offset_ms: number | null;
  /** of its messages */
  delay_ms: number | null;
  /** what its sources miss, a sentence each */
  hints?: string[];
}

export interface Sink {
  /** its name */
  sink: string;
  kind: string;
  /** when something was last sent, a test included; null: not since the start */
  tried: TimeOrNull;
  /** why the last try failed */
  trouble: string | null;
  /** alerts that it has taken since the start */
  posted: Count;
  /** tries that failed */
  failures: Count;
  /** alerts that could not be kept */
  dropped: Count;
  /** alerts that are due */
  waiting: Count;
}

export interface Delivery {
  id: string;
  sink: string;
  /** waiting: not taken yet; lost: it could not be kept */
  status: "waiting" | "taken" | "lost";
  /** as `alert` in l4.alert/1: opened, changed, resolved and so on */
  event: string | null;
  /** its id */
  incident: string | null;
  job: string | null;
  /** what it says */
  text: string;
  created: Time;
  /** when it was last sent */
  tried: TimeOrNull;
  /** of one that waits: it is not sent before */
  next: TimeOrNull;
  /** tries that failed since it was last taken */
  failures: Count;
  /** how many times; an open alert is sent again to an Alertmanager */
  taken: Count;
  /** why the last try failed */
  trouble: string | null;
}

export interface SinkTest {
  sink: string;
  kind: string;
  /** it has taken the test alert */
  took: boolean;
  /** why not */
  error: string | null;
  /** how long it took */
  ms: Count;
}

export interface Status {
  /** its version */
  software: string;
  started: Time;
  now: Time;
  status: "ok" | "degraded";
  reasons: string[];
  /** where its state is */
  folder: string;
  /** size of the file system of the folder */
  disk_bytes: number | null;
  disk_free_bytes: number | null;
  journal_bytes: Count;
  /** beyond it no batch is taken */
  journal_bytes_max: Count;
  agents_known: Count;
  agents_connected: Count;
  agents_lost: Count;
  /** silence after which an agent is called lost */
  lost_after_ms: Count;
  /** names that may connect and were not heard since the start, or for more than an hour; null: not known who may */
  absent: string[] | null;
  sinks: Sink[];
}

export interface Node {
  node: string;
  /** who ships for it */
  agents: string[];
  ranks: number[];
  sources: Count;
  /** a folded traceback counts once */
  records: Count;
  /** the last that a rank of it completed */
  iteration: number | null;
  /** newest time printed */
  last_line: TimeOrNull;
  /** as in the report; 0 where nothing speaks against it */
  score: number;
  /** P(this node is faulty) */
  confidence: number;
  why: string[];
  /** it is in maintenance: nobody is alerted */
  silent_until?: TimeOrNull;
}

/** Scores of rows over columns of equal width. nodes: nats, by how much the counts of the node's lines differ from its own past and its peers; 2 ln N is one new line on one of N nodes, and 3 ln N an alarm. ranks: ln(duration of an iteration / what is usual for the rank), at least 0. phases: the same of a timer that the rank's lines print. */
export interface Scores {
  job: string;
  /** the newest */
  attempt: number;
  what: "nodes" | "ranks" | "phases";
  by: "time" | "iteration";
  /** score of one step of a cell: 0.25 nats of nodes, 0.02 of ranks and phases */
  step: number;
  /** where each begins */
  columns: Place[];
  /** of the last column */
  end: Place | null;
  /** by column, over all ranks. ranks: one, what an iteration takes; phases: the 12 that take longest, longest first; nodes: none */
  course: Course[];
  /** by the largest score, worst first */
  rows: ScoreRow[];
  /** rows that follow */
  left_out: number;
}

export interface Course {
  /** null: the whole iteration */
  phase: string | null;
  /** of the iterations of a column; null: none is known */
  mean_ms: (number | null)[];
  /** the longest of them */
  most_ms: (number | null)[];
}

/** The terms of one score. nodes: `lines`, an event each, whose nats sum up to the score; ranks and phases: `laps`, the iteration of the column that stands out most in each rank, whose largest score is that of the cell. */
export interface ScoreTerms {
  job: string;
  /** the newest */
  attempt: number;
  what: "nodes" | "ranks" | "phases";
  by: "time" | "iteration";
  node: string;
  begin: Place;
  end: Place;
  score: number;
  /** of the job */
  nodes: number;
  /** largest first */
  lines: LineTerm[];
  /** slowest first */
  laps: LapTerm[];
  /** terms that follow */
  left_out: number;
  /** of nodes: their sum */
  left_out_score: number;
}

export interface LineTerm {
  template_id: string;
  /** cut at 4 */
  template: string;
  level: string;
  /** new: no node printed it before, and few do; burst: rare, and more often than ever; more, fewer: than expected */
  departure: "new" | "burst" | "more" | "fewer";
  /** in the column; a part of it where windows of the past were joined */
  count: number;
  /** in the column, if the node kept its share */
  expected: number;
  /** past: of the node's own, where no peers print it */
  expected_by: "peers" | "past";
  /** the largest count of any node in an earlier column */
  largest_before: number;
  /** count of the middle one of the other nodes */
  peers_median: number;
  /** nodes that it surprises of, this one included */
  nodes_alike: number;
  /** how surprising the count is */
  strength: number;
  /** strength x ln(nodes / nodes_alike) */
  nats: number;
}

export interface LapTerm {
  rank: number | null;
  /** null: the whole iteration */
  phase: string | null;
  iteration: number;
  ms: number;
  /** median of the rank's iterations */
  usual_ms: number;
  /** what the lines can tell apart: 1,000 where they print whole seconds */
  exact_ms: number;
  /** ln of (ms + exact_ms) / (usual_ms + exact_ms) */
  score: number;
  /** the same iteration on the middle one of the ranks of other nodes */
  peers_ms: number | null;
  /** how many these are */
  peers: number;
}

/** what counters of network cards say of a job; they see activity to a tenth of a second */
export interface Nics {
  job: string;
  /** the newest */
  attempt: number;
  /** a step lately; null: nothing repeats */
  period_s: number | null;
  /** a step before that */
  period_before_s: number | null;
  /** longer without data is silence */
  deadline_s: number;
  /** all cards that carried the job */
  silent: boolean;
  silent_since: string | null;
  /** cards that sent no more, or went out of sight, before the others stopped; empty: all stopped together */
  first: {
    node: string;
    nic: string;
  }[];
  /** by how much they sent no more before; null: out of sight */
  lead_s: number | null;
  slowed: boolean;
  /** time of a step to that before, by bytes a second */
  slow_ratio: number;
  nics: Nic[];
  /** cards beyond 1 MiB of answer */
  left_out: number;
}

export interface Nic {
  node: string;
  /** eth0, or device and port: mlx5_0/1 */
  nic: string;
  kind: "ethernet" | "infiniband";
  driver: string | null;
  pci: string | null;
  rate_mbps: number | null;
  /** that use it, as far as known */
  ranks: number[];
  ranks_by: "none" | "pci_distance" | "nccl_lines" | "only_card";
  activity: "idle" | "active" | "silent" | "unknown";
  known_until: string | null;
  last_active: string | null;
  last_sent: string | null;
  /** null also where it was not taken: of 16 cards at most */
  period_s: number | null;
  /** both directions */
  bytes_per_s: number;
  /** of bytes_per_s in the last half minute of activity */
  recent_part: number | null;
  /** counters of errors and congestion that rose */
  rises: {
    counter: string;
    /** of the link or the card; else congestion */
    fault: boolean;
    rise: number;
    first: string;
    last: string;
  }[];
}

/** a job that flow records show */
export interface FlowJobRow {
  /** a name: flows-1 */
  id: string;
  /** of the topology; empty: not known */
  servers: string[];
  /** of the transfers that are known */
  first: string;
  last: string;
  /** it should have sent */
  silent: boolean;
  /** a typical step; null: no step clock */
  period_s: number | null;
  /** sizes of parallelism, where they can be told */
  strategy: {
    tensor: number;
    pipeline: number;
    data: number;
    context: number;
  } | null;
  cards: number;
  groups: number;
  findings: number;
}

/** a job that flow records show, with a lane for each group of its cards */
export interface FlowJob {
  /** a name: flows-1 */
  id: string;
  /** of the topology; empty: not known */
  servers: string[];
  /** of the transfers that are known */
  first: string;
  last: string;
  /** it should have sent */
  silent: boolean;
  /** a typical step; null: no step clock */
  period_s: number | null;
  /** sizes of parallelism, where they can be told */
  strategy: {
    tensor: number;
    pipeline: number;
    data: number;
    context: number;
  } | null;
  /** addresses */
  cards: string[];
  groups: FlowGroup[];
  pairs: {
    src: string;
    dst: string;
    labels: FlowLabel[];
  }[];
  /** not judged, since records of them were lost */
  lossy_steps: number;
  /** the latest */
  steps: FlowStep[];
  findings: FlowFinding[];
}

/** data, pipeline, context or expert parallelism */
export type FlowLabel = "DP" | "PP" | "CP" | "EP";

/** cards that exchange together */
export interface FlowGroup {
  label: FlowLabel;
  /** in a step; 0: no step clock */
  collectives: number;
  cards: string[];
}

export interface FlowStep {
  begin: string;
  /** microseconds behind begin */
  end_us: number;
  slow: boolean;
  /** of each group, in the order of groups: first start and end of its exchange, in microseconds behind begin; null: not known */
  lanes: (number[] | null)[];
}

export interface FlowFinding {
  kind: "slow_gpu" | "imbalance" | "degraded_link" | "congested_switch" | "pause" | "data_stall" | "hang" | "crash" | "stopped";
  /** when it could be told */
  at: string;
  /** begin of the first step concerned, or the last sign of life */
  since: string;
  /** servers, cards or switches that explain it equally well; empty: not known */
  place: string[];
  ambiguous: boolean;
  /** by which the step, or the transfer, takes longer */
  factor: number;
  /** concerned so far */
  steps: number;
}

/** a time, or the number of an iteration; numbers go on where lines begin anew at an epoch */
export type Place = string | number;

export interface ScoreRow {
  node: string;
  rank: number | null;
  /** name of the timer */
  phase: string | null;
  /** a byte a column: steps from 0 on, 254 stands for all beyond, 255: not known */
  cells: string;
}

export interface Lines {
  job: string;
  agents_asked: Count;
  /** those that answered in full */
  agents_answered: Count;
  /** lines of which something was blotted out */
  redacted: Count;
  /** of logs */
  bytes_read: Count;
  /** nothing is missing */
  complete: boolean;
  /** by agent and log, in the order of the log */
  lines: Line[];
  missing: Missing[];
}

export interface Line {
  node: string;
  rank: number | null;
  agent: string;
  /** path on the node, of the rotated or packed file too */
  file: string;
  /** from 1; null where the file was not read from its begin */
  line: number | null;
  /** of its first byte in the unpacked text */
  offset: Count;
  /** as printed */
  time: TimeOrNull;
  /** asked for; else context */
  hit: boolean;
  /** it goes on */
  cut: boolean;
  /** as it stands in the file but for [redacted]; U+FFFD for what is no UTF-8 */
  text: string;
}

export interface Missing {
  kind: "other" | "not_followed" | "none_left" | "older" | "fewer" | "no_time" | "unreadable" | "limit_lines" | "limit_bytes" | "limit_read" | "limit_time" | "limit_agents" | "busy" | "off" | "not_connected" | "too_old" | "no_answer" | "left";
  /** null for all */
  agent: string | null;
  node: string | null;
  file: string | null;
  /** a sentence for people */
  text: string;
}

export interface Iteration {
  iteration: number;
  score: number;
  begin: TimeOrNull;
  end: TimeOrNull;
  nodes: string[];
  /** template ids */
  events: string[];
}

export interface Label {
  /** the id of the incident, or `job ` and the id of the job */
  subject: string;
  job: string;
  /** claims of one source are not independent: a fault, or the job */
  source: string;
  who: string;
  told: Time;
  truth: {
    /** failure: of a job whose outcome was told */
    state?: string;
    nodes?: string[];
    rank?: number;
    template?: string;
    fault?: string;
  };
  claims: {
    of: "state" | "node" | "event";
    name: string;
    confidence: number;
    right: boolean;
    grounds: {
      kind: string;
      value: number;
    }[];
  }[];
}

export interface NearFault {
  fault: Fault;
  /** of the words by their weight; 1: the same words */
  likeness: number;
  /** words of both, rarest first */
  shared: string[];
  /** the event that is most like it */
  template_id: string;
  /** cut at 4 */
  template: string;
}

export interface Fault {
  id: string;
  title: string;
  family: string;
  category: "hardware" | "user" | "framework" | "platform";
  subcategory: string;
  scope: string;
  severity: string;
  /** usually follows another fault */
  consequence: boolean;
  /** null for one that ships */
  confirmed: {
    /** name of the token, or local */
    by: string;
    at: Time;
    incident: string;
  } | null;
  /** this and what follows: of one that is asked for by id */
  timeout?: boolean;
  setup?: boolean;
  accuses_peer?: boolean;
  /** says that something failed, not what */
  general?: boolean;
  /** who or which limit stopped the job; empty: nobody did */
  stopped_by?: string;
  patterns?: string[];
  unless?: string[];
  parameters?: Record<string, string[]>;
  cause?: string;
  fix?: string;
  action?: string;
  /** lines that show it */
  matches?: string[];
  /** lines that look alike and do not */
  rejects?: string[];
}

export interface Pool {
  schema: "l4.pool/1";
  runs: PoolRun[];
  /** passed over */
  next?: Next;
}

export interface PoolPage {
  schema: "l4.pool/1";
  runs: PoolRun[];
  next: Next;
}

export interface PoolRun {
  /** JOB.ATTEMPT */
  run: string;
  job: string;
  attempt: number;
  /** found by the aggregator; passed over where it is posted */
  kind?: string;
  /** who said that it ended well */
  origin: "logs" | "outcome" | "folder";
  ended: Time;
  nodes: Count;
  ranks: Count;
  lines: Count;
  /** events beyond the bound */
  left_out: Count;
  events_known?: Count;
  /** so many times as long took its iterations from some on */
  slowed?: number;
  events?: {
    id: string;
    template: string;
    level: string;
    /** most on one node */
    node_count_max: Count;
    /** most for a line of a node */
    node_rate_max: number;
    /** nodes that print it */
    node_share: number;
  }[];
  pauses?: {
    stage: string;
    /** before the first iteration */
    startup: boolean;
    longest_ms: Count;
  }[];
}

export interface Confirmation {
  incident: string;
  /** what happened */
  cause: string;
  /** what repairs it */
  fix: string;
  /** what to do at once; the fix without it */
  action?: string;
  /** CATEGORY/SUBCATEGORY; guessed without it */
  category?: string;
  /** one line; the message without it */
  title?: string;
  id?: string;
  /** id of the event that tells of it */
  template?: string;
  /** a whole line, as it stands in a log */
  example?: string;
  /** instead of the distilled one */
  patterns?: string[];
  /** store nothing */
  dry_run?: boolean;
}

export interface Confirmed {
  stored: boolean;
  /** the same was confirmed before; nothing was done */
  known: boolean;
  /** given, known_fault, likeness, assumed */
  category_from: string;
  fault: Fault;
  /** events of the incident that it matches */
  evidence: Record<string, unknown>[];
  /** incidents of the past that it would have answered */
  also_matches: {
    incident: string;
    job: string;
    state: State;
    template: string;
  }[];
  /** known faults some of whose lines it matches */
  overlaps: string[];
  looked_at: {
    /** newest of the past */
    incidents: Count;
    /** healthy ones in memory, and this one before it failed */
    jobs: Count;
    /** healthy ones in the pool */
    runs: Count;
    /** of theirs */
    templates: Count;
    /** false where a bound kept it from looking at all that they print */
    complete: boolean;
  };
}

export interface Maintenance {
  id: string;
  kind: "job" | "node";
  /** of the names of jobs or nodes */
  pattern: string;
  who: string;
  why: string;
  began: Time;
  until: Time;
  /** when a person ended it before its time */
  ended: TimeOrNull;
  ended_by: string | null;
  /** it is not over */
  active: boolean;
  /** of which it has held back an alert */
  incidents: Count;
}

export interface Incident {
  id: string;
  job: string;
  attempt: number;
  status: "open" | "resolved";
  state: string;
  opened: Time;
  updated: Time;
  resolved: TimeOrNull;
  /** who looks after it */
  acknowledged_by?: string | null;
  /** since when */
  acknowledged_at?: TimeOrNull;
  acknowledged_note?: string | null;
  /** id of the maintenance that held back an alert of it, or that its job is in */
  maintenance?: string | null;
  /** of one that is asked for by id: the report, or null */
  report?: unknown;
  /** of one that is asked for by id: what led to it, or null */
  evidence?: unknown;
}

export interface IncidentBrief {
  /** without report and evidence */
  incident: Incident;
  /** the head of its report: of lists of nodes, warnings and files the first 32; null if it cannot be read */
  brief: Brief | null;
  /** what led to it, without the report at the opening, or null */
  evidence: unknown;
}

export interface Report {
  schema: "l4.report/2" | "l4.report/1";
  generator: {
    version: string;
    scoring: "l4" | "paper";
  };
  job: ReportJob;
  verdict: ReportVerdict;
  nodes: ReportNode[];
  ranks: ReportRank[];
  events: ReportEvent[];
  iterations: ReportScoredIteration[];
  stages: ReportStageSpan[];
  faults: ReportFault[];
  pool: {
    used: boolean;
    jobs: ReportCount;
    events_dropped: ReportCount;
  };
  warnings: ReportWarning[];
  notable?: ReportNotable[];
  advice?: string | null;
  clues?: ReportClue[];
  evidence?: ReportAsked[];
  read?: ReportRead;
  certainty?: ReportCertainty[];
}

export type ReportCount = number;

export type ReportShare = number;

export type ReportTime = string;

export type ReportRankNumber = number;

export type ReportIterationNumber = number;

export type ReportTemplateId = string;

export type ReportTemplateIds = ReportTemplateId[];

export type ReportRankNumbers = ReportRankNumber[];

export type ReportStage = "submit" | "preflight" | "init" | "data_loading" | "model_build" | "checkpoint_load" | "training" | "evaluation" | "checkpoint_save" | "exit" | null;

export type ReportState = "healthy" | "finished" | "crashed" | "hung" | "slow" | "node_lost" | "launch_failed" | "unknown";

export interface ReportAttempt {
  attempt: number;
  state: ReportState;
  since: ReportTime | null;
  iteration: ReportIterationNumber | null;
}

export interface ReportJob {
  id: string;
  attempt: number;
  attempts: ReportAttempt[];
  nodes: ReportCount;
  ranks: ReportCount;
  sources: ReportCount;
  lines: ReportCount;
  bytes: ReportCount;
  begin: ReportTime | null;
  end: ReportTime | null;
  completeness: ReportShare;
}

export interface ReportVerdict {
  state: ReportState;
  scope: "none" | "rank" | "node" | "several" | "all" | "unknown";
  since: ReportTime | null;
  stage: ReportStage;
  iteration: ReportIterationNumber | null;
  confidence: ReportShare;
  summary: string;
}

export interface ReportNode {
  node: string;
  score: number;
  confidence: ReportShare;
  ranks: ReportRankNumbers;
  first_seen: ReportTime | null;
  why: string[];
  events: ReportTemplateIds;
}

export interface ReportRank {
  rank: ReportRankNumber | null;
  rank_source: "line" | "env" | "derived" | null;
  node: string;
  score: number;
  last_line: ReportTime | null;
  process: "alive" | "gone" | "stopped" | "unknown";
  why: string[];
}

export interface ReportEvent {
  template_id: ReportTemplateId;
  template: string;
  role: "root" | "direct" | "consequence";
  score: number;
  /** of the first event: P(a line of it is one of the root) */
  confidence?: ReportShare;
  count: ReportCount;
  nodes: string[];
  ranks: ReportRankNumbers;
  first: {
    time: ReportTime | null;
    node: string;
    rank: ReportRankNumber | null;
  };
  stage: ReportStage;
  iteration: ReportIterationNumber | null;
  level: "unknown" | "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  why: ("new" | "spatial" | "temporal" | "first" | "fatal" | "accused" | "fault" | "stall")[];
  parameters: {
    kind: "rank" | "host" | "address" | "device" | "code" | "errno" | "signal" | "exit_code" | "path" | "duration_ms";
    value: string;
    count: ReportCount;
  }[];
  examples: {
    node: string;
    rank: ReportRankNumber | null;
    file: string;
    line: ReportCount;
    text: string;
  }[];
}

export interface ReportScoredIteration {
  iteration: ReportIterationNumber;
  score: number;
  begin: ReportTime | null;
  end: ReportTime | null;
  nodes: string[];
  events: ReportTemplateIds;
}

export interface ReportStageSpan {
  stage: ReportStage;
  begin: ReportTime | null;
  end: ReportTime | null;
  ranks: ReportCount;
}

export interface ReportFault {
  id: string;
  title: string;
  category: string;
  confidence: ReportShare;
  cause: string;
  fix: string;
  evidence: ReportTemplateIds;
}

export interface ReportWarning {
  kind: string;
  file: string;
  reason: string;
  bytes: ReportCount;
}

export type ReportNodeOrNull = string | null;

export type ReportRankOrNull = ReportRankNumber | null;

export type ReportShareOrNull = ReportShare | null;

export type ReportWord = string;

/** a number as a program printed it; null: there is none */
export type ReportPrinted = number | "NaN" | "Infinity" | "-Infinity" | null;

/** what differs and harms nothing */
export interface ReportNotable {
  kind: ReportWord;
  node: ReportNodeOrNull;
  rank: ReportRankOrNull;
  iteration: ReportIterationNumber | null;
  phase: string | null;
  value: ReportPrinted;
  usual: ReportPrinted;
  count: ReportCount;
  text: string;
}

/** one reason to suspect a node or rank */
export interface ReportClue {
  kind: ReportWord;
  node: ReportNodeOrNull;
  rank: ReportRankOrNull;
  strength: number;
  facts: {
    kind: "event" | "text" | "exit" | "signal" | "since" | "iteration" | "timer" | "peer" | "count" | "of" | "ms" | "usual_ms" | "score" | "nic" | "counter" | "trouble" | "place";
    value: string;
  }[];
  text: string;
}

/** how sure one claim is, why, and what else may be so */
export interface ReportCertainty {
  of: "state" | "node" | "event";
  /** the state, node or template_id */
  name: string;
  confidence: ReportShare;
  /** facts that the confidence is made of */
  grounds: {
    kind: ReportWord;
    value: number;
  }[];
  /** what may be so; the shares add up to 1 */
  alternatives: {
    /** null: none of these */
    name: string | null;
    share: ReportShare;
  }[];
  /** evidence that would tell, where the claim is not sure */
  decided_by: string[];
}

/** how those who were asked for evidence replied */
export interface ReportAsked {
  source: ReportWord;
  node: ReportNodeOrNull;
  status: "answered" | "empty" | "late" | "off" | "refused";
  count: ReportCount;
  text: string;
}

/** the sum over all files, and the files that were understood worst */
export interface ReportRead {
  files: ReportCount;
  lines: ReportCount;
  timed: ReportShareOrNull;
  ranked: ReportShareOrNull;
  iterated: ReportShareOrNull;
  formats: string[];
  packs: string[];
  glued: ReportCount;
  split: ReportCount;
  sources: ReportSourceRead[];
}

export interface ReportSourceRead {
  file: string;
  node: string;
  lines: ReportCount;
  timed: ReportShareOrNull;
  ranked: ReportShareOrNull;
  iterated: ReportShareOrNull;
  formats: string[];
  packs: string[];
  glued: ReportCount;
  split: ReportCount;
  marker: string | null;
  marker_why: string | null;
  unused: string[];
}
