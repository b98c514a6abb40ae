import { BertEdgeError } from "../../artifact/error.ts";

/** A part of a deployment. */
export interface DeployStep {
  readonly name: string;
  /** Describes the step to the user. */
  readonly what: string;
  /** Looks whether nothing is left to do. Changes nothing. */
  isDone(): Promise<boolean>;
  run(): Promise<void>;
}

/**
 * `kept`: it was done before. `done`: this run did it. `planned`: a run without `--dry-run` would do it. `unknown`: a dry run
 * without a login could not look.
 */
export type StepState = "kept" | "done" | "planned" | "unknown";

export interface StepReport {
  readonly name: string;
  readonly what: string;
  readonly state: StepState;
  /** Why the state is unknown. */
  readonly why?: string;
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
    const report = { name: step.name, what: step.what, ...(await (dryRun ? lookedAt(step) : doneWith(step))) };
    reports.push(report);
    onStep(report);
  }
  return reports;
}

type Outcome = Pick<StepReport, "state" | "why">;

async function doneWith(step: DeployStep): Promise<Outcome> {
  if (await step.isDone()) return { state: "kept" };
  await step.run();
  return { state: "done" };
}

async function lookedAt(step: DeployStep): Promise<Outcome> {
  try {
    return { state: (await step.isDone()) ? "kept" : "planned" };
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "login_missing")
      return { state: "unknown", why: error.message };
    throw error;
  }
}
