import { setTimeout } from "node:timers/promises";
import { KEY } from "./deployment.ts";
import type { ExpectedAnswers } from "./expected-answers.ts";
import type { Shot } from "./shot.ts";

const DEADLINE_MS = 120_000;
const LONGEST_WAIT_MS = 60;
/** Share of the requests that are aborted. */
const ABORTED = 0.2;

/** What a run of the traffic found. */
export interface Seen {
  /** Requests by kind and model, and then by outcome. */
  readonly counts: Map<string, Map<string, number>>;
  readonly wrong: string[];
  /** When each version was first seen in an answer, in ms of `performance.now()`. */
  readonly versions: Map<string, number>;
  readonly tiers: Map<string, number>;
}

export const nothingSeen = (): Seen => ({ counts: new Map(), wrong: [], versions: new Map(), tiers: new Map() });

/** Refusals under load. */
const busy: ReadonlySet<number> = new Set([429, 503, 504]);

const countOne = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

function countOutcome({ counts }: Seen, { kind, model }: Shot, outcome: string): void {
  const name = `${kind} · ${model}`;
  if (!counts.has(name)) counts.set(name, new Map());
  countOne(counts.get(name) as Map<string, number>, outcome);
}

export interface Traffic {
  readonly url: string;
  readonly random: () => number;
  readonly draw: (random: () => number) => Shot;
  readonly seen: Seen;
  readonly expected: ExpectedAnswers;
  readonly isOver: () => boolean;
  /** Name of the model of which new versions are published. */
  readonly renewed: string;
}

/** Sends requests until `isOver`, one after the other. A fifth of them is aborted. */
export async function send({ url, random, draw, seen, expected, isOver, renewed }: Traffic): Promise<void> {
  while (!isOver()) {
    const shot = draw(random);
    const controller = new AbortController();
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    if (random() < ABORTED) void setTimeout(random() * LONGEST_WAIT_MS).then(() => controller.abort());
    try {
      const response = await fetch(`${url}/models/${shot.model}${shot.route}`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...shot.headers },
        body: shot.body,
        signal: AbortSignal.any([controller.signal, deadline]),
      });
      const text = await response.text();
      const wrong = await judged(shot, response, text, { seen, expected, renewed });
      if (wrong !== undefined) seen.wrong.push(wrong);
    } catch (error) {
      if (controller.signal.aborted) countOutcome(seen, shot, "aborted");
      else seen.wrong.push(`${shot.kind} of ${shot.model}: ${error}`);
    }
  }
}

/** @returns what is wrong */
async function judged(
  shot: Shot,
  { status, headers }: Response,
  text: string,
  { seen, expected, renewed }: Pick<Traffic, "seen" | "expected" | "renewed">,
): Promise<string | undefined> {
  const at = `${shot.kind} of ${shot.model}: HTTP ${status} ${text.slice(0, 200)}`;
  if (busy.has(status)) {
    countOutcome(seen, shot, "busy");
    return undefined;
  }
  if (!shot.statuses.includes(status)) return at;
  if (status !== 200) {
    countOutcome(seen, shot, "refused");
    const { error } = JSON.parse(text) as { error: { code: string } };
    return shot.refusals.includes(error.code) ? undefined : at;
  }
  countOutcome(seen, shot, "answered");
  const tier = headers.get("x-bert-edge-tier") ?? "";
  countOne(seen.tiers, tier);
  const content = JSON.parse(text) as { version: string };
  if (shot.model === renewed && !seen.versions.has(content.version))
    seen.versions.set(content.version, performance.now());
  return expected.compare(shot, tier, content);
}
