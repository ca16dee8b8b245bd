// Data kept up to date: one stream of events that says what to ask for again, and polling beside it.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApiError, ROOT, get, hasOwnToken, readStream } from "./api";
import type { LastAnswer, StreamEvent } from "./api";
import type { Answers } from "./api_types";
import { handed } from "./handed";

/** live: events arrive; polling: the aggregator has no stream left; broken: it does not answer. */
export type Link = "connecting" | "live" | "polling" | "broken" | "asleep";

export interface LinkState {
  link: Link;
  /** When the aggregator was last heard, by this machine's clock; 0: never. */
  heard: number;
  /** Why it is not live. */
  why: string;
}

const SILENT_MS = 40_000; // the aggregator sends a comment each 15 s
const AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000];
const STREAM_AGAIN_MS = 30_000; // after it had no room for one more stream
const PAUSE = 30; // times as long as an answer took: what is a lot of work for the aggregator is asked for less often
const PAUSE_MAX_MS = 60_000;
const FAILED_MS = 10_000; // what was not answered is asked for again after so long, however seldom it changes
const ANNOUNCE_MS = 200; // events that come together are one change

let state: LinkState = { link: "connecting", heard: 0, why: "" };
const watchers = new Set<() => void>();
const listeners = new Set<(jobs: ReadonlySet<string>) => void>();
let offset = 0; // of the aggregator's clock, ms

function change(next: Partial<LinkState>): void {
  state = { ...state, ...next };
  watchers.forEach((watcher) => watcher());
}

export function useLink(): LinkState {
  return useSyncExternalStore(
    (watcher) => { watchers.add(watcher); return () => watchers.delete(watcher); }, () => state);
}

/** Now, by the aggregator's clock. */
export function serverNow(): number {
  return Date.now() + offset;
}

export function setServerNow(ms: number): void {
  offset = ms - Date.now();
  second = ms;
}

let second = Date.now(); // by the aggregator's clock
const ticking = new Set<() => void>();
let ticker = 0;

/** One clock for all: a list may have a thousand ages. */
function onTick(call: () => void): () => void {
  if (ticking.size === 0) {
    second = serverNow();
    ticker = window.setInterval(() => {
      second = serverNow();
      ticking.forEach((one) => one());
    }, 1_000);
  }
  ticking.add(call);
  return () => {
    ticking.delete(call);
    if (ticking.size === 0) window.clearInterval(ticker);
  };
}

/** Re-renders each second, for ages. */
export function useNow(): number {
  return useSyncExternalStore(onTick, () => second);
}

function jobOf(event: StreamEvent): string {
  const data = event.data as { id?: unknown; job?: unknown } | null;
  const id = event.event === "job" || event.event === "job_gone" ? data?.id : data?.job;
  return typeof id === "string" ? id : "*";
}

const changed = new Set<string>();
let announcing = 0;

/** Tells listeners which jobs have changed; `*` stands for all. */
function announce(jobs: string[]): void {
  jobs.forEach((job) => changed.add(job));
  if (announcing || changed.size === 0) return;
  announcing = window.setTimeout(() => {
    announcing = 0;
    const now = new Set(changed);
    changed.clear();
    listeners.forEach((listener) => listener(now));
  }, ANNOUNCE_MS);
}

/** What tabs tell each other: how the stream is, and which jobs have changed. */
type Told = { kind: "state"; state: LinkState; id: string; jobs: string[] }
  | { kind: "hello" } // a tab that has just begun to listen
  | { kind: "again" }; // somebody has signed in

const NAME = `l4.stream ${ROOT.pathname}`;
const GONE_MS = SILENT_MS + 10_000; // the tab that reads has told nothing: another one takes its place

/** One stream for all tabs of a browser, which allows six connections to a host. The tab that holds the lock reads it and tells
    the others. While nobody can see a tab it neither reads nor waits for the lock. A browser without locks or channels, and a
    tab with a token of its own, have a stream for each tab. */
