/** The script of every subprocess: makes the one call that its parent sends, returns the answer, and ends. */
import { once } from "node:events";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Answer, Call } from "./messages.ts";

/** Ends the script when the parent process has ended. */
const endOrphan = () => process.exit(1);
process.once("disconnect", endOrphan);
const [call] = (await once(process, "message")) as [Call];
const answer: Answer<unknown> = await make(call).then((result) => ({ result }), answerOf);
process.removeListener("disconnect", endOrphan);
process.send?.(answer, () => process.disconnect?.());

async function make({ module, name, args }: Call): Promise<unknown> {
  const { [name]: exported } = (await import(module)) as Record<string, unknown>;
  if (typeof exported !== "function") throw new TypeError(`${module} exports no function named "${name}"`);
  return exported(...args);
}

function answerOf(error: unknown): Answer<never> {
  if (!(error instanceof BertEdgeError)) return { message: messageOf(error) ?? "nothing" };
  return { code: error.code, message: error.message, hint: error.hint, cause: messageOf(error.cause) };
}

function messageOf(error: unknown): string | undefined {
  return error === undefined ? undefined : error instanceof Error ? error.message : String(error);
}
