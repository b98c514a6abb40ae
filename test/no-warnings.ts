import { PassThrough } from "node:stream";
import type { Reporter, Vitest } from "vitest/node";

/** Maximum characters of unexpected output that are printed again at the end. */
const MAX_SHOWN = 5_000;

/**
 * Fails the run if a test writes to stderr: a warning of Node.js, an error that onnxruntime logs, a `console.error`. A test that
 * provokes such output expects it, for example with `errorLog`, so that nothing is left here.
 */
export default class NoWarnings implements Reporter {
  private unexpected = "";

  onInit(vitest: Vitest): void {
    // Test processes write here what does not pass through their console.
    const stream = new PassThrough();
    stream.on("data", (bytes: Buffer) => this.add(`${bytes}`));
    vitest.logger.errorStream = stream as unknown as NodeJS.WriteStream;
  }

  onUserConsoleLog({ type, content }: Parameters<NonNullable<Reporter["onUserConsoleLog"]>>[0]): void {
    if (type === "stderr") this.add(content);
  }

  onTestRunEnd(): void {
    if (this.unexpected === "") return;
    process.stderr.write(`\nTests wrote to stderr, and none expected it:\n${this.unexpected.slice(0, MAX_SHOWN)}\n`);
    process.exitCode = 1;
  }

  private add(text: string): void {
    this.unexpected += text;
  }
}
