import { predictLatency } from "#sdk/serve/answering/plan.ts";
import { maxLateMs } from "#sdk/serve/routing/deadline.ts";
import { decide } from "#sdk/serve/routing/decide.ts";
import type { Clock } from "./clock.ts";
import { giveUpAt, simulatedEngine, type Work } from "./engine.ts";
import { type RegionPlan, textMs, type World } from "./world.ts";

/** Longest predicted wait of a request without a budget, as in `defaultLimits`. */
export const MAX_WAIT_MS = 30_000;

/** Times that a region reports with its reply, in milliseconds. */
export type Reply =
  | { readonly kind: "answer"; readonly totalMs: number; readonly computedMs: number; readonly waitMs: number }
  | { readonly kind: "refusal"; readonly waitMs: number };

/** A request or a probe on its way through a region. */
export interface Call {
  readonly tokens: number;
  readonly noise: number;
  /** The budget as of the arrival in the region. */
  readonly budgetMs: number;
  /** Nobody waits for the answer any more. */
  cancelled: boolean;
  reply(reply: Reply): void;
  /** The region is gone, and will not reply. */
  lost(): void;
  /** Its work in the region, from arrival to the reply. */
  cancel?: (() => void) | undefined;
}

interface CalledWork extends Work {
  readonly call: Call;
  readonly arrivedAt: number;
}

/** Machines behind a load balancer, which takes the less loaded one of two random machines. */
export function simulatedRegion(clock: Clock, world: World, plan: RegionPlan, random: () => number) {
  const { outage } = plan;
  const machines = Array.from({ length: plan.machines }, machine);
  const isGone = () => outage !== undefined && clock.now() >= outage.from && clock.now() < outage.to;

  function machine() {
    const engine = simulatedEngine<CalledWork>({
      clock,
      compilesAsItRuns: false,
      gapMs: world.regionGapMs,
      done({ call, tookMs, arrivedAt }) {
        call.cancel = undefined;
        if (isGone()) {
          call.lost();
          return;
        }
        call.reply({
          kind: "answer",
          totalMs: clock.now() - arrivedAt,
          computedMs: tookMs,
          waitMs: engine.waitMs(),
        });
      },
      gaveUp({ call }) {
        call.cancel = undefined;
        call.reply({ kind: "refusal", waitMs: 0 });
      },
    });
    return engine;
  }

  function chooseMachine() {
    const one = machines[Math.floor(random() * machines.length)] as ReturnType<typeof machine>;
    const other = machines[Math.floor(random() * machines.length)] as ReturnType<typeof machine>;
    return other.queue.size < one.queue.size ? other : one;
  }

  return {
    receive(call: Call): void {
      if (isGone()) {
        call.lost();
        return;
      }
      if (call.cancelled) return;
      const { tokens, noise, budgetMs } = call;
      const engine = chooseMachine();
      const arrivedAt = clock.now();
      const measuredMs = predictLatency(world.model.regionalCpu, [tokens]);
      const compute = engine.speed.predict(measuredMs, 1);
      const dueAt = compute.ms <= budgetMs ? arrivedAt + budgetMs : undefined;
      const work: CalledWork = {
        dueAt,
        leftMs: compute.ms,
        measuredMs,
        tookMs: textMs(world.model.region, tokens, 1, noise),
        giveUpAt: giveUpAt(dueAt, budgetMs),
        call,
        arrivedAt,
      };
      const decision = decide({
        remainingMs: budgetMs,
        elapsedErrorMs: 0,
        lostMs: 0,
        maxLateMs: maxLateMs(budgetMs),
        maxWaitMs: MAX_WAIT_MS,
        pin: undefined,
        here: {
          waitMs: engine.queue.waitMs(work),
          compute,
          delaysOthers: engine.queue.delaysOthers(work, arrivedAt),
          delaysFetches: false,
          engineMs: compute.ms,
          calls: 1,
          cpuMs: measuredMs,
          cpuLimitMs: Number.POSITIVE_INFINITY,
        },
        region: "none",
      });
      if ("refusal" in decision) {
        call.reply({ kind: "refusal", waitMs: engine.waitMs() });
        return;
      }
      call.cancel = () => engine.cancel(work);
      engine.add(work);
    },
    /** Replies to a probe, which is not computed. */
    probe(call: Call): void {
      if (isGone()) call.lost();
      else call.reply({ kind: "answer", totalMs: 0, computedMs: 0, waitMs: chooseMachine().waitMs() });
    },
  };
}

export type SimulatedRegion = ReturnType<typeof simulatedRegion>;
