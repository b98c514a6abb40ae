import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

interface Container {
  env: { name: string }[];
  ports: { containerPort: number }[];
}

interface PodSpec {
  containers: [Container];
  terminationGracePeriodSeconds?: number;
}

interface Resource {
  kind: string;
  spec: { template: { spec: PodSpec } };
}

const read = (path: string): Resource[] =>
  parseAllDocuments(readFileSync(path, "utf8")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Resource;
  });

const podOf = (path: string, kind: string): PodSpec => {
  const resource = read(path).find((one) => one.kind === kind);
  if (!resource) throw new Error(`${path} has no ${kind}.`);
  return resource.spec.template.spec;
};

/** Names of the variables that the region reads: its own, and those of the S3 store. */
function variables(): Set<string> {
  const region = readFileSync("functions/region.ts", "utf8").match(
    /const \{([^}]*)\.\.\.env,?\s*\} =\s+process\.env/,
  )?.[1];
  const s3 = readFileSync("sdk/src/storage/s3-settings.ts", "utf8").match(/\b(S3|AWS)_[A-Z_]+\b/g) ?? [];
  return new Set([...(region ?? "").trim().split(/,\s*/), ...s3]);
}

describe("infra/kubernetes.yaml", () => {
  it("sets only variables that the region reads, and the port it listens on", () => {
    const [container] = podOf("infra/kubernetes.yaml", "Deployment").containers;
    const known = variables();
    expect(known).toContain("MODEL");
    expect(container.env.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(container.ports[0]?.containerPort).toBe(8080);
  });

  it("kills a pod later than the region's own deadline, and keeps time to stop", () => {
    const source = readFileSync("functions/serve-until-terminated.ts", "utf8");
    const drainMs = Number(source.match(/DRAIN_MS = ([\d_]+)/)?.[1]?.replaceAll("_", ""));
    const pod = podOf("infra/kubernetes.yaml", "Deployment");
    const stopDelay = pod.containers[0].env.find(({ name }) => name === "STOP_DELAY_MS") as
      | { value?: string }
      | undefined;
    expect(drainMs).toBeGreaterThan(Number(stopDelay?.value));
    expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(drainMs);
  });
});
