/** A part of a deployment. */
export interface DeployStep {
  readonly name: string;
  /** Describes the step to the user. */
  readonly what: string;
  /** Looks whether nothing is left to do. Changes nothing. */
  isDone(): Promise<boolean>;
  run(): Promise<void>;
}

/** `kept`: it was done before. `done`: this run did it. `planned`: a run without `--dry-run` would do it. */
export type StepState = "kept" | "done" | "planned";

export interface StepReport {
  readonly name: string;
  readonly what: string;
  readonly state: StepState;
}

export interface RunStepsOptions {
  readonly dryRun: boolean;
  readonly onStep?: (report: StepReport) => void;
}

/** Does what is left of a deployment, step by step. Each step looks first, so a run after a kill continues. */
export async function runSteps(
  steps: readonly DeployStep[],
  { dryRun, onStep = () => {} }: RunStepsOptions,
): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const step of steps) {
    const isDone = await step.isDone();
    if (!isDone && !dryRun) await step.run();
    const state: StepState = isDone ? "kept" : dryRun ? "planned" : "done";
    const report = { name: step.name, what: step.what, state };
    reports.push(report);
    onStep(report);
  }
  return reports;
}
