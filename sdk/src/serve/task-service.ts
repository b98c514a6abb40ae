import { BertEdgeError } from "../artifact/error.ts";
import type { ErrorCode } from "../artifact/error-codes.ts";
import { sideBySide } from "../artifact/side-by-side.ts";
import { totalLength } from "../artifact/total-length.ts";
import { sequencesOf } from "../runtime/engine/batching.ts";
import type { TokenSequence } from "../runtime/engine/engine.ts";
import { idsOf } from "../runtime/engine/token-sequence.ts";
import type { Model } from "../runtime/model.ts";
import type { ModelCall } from "../runtime/tasks/task-call.ts";
import { isPerToken } from "../runtime/tasks/task-output.ts";
import { numberFormats, type Tier } from "./contract/headers.ts";
import { encodeInParts, hasParts } from "./encode-in-parts.ts";
import { firstAnswer } from "./first-answer.ts";
import { checkQuery, type Limits } from "./limits.ts";
import { type DecisionLog, logDecision } from "./log-decision.ts";
import type { ModelHolder, Opened } from "./model-holder.ts";
import type { ModelPool } from "./model-pool.ts";
import { estimatedLengths, inRegionMs, type Plan, planOf } from "./plan.ts";
import { retrySlots } from "./queue/retry-slots.ts";
import type { AnswerEstimate } from "./queue/speed.ts";
import { type Turns, turns, type Work } from "./queue/turns.ts";
import { Refused } from "./refusal.ts";
import { expectedAnswer } from "./region/expected-answer.ts";
import { type ExtraLoad, extraLoad } from "./region/extra-load.ts";
import type { Region } from "./region/region.ts";
import type { RegionTier } from "./region/region-tier.ts";
import { regions as oneOf } from "./region/regions.ts";
import { arrivalBetween, lostMs, maxLateMs } from "./routing/deadline.ts";
import { type Decision, decide, type Situation } from "./routing/decide.ts";
import type { Background, CallTerms, TaskAnswer, TaskQuery, TaskService, TierAnswer } from "./service.ts";

export interface TaskServiceOptions {
  models: ModelPool;
  /** Whether the engine occupies the thread while it computes. */
  blocksThread: boolean;
  /** Tier of this deployment. */
  tier: Tier;
  /** The regions that answer when this deployment cannot answer in time. */
  regions: readonly Region[];
  log: DecisionLog;
  limits: Limits;
  /** CPU time that the platform allows per request, in ms. */
  cpuLimitMs: number;
  now?: () => number;
}

/** Longest age of the region's measurement while requests are refused, in ms. */
const SCARCE_PROBE_MS = 250;

/** Errors of the region after which this deployment answers itself. */
const edgeAnswers = new Set<ErrorCode>(["region_failed", "region_overloaded"]);

/** A decision to answer, and what it was based on. */
type Choice = Extract<Decision, { tier: unknown }> & { readonly situation: Situation };

type Answered = TaskAnswer<unknown>;

/** The call of a request whose body has not been read. */
const noCall = { texts: [], inputs: [], truncate: false, on: () => noCall, decode: () => undefined };

/** A request on its way to a decision. While the model is loading, little is known. */
interface Request {
  readonly query: TaskQuery<unknown>;
  readonly call: ModelCall<unknown>;
  readonly opened: Opened;
  readonly model?: Model;
  /** Undefined while the model is loading. */
  readonly work?: Work & Plan;
  /** Predicted milliseconds of the region's computation; 0 while it is unknown. */
  readonly inRegionMs: number;
  /** What the model runs; undefined before the inputs are encoded. */
  readonly sequences?: readonly TokenSequence[];
  /** Whether a text can be longer than the model takes. */
  readonly mayCut: boolean;
}

/**
 * Makes the service that answers requests. The service checks a request, encodes its inputs and decides who answers. Then
 * it asks the region, or runs the model here when it is the request's turn. If the region fails, the model runs here.
 */
