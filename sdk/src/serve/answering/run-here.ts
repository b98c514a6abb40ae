import { nextTurn } from "../../artifact/next-turn.ts";
import { sideBySide } from "../../artifact/side-by-side.ts";
import { totalLength } from "../../artifact/total-length.ts";
import { sequencesOf } from "../../runtime/engine/batching.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import type { TurnScheduler } from "../queue/scheduler.ts";
import { maxLateMs } from "../routing/deadline.ts";
import type { TierAnswer } from "../service.ts";
import type { RequestState } from "./choose-tier.ts";

/** Runs the model here, when it is the request's turn. Throws the errors of `Ticket.turn`. */
export function runHere(
  { query, work, model, sequences }: Required<RequestState>,
  {
    scheduler,
    signal,
    now,
  }: { readonly scheduler: TurnScheduler; readonly signal: AbortSignal | undefined; readonly now: () => number },
): Promise<TierAnswer> {
  const { budgetMs } = query.deadline;
  const remainingMs = query.deadline.remainingMs();
  const giveUpAt = remainingMs === undefined ? undefined : now() + remainingMs + maxLateMs(budgetMs) + work.compute.ms;
  return scheduler.using(work, { signal, giveUpAt }, async (ticket) => {
    const outputs: Float32Array<ArrayBuffer>[] = new Array(sequences.length);
    let computeMs = 0;
    let tokens = 0;
    await sideBySide(work.calls, work.parallel, async ({ indices, measuredMs }) => {
      const part = await ticket.turn(measuredMs, () => {
        const batch = sequencesOf(sequences, indices);
        tokens += totalLength(batch.map(idsOf));
        query.onWork?.({ tokens, texts: query.call.texts.length });
        return model.run(batch, now);
      });
      indices.forEach((index, i) => {
        outputs[index] = part.outputs[i] as Float32Array<ArrayBuffer>;
      });
      computeMs += part.computeMs;
    });
    // Calls that ran side by side waited and computed at the same time, so their times count once.
    const atATime = Math.min(work.parallel, work.calls.length);
    return {
      outputs,
      tokens: totalLength(sequences.map(idsOf)),
      model: model.manifest.name,
      version: model.version,
      provider: model.provider,
      timings: { queue: ticket.waitedMs() / atATime, compute: computeMs / atATime },
    };
  });
}

/** Two ways to get the same answer. Each stops when its signal is aborted. */
interface Ways<T> {
  /** Asks another machine. Resolves to undefined if it has no answer. */
  elsewhere(signal: AbortSignal): Promise<T | undefined>;
  /** Computes the answer on this thread. */
  here(signal: AbortSignal): Promise<T>;
}

/**
 * Tries two ways at the same time, returns the first answer and stops the other way.
 *
 * @param options.signal stops both ways
 * @param options.onLeft receives both ways, one of which goes on until it notices that it is stopped
 * @throws the error of `here` when both ways fail
 */
export async function firstAnswer<T>(
  ways: Ways<T>,
  { signal, onLeft }: { signal: AbortSignal | undefined; onLeft: (work: Promise<unknown>) => void },
): Promise<T> {
  const done = new AbortController();
  const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  const elsewhere = ways.elsewhere(stop).then((answer) => answer ?? Promise.reject(new Error("No answer elsewhere.")));
  // `elsewhere` may fail before anything waits for it, and Node exits on an unhandled rejection.
  elsewhere.catch(() => {});
  onLeft(elsewhere);
  // A fetch is sent only while the thread is free, so it gets the thread before the computation.
  await nextTurn();
  const here = ways.here(stop);
  onLeft(here);
  try {
    return await Promise.any([elsewhere, here]).catch(() => here);
  } finally {
    done.abort();
  }
}
