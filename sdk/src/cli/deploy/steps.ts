import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { publish } from "../../storage/publish.ts";
import { readPointer } from "../../storage/published-artifact.ts";
import type { WritableStore } from "../../storage/store.ts";
import { signingOf } from "../signing.ts";
import type { KnownDeployment } from "./known-deployment.ts";
import { REGION_CONFIG, type RegionCalls, type RegionStack } from "./region-calls.ts";

/** A part of a deployment. */
interface DeployStep {
  readonly name: string;
  /** Describes the step to the user. */
  readonly what: string;
  /** Checks whether the step is already done. Changes nothing. */
  isDone(): Promise<boolean>;
  run(): Promise<void>;
}

/**
 * State of a step. `kept`: it was done before. `done`: this run did it. `planned`: a run without `--dry-run` would do it.
 * `unknown`: a dry run could not check it, for example without a login.
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

/** Does what is left of a deployment, step by step. Each step first checks whether it is done, so a run after a kill continues. */
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

interface ModelStepOptions {
  readonly name: string;
  /** Names the bucket to the user. */
  readonly bucket: string;
  readonly artifact: PublishableArtifact;
  /** Returns the bucket; undefined before the bucket exists. */
  store(): WritableStore | undefined;
}

/** Makes the step that publishes a model to a bucket. */
export function modelStep({ name, bucket, artifact, store }: ModelStepOptions): DeployStep {
  const { manifest, version } = artifact;
  return {
    name,
    what: `publish ${manifest.name}@${version} to ${bucket}`,
    async isDone() {
      const found = store();
      return found !== undefined && (await currentVersion((await signingOf(found)).store, manifest.name)) === version;
    },
    async run() {
      const signed = await signingOf(store() as WritableStore);
      await publish(artifact, signed.store, signed);
    },
  };
}

/** Makes the step for a served model whose artifact was not given to the command: it checks that the bucket has the model. */
export function presentStep({
  name,
  model,
  store,
}: Pick<ModelStepOptions, "name" | "store"> & { readonly model: string }): DeployStep {
  return {
    name,
    what: `look for ${model}, which is served too, in the bucket`,
    async isDone() {
      const found = store();
      return found !== undefined && (await currentVersion(found, model)) !== undefined;
    },
    async run() {
      throw new BertEdgeError(
        "model_not_published",
        `The deployment serves ${model}, and the bucket has no such model.`,
        {
          hint: `Give its artifact, too: --model <artifact> <artifact>. Or take ${model} out of MODEL.`,
        },
      );
    },
  };
}

/** Returns the name of a model's step. Only the steps after the first have the model's name. */
export const stepName = (step: string, index: number, model: string): string =>
  index === 0 ? step : `${step} ${model}`;

/** Returns the version of a model in a bucket; undefined if the model is missing or must be published again. */
async function currentVersion(store: WritableStore, model: string): Promise<string | undefined> {
  try {
    return (await readPointer(store, model)).version;
  } catch (error) {
    if (error instanceof BertEdgeError && toPublish.has(error.code)) return undefined;
    throw error;
  }
}

const toPublish: ReadonlySet<string> = new Set(["model_not_published", "signature_invalid"]);

/** The region of a project on AWS. */
export interface RegionDeployment {
  readonly calls: RegionCalls;
  /** Opens the bucket of the region's stack. */
  store(stack: RegionStack): WritableStore;
}

/** Makes the steps that deploy a region. `stack` returns the stack that they found or made; undefined before the first deployment. */
export function regionSteps(
  { calls, store }: RegionDeployment,
  { artifacts, others }: { artifacts: readonly PublishableArtifact[]; others: readonly string[] },
  known: KnownDeployment,
) {
  let stack: RegionStack | undefined;
  let tag = "";
  const steps = [
    {
      name: "region",
      what: `deploy the stack of ${REGION_CONFIG} to AWS`,
      async isDone() {
        stack = await calls.stack();
        tag = await calls.packageTag();
        return stack !== undefined && known.facts.regionPackage === tag;
      },
      async run() {
        await calls.deploy();
        stack = await calls.stack();
        await known.keep({ regionPackage: tag });
      },
    },
    ...artifacts.map((artifact, i) =>
      modelStep({
        name: stepName("region model", i, artifact.manifest.name),
        bucket: "the region's bucket",
        artifact,
        store: () => stack && store(stack),
      }),
    ),
    ...others.map((model) => presentStep({ name: `region model ${model}`, model, store: () => stack && store(stack) })),
  ];
  return { steps, stack: () => stack };
}