export function taskService(options: TaskServiceOptions): TaskService {
  const { models, tier, limits, log, cpuLimitMs, blocksThread, now = () => performance.now() } = options;
  const lane = turns({ blocksThread, now });
  const extra = extraLoad();
  const slots = retrySlots(now);
  /** Characters of the texts of all requests without an answer yet. */
  let waitingCharacters = 0;
  /** Whether the last decision was a refusal, or the region has refused. Then a region that seemed too slow may be needed. */
  let isScarce = false;
  const region = connectAll(options.regions, lane, extra);

  async function answer<R>(query: TaskQuery<R>, background: Background): Promise<TaskAnswer<R>> {
    const { deadline, trace } = query;
    const { texts } = query.call;
    const characters = totalLength(texts);
    waitingCharacters += characters;
    try {
      if (waitingCharacters > Math.max(characters, limits.maxWaitingCharacters)) {
        throw new Refused({ refusal: "overloaded" });
      }
      const answered = await answerTo(query, background);
      extra.answered();
      const { tier: outcome, reason, decision: basis } = answered;
      const isUnusual = outcome !== tier || "hedge" in basis;
      const logged = { outcome, texts: texts.length, reason, isUnusual, basis, elapsedMs: deadline.elapsedMs(), trace };
      logDecision(log, logged);
      // `describe` decodes with the call of this query.
      return answered as TaskAnswer<R>;
    } catch (error) {
      logRefusal(error, query, texts.length);
      throw error;
    } finally {
      waitingCharacters -= characters;
    }
  }

  function admit(terms: CallTerms, background: Background): void {
    const model = models.holderOf(terms.model).current(background);
    if (!model) return;
    try {
      choose(requestOf({ ...terms, call: noCall }, noCall, model, []));
    } catch (error) {
      logRefusal(error, terms);
      throw error;
    }
  }

  /** @param texts number of texts; undefined while it is unknown */
  function logRefusal(error: unknown, { deadline, trace }: CallTerms, texts?: number): void {
    if (!(error instanceof Refused)) return;
    const { code: outcome, basis } = error;
    logDecision(log, { outcome, texts, isUnusual: true, basis, elapsedMs: deadline.elapsedMs(), trace });
  }

  async function answerTo(query: TaskQuery<unknown>, background: Background): Promise<Answered> {
    checkQuery(query, limits);
    const holder = models.holderOf(query.model);
    if (query.report) lane.speed.observeReport(query.report.predictedMs, query.report.measuredMs);
    const loaded = holder.current(background);
    region?.keepMeasured(background, isScarce ? SCARCE_PROBE_MS : undefined, loaded);
    const whileLoading = loaded ? undefined : await askWhileLoading(query, holder, background);
    if (whileLoading) return whileLoading;
    if (loaded) return using(holder, loaded, query, background);
    const model = await loadedBy(holder, background);
    region?.keepMeasured(background, undefined, model);
    assertStillWanted(query, model);
    return using(holder, model, query, background);
  }

  /** Answers with a model, which is not released before all work of the request has ended. */
  function using(
    holder: ModelHolder,
    model: Model,
    query: TaskQuery<unknown>,
    background: Background,
  ): Promise<Answered> {
    const answered = Promise.withResolvers<Answered>();
    const others: Promise<unknown>[] = [];
    const work = holder.using(model, async () => {
      await answerWith(model, query, (other) => others.push(other)).then(answered.resolve, answered.reject);
      await Promise.allSettled(others);
    });
    // Workers drop the work of a request whose caller has gone, and what runs on after a response, without running anything
    // further. Then the model would count as in use, and the queue as occupied, for ever.
    background(work.then(lane.settled));
    return answered.promise;
  }

  async function askWhileLoading(
    query: TaskQuery<unknown>,
    holder: ModelHolder,
    background: Background,
  ): Promise<Answered | undefined> {
    if (!region) return undefined;
    const opened = await holder.opened(background);
    const call = query.call.on(opened.manifest);
    // Without the model's tokenizer, only outputs of a known length can be checked.
    if (call.encode || isPerToken(opened.manifest)) return undefined;
    // Before the inputs are encoded, each of them could be too long.
    const request = { query, call, opened, inRegionMs: 0, mayCut: true };
    const choice = choose(request);
    return choice.tier === "region" ? askRegion(request, choice) : undefined;
  }

  /** @param onLeft receives work that goes on after the answer */
  async function answerWith(
    model: Model,
    query: TaskQuery<unknown>,
    onLeft: (work: Promise<unknown>) => void,
  ): Promise<Answered> {
    const { signal } = query;
    const call = query.call.on(model.manifest);
    if (hasParts(call.inputs)) {
      // Encoding takes long, so a request that has no chance is refused before it.
      choose(requestOf(query, call, model, estimatedLengths(call.inputs, model.manifest.maxTokens)));
    }
    const sequences = await encodeInParts(model, call, signal);
    await model.ready(sequences);
    signal?.throwIfAborted();

    const request = encodedRequest(query, call, model, sequences);
    const choice = choose(request);
    const inRegion = choice.hedge ? fromRegionToo(choice) : choice;
    if (choice.hedge && extra.take()) {
      const ways = {
        elsewhere: (signal: AbortSignal) => askRegion(request, inRegion, signal),
        here: (signal: AbortSignal) => runHere(request, choice, signal),
      };
      return firstAnswer(ways, { signal, onLeft });
    }
    // Without the right to ask both tiers, the one that is more certain answers alone.
    if (choice.tier === "here" && !choice.hedge) return runHere(request, choice, signal);
    const fromRegion = await askRegion(request, { ...inRegion, hedge: false }, signal);
    if (fromRegion) return fromRegion;
    // The region failed, and time has passed.
    const again = encodedRequest(query, call, model, sequences);
    return runHere(again, choose(again, { region: "down" }), signal);
  }

  const encodedRequest = (
    query: TaskQuery<unknown>,
    call: ModelCall<unknown>,
    model: Model,
    sequences: readonly TokenSequence[],
  ): Required<Request> => ({ ...requestOf(query, call, model, sequences.map(idsOf)), sequences });

  /** @param lengths of the sequences, in tokens */
  function requestOf(
    query: TaskQuery<unknown>,
    call: ModelCall<unknown>,
    model: Model,
    lengths: readonly { readonly length: number }[],
  ): Omit<Required<Request>, "sequences"> {
    const plan = planOf(model, lengths, lane.speed);
    const remainingMs = query.deadline.remainingMs();
    // A request that would be late even without a queue must not push aside those that can be in time.
    const canBeInTime = remainingMs !== undefined && plan.compute.ms <= remainingMs;
    return {
      query,
      call,
      opened: model,
      model,
      work: { ...plan, dueAt: canBeInTime ? now() + remainingMs : undefined },
      inRegionMs: inRegionMs(model.measurements, lengths),
      mayCut: lengths.some(({ length }) => length >= model.manifest.maxTokens),
    };
  }

  function situationOf({ query, opened, model, work, inRegionMs, mayCut }: Request): Situation {
    const { pin, precision, deadline } = query;
    return {
      remainingMs: deadline.remainingMs(),
      elapsedErrorMs: deadline.arrival.errorMs,
      lostMs: lostMs(deadline.arrival, lane.busyMs()),
      maxLateMs: maxLateMs(deadline.budgetMs),
      maxWaitMs: limits.maxWaitMs,
      pin: pin === undefined ? undefined : pin === tier ? "here" : "region",
      here: isTooCoarse(opened, model, precision)
        ? "unsuitable"
        : work
          ? {
              ...lane.outlook(work),
              compute: work.compute,
              calls: work.calls.length,
              cpuMs: work.measuredMs,
              cpuLimitMs,
            }
          : "loading",
      region: region ? regionFromHere(region.predict(inRegionMs, mayCut)) : "none",
    };
  }

  /** Adds to a region's prediction that this thread may handle the answer late. */
  function regionFromHere(predicted: AnswerEstimate | "down"): AnswerEstimate | "down" {
    if (predicted === "down") return predicted;
    const lag = lane.lag();
    const { ms, spreadMs, waitMs } = predicted;
    return { ms: ms + lag.ms, spreadMs: spreadMs + lag.spreadMs, waitMs: waitMs + lag.ms };
  }

  /**
   * Decides who answers.
   *
   * @throws BertEdgeError if nobody does: `overloaded`, `budget_exceeded`, `request_too_costly`, `tier_missing`, `tier_unavailable`,
   *   `precision_unavailable`
   */
  function choose(request: Request, changes: Partial<Situation> = {}): Choice {
    const situation = { ...situationOf(request), ...changes };
    const decision = decide(situation);
    isScarce = "refusal" in decision;
    if ("tier" in decision) return { ...decision, situation };
    const { refusal, retryAfterMs: earliestMs } = decision;
    const retryAfterMs = earliestMs && slots.take(earliestMs, request.work?.compute.ms || lane.callMs());
    throw new Refused({ refusal, retryAfterMs }, basisOf(situation, request.query), {
      cpuMs: request.work?.measuredMs ?? 0,
      cpuLimitMs,
    });
  }

  /** Returns the region's answer; undefined when the region failed. */
  async function askRegion(
    request: Request,
    choice: Choice,
    signal = request.query.signal,
  ): Promise<Answered | undefined> {
    const { query, call, opened, sequences } = request;
    const { inputs, truncate } = call;
    const remainingMs = query.deadline.remainingMs();
    const handled = lane.startFetch(remainingMs === undefined ? undefined : now() + remainingMs);
    try {
      const question = { ...query, inputs, truncate, sequences };
      const expected = expectedAnswer(opened, { ...request, inputs: inputs.length });
      const answer = await (region as RegionTier).ask(question, expected, { signal, hedge: choice.hedge });
      return describe(answer, "region", choice, request);
    } catch (error) {
      if (!(error instanceof BertEdgeError && edgeAnswers.has(error.code))) throw error;
      isScarce = true;
      console.error(`bert-edge: ${error.message}`, error.cause ?? "");
      if (query.pin === "region" && error.code === "region_overloaded") {
        throw new Refused(
          { refusal: "overloaded", retryAfterMs: error.retryAfterMs },
          basisOf(choice.situation, query),
        );
      }
      return undefined;
    } finally {
      handled();
    }
  }

  async function runHere(
    request: Required<Request>,
    choice: Choice,
    signal: AbortSignal | undefined,
  ): Promise<Answered> {
    const { query, work, model, sequences } = request;
    const { budgetMs } = query.deadline;
    const remainingMs = query.deadline.remainingMs();
    const giveUpAt =
      remainingMs === undefined ? undefined : now() + remainingMs + maxLateMs(budgetMs) + work.compute.ms;
    return lane.using(work, { signal, giveUpAt }, async (place) => {
      const outputs: Float32Array<ArrayBuffer>[] = new Array(sequences.length);
      let computeMs = 0;
      await sideBySide(work.calls, work.parallel, async ({ indices, measuredMs }) => {
        const part = await place.turn(measuredMs, () => model.run(sequencesOf(sequences, indices), now));
        indices.forEach((index, i) => {
          outputs[index] = part.outputs[i] as Float32Array<ArrayBuffer>;
        });
        computeMs += part.computeMs;
      });
      // Calls that ran side by side waited and computed at the same time.
      const atATime = Math.min(work.parallel, work.calls.length);
      const answer: TierAnswer = {
        outputs,
        tokens: totalLength(sequences.map(idsOf)),
        model: model.manifest.name,
        version: model.version,
        provider: model.provider,
        timings: { queue: place.waitedMs() / atATime, compute: computeMs / atATime },
      };
      return describe(answer, tier, choice, request);
    });
  }

  /** Decodes an answer, and adds why it came from this tier. */
  function describe(answer: TierAnswer, from: Tier, choice: Choice, { query, call }: Request): Answered {
    const { outputs, ...details } = answer;
    const { reason, predictedMs, hedge, situation } = choice;
    const decision = { ...basisOf(situation, query), ...(hedge && { hedge: true as const }) };
    return { ...details, result: call.decode(outputs), tier: from, reason, predictedMs, decision };
  }

  function ready(background: Background): ReturnType<TaskService["ready"]> {
    const model = models.holderOf().current(background);
    region?.keepMeasured(background, undefined, model);
    return model && { model: model.manifest.name, version: model.version, provider: model.provider };
  }

  return {
    models: models.names,
    admit,
    answer,
    async using(background, work, name) {
      const holder = models.holderOf(name);
      const model = holder.current(background) ?? (await loadedBy(holder, background));
      return holder.using(model, () => work(model));
    },
    ready,
    arrival: (now) => arrivalBetween(lane.arrivedAfter(now), now, lane.busyMs()),
    // Work without a deadline lets a request with a budget go first.
    queueMs: () => lane.outlook({ dueAt: Number.MAX_VALUE, compute: { ms: 0, spreadMs: 0 }, loadMs: 0 }).waitMs,
  };
}

