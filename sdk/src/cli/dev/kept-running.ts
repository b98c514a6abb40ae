import { launch, type Service } from "../process-group.ts";
import { type ServiceOptions, startService, WATCHED_EXIT } from "./service.ts";

/** Pauses in ms before the first, the second, and each later restart of a service that has ended. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** Time in ms after which a running service counts as sound. If it ends later, the pauses start with the first one again. */
const SOUND_MS = 60_000;

/** `node --watch` prints this when a file has changed, and runs the script again. */
const RESTARTED = /Restarting '/;

interface KeptRunningOptions extends Omit<ServiceOptions, "watch"> {
  readonly pausesMs?: readonly number[];
}

/**
 * Starts a service, and restarts it when one of its files changes or when it has ended by itself. `node --watch` alone would restart it
 * only after a change. The pause before a restart grows each time. After the last pause, only a change restarts the service.
 *
 * @throws BertEdgeError as `startService`, for the first start
 */
export async function keptRunning(options: KeptRunningOptions): Promise<Service> {
  const { name, pausesMs = PAUSES_MS, onOutput = () => {} } = options;
  const ended = Promise.withResolvers<void>();
  /** The running service; undefined during a restart. */
  let running: Pick<Service, "ended" | "stop"> | undefined;
  let restarts = 0;
  let startedAt = performance.now();
  let pause: NodeJS.Timeout | undefined;
  let isStopped = false;

  function hear(line: string): void {
    onOutput(line);
    if (RESTARTED.test(line)) begin(0);
    else if (running && WATCHED_EXIT.test(line)) startAgainLater();
  }

  function begin(count: number): void {
    clearTimeout(pause);
    restarts = count;
    startedAt = performance.now();
  }

  /** Returns false if the service has ended too often. */
  function startAgainLater(): boolean {
    if (performance.now() - startedAt > SOUND_MS) restarts = 0;
    const ms = pausesMs[restarts];
    if (ms === undefined) {
      onOutput(
        `The ${name} has ended ${restarts + 1} times. Correct its code: it starts again when one of its files changes.`,
      );
      return false;
    }
    onOutput(`The ${name} has ended. It starts again in ${ms / 1_000} s.`);
    pause = setTimeout(startAgain, ms);
    return true;
  }

  async function startAgain(): Promise<void> {
    begin(restarts + 1);
    const before = running;
    running = undefined;
    await before?.stop();
    if (!isStopped) run(launch({ ...options, watch: true }, hear));
  }

  function run(service: Pick<Service, "ended" | "stop">): void {
    running = service;
    // If `node --watch` itself ends, no change restarts the service. It is therefore started again here.
    service.ended.then(() => service === running && !isStopped && !startAgainLater() && ended.resolve());
  }

  run(await startService({ ...options, watch: true, onOutput: hear }));
  begin(0);
  return {
    name,
    ended: ended.promise,
    async stop() {
      isStopped = true;
      clearTimeout(pause);
      await running?.stop();
      ended.resolve();
    },
  };
}
