import type { WorkersAiBinding } from "../region-settings.ts";
import type { Transport } from "./transport.ts";

/** A text of one token. The binding has no route without texts. */
const PROBE = { text: ["a"] };

/** Runs a model of Workers AI through its binding, which has no paths, keys or headers. */
export function overWorkersAi({ ai, model }: { ai: WorkersAiBinding; model: string }): Transport {
  const run = (inputs: object, signal: AbortSignal) =>
    orAborted(ai.run(model, { ...inputs }, { returnRawResponse: true, signal }).then(responseOf), signal);
  return {
    host: `Workers AI (${model})`,
    settings: ["REGION_MODEL"],
    post: (_path, body, _headers, signal) => run(body, signal),
    get: (_path, _options, signal) => run(PROBE, signal),
  };
}

/** Other implementations of the binding, as in tests, may not know the option and return what they have parsed. */
const responseOf = (result: unknown): Response => (result instanceof Response ? result : Response.json(result));

/** Rejects when `signal` is aborted, which older runtimes do not tell the binding. Then its response is dropped. */
async function orAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([response, aborted.promise]);
  } catch (error) {
    response.then(({ body }) => body?.cancel()).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
