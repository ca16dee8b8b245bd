// Numbers, times and words of the API as texts, as the text report says them.
import type { State } from "./api_types";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 18,233,102 */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** "1 node", "7 nodes" */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "94 %"; from 1 to 99, because it is an estimate. */
export function percent(probability: number): string {
  if (!(probability >= 0.01)) return "<1\u00a0%";
  if (probability > 0.99) return ">99\u00a0%";
  return `${Math.round(probability * 100)}\u00a0%`;
}

export function certainty(probability: number): string {
  if (probability >= 0.95) return "almost certain";
  if (probability >= 0.8) return "very likely";
  if (probability >= 0.6) return "likely";
  if (probability >= 0.3) return "possible";
  return "unlikely";
}

export function sized(bytes: number): string {
  const units = ["KB", "MB", "GB", "TB", "PB"];
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[unit]}`;
}

/** One unit: "52 s", "2 min", "12 h", "3 days" */
export function span(ms: number): string {
  const size = Math.abs(ms);
  if (size < 10 * SECOND) return `${(ms / SECOND).toFixed(size < 9.95 * SECOND ? 1 : 0)} s`;
  if (size < 99.5 * SECOND) return `${Math.round(ms / SECOND)} s`;
  if (size < 99.5 * MINUTE) return `${Math.round(ms / MINUTE)} min`;
  if (size < 48 * HOUR) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} days`;
}

/** As `span`, with what is less than a second in milliseconds. */
export function took(ms: number): string {
  return ms < SECOND ? `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms` : span(ms);
}

/** As `span`, in whole seconds, for what changes while one looks at it. */
export function age(ms: number): string {
  return ms < 10 * SECOND ? `${Math.max(0, Math.round(ms / SECOND))} s` : span(ms);
}

/** "checkpoint save" */
export function spoken(word: string): string {
  return word.split("_").join(" ");
}

/** "ranks 0-7, 9 and 12 more"; empty for none */
export function ranksText(ranks: readonly number[], rangesMax = 4): string {
  if (ranks.length === 0) return "";
  const sorted = Array.from(new Set(ranks)).sort((a, b) => a - b);
  const parts: string[] = [];
  let at = 0;
  while (at < sorted.length) {
    if (parts.length === rangesMax) break;
    let last = at;
    while (last + 1 < sorted.length && sorted[last + 1] === sorted[last]! + 1) last += 1;
    parts.push(last === at ? `${sorted[at]}` : `${sorted[at]}–${sorted[last]}`);
    at = last + 1;
  }
  const rest = sorted.length - at;
  return `${sorted.length === 1 ? "rank" : "ranks"} ${parts.join(", ")}` +
    (rest > 0 ? ` and ${grouped(rest)} more` : "");
}

/** A few of many names, and how many there are: `all`, of which `names` are the first. */
export function some(names: readonly string[], most = 3, all = names.length): string {
  if (all <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${grouped(all - most)} more`;
}

export type Zone = "utc" | "local";

function pad(value: number, digits = 2): string {
  return String(value).padStart(digits, "0");
}

interface Parts {
  day: string;
  clock: string;
  millis: string;
}

function partsOf(ms: number, zone: Zone): Parts {
  const date = new Date(ms);
  const utc = zone === "utc";
  const year = utc ? date.getUTCFullYear() : date.getFullYear();
  const month = utc ? date.getUTCMonth() : date.getMonth();
  const day = utc ? date.getUTCDate() : date.getDate();
  const hours = utc ? date.getUTCHours() : date.getHours();
  const minutes = utc ? date.getUTCMinutes() : date.getMinutes();
  return {
    day: `${year}-${pad(month + 1)}-${pad(day)}`,
    clock: `${pad(hours)}:${pad(minutes)}:${pad(date.getSeconds())}`,
    millis: pad(date.getMilliseconds(), 3),
  };
}

/** The time of day, with the date where it is not that of `now`. */
export function timeText(ms: number, zone: Zone, now: number, precise = false): string {
  const parts = partsOf(ms, zone);
  const clock = precise ? `${parts.clock}.${parts.millis}` : parts.clock;
  return parts.day === partsOf(now, zone).day ? clock : `${parts.day} ${clock}`;
}

/** Date, time and zone. */
export function wholeTime(ms: number, zone: Zone): string {
  const parts = partsOf(ms, zone);
  return `${parts.day} ${parts.clock}.${parts.millis} ${zone === "utc" ? "UTC" : "local time"}`;
}

/** RFC 3339 as milliseconds; null for none. */
export function millis(time: string | null | undefined): number | null {
  if (!time) return null;
  const value = Date.parse(time);
  return Number.isNaN(value) ? null : value;
}

/** How much a state wants to be looked at; the names of styles. */
export type Tone = "bad" | "uneasy" | "good" | "quiet";

export function toneOf(state: string, suspect = false): Tone {
  if (state === "crashed" || state === "hung" || state === "node_lost" || state === "launch_failed")
    return "bad";
  if (state === "slow" || suspect) return "uneasy";
  return state === "healthy" ? "good" : "quiet";
}

const SIGNS: Record<State, string> = {
  crashed: "✕", hung: "‖", node_lost: "⊘", launch_failed: "✕", slow: "≈", healthy: "✓",
  finished: "■", unknown: "?",
};

/** A shape for each state, so that colour never stands alone. */
export function signOf(state: string): string {
  return SIGNS[state as State] ?? "?";
}

const SCOPES: Record<string, string> = {
  rank: "one rank", node: "one node", several: "several nodes", all: "all nodes",
};

export function scopeText(scope: string): string {
  return SCOPES[scope] ?? "";
}

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** What acts on a terminal or turns text round, as signs that can be seen. */
export function harmless(text: string): string {
  return text.replace(UNSEEN, (sign) => {
    const code = sign.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}
