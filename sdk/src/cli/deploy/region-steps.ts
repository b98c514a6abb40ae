import type { PublishableArtifact } from "../../artifact/artifact.ts";
import type { WritableStore } from "../../storage/store.ts";
import type { KnownDeployment } from "./known-deployment.ts";
import { modelStep, presentStep, stepName } from "./model-step.ts";
import { REGION_CONFIG, type RegionCalls, type RegionStack } from "./region-calls.ts";
import type { DeployStep } from "./run-steps.ts";

/** The region of a project on AWS. */
export interface RegionDeployment {
  readonly calls: RegionCalls;
  /** Opens the bucket of the region's stack. */
  store(stack: RegionStack): WritableStore;
}

/** The steps that deploy a region, and the stack that they found or made. */
export interface RegionSteps {
  readonly steps: readonly DeployStep[];
  /** Undefined before the first deployment. */
  stack(): RegionStack | undefined;
}

export function regionSteps(
  { calls, store }: RegionDeployment,
  { artifacts, others }: { artifacts: readonly PublishableArtifact[]; others: readonly string[] },
  known: KnownDeployment,
): RegionSteps {
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