class Stream {
  private stopper: AbortController | null = null;
  private lastId = "";
  private tries = 0;
  private timer = 0;
  private watchdog = 0;
  private channel: BroadcastChannel | null = null;
  private waiting: AbortController | null = null; // for the lock
  private release: (() => void) | null = null; // this tab holds it
  private absence = 0;
  private followed = false; // a stream of this page has begun

  start(): void {
    document.addEventListener("visibilitychange", () => this.look());
    window.addEventListener("online", () => { this.tries = 0; if (this.stopper) this.open(); });
    if ("locks" in navigator && "BroadcastChannel" in window) {
      this.channel = new BroadcastChannel(NAME);
      this.channel.onmessage = (message) => this.told(message.data as Told);
    }
    this.look(true);
  }

  /** Also where a token has come meanwhile. */
  again(): void {
    this.tries = 0;
    this.look();
    if (this.channel && !this.release) this.tell({ kind: "again" });
  }

  /** At the start of the page all is being asked already. */
  private look(start = false): void {
    this.leave();
    if (document.hidden) return this.change({ link: "asleep" });
    this.tries = 0;
    if (this.channel && !hasOwnToken()) this.join(false);
    else this.open();
    if (!start) announce(["*"]);
  }

  /** Waits until this tab reads for all, or takes that from one that has fallen silent. */
  private join(steal: boolean): void {
    this.waiting?.abort();
    const waiting = new AbortController();
    this.waiting = waiting;
    const held = () => waiting.signal.aborted ? undefined : new Promise<void>((release) => {
      window.clearTimeout(this.absence);
      this.release = release;
      this.open();
    });
    navigator.locks.request(NAME, steal ? { steal } : { signal: waiting.signal }, held).catch(() => {
      if (waiting === this.waiting) this.look(); // another tab took it
    });
    this.listen();
    this.tell({ kind: "hello" });
  }

  /** Somebody else should read; without a word from it for long this tab does. */
  private listen(): void {
    window.clearTimeout(this.absence);
    this.absence = window.setTimeout(() => this.join(true), GONE_MS);
  }

  private leave(): void {
    this.close();
    window.clearTimeout(this.absence);
    this.waiting?.abort();
    this.waiting = null;
    this.release?.();
    this.release = null;
  }

  private told(message: Told): void {
    if (message.kind === "state") {
      if (!this.waiting || this.release) return;
      this.listen();
      if (message.id) this.lastId = message.id;
      change(message.state);
      announce(message.jobs);
    } else if (this.release && message.kind === "again") {
      this.open();
    } else if (this.release) {
      this.tellState([]);
    }
  }

  private tell(message: Told): void {
    this.channel?.postMessage(message);
  }

  private tellState(jobs: string[]): void {
    if (this.release) this.tell({ kind: "state", state, id: this.lastId, jobs });
  }

  private change(next: Partial<LinkState>): void {
    change(next);
    this.tellState([]);
  }

  private close(): void {
    window.clearTimeout(this.timer);
    window.clearTimeout(this.watchdog);
    this.stopper?.abort();
    this.stopper = null;
  }

  private heard(events: StreamEvent[], stopper: AbortController): void {
    if (stopper !== this.stopper) return;
    const start = !this.followed && this.tries === 0; // nothing is missing between the first answers and the stream
    this.tries = 0;
    window.clearTimeout(this.watchdog);
    this.watchdog = window.setTimeout(() => stopper.abort(), SILENT_MS);
    change({ link: "live", heard: Date.now(), why: "" });
    for (const event of events) if (event.id) this.lastId = event.id;
    this.followed ||= events.length > 0;
    const jobs = events.filter((event) => !start || event.event !== "following")
      .map((event) => event.event === "lost" ? "*" : jobOf(event));
    announce(jobs);
    this.tellState(jobs);
  }

  private open(): void {
    this.close();
    const stopper = new AbortController();
    this.stopper = stopper;
    if (state.link !== "broken") this.change({ link: "connecting" });
    readStream(this.lastId, stopper.signal, (events) => this.heard(events, stopper))
      .then(() => this.ended(stopper, null), (error) => this.ended(stopper, error));
  }

