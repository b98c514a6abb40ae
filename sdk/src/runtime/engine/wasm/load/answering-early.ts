import { BertEdgeError } from "../../../../artifact/error.ts";
import { withDeadline } from "../../../../artifact/with-deadline.ts";
import type { EngineSession, TokenIds } from "../../engine.ts";
import { checkSequences } from "../run/batches.ts";
import type { CheckedProgram } from "../run/checked-program.ts";
import type { Arrival } from "./arrival.ts";
import { neededBytes } from "./needed-bytes.ts";
import { sessionReleased } from "./releasable.ts";

/** On Workers a transfer ends with the request that began it, and tells nobody. */
const LATE_MS = 30_000;

/** What an answer takes to leave the isolate, which has one thread for that and the transfer. */
const ANSWER_MS = 10;

/** A session whose model is still coming: it runs sequences as soon as what they need is there. */
export function answeringEarly(session: EngineSession, arrival: Arrival, program: CheckedProgram): EngineSession {
  let isComplete = false;
  arrival.complete.then(
    () => {
      isComplete = true;
    },
    () => {},
  );
  const ready = async (sequences: readonly TokenIds[]) => {
    if (isComplete) return;
    checkSequences(sequences, program);
    await withDeadline(arrival.reach(neededBytes(program, sequences)), LATE_MS, late);
  };
  return {
    ...session,
    complete: arrival.complete,
    ready,
    /** @throws BertEdgeError `model_unavailable`, what the transfer failed with, and as the session */
    async run(sequences, head) {
      await ready(sequences);
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
  new BertEdgeError("model_unavailable", `The rest of the model did not come within ${LATE_MS} ms.`, {
    hint: "Try again shortly; if it stays so, check the object store.",
  });
