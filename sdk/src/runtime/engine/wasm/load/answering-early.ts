import { BertEdgeError } from "../../../../artifact/error.ts";
import { withDeadline } from "../../../../artifact/with-deadline.ts";
import type { EngineSession, TokenSequence } from "../../engine.ts";
import { sessionReleased } from "../../engine-error.ts";
import { checkSequences } from "../run/check-sequences.ts";
import type { CheckedProgram } from "../run/checked-program.ts";
import type { WasmSession } from "../run/session.ts";
import type { Arrival } from "./arrival.ts";
import { neededBytes } from "./needed-bytes.ts";

/**
 * Maximum milliseconds to wait for the rest of a model. Without this limit a wait could be endless: on Workers, a transfer
 * stops without an error when the request that started it ends.
 */
const LATE_MS = 30_000;

/**
 * Milliseconds that the transfer pauses after a run. An isolate has only one thread, so without this pause the answer would
 * have to wait for the transfer.
 */
const ANSWER_MS = 10;

/** A model file that arrives. `begun` resolves when all that every text needs is in memory and checked. */
interface Loading {
  readonly arrival: Arrival;
  readonly begun: Promise<void>;
}

/** Returns a session of a model that is still loading: `run` waits only for the bytes that its sequences need. */
export function answeringEarly(
  session: WasmSession,
  { arrival, begun }: Loading,
  program: CheckedProgram,
): EngineSession {
  let isComplete = false;
  const complete = Promise.all([begun, arrival.complete]).then(() => {
    isComplete = true;
  });
  // A model that is refused need not arrive.
  complete.catch(arrival.stop);
  const arrived = async (sequences: readonly TokenSequence[]) => {
    if (isComplete) return;
    checkSequences(sequences, program);
    const rows = arrival.reach(neededBytes(program, session.firstRows(sequences)));
    await withDeadline(Promise.all([begun, rows]), LATE_MS, late);
  };
  const ready = async (sequences: readonly TokenSequence[]) => {
    await Promise.all([arrived(sequences), session.ready?.(sequences)]);
  };
  return {
    ...session,
    complete,
    ready,
    /**
     * @throws BertEdgeError `model_unavailable` when the needed bytes do not arrive in time. Also throws the error of
     *   the transfer and the errors of the session
     */
    async run(sequences, head) {
      await arrived(sequences);
      const results = await session.run(sequences, head);
      if (!isComplete) arrival.pause(ANSWER_MS);
      return results;
    },
    async release() {
      arrival.stop(sessionReleased());
      await session.release();
    },
  };
}

const late = () =>
  new BertEdgeError("model_unavailable", `The rest of the model did not arrive within ${LATE_MS} ms.`, {
    hint: "Send the request again. If this happens again, check the store that the model is read from.",
  });
