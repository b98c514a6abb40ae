import type { TokenSequence } from "../../runtime/engine/engine.ts";
import type { Model } from "../../runtime/model.ts";
import type { Opened } from "../../runtime/models/model-holder.ts";
import type { EncodedCall } from "../../runtime/tasks/task-call.ts";
import { numberFormats, type Reason, type Tier } from "../contract/headers.ts";
import { decisionFigures } from "../decision-figures.ts";
import type { Limits } from "../limits.ts";
import { anyone } from "../queue/caller.ts";
import type { PageTime } from "../queue/page-time.ts";
import type { TurnScheduler, Work } from "../queue/scheduler.ts";
import type { AnswerEstimate } from "../queue/speed.ts";
import { Refused, retrySlots } from "../refusal.ts";
import type { RegionTier } from "../region/region-tier.ts";
import { lostMs, maxLateMs } from "../routing/deadline.ts";
import { type Decision, decide, type Situation } from "../routing/decide.ts";
import type { RequestOptions, TaskQuery } from "../service.ts";
import { inRegionMs, longestWithin, type Plan, planOf } from "./plan.ts";

/** The facts about a request on which the choice of a tier depends. While the model is loading, few of them are known. */
export interface UndecidedRequest {
  /** The request, whose call is missing until its body is read. */
  readonly query: RequestOptions & Partial<Pick<TaskQuery<unknown>, "call">>;
  readonly opened: Opened;
  readonly model?: Model;
  /** The planned calls and their predicted times; undefined while the model is loading. */
  readonly work?: Work & Plan;
  /** Reads of pages of the vocabulary that must come before the work. Default 0. */
  readonly pageReads?: number;
  /** Predicted milliseconds of the region's computation; 0 while it is unknown. */
  readonly inRegionMs: number;
  /** Whether only a region that runs bert-edge gives the edge's result: a text can be too long, or some tokens are not pooled. */
  readonly onlyOurs: boolean;
}

/** A request whose answer is decided. */
export interface RequestState extends UndecidedRequest {
  readonly query: TaskQuery<unknown>;
  readonly call: Omit<EncodedCall<unknown>, "sequences">;
  /** The sequences that the model runs; undefined before the inputs are encoded. */
  readonly sequences?: readonly TokenSequence[];
}

/** A decision to answer, and the situation in which it was made. */
export type TierChoice = Extract<Decision, { tier: unknown }> & { readonly situation: Situation };

export interface TierChooserOptions {
  readonly scheduler: TurnScheduler;
  readonly pages: PageTime;
  /** Undefined without a region. */
  readonly region: RegionTier | undefined;
  /** Tier of this deployment. */
  readonly tier: Tier;
  readonly limits: Limits;
  /** CPU time that the platform allows per request, in ms. */
  readonly cpuLimitMs: number;
  readonly now: () => number;
}

