import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { totalLength } from "../../artifact/total-length.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import type { Background } from "../../runtime/background.ts";
import { idsOf, pooledFromOf } from "../../runtime/engine/token-sequence.ts";
import type { Model } from "../../runtime/model.ts";
import type { ModelHolder } from "../../runtime/models/model-holder.ts";
import { answeredBytes, askedBytes, computedBytes, readBytes, roomForRequests } from "../../runtime/request-memory.ts";
import type { EncodedCall, ModelCall } from "../../runtime/tasks/task-call.ts";
import { isPerToken, outputLength } from "../../runtime/tasks/task-output.ts";
import { checkOutputs, checkQuery } from "../check-query.ts";
import type { Tier } from "../contract/headers.ts";
import { decisionFigures } from "../decision-figures.ts";
import { answeringMs, inFlight, NoRoom } from "../queue/in-flight.ts";
import { pageTime } from "../queue/page-time.ts";
import { type EngineTraits, turnScheduler } from "../queue/scheduler.ts";
import { Refused } from "../refusal.ts";
import { expectedAnswer } from "../region/expected-answer.ts";
import { logFailure } from "../region/failure.ts";
import type { Region } from "../region/region.ts";
import type { RegionTier } from "../region/region-tier.ts";
import { connectAll, isOfTheRegion } from "../region/regions.ts";
import { arrivalBetween, maxLateMs, startDeadline } from "../routing/deadline.ts";
import { CERTAIN, type Situation } from "../routing/decide.ts";
import type { RequestOptions, TaskAnswer, TaskQuery, TaskService, TierAnswer } from "../service.ts";
import {
  fromRegionToo,
  type RequestState,
  type TierChoice,
  type TierChooserOptions,
  tierChooser,
  type UndecidedRequest,
} from "./choose-tier.ts";
import { encodeInParts, hasParts } from "./encode-in-parts.ts";
import type { ModelPool } from "./model-pool.ts";
import { type DecisionLog, isExpectedLate, requestObserver } from "./observer.ts";
import { ownTexts } from "./own-texts.ts";
import { estimatedLengths } from "./plan.ts";
import { firstAnswer, runHere } from "./run-here.ts";

export interface TaskServiceOptions extends Pick<TierChooserOptions, "tier" | "limits" | "cpuLimitMs"> {
  readonly models: ModelPool;
  readonly engine: EngineTraits;
  /** The regions that answer when this deployment cannot answer in time. */
  readonly regions: readonly Region[];
  readonly log: DecisionLog;
  readonly now?: () => number;
}

/** Longest time in ms that a request takes from its arrival until its texts are read. */
const ARRIVING_MS = 70_000;

/** Maximum age of the region's measurement while this deployment is overloaded, in ms. */
const OVERLOADED_PROBE_MS = 250;

/** Time in ms for which a request waits for pages before the region is asked, if it has no budget or the region cannot be in time. */
const MAX_PAGES_MS = 2_000;

type Answered = TaskAnswer<unknown>;

/**
 * Makes the service that answers requests. The service checks a request, encodes its inputs and decides who answers. Then
 * it asks the region, or runs the model here when it is the request's turn. If the region fails, the model runs here.
 */
