import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deploymentOnGpus, readResource } from "./manifests.ts";
import { regionVariables } from "./region-variables.ts";

const deployment = readResource("infra/kubernetes.yaml", "Deployment");
const cloudRun = readResource("infra/cloud-run.gpu.yaml", "Service");

describe.each([
  ["infra/kubernetes.yaml", deployment],
  ["infra/kubernetes.gpu.yaml", deploymentOnGpus()],
  ["infra/cloud-run.gpu.yaml", cloudRun],
])("%s", (_, { spec }) => {
  const [container] = spec.template.spec.containers;

  it("sets only variables that the region reads, each once, and the port it listens on", () => {
    const known = regionVariables();
    for (const name of ["MODEL", "SAGEMAKER", "S3_BUCKET"]) expect(known).toContain(name);
    const names = container.env.map(({ name }) => name);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(container.ports[0]?.containerPort).toBe(8080);
  });
});

describe("infra/kubernetes.yaml", () => {
  it("kills a pod later than the region's own deadline, and keeps time to stop", () => {
    const source = readFileSync("functions/serve-until-terminated.ts", "utf8");
    const drainMs = Number(source.match(/DRAIN_MS = ([\d_]+)/)?.[1]?.replaceAll("_", ""));
    const pod = deployment.spec.template.spec;
    const stopDelay = pod.containers[0].env.find(({ name }) => name === "STOP_DELAY_MS");
    expect(drainMs).toBeGreaterThan(Number(stopDelay?.value));
    expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(drainMs);
  });

  it("limits the pod to the CPUs that it requests, because Node counts those of the limit, or all", () => {
    const [{ resources }] = deployment.spec.template.spec.containers;
    expect(resources.limits["cpu"]).toBe(resources.requests?.["cpu"]);
  });
});

describe("infra/kubernetes.gpu.yaml", () => {
  it("gives the one container of the Deployment the CUDA image and a GPU, and keeps its other settings", () => {
    const [plain, patched] = [deployment, deploymentOnGpus()].map(({ spec }) => spec.template.spec.containers);
    const [container] = patched ?? [];
    expect(patched).toHaveLength(1);
    expect(container).toMatchObject({
      image: "<registry>/bert-edge-region:cuda",
      ports: plain?.[0].ports,
      resources: { limits: { "nvidia.com/gpu": "1" } },
    });
    expect(container?.env).toContainEqual({ name: "PROVIDERS", value: "cuda,cpu" });
    expect(container?.env).toContainEqual({ name: "METRICS", value: "true" });
  });
});

describe("infra/cloud-run.gpu.yaml", () => {
  const { metadata, spec } = cloudRun.spec.template;

  it("scales to zero, and has a limit of instances", () => {
    expect(metadata.annotations["autoscaling.knative.dev/minScale"]).toBe("0");
    expect(Number(metadata.annotations["autoscaling.knative.dev/maxScale"])).toBeGreaterThan(0);
  });

  it("has one GPU, and the CPUs and the memory that Cloud Run asks for with it", () => {
    expect(spec.nodeSelector).toEqual({ "run.googleapis.com/accelerator": "nvidia-l4" });
    expect(spec.containers[0].resources.limits).toEqual({ cpu: "4", memory: "16Gi", "nvidia.com/gpu": "1" });
  });

  it("contains no secret", () => {
    const secret = /KEY/;
    for (const { name, value } of spec.containers[0].env) if (secret.test(name)) expect(value).toBeUndefined();
  });
});
