// Data kept up to date: one stream of events that says what to ask for again, and polling beside it.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApiError, get, readStream } from "./api";
import type { StreamEvent } from "./api";
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
}

/** Re-renders each second, for ages. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(serverNow()), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
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

/** The stream of this tab; it is closed while nobody can see the tab. */
class Stream {
  private stopper: AbortController | null = null;
  private lastId = "";
  private tries = 0;
  private timer = 0;
  private watchdog = 0;

  start(): void {
    document.addEventListener("visibilitychange", () => this.look());
    window.addEventListener("online", () => { this.tries = 0; this.open(); });
    this.look();
  }

  /** Also where a token has come meanwhile. */
  again(): void {
    this.tries = 0;
    this.open();
  }

  private look(): void {
    if (document.hidden) {
      this.close();
      change({ link: "asleep" });
    } else {
      this.tries = 0;
      this.open();
      announce(["*"]);
    }
  }

  private close(): void {
    window.clearTimeout(this.timer);
    window.clearTimeout(this.watchdog);
    this.stopper?.abort();
    this.stopper = null;
  }

  private heard(events: StreamEvent[], stopper: AbortController): void {
    if (stopper !== this.stopper) return;
    this.tries = 0;
    window.clearTimeout(this.watchdog);
    this.watchdog = window.setTimeout(() => stopper.abort(), SILENT_MS);
    change({ link: "live", heard: Date.now(), why: "" });
    for (const event of events) if (event.id) this.lastId = event.id;
    announce(events.map((event) => event.event === "lost" ? "*" : jobOf(event)));
  }

  private open(): void {
    this.close();
    const stopper = new AbortController();
    this.stopper = stopper;
    if (state.link !== "broken") change({ link: "connecting" });
    readStream(this.lastId, stopper.signal, (events) => this.heard(events, stopper))
      .then(() => this.ended(stopper, null), (error) => this.ended(stopper, error));
  }

  private ended(stopper: AbortController, error: unknown): void {
    if (stopper !== this.stopper) return;
    const full = error instanceof ApiError && error.status === 503;
    const refused = error instanceof ApiError && error.status === 401;
    if (refused) return change({ link: "broken", why: "a token is needed" });
    change(full
      ? { link: "polling", why: "all streams of the aggregator are taken; lists are asked again" }
      : { link: "broken", why: "the aggregator does not answer" });
    const wait = full ? STREAM_AGAIN_MS : AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)]!;
    this.tries += 1;
    this.timer = window.setTimeout(() => this.open(), wait);
  }
}

export const stream = new Stream();

export interface Asked<T> {
  data: T | null;
  error: ApiError | null;
  /** When `data` came, by this machine's clock. */
  at: number;
  again: () => void;
}

/** The answer to a request, asked for again each `every` ms and when events of `job` come. */
export function useAsked<Key extends keyof Answers>(
  key: Key, path: string | null, every: number, job = "*"): Asked<Answers[Key]> {
  type Held = { path: string | null; data: Answers[Key] | null; error: ApiError | null; at: number };
  const [held, setHeld] = useState<Held>({ path: null, data: null, error: null, at: 0 });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((one) => one + 1), []);
  const waits = useRef(every);
  waits.current = every;
  useEffect(() => {
    if (path === null) return undefined;
    const stopper = new AbortController();
    let timer = 0;
    const later = () => { if (!handed) timer = window.setTimeout(fetchNow, waits.current); };
    const fetchNow = () => {
      if (document.hidden && !handed) return later();
      get(key, path, stopper.signal).then((data) => {
        setHeld({ path, data, error: null, at: Date.now() });
        later();
      }, (error: unknown) => {
        if (stopper.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, "failed", String(error));
        setHeld((before) => ({ ...before, data: before.path === path ? before.data : null, path,
                               error: known }));
        later();
      });
    };
    const listener = (jobs: ReadonlySet<string>) => {
      if (job === "*" || jobs.has("*") || jobs.has(job)) {
        window.clearTimeout(timer);
        fetchNow();
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
