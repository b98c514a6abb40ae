import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import type { BertEdgeClientError } from "../../client/errors.ts";
import { responseError } from "../../client/response-error.ts";
import { MAX_SETTINGS_BYTES } from "../../compile/files/whole-file.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import { type LaunchOptions, launch, type Service } from "../process-group.ts";

/** Time in ms that a process gets to end by itself after a failed start. */
const STOP_FAILED_MS = 500;
const POLL_MS = 100;

/** Maximum number of output lines in an error message. */
const KEPT_LINES = 60;

/** `node --watch` prints this when the watched process has exited. The watching process itself keeps running. */
export const WATCHED_EXIT = /(Failed|Completed) running /;
/** wrangler prints this when the Worker's code cannot be bundled. It then waits for an edit. */
const BUILD_FAILED = /Build failed with /;

/** Texts of the error for a service that lacks the route of `ready.url`. */
interface AbsentRoute {
  message: string;
  hint: string;
}

export interface ServiceOptions extends LaunchOptions {
  readonly name: string;
  /**
   * The service counts as started when `url` answers. If `status` is set, the answer must have this HTTP status. An answer
   * such as 404 does not change with time: if `absent` is set, the start then fails with the error of `absent`.
   */
  ready: {
    url: string;
    status?: number;
    withinMs: number;
    absent?: (status: number) => AbsentRoute;
    /** Whether requests to `url` may begin. Default: they begin at once. */
    when?: () => boolean;
  };
  /** Called with each line of the service's output. Log lines about requests to `ready.url` are left out. */
  onOutput?: (line: string) => void;
}

/**
 * Starts a process and waits until `ready.url` answers.
 *
 * @throws BertEdgeError `service_failed` when the process exits, its code has an error, or it does not answer in time.
 *   The message contains the last output of the process. If `ready.url` answers with an error that waiting does not
 *   change, such as `setting_invalid`, throws the answered error. If it answers 4xx, such as 404, throws the error of `ready.absent`.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { name, ready, watch = false, onOutput = () => {} } = options;
  const lines: string[] = [];
  let starting = true;
  const probed = `GET ${new URL(ready.url).pathname} `;
  const { ended, hasEnded, stop } = launch(options, (line) => {
    if (starting && line.includes(probed)) return;
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    onOutput(line);
  });
  const fail = async (what: string): Promise<never> => {
    await stop(STOP_FAILED_MS);
    throw new BertEdgeError("service_failed", `${name} ${what}:\n${lines.join("\n")}`, {
      hint: "Correct the error in the output above, then run the command again.",
    });
  };
  const printed = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  const giveUpAt = performance.now() + ready.withinMs;
  for (;;) {
    const answer = ready.when?.() === false ? "starting" : await probe(ready);
    if (answer === "ready") break;
    if (answer !== "starting") {
      if (!(answer instanceof Error)) {
        await stop(STOP_FAILED_MS);
        throw new BertEdgeError("service_failed", answer.message, { hint: answer.hint });
      }
      if (answer.code === "internal") await fail("answers every request with an error");
      await stop(STOP_FAILED_MS);
      throw new BertEdgeError(answer.code as ErrorCode, `${name} cannot start: ${answer.message}`, {
        hint: answer.hint,
      });
    }
    if (hasEnded() || (watch && printed(WATCHED_EXIT))) await fail("ended while starting");
    if (printed(BUILD_FAILED)) await fail("cannot be built");
    if (performance.now() > giveUpAt) await fail("did not answer while starting");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  starting = false;
  return { name, ended, stop: () => stop() };
}

/** Asks whether a service is ready. Returns the service's error if waiting does not change it. */
async function probe({
  url,
  status,
  absent,
}: ServiceOptions["ready"]): Promise<"ready" | "starting" | AbsentRoute | BertEdgeClientError> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const body = (await boundedText(response, MAX_SETTINGS_BYTES)) ?? "";
    if (status === undefined || response.status === status) return "ready";
    const error = responseError(response, body, []);
    if (absent && response.status >= 400 && response.status < 500 && !error.retryable) return absent(response.status);
    return response.status < 500 || error.retryable ? "starting" : error;
  } catch {
    return "starting";
  }
}