export function taskService(options: TaskServiceOptions): TaskService {
  const { models, tier, limits, log, cpuLimitMs, engine, now = () => performance.now() } = options;
  const scheduler = turnScheduler({ engine, now });
  const book = requestObserver({ tier, log });
  const memory = inFlight({
    maxBytes: () => limits.maxBytesInFlight ?? roomForRequests(models.bytes()),
    refused: (error, { trace }) => book.refused(error, { deadline: startDeadline(undefined, { now }), trace }),
    now,
  });
  const pages = pageTime(now);
  const computeOwnTexts = ownTexts({ scheduler, cpuLimitMs, isBusy: () => unanswered > 0, now });
  /** Number of requests without an answer yet. */
  let unanswered = 0;
  /** Whether the last request was refused, or its answer expected late. Then a region that seemed too slow may be needed. */
  let isOverloaded = false;
  const region = connectAll(options.regions, scheduler, book.retryBudget);
  const { asked, choose: chooseTier } = tierChooser({ scheduler, pages, region, tier, limits, cpuLimitMs, now });

  async function answer<R>(query: TaskQuery<R>, background: Background): Promise<TaskAnswer<R>> {
    const { texts } = query.call;
    unanswered++;
    try {
      query.hold?.keep(answeringMs(query.deadline.remainingMs()));
      query.hold?.reserve(readBytes(texts));
      const answered = await answerTo(query, background);
      book.answered(query, answered);
      // The cast is safe, because `describe` decodes the answer with the call of this query.
      return answered as TaskAnswer<R>;
    } catch (error) {
      throw withModels(refused(error, query, texts.length), query);
    } finally {
      unanswered--;
    }
  }

  /** Records a refusal. Returns the error for the caller. */
  function refused(error: unknown, terms: RequestOptions, texts?: number): unknown {
    if (!(error instanceof Refused) || error instanceof NoRoom) return error;
    book.refused(error, terms, texts);
    return error.of(terms.deadline);
  }

  /** Names the other models in the error of a call that does not fit the default model. */
  function withModels(error: unknown, { model }: RequestOptions): unknown {
    const [, ...others] = models.served.names;
    return model === undefined && others[0] && error instanceof BertEdgeError && error.code === "task_unsupported"
      ? new BertEdgeError(error.code, error.message, { hint: [{ set: "model", among: others }] })
      : error;
  }

  async function answerTo(query: TaskQuery<unknown>, background: Background): Promise<Answered> {
    checkQuery(query, limits);
    const holder = models.holderOf(query.model);
    const report = book.reportOf(query);
    if (report) scheduler.speed.observeReport(report.predictedMs, report.measuredMs);
    const loaded = holder.current(background);
    region?.keepMeasured(background, isOverloaded ? OVERLOADED_PROBE_MS : undefined, loaded);
    if (loaded) return using(holder, loaded, query, background);
    const whileLoading = await askWhileLoading(query, holder, background);
    if (whileLoading) {
      warmWhenLoaded(holder, background);
      return whileLoading;
    }
    const model = await loadedBy(holder, background);
    region?.keepMeasured(background, undefined, model);
    assertStillWanted(query, model);
    return using(holder, model, query, background);
  }

  /** Warms the engine as soon as the model is loaded. Ignores an error of loading, because the load itself reports it. */
  function warmWhenLoaded(holder: ModelHolder, background: Background): void {
    if (scheduler.speed.isWarm()) return;
    const warm = (model: Model) =>
      holder.using(model, () => computeOwnTexts(model, { spentMs: 0, wasTooSlow: false })).then(scheduler.settled);
    background(loadedBy(holder, background).then(warm, () => {}));
  }

  /** Computes own texts after an answer, if the engine is cold, or if an old estimate made this deployment seem too slow. */
  function afterwards(model: Model, { tier: outcome, reason, timings, decision }: Answered): Promise<void> {
    const wasTooSlow = reason === "edge-over-budget" || reason === "over-budget";
    // Where the clock stands still during computation, the measured time is 0. Then the predicted time counts.
    const computedMs = Math.max(timings["compute"] ?? 0, Number(decision["compute"] ?? 0));
    return computeOwnTexts(model, { spentMs: outcome === tier ? computedMs : 0, wasTooSlow });
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
      await answered.promise.then(
        (answer) => afterwards(model, answer),
        () => {},
      );
    });
    // Workers drop a request's work when its caller goes or its response is sent, and do not run even its `finally` blocks.
    // Without `background`, the model would then count as in use, and the queue as occupied, forever.
    background(work.then(scheduler.settled));
    return answered.promise;
  }

  /** Checks the outputs of a call before its inputs are encoded, if their sizes are known by then. Returns whether they are. */
  function checkedBeforeEncoding(manifest: Manifest, { encoder, inputs }: ModelCall<unknown>): boolean {
    if (encoder || isPerToken(manifest)) return false;
    checkOutputs(manifest, Array(inputs.length).fill(undefined), limits);
    return true;
  }

  async function askWhileLoading(
    query: TaskQuery<unknown>,
    holder: ModelHolder,
    background: Background,
  ): Promise<Answered | undefined> {
    if (!region) return undefined;
    const opened = await holder.opened(background);
    const call = query.call.on(opened.manifest);
    // The tokenizer is not loaded yet, so only outputs of a known length can be checked. The region gets no unchecked request.
    if (!checkedBeforeEncoding(opened.manifest, call)) return undefined;
    // `onlyOurs`: without the tokenizer, nobody knows whether an input is too long for a foreign region.
    const request = { query, call, opened, inRegionMs: 0, onlyOurs: true };
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
    const fitting = query.call.on(model.manifest);
    const isChecked = checkedBeforeEncoding(model.manifest, fitting);
    if (hasParts(fitting.inputs)) {
      // Encoding takes long, so a request that has no chance is refused before it.
      const lengths = estimatedLengths(fitting.inputs, model.manifest.maxTokens);
      choose(asked({ query }, model, lengths));
    }
    const call = await encodeInParts(model, fitting, signal, limits.maxInputs);
    const { sequences } = call;
    const ids = sequences.map(idsOf);
    if (!isChecked) checkOutputs(model.manifest, ids, limits);
    const lengths = ids.map((each) => outputLength(model.manifest, each));
    query.hold?.reserve(computedBytes(query.call.texts, ids, lengths));
    // If pages must be read, too, they are read while the rest of the model arrives, after a first decision.
    const isArriving = !model.isComplete();
    if (isArriving && model.pageReads(sequences) === 0) {
      await model.ready(sequences);
      assertStillWanted(query, model);
    }
    signal?.throwIfAborted();

    let request = encodedRequest(query, call, model);
    let choice = choose(request);
    if (request.pageReads > 0 && choice.tier === "here") {
      const answered = await readPagesOrAskRegion(request, choice, onLeft);
      if (answered) return answered;
      if (isArriving) assertStillWanted(query, model);
      // Time has passed, and others may have come: choose again.
      request = encodedRequest(query, call, model);
      choice = withReads(choose(request), choice);
    }
    const inRegion = choice.hedge ? fromRegionToo(choice) : choice;
    if (choice.hedge && book.retryBudget.take()) {
      const ways = {
        elsewhere: (signal: AbortSignal) => askRegion(request, inRegion, signal),
        here: (signal: AbortSignal) => answerHere(request, choice, signal),
      };
      return firstAnswer(ways, { signal, onLeft });
    }
    // If the retry budget does not allow a hedge, the region answers alone, because it is more certain to be in time.
    if (choice.tier === "here" && !choice.hedge) return answerHere(request, choice, signal);
    const fromRegion = await askRegion(request, { ...inRegion, hedge: false }, signal);
    if (fromRegion) return fromRegion;
    // The region failed, and time has passed: choose again, without the region.
    const again = encodedRequest(query, call, model);
    const alone = choose(again, { region: "down" });
    // A turn must not wait for a model that arrives.
    if (again.pageReads > 0 || !model.isComplete()) await readPages(again);
    return answerHere(again, alone, signal);
  }

  /**
   * Reads the pages of the vocabulary that a request needs. If they cannot be read while the region could still be in time, returns the
   * region's answer.
   */
  async function readPagesOrAskRegion(
    request: Required<RequestState>,
    choice: TierChoice,
    onLeft: (work: Promise<unknown>) => void,
  ): Promise<Answered | undefined> {
    const { signal, deadline } = request.query;
    const { region: other, pin } = choice.situation;
    const reading = readPages(request);
    if (typeof other === "object" && pin !== "here") {
      onLeft(reading);
      const remainingMs = deadline.remainingMs();
      const regionMs = other.ms + CERTAIN * other.spreadMs;
      const ms = remainingMs === undefined ? MAX_PAGES_MS : remainingMs - regionMs;
      // A region that cannot be in time is asked only if the pages cannot be read.
      const isRead = await isReached(reading, ms > 0 ? ms : MAX_PAGES_MS);
      const answered = !isRead && (await askRegion(request, fromRegionToo(choice, "edge-pages"), signal));
      if (answered) return answered;
    }
    await reading;
    return undefined;
  }

  async function readPages({ model, sequences, pageReads }: Required<RequestState>): Promise<void> {
    const [start, isComplete] = [now(), model.isComplete()];
    try {
      await model.ready(sequences);
    } finally {
      // The rest of the model takes longer than a read.
      if (isComplete) pages.observe(pageReads, now() - start);
    }
  }

  function encodedRequest(query: TaskQuery<unknown>, call: EncodedCall<unknown>, model: Model): Required<RequestState> {
    const { sequences } = call;
    const request = asked({ query, call, pageReads: model.pageReads(sequences) }, model, sequences.map(idsOf));
    const poolsPart = sequences.some((sequence) => pooledFromOf(sequence) > 0);
    return { ...request, onlyOurs: request.onlyOurs || poolsPart, sequences };
  }

  function choose(request: UndecidedRequest, changes?: Partial<Situation>): TierChoice {
    try {
      const choice = chooseTier(request, changes);
      isOverloaded = isExpectedLate(choice.reason);
      return choice;
    } catch (error) {
      isOverloaded = true;
      throw error;
    }
  }

  /** Returns the region's answer; undefined when the region failed. */
  async function askRegion(
    request: RequestState,
    choice: TierChoice,
    signal = request.query.signal,
  ): Promise<Answered | undefined> {
    const { query, call, opened, sequences } = request;
    const { inputs, truncate } = call;
    const remainingMs = query.deadline.remainingMs();
    const handled = scheduler.startFetch(remainingMs === undefined ? undefined : now() + remainingMs);
    try {
      query.onWork?.({ tokens: totalLength(sequences?.map(idsOf) ?? []), texts: query.call.texts.length });
      const expected = expectedAnswer(opened, { ...request, inputs: inputs.length });
      query.hold?.reserve(askedBytes(query.call.texts, sequences?.map(idsOf) ?? [], expected.lengths));
      const question = { ...query, inputs, truncate, sequences };
      const answer = await (region as RegionTier).ask(question, expected, { signal, hedge: choice.hedge });
      return describe(answer, "region", choice, request);
    } catch (error) {
      if (!isOfTheRegion(error)) throw error;
      isOverloaded = true;
      logFailure(error, { trace: query.trace });
      if (query.pin === "region" && error.code === "region_overloaded") {
        throw new Refused(
          { refusal: "overloaded", retryAfterMs: error.retryAfterMs },
          { ...decisionFigures(choice.situation, query.deadline), "region-refused": true },
        );
      }
      return undefined;
    } finally {
      handled();
    }
  }

  async function answerHere(request: Required<RequestState>, choice: TierChoice, signal?: AbortSignal) {
    return describe(await runHere(request, { scheduler, signal, now }), tier, choice, request);
  }

  /** Decodes an answer, and adds why it came from this tier. */
  function describe(answer: TierAnswer, from: Tier, choice: TierChoice, { query, call }: RequestState): Answered {
    const { outputs, ...details } = answer;
    query.hold?.count(answeredBytes(outputs));
    const { reason, predictedMs, hedge, situation } = choice;
    const decision = decisionFigures(situation, query.deadline);
    if (hedge) decision.hedge = true;
    return { ...details, result: call.decode(outputs), tier: from, reason, predictedMs, decision };
  }

  return {
    hold: (holder, bytes) => memory.hold(holder, bytes, ARRIVING_MS),
    bytesInFlight: memory.bytes,
    served: models.served,
    regions: options.regions.length,
    totals: book.totals,
    admit(terms, background) {
      const model = models.holderOf(terms.model).current(background);
      if (!model) return;
      try {
        choose(asked({ query: terms }, model, []));
      } catch (error) {
        throw refused(error, terms);
      }
    },
    answer,
    async using(background, work, name) {
      const holder = models.holderOf(name);
      const model = holder.current(background) ?? (await loadedBy(holder, background));
      return holder.using(model, () => work(model));
    },
    ready(background) {
      const model = models.holderOf().current(background);
      region?.keepMeasured(background, undefined, model);
      return model && { model: model.manifest.name, version: model.version, provider: model.provider };
    },
    warm: (background) => warmWhenLoaded(models.holderOf(), background),
    failure: () => models.holderOf().failure(),
    arrival: (now) => arrivalBetween(scheduler.noticed(now), now, scheduler.busyMs()),
    memoryBytes: () => models.bytes(),
    queueMs: scheduler.waitMs,
  };
}

