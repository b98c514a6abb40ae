/** The script of every subprocess: makes the calls that its parent sends, and ends when the parent disconnects or ends. */
import { BertEdgeError } from "../../artifact/error.ts";
import type { Answer, Call } from "./messages.ts";

// Ends by SIGKILL, because `process.exit` can wait forever for a thread of V8: https://github.com/nodejs/node/issues/54918
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", async (call: Call) => {
  const answer: Answer<unknown> = await make(call).then((result) => ({ result }), answerOf);
  process.send?.(answer);
});

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
