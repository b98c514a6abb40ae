import { BertEdgeError } from "../../artifact/error.ts";

export const engineFailed = (engine: string, what: string, cause: unknown): BertEdgeError =>
  new BertEdgeError("engine_failed", `The engine ${engine} could not load the model: ${what}.`, {
    hint: "Check that the artifact was prepared by this version of bert-edge and that the engine's package is installed.",
    cause,
  });

/** Returns the error of a model that an engine has loaded, but cannot run. */
export const runFailed = (model: string, provider: string, cause: unknown): BertEdgeError =>
  new BertEdgeError("engine_failed", `${model} cannot be run on ${provider}: ${Object(cause).message ?? cause}`, {
    hint: "Run `bert-edge verify` on the artifact to see which target is wrong.",
    cause,
  });

export const sessionReleased = (): BertEdgeError =>
  new BertEdgeError("session_released", "Cannot run the model: its session was released.", {
    hint: "Load the model again. Release a session only after its last run.",
  });