/** Makes the part of the service that decides who answers, from the queue here and the region's measurements. */
export function tierChooser({ scheduler, pages, region, tier, limits, cpuLimitMs, now }: TierChooserOptions) {
  const retryAfter = retrySlots(now);

  function situationOf({
    query,
    opened,
    model,
    work,
    pageReads = 0,
    inRegionMs,
    onlyOurs,
  }: UndecidedRequest): Situation {
    const { pin, precision, deadline } = query;
    return {
      remainingMs: deadline.remainingMs(),
      elapsedErrorMs: deadline.arrival.errorMs,
      lostMs: lostMs(deadline.arrival, scheduler.busyMs()),
      maxLateMs: maxLateMs(deadline.budgetMs),
      maxWaitMs: limits.maxWaitMs,
      pin: pin === undefined ? undefined : pin === tier ? "here" : "region",
      here: isTooCoarse(opened, model, precision)
        ? "unsuitable"
        : work
          ? {
              ...scheduler.outlook(work),
              pages:
                pageReads > 0
                  ? { reads: pageReads, maxReads: limits.maxPageReads, ms: pages.predict(pageReads) }
                  : undefined,
              compute: work.compute,
              engineMs: Math.min(work.engineMs, work.measuredMs),
              calls: work.calls.length,
              cpuMs: work.measuredMs,
              cpuLimitMs,
            }
          : "loading",
      region: region ? regionFromHere(region.predict(inRegionMs, { onlyOurs, model: opened.manifest.name })) : "none",
    };
  }

  /** Adds to a region's prediction the time by which this thread may handle the answer late. */
  function regionFromHere(predicted: AnswerEstimate | "down"): AnswerEstimate | "down" {
    if (predicted === "down") return predicted;
    const lag = scheduler.lag();
    const { ms, spreadMs, waitMs } = predicted;
    return { ms: ms + lag.ms, spreadMs: spreadMs + lag.spreadMs, waitMs: waitMs + lag.ms };
  }

  return {
    /** Describes a request whose model is loaded. `lengths`: the sequences, or their lengths in tokens. */
    asked<Q extends Pick<UndecidedRequest, "query" | "pageReads">>(
      request: Q,
      model: Model,
      lengths: readonly { readonly length: number }[],
    ): Q & Required<UndecidedRequest> {
      const plan = planOf(model, lengths, scheduler.speed);
      const remainingMs = request.query.deadline.remainingMs();
      // A request that would be late even without a queue must not push aside those that can be in time.
      const aloneMs = pages.predict(request.pageReads ?? 0) + plan.compute.ms;
      const canBeInTime = remainingMs !== undefined && aloneMs <= remainingMs;
      return {
        ...request,
        pageReads: request.pageReads ?? 0,
        opened: model,
        model,
        work: { ...plan, caller: request.query.caller ?? anyone, dueAt: canBeInTime ? now() + remainingMs : undefined },
        inRegionMs: inRegionMs(model.measurements, lengths),
        onlyOurs: lengths.some(({ length }) => length >= model.manifest.maxTokens),
      };
    },
    /**
     * Decides who answers.
     *
     * @param changes parts of the situation that are known to be different, such as a region that has just failed
     * @throws BertEdgeError if no tier answers: `overloaded`, `budget_exceeded`, `request_too_costly`, `too_many_page_reads`,
     *   `tier_missing`, `tier_unavailable`, `precision_unavailable`
     */
    choose(request: UndecidedRequest, changes?: Partial<Situation>): TierChoice {
      const situation = { ...situationOf(request), ...changes };
      const decision = decide(situation);
      if ("tier" in decision) return { ...decision, situation };
      const { refusal, retryAfterMs: earliestMs } = decision;
      const { id } = request.query.caller ?? anyone;
      const retryAfterMs = earliestMs && retryAfter(id, earliestMs, request.work?.compute.ms || scheduler.callMs());
      throw new Refused({ refusal, retryAfterMs }, decisionFigures(situation, request.query.deadline), {
        cpuMs: request.work?.measuredMs ?? 0,
        cpuLimitMs,
        tokens: request.model ? longestWithin(request.model, cpuLimitMs) : 0,
        texts: request.query.call?.texts.length ?? 0,
      });
    },
  };
}

/** Returns the choice for the region's answer, when both tiers are asked, or when this deployment could not answer. */
export function fromRegionToo(choice: TierChoice, reason: Reason = "edge-over-budget"): TierChoice {
  const { ms } = choice.situation.region as AnswerEstimate;
  return { ...choice, tier: "region", reason, predictedMs: ms };
}

/** Whether the model that this deployment runs has a lower precision than the caller accepts. */
function isTooCoarse({ manifest }: Opened, model: Model | undefined, lowest: RequestOptions["precision"]): boolean {
  if (lowest === undefined || !model) return false;
  const own = manifest.targets[model.target]?.precision.startsWith("int8") ? "int8" : "fp16";
  return numberFormats.indexOf(own) < numberFormats.indexOf(lowest);
}
