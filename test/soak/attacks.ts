import { setTimeout as sleep } from "node:timers/promises";
import { flood } from "../callers/flood.ts";
import { type Holder, holders } from "../callers/held.ts";
import type { RightAnswers } from "../callers/right.ts";
import type { Access } from "../fixtures/start-embed.ts";

/** Clients of a flood, and those among them that read slowly; and connections of another attack. */
const FLOOD = { clients: 60, slowClients: 5 };
const CONNECTIONS = 40;
const PIPELINES = 4;

/** Attacks with a key, in the order of their turns. */
const kinds = ["flood", ...(Object.keys(holders) as Holder[])] as const;
type Kind = (typeof kinds)[number];

/** Attacks after which each was made on each tier. */
export const ATTACKS = 2 * kinds.length;

export interface Attacker {
  /** Each tier, with the key of the attacker. */
  readonly tiers: readonly Access[];
  readonly right: RightAnswers;
  /** Milliseconds of an attack, and of the pause after it. */
  readonly lastMs: number;
  readonly isOver: () => boolean;
}

/** Results of attacks. */
export interface Attacked {
  /** Attacks by kind. */
  readonly attacks: Map<string, number>;
  readonly wrong: string[];
}

/** Attacks the tiers in turn until `isOver`: with a flood of requests, unfinished uploads, unread answers, and requests sent ahead. */
export async function attackInTurns({ tiers, right, lastMs, isOver }: Attacker): Promise<Attacked> {
  const attacks = new Map<string, number>();
  const wrong: string[] = [];
  for (let turn = 0; !isOver(); turn++) {
    const kind = kinds[turn % kinds.length] as Kind;
    const access = tiers[Math.floor(turn / kinds.length) % tiers.length] as Access;
    if (kind === "flood") {
      const tally = await flood({ access, ...FLOOD, budgetMs: undefined, ...right }, AbortSignal.timeout(lastMs));
      wrong.push(...tally.wrong);
    } else {
      const connections = kind === "pipelining" ? PIPELINES : CONNECTIONS;
      const held = Array.from({ length: connections }, () => holders[kind](access));
      await sleep(lastMs);
      for (const { close } of held) close();
    }
    attacks.set(kind, (attacks.get(kind) ?? 0) + 1);
    await sleep(lastMs);
  }
  return { attacks, wrong };
}
