import { BertEdgeError } from "../../artifact/error.ts";
import type { Background } from "../../runtime/background.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import type { AnswerEstimate } from "../queue/speed.ts";
import type { RequestOptions, TierAnswer } from "../service.ts";
import { MAX_ERROR_BYTES } from "./ask.ts";
import { breaker as newBreaker } from "./breaker.ts";
import { FP16_COSINE } from "./compare-golden.ts";
import { type RegionReport, reportWithin } from "./dialects/dialect.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import { connectionFailed, failureOf, logFailure, RegionFailure, readRefusal } from "./failure.ts";
import { goldenCheck, type ProvableModel } from "./golden-check.ts";
import type { RegionConnection } from "./region-connection.ts";
import { regionEstimate } from "./region-estimate.ts";
import type { RegionTiming } from "./region-settings.ts";

/** The thread that asks a region. A busy edge must not take its own delay for the region's. */
export interface AskingThread {
  /** Milliseconds for which computations have occupied the thread so far. A fetch cannot proceed meanwhile. */
  busyMs(): number;
}

/** Timeout of a probe, in ms. A lost probe must not delay the next one, and a region that takes longer is of no use. */
export const PROBE_TIMEOUT_MS = 1_000;

/** Time for which a region is not asked for a model that it did not serve, in ms. */
const LACKS_MODEL_MS = 60_000;

/** Maximum time by which Node's timers fire too early, in ms. */
const TIMER_TOLERANCE_MS = 2;

/** Finds out how fast and how healthy a region is: from probes, and from every request that `measure` measures. */
export function regionProbe(
  connection: RegionConnection,
  options: Required<Omit<RegionTiming, "fetch">> & AskingThread,
) {
  const { timeoutMs, probeMs, now, busyMs } = options;
  const { dialect } = connection;
  const isForeign = dialect.foreign !== undefined;
  const estimate = regionEstimate(options);
  const breaker = newBreaker(now);
  const check = isForeign ? goldenCheck(connection, options) : undefined;
  /** The version that the edge serves, and that a foreign region has to run. */
  let served: string | undefined;
  /** Models that the region does not serve, each with the time at which it may be asked again. */
  const lacking = new Map<string, number>();
  /** Time of the last measurement, or of the start of a later probe. */
  let measuredAt = Number.NEGATIVE_INFINITY;
  /** Time at which the probe in progress counts as lost: a platform can stop it together with its request. */
  let probingUntil = Number.NEGATIVE_INFINITY;

  /** Begins to measure a fetch with a predicted computation time and a time limit. A probe has no model and no budget. */
  function measure(computeMs: number, patienceMs: number, model?: string, budgetMs?: number) {
    const [start, busyBefore] = [now(), busyMs()];
    const works = model === undefined ? breaker.probed : breaker.answered;

    return {
      /** Learns from a good response. Returns the milliseconds of the fetch, and of its parts that the region reported. */
      answered(reported: RegionReport | undefined): TierAnswer["timings"] {
        const end = now();
        const report = reported && reportWithin(end - start, reported);
        estimate.observe({ start, end, computeMs, busyMs: busyMs() - busyBefore, ...report });
        measuredAt = end;
        works();
        if (!report) return { region: end - start };
        const { queuedMs, computedMs } = report;
        return { region: end - start, ...(queuedMs > 0 && { "region-queue": queuedMs }), "region-compute": computedMs };
      },
      /** Learns from what the fetch has thrown. Returns the error for the caller, and whether it opened the breaker. */
      failed(cause: unknown): { error: BertEdgeError; isDown: boolean } {
        const { kind, error, isAlive, waitMs } = failureOf(cause, connection, model === undefined);
        const tookMs = now() - start;
        if (cause instanceof RegionFailure) estimate.refused(tookMs, waitMs);
        if (kind === "lacks-model" && model !== undefined) lacking.set(model, now() + LACKS_MODEL_MS);
        if (isAlive) works();
        // A timeout counts only if the edge was free for all of it: a busy edge notices an answer late.
        const waitedMs = tookMs - (busyMs() - busyBefore);
        const counts = kind !== "late" || waitedMs >= Math.min(patienceMs, tookMs) - TIMER_TOLERANCE_MS;
        const isDown = !isAlive && counts && breaker.failed(start, kind === "wrong" || kind === "broken");
        if (isDown) check?.forget();
        return { error, isDown };
      },
      /** Ends the measurement, also of a fetch that was stopped and tells nothing. */
      end: estimate.sent(computeMs, !isForeign && budgetMs === undefined),
    };
  }

  async function probe(model: ProvableModel | undefined): Promise<void> {
    const fetch = measure(0, PROBE_TIMEOUT_MS);
    probingUntil = now() + PROBE_TIMEOUT_MS;
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = await connection.send(dialect.probePath, { withKey: isForeign }, signal);
      const body = await boundedText(response, MAX_ERROR_BYTES);
      if (!response.ok) throw readRefusal(response, body, 0, connection);
      fetch.answered(dialect.readReport(response.headers));
      if (model && check?.isDue(model)) {
        probingUntil = now() + timeoutMs;
        await check.prove(model);
      }
    } catch (cause) {
      const { error, isDown } = fetch.failed(cause);
      if (isDown) logFailure(error);
    } finally {
      probingUntil = Number.NEGATIVE_INFINITY;
    }
  }

  return {
    estimate,
    measure,
    /** Predicts the time of an answer from its computation time. Returns `down` if the region must not be asked. */
    predict(
      computeMs: number,
      { onlyOurs = false, model = "" }: Partial<Pick<ExpectedAnswer, "onlyOurs" | "model">> = {},
    ): AnswerEstimate | "down" {
      if (now() < (lacking.get(model) ?? 0)) return "down";
      const isReady = !check || (!onlyOurs && served !== undefined && check.cosine(served) !== undefined);
      return breaker.state() === "closed" && isReady ? estimate.predict(computeMs) : "down";
    },
    /**
     * Probes the region in the background when it has failed, or when the last measurement is older than `maxAgeMs`. A region
     * that seems slow or down gets no requests, so only probes can find out that it has recovered. A foreign region is also
     * asked for the golden texts of the model that the edge has loaded.
     */
    keepMeasured(background: Background, maxAgeMs = probeMs, model?: ProvableModel): void {
      served = model?.version ?? served;
      if (now() < probingUntil || breaker.state() === "open") return;
      const isDue = model !== undefined && check?.isDue(model);
      if (!isDue && !breaker.wantsProbe() && now() - measuredAt < maxAgeMs) return;
      measuredAt = now();
      background(probe(model));
    },
    /** @throws BertEdgeError when a foreign region cannot be expected to give the edge's answer */
    assertProven({ precision }: Pick<RequestOptions, "precision">, { version, onlyOurs, model }: ExpectedAnswer): void {
      if (!check) return;
      const cosine = check.cosine(version);
      if (cosine === undefined) throw connectionFailed(connection, `has not shown that it runs ${model}@${version}`);
      if (onlyOurs) throw connectionFailed(connection, "may cut texts elsewhere than the edge, or pool other tokens");
      if (precision === undefined || precision === "int8" || cosine >= FP16_COSINE) return;
      const what = `The region at ${connection.host} has a lower precision than ${precision}.`;
      throw new BertEdgeError("precision_unavailable", what, { hint: "Leave the header x-bert-edge-precision out." });
    },
  };
}
