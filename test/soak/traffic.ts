import { setTimeout } from "node:timers/promises";
import { KEY } from "./deployment.ts";
import { MODELS } from "./models.ts";

const DEADLINE_MS = 120_000;
const LONG_BYTES = 1_900_000;
const LONGEST_WAIT_MS = 60;

const words = "to be or not that is the question whether tis nobler in mind suffer slings and arrows of fortune".split(
  " ",
);

/** A request of the mix. */
interface Shot {
  readonly kind: string;
  readonly model: string;
  readonly texts: readonly string[];
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Statuses that are right, apart from 429, 503 and 504 under load. */
  readonly statuses: readonly number[];
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T;

/** Draws a text. There are few different ones, so that answers can be compared. */
const textOf = (length: number, which: number): string =>
  Array.from({ length }, (_, i) => words[(i * 7 + which) % words.length]).join(" ");
/** Words, and texts without blanks: one long word, Japanese, and Korean, whose syllables are decomposed. */
const longParts = [`${textOf(200, 0)} `, "slings", "吾輩は猫である。名前はまだ無い。", "대한민국의모든권력은", "éàüñç"];
const longText = (which: number): string => {
  const part = longParts[which] as string;
  return part.repeat(Math.floor(LONG_BYTES / Buffer.byteLength(part)));
};

function draw(random: () => number): Shot {
  const which = Math.floor(random() * 5);
  const shot = (kind: string, texts: readonly string[], change: Partial<Shot> & { fields?: object } = {}): Shot => {
    const { fields = {}, ...others } = change;
    const body = JSON.stringify({ inputs: texts, truncate: true, ...fields });
    return { kind, model: MODELS[0], texts, body, headers: {}, statuses: [200], ...others };
  };
  const at = random();
  if (at < 0.4) return shot("short", [textOf(1 + which * 2, which)]);
  if (at < 0.52) return shot("long", [textOf(200, which)]);
  if (at < 0.6)
    return shot(
      "eight texts",
      Array.from({ length: 8 }, (_, i) => textOf(20, i)),
    );
  if (at < 0.72) return shot("with a budget", [textOf(150, which)], { headers: { "x-latency-budget-ms": "25" } });
  if (at < 0.8) return shot("pinned to the region", [textOf(10, which)], { headers: { "x-bert-edge-tier": "region" } });
  if (at < 0.88) return shot("another model", [textOf(10, which)], { model: pick(MODELS.slice(1), random) });
  if (at < 0.98) return wrong(random, shot);
  const model = pick(MODELS, random);
  if (random() < 0.5) return shot("2 MB", [longText(which)], { model });
  // A word of WordPiece that is too long is one token.
  const statuses = [200, 400];
  return shot("2 MB, not cut", [longText(which)], { model, fields: { truncate: false }, statuses });
}

function wrong(
  random: () => number,
  shot: (kind: string, texts: readonly string[], change?: Partial<Shot>) => Shot,
): Shot {
  return pick(
    [
      shot("wrong key", ["a"], { headers: { authorization: "Bearer wrong" }, statuses: [401] }),
      shot("wrong JSON", ["a"], { body: "{", statuses: [400] }),
      shot("unknown model", ["a"], { model: "nobody", statuses: [404] }),
      shot("no texts", [], { statuses: [400] }),
    ],
    random,
  );
}

/** What a run of the traffic found. */
export interface Seen {
  /** Requests by kind and outcome. */
  readonly counts: Map<string, number>;
  readonly wrong: string[];
  /** When each version was first seen in an answer, in ms of `performance.now()`. */
  readonly versions: Map<string, number>;
  readonly tiers: Map<string, number>;
}

export const nothingSeen = (): Seen => ({ counts: new Map(), wrong: [], versions: new Map(), tiers: new Map() });

const busy: ReadonlySet<number> = new Set([429, 503, 504]);
const countOne = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

/** Sends random requests until `isOver`, one after the other. A fifth of them is aborted. */
export async function send(
  url: string,
  random: () => number,
  seen: Seen,
  answers: Map<string, string>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const shot = draw(random);
    const abortAfterMs = random() < 0.2 ? random() * LONGEST_WAIT_MS : undefined;
    const controller = new AbortController();
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    if (abortAfterMs !== undefined) void setTimeout(abortAfterMs).then(() => controller.abort());
    try {
      const response = await fetch(`${url}/models/${shot.model}/v1/embed`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...shot.headers },
        body: shot.body,
        signal: AbortSignal.any([controller.signal, deadline]),
      });
      judge(
        shot,
        response.status,
        await response.text(),
        response.headers.get("x-bert-edge-tier") ?? "",
        seen,
        answers,
      );
    } catch (error) {
      if (controller.signal.aborted) countOne(seen.counts, `${shot.kind}: aborted`);
      else seen.wrong.push(`${shot.kind}: ${error}`);
    }
  }
}

function judge(shot: Shot, status: number, text: string, tier: string, seen: Seen, answers: Map<string, string>): void {
  countOne(seen.counts, `${shot.kind}: ${status}`);
  if (!shot.statuses.includes(status) && !busy.has(status))
    seen.wrong.push(`${shot.kind}: HTTP ${status} ${text.slice(0, 200)}`);
  if (status !== 200) return;
  countOne(seen.tiers, tier);
  const { version, embeddings } = JSON.parse(text) as { version: string; embeddings: number[][] };
  if (shot.model === MODELS[0] && !seen.versions.has(version)) seen.versions.set(version, performance.now());
  for (const [i, vector] of embeddings.entries()) {
    // All versions have the same weights. Long texts differ only beyond the longest input.
    const name = `${shot.model} ${tier} ${shot.texts[i]?.slice(0, 2_000)}`;
    const bits = vector.join();
    if ((answers.get(name) ?? bits) !== bits) seen.wrong.push(`${shot.kind} at ${tier}: another vector than before`);
    answers.set(name, bits);
  }
}
