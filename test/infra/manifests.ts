import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { patched } from "./patched.ts";

export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { template: { metadata: { annotations: Record<string, string> }; spec: PodSpec } };
}

interface PodSpec {
  containers: [Container];
  nodeSelector?: Record<string, string>;
  terminationGracePeriodSeconds?: number;
}

interface Container {
  image: string;
  env: { name: string; value?: string }[];
  ports: { containerPort: number }[];
  resources: { limits: Record<string, string>; requests?: Record<string, string> };
}

/** Reads all documents of a YAML file. @throws Error if one has an error */
const readResources = (path: string): Resource[] =>
  parseAllDocuments(readFileSync(path, "utf8")).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Resource;
  });

export function readResource(path: string, kind: string): Resource {
  const resource = readResources(path).find((one) => one.kind === kind);
  if (!resource) throw new Error(`${path} has no ${kind}.`);
  return resource;
}

/** The Deployment of infra/kubernetes.yaml with the patch for GPUs. */
export function deploymentOnGpus(): Resource {
  const [patch] = readResources("infra/kubernetes.gpu.yaml");
  const deployment = readResource("infra/kubernetes.yaml", "Deployment");
  return patched(...([deployment, patch] as unknown as Parameters<typeof patched>)) as unknown as Resource;
}