/** Loads a model. Another model's load may unload it before anybody could use it; then it is loaded again. */
async function loadedBy(holder: ModelHolder, background: Background): Promise<Model> {
  for (;;) {
    const model = await holder.load(background);
    if (holder.holds(model)) return model;
  }
}

/** Returns the region's side of a decision to ask both tiers. */
function fromRegionToo(choice: Choice): Choice {
  const { ms } = choice.situation.region as AnswerEstimate;
  return { ...choice, tier: "region", reason: "edge-over-budget", predictedMs: ms };
}

/** @throws BertEdgeError `model_unavailable` when loading the model took longer than the caller can use the answer */
function assertStillWanted({ deadline }: TaskQuery<unknown>, { manifest }: Model): void {
  if ((deadline.remainingMs() ?? 0) > -maxLateMs(deadline.budgetMs)) return;
  throw new BertEdgeError(
    "model_unavailable",
    `The latency budget was over when the model ${manifest.name} had loaded.`,
    {
      hint: "Send the request again. The model is loaded now.",
    },
  );
}

/** Whether the model that this deployment runs has a lower precision than the caller accepts. */
function isTooCoarse({ manifest }: Opened, model: Model | undefined, lowest: CallTerms["precision"]): boolean {
  if (lowest === undefined || !model) return false;
  const own = manifest.targets[model.target]?.precision.startsWith("int8") ? "int8" : "fp16";
  return numberFormats.indexOf(own) < numberFormats.indexOf(lowest);
}

/** Names what a decision is based on. Times are in milliseconds. */
function basisOf({ here, region }: Situation, { deadline }: CallTerms): Record<string, number> {
  const { budgetMs } = deadline;
  return {
    ...(budgetMs !== undefined && { budget: budgetMs }),
    ...(typeof here === "object" && { wait: here.waitMs, compute: here.compute.ms, spread: here.compute.spreadMs }),
    ...(typeof region === "object" && { region: region.ms }),
  };
}

/** Connects to the regions. Returns one tier that stands for all of them; undefined without a region. */
function connectAll(all: readonly Region[], lane: Turns, extra: ExtraLoad): RegionTier | undefined {
  const [first, ...others] = all.map((region) => region.connect(lane));
  return first && others.length > 0 ? oneOf([first, ...others], extra) : first;
}
