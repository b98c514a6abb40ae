import { throwIfAborted } from "../subprocess/aborted.ts";

/** Names of the stages, in their usual order. Most commands leave some stages out. */
export type StageName =
  | "download"
  | "read"
  | "estimate"
  | "fuse"
  | "check"
  | "observe"
  | "fit"
  | "quantize"
  | "measure"
  | "time"
  | "write";

/** A part of a command. It computes its result from the results of earlier stages. */
export interface Stage<Input, Output> {
  readonly name: StageName;
  /** Describes in a few words what the stage does, for progress messages. */
  readonly describe: (input: Input) => string;
  readonly run: (input: Input, context: StageContext) => Promise<Output>;
  /** Returns the facts about the result that the command's report shows. */
  readonly report: (output: Output) => Findings;
}

export type Findings = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface StageContext {
  /** Folder for temporary files. It is removed when the command ends. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  /** Reports progress; `fraction` is the finished share from 0 to 1, if known. */
  readonly progress: (message: string, fraction?: number) => void;
}

export interface Progress {
  readonly stage: StageName;
  /** The current work, such as "measure edge on wasm". */
  readonly message: string;
  /** Finished share of this work, from 0 to 1; undefined if not known. */
  readonly fraction: number | undefined;
}

export interface StageReport {
  readonly stage: StageName;
  /** The finished work, such as "quantize edge on wasm, int8-edge". */
  readonly message: string;
  readonly ms: number;
  readonly found: Findings;
}

/** Options that every command takes. */
export interface RunOptions {
  /** Called when a stage begins, and repeatedly during long stages. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * When this signal aborts, the command kills its subprocesses, removes temporary files and rejects with the code
   * `aborted`.
   */
  signal?: AbortSignal | undefined;
}

/** A run of a command: calls one stage after the other and collects their reports. */
export interface StageRun {
  readonly reports: readonly StageReport[];
  /** @throws BertEdgeError `aborted`, or an error of the stage */
  readonly run: <Input, Output>(stage: Stage<Input, Output>, input: Input) => Promise<Output>;
}

/** @param folder folder for temporary files of the stages */
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