  private ended(stopper: AbortController, error: unknown): void {
    if (stopper !== this.stopper) return;
    const full = error instanceof ApiError && error.status === 503;
    const refused = error instanceof ApiError && error.status === 401;
    if (refused) return this.change({ link: "broken", why: "a token is needed" });
    this.change(full
      ? { link: "polling", why: "all streams of the aggregator are taken; lists are asked again" }
      : { link: "broken", why: "the aggregator does not answer" });
    const wait = full ? STREAM_AGAIN_MS : AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)]!;
    this.tries += 1;
    this.timer = window.setTimeout(() => this.open(), wait);
  }
}

export const stream = new Stream();

/** The answer with the rows of all pages: a page of a long list ends beyond 16 MiB. */
async function getWhole<Key extends keyof Answers>(key: Key, path: string, signal: AbortSignal,
                                                   last: LastAnswer): Promise<Answers[Key]> {
  const whole = await get(key, path, signal, last);
  if (path.includes("count=")) return whole;
  const lists = whole as unknown as Record<string, unknown>;
  const rows = Object.values(lists).find((one) => Array.isArray(one)) as unknown[] | undefined;
  for (let next = lists["next"]; rows && typeof next === "string";) {
    last.text = ""; // its rows will be more than it says
    const more = await get(key, `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(next)}`, signal) as
      unknown as Record<string, unknown>;
    rows.push(...Object.values(more).find((one) => Array.isArray(one)) as unknown[]);
    next = more["next"];
  }
  return whole;
}

export interface Asked<T> {
  data: T | null;
  error: ApiError | null;
  /** When `data` came, by this machine's clock. */
  at: number;
  again: () => void;
}

export const NO_JOB = ""; // no event of a job changes the answer

/** The answer to a request, asked for again each `every` ms and when events of `job` come, which the answer may name. */
export function useAsked<Key extends keyof Answers>(
  key: Key, path: string | null, every: number, job: string | ((data: Answers[Key]) => string) = "*"): Asked<Answers[Key]> {
  type Held = { path: string | null; data: Answers[Key] | null; error: ApiError | null; at: number };
  const [held, setHeld] = useState<Held>({ path: null, data: null, error: null, at: 0 });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((one) => one + 1), []);
  const waits = useRef(every);
  waits.current = every;
  useEffect(() => {
    if (path === null) return undefined;
    const stopper = new AbortController();
    const last: LastAnswer = { text: "", data: null };
    let timer = 0;
    let underWay = false; // an answer is awaited
    let stale = false; // something has changed meanwhile
    let began = 0;
    const later = (took = 0, failed = false) => {
      const wait = failed ? Math.min(waits.current, FAILED_MS) : waits.current;
      if (!handed) timer = window.setTimeout(fetchNow, Math.max(wait, Math.min(PAUSE * took, PAUSE_MAX_MS)));
    };
    const answered = (failed = false) => {
      underWay = false;
      if (stale) fetchNow();
      else later(performance.now() - began, failed);
    };
    const fetchNow = () => {
      if (document.hidden && !handed) return later();
      underWay = true;
      stale = false;
      began = performance.now();
      return void getWhole(key, path, stopper.signal, last).then((data) => {
        setHeld({ path, data, error: null, at: Date.now() });
        answered();
      }, (error: unknown) => {
        if (stopper.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, "failed", String(error));
        setHeld((before) => ({ ...before, data: before.path === path ? before.data : null, path,
                               error: known }));
        answered(known.status === 0 || known.status >= 500);
      });
    };
    const listener = (jobs: ReadonlySet<string>) => {
      const of = typeof job === "string" ? job : last.data ? job(last.data as Answers[Key]) : "*";
      if (of === "*" || jobs.has("*") || jobs.has(of)) {
        window.clearTimeout(timer);
        if (underWay) stale = true;
        else fetchNow();
      }
    };
    fetchNow();
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      window.clearTimeout(timer);
      stopper.abort();
    };
  }, [key, path, job, round]);
  const fresh = held.path === path;
  return { data: fresh ? held.data : null, error: fresh ? held.error : null, at: held.at, again };
}
