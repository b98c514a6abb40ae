import { throwIfAborted } from "../subprocess/aborted.ts";

/** The stages of every command, in their order. */
export type StageName = "read" | "fuse" | "check" | "observe" | "quantize" | "measure" | "time" | "write";

/** One step of a command: a function from the results of earlier stages to its own. */
export interface Stage<Input, Output> {
  readonly name: StageName;
  /** Says what the stage does with this input, for people who wait. */
  readonly describe: (input: Input) => string;
  /** Returns a hash of the content that decides the result: equal keys mean equal results. */
  readonly key: (input: Input) => Promise<string>;
  readonly run: (input: Input, context: StageContext) => Promise<Output>;
  /** Returns the part of the result that the report shows. */
  readonly report: (output: Output) => Findings;
}

export type Findings = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface StageContext {
  /** Folder for temporary files. It is removed when the command ends. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  /** Tells how far the stage is, with a share of 0 to 1 where that is known. */
  readonly progress: (message: string, fraction?: number) => void;
}

export interface Progress {
  readonly stage: StageName;
  /** What is done now, such as "measure edge on wasm". */
  readonly message: string;
  /** Share of this step that is done, from 0 to 1; undefined where it is not known. */
  readonly fraction: number | undefined;
}

export interface StageReport {
  readonly stage: StageName;
  /** What was done, such as "quantize for edge on wasm". */
  readonly message: string;
  readonly ms: number;
  readonly found: Findings;
}

/** Options that every command takes. */
export interface RunOptions {
  /** Called as each stage begins, and within long ones. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Stops the command: subprocesses are killed, temporary files removed, and it rejects with the code `aborted`. */
  signal?: AbortSignal | undefined;
}

/** A command's run: calls stages in turn and collects their reports. */
export interface StageRun {
  readonly reports: readonly StageReport[];
  /** @throws BertEdgeError `aborted`, and as the stage */
  readonly run: <Input, Output>(stage: Stage<Input, Output>, input: Input) => Promise<Output>;
}

/** @param folder for temporary files of the stages */
export function startRun({ onProgress, signal }: RunOptions, folder: string): StageRun {
  const reports: StageReport[] = [];
  return {
    reports,
    async run({ name: stage, describe, run, report }, input) {
      throwIfAborted(signal);
      const message = describe(input);
      const progress = (now: string, fraction?: number) => onProgress?.({ stage, message: now, fraction });
      progress(message);
      const start = performance.now();
      const output = await run(input, { folder, signal, progress });
      throwIfAborted(signal);
      reports.push({ stage, message, ms: performance.now() - start, found: report(output) });
      return output;
    },
  };
}
