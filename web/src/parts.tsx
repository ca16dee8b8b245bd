// Small parts that all views share: states, times, boxes for what is empty or failed.
import { createContext, useContext, useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { ApiError } from "./api";
import { age, grouped, harmless, millis, signOf, spoken, timeText, toneOf, wholeTime } from "./format";
import type { Zone } from "./format";
import { serverNow, useNow } from "./live";

export const ZoneContext = createContext<Zone>("utc");
/** What who looks may do; `read` until it is known. */
export const RoleContext = createContext<"read" | "operate">("read");

/** Patterns of the jobs that the token of who looks is limited to; null: all jobs; undefined: not known yet. */
export const LimitContext = createContext<readonly string[] | null | undefined>(undefined);

/** Whether who looks may change what is of the whole site. */
export function useOperatesSite(): boolean {
  const role = useContext(RoleContext);
  return useContext(LimitContext) === null && role === "operate";
}

/** Batches that an agent holds where it is called behind; one or two are on their way. */
export const BEHIND_BATCHES = 5;

/** The state in a word, with its shape and colour. */
export function StateMark(props: { state: string; suspect?: boolean; large?: boolean }) {
  const tone = toneOf(props.state, props.suspect);
  return (
    <span className={`state ${tone}${props.large ? " large" : ""}`}>
      <span className="sign" aria-hidden="true">{signOf(props.state)}</span>
      {spoken(props.state)}
      {props.suspect && <abbr title="suspected, not yet confirmed">?</abbr>}
    </span>
  );
}

/** Text from elsewhere: names, lines, sentences. It keeps its direction to itself. */
export function Wild(props: { text: string; className?: string }) {
  return <bdi className={`wild ${props.className ?? ""}`}>{harmless(props.text)}</bdi>;
}

const UNBROKEN_MAX = 32; // characters of a name that is not cut at its hyphens

const TIME_IN_TEXT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;

/** A sentence of L4: names are not cut at their hyphens, and times stand in the zone that was chosen. */
export function Sentence(props: { text: string }) {
  const words = harmless(props.text).split("<*>").join("⋯").split(/(\s+)/);
  return <bdi className="wild">{words.map((word, i) => {
    const time = TIME_IN_TEXT.exec(word)?.[0];
    if (time) return <span key={i}><Time at={time} precise />{word.slice(time.length)}</span>;
    return word.includes("-") && word.length <= UNBROKEN_MAX ? <span key={i} className="nobr">{word}</span> : word;
  })}</bdi>;
}

/** A time of the API, in the zone that was chosen; its title says all of it. */
export function Time(props: { at: string | null | undefined; precise?: boolean }) {
  const zone = useContext(ZoneContext);
  const ms = millis(props.at);
  if (ms === null) return <span className="none">unknown</span>;
  return (
    <time dateTime={props.at!} title={wholeTime(ms, zone)}>
      {timeText(ms, zone, serverNow(), props.precise)}
    </time>
  );
}

/** "12 s ago", counting on. */
export function Ago(props: { at: string | null | undefined }) {
  const now = useNow();
  const zone = useContext(ZoneContext);
  const ms = millis(props.at);
  if (ms === null) return <span className="none">never</span>;
  return <time dateTime={props.at!} title={wholeTime(ms, zone)}>{age(now - ms)} ago</time>;
}

export function Since(props: { at: string | null | undefined }) {
  const now = useNow();
  const ms = millis(props.at);
  return ms === null ? null : <>{age(now - ms)}</>;
}

export function Section(props: { title: string; id?: string; note?: ReactNode; children: ReactNode }) {
  return (
    <section className="section" id={props.id} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        {props.note && <span className="note">{props.note}</span>}
      </header>
      {props.children}
    </section>
  );
}

/** What went wrong, and what to do. */
export function Failure(props: { error: ApiError; what: string; again?: () => void }) {
  const { status, message } = props.error;
  const advice = status === 0
    ? "Is l4-aggregator running? This page asks again by itself."
    : status === 401 ? "Sign in with a token."
    : status === 403 ? "Who runs L4 can make a token that may do this."
    : status === 404 ? "It may have been let go since; the fleet shows what is watched now."
    : status === 503 || status === 504 ? "The aggregator is busy; this page asks again by itself."
    : "The log of l4-aggregator says more.";
  return (
    <div className="box failure" role="alert">
      <p><strong>{props.what} cannot be shown:</strong> <Wild text={message} />.</p>
      <p className="note">{advice}</p>
      {props.again && <button type="button" onClick={props.again}>Try again</button>}
    </div>
  );
}

export function Loading(props: { what: string }) {
  return <div className="box loading" role="status">Loading {props.what} …</div>;
}

/** What stands in place of a view whose data is not there (yet). */
export function NotYet(props: { error: ApiError | null; what: string; again: () => void }) {
  return <main id="main">{props.error
    ? <Failure error={props.error} what={`${props.what[0]!.toUpperCase()}${props.what.slice(1)}`} again={props.again} />
    : <Loading what={props.what} />}</main>;
}

export function Empty(props: { children: ReactNode }) {
  return <div className="box empty">{props.children}</div>;
}

const ROWS = 100; // that a list shows at first, and shows more each time

/** The first rows of a long list, and what shows more of them: by itself where one scrolls to it, or as a button. `more` is
    asked for those that are not here yet. */
export function useRows<T>(rows: readonly T[], more?: (() => void) | null): [readonly T[], ReactNode] {
  const [count, setCount] = useState(ROWS);
  const end = useRef<HTMLButtonElement>(null);
  const left = rows.length - count;
  const show = () => {
    setCount(count + ROWS);
    if (left <= ROWS) more?.();
  };
  useEffect(() => {
    if (!end.current) return undefined;
    const watcher = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) show(); },
      { rootMargin: "600px" });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [count, rows.length, more]);
  return [rows.slice(0, count), left > 0 || more
    ? <button type="button" className="fold" ref={end} onClick={show}>▸ {left > 0 ? `${grouped(left)} more` : "older ones"}</button>
    : null];
}

export function Copy(props: { text: string; what: string }) {
  const [said, setSaid] = useState("");
  const copy = () => {
    const done = () => {
      setSaid("Copied");
      window.setTimeout(() => setSaid(""), 1_500);
    };
    const failed = () => setSaid("Select the text and copy it");
    if (navigator.clipboard) navigator.clipboard.writeText(props.text).then(done, failed);
    else failed();
  };
  return (
    <button type="button" className="quiet" onClick={copy} aria-live="polite">
      {said || `Copy ${props.what}`}
    </button>
  );
}
