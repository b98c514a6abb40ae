import { BertEdgeError } from "../../artifact/error.ts";
import { modelParity } from "./model-parity.ts";
import type { ParityAnswer } from "./parity-process.ts";

/** Compares the two models named on the command line and sends the answer to the parent process. */
const [, , original = "", rewritten = ""] = process.argv;
const answer: ParityAnswer = await modelParity(original, rewritten).then(
  (parity) => ({ parity }),
  (error: unknown) =>
    error instanceof BertEdgeError
      ? { code: error.code, message: error.message }
      : { code: "parity_failed", message: error instanceof Error ? error.message : String(error) },
);
process.send?.(answer, () => process.disconnect?.());
