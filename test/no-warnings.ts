import { Writable } from "node:stream";
import type { Reporter, Vitest } from "vitest/node";

/** Maximum characters of unexpected output that are printed again at the end. */
const MAX_SHOWN = 5_000;

/**
 * Fails the run if a test writes to stderr: a warning of Node.js, an error that onnxruntime logs, a `console.error`. A test that
 * provokes such output expects it, for example with `errorLog`, so that nothing comes here. This reporter stands before others,
 * which print what failed to stderr when the tests have ended.
 */
export default class NoWarnings implements Reporter {
  private unexpected = "";
  private haveEnded = false;

  onInit({ logger }: Vitest): void {
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      if (!this.haveEnded) this.unexpected += chunk;
      process.stderr.write(chunk);
      done();
    };
    // Test processes write here, and so does the reporter that prints the output of their consoles.
    logger.errorStream = new Writable({ write }) as NodeJS.WriteStream;
  }

  onTestRunEnd(): void {
    this.haveEnded = true;
    if (this.unexpected === "") return;
    process.stderr.write(`\nTests wrote to stderr, and none expected it:\n${this.unexpected.slice(0, MAX_SHOWN)}\n`);
    process.exitCode = 1;
  }
}