/** Adds to a choice of this deployment, made after reads of pages, the reads that were predicted before them. */
function withReads(choice: TierChoice, { situation: { here } }: TierChoice): TierChoice {
  const { tier, predictedMs, situation } = choice;
  const pages = typeof here === "object" ? here.pages : undefined;
  if (tier !== "here" || typeof situation.here !== "object" || !pages) return choice;
  return {
    ...choice,
    predictedMs: predictedMs === undefined ? undefined : predictedMs + pages.ms,
    situation: { ...situation, here: { ...situation.here, pages } },
  };
}

/** Whether a promise is fulfilled within `ms`. */
const isReached = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  withDeadline(promise, ms, () => new Error("late")).then(
    () => true,
    () => false,
  );

/** Loads a model. Another model's load may unload it before anybody could use it; then it is loaded again. */
async function loadedBy(holder: ModelHolder, background: Background): Promise<Model> {
  for (;;) {
    const model = await holder.load(background);
    if (holder.holds(model)) return model;
  }
}

/** @throws BertEdgeError `model_unavailable` when loading took so long that the answer would be of no use to the caller */
function assertStillWanted({ deadline }: TaskQuery<unknown>, { manifest }: Model): void {
  if ((deadline.remainingMs() ?? 0) > -maxLateMs(deadline.budgetMs)) return;
  const found = `The latency budget was over when the model ${manifest.name} had loaded.`;
  throw new BertEdgeError("model_unavailable", found, { hint: "Send the request again. The model is loaded now." });
}
