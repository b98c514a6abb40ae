import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Checks } from "./checks.ts";
import { outputOf, refused } from "./checks.ts";
import { deploymentOnGpus } from "./manifests.ts";

/** Compares the manifests with the schemas of Kubernetes. */
export async function checkKubernetes({ check }: Checks, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const validate = (path: string) => ["kubernetes-validate", "--strict", path] as const;
  await check("kubernetes-validate: infra/kubernetes.yaml", () =>
    outputOf(".", [...validate("infra/kubernetes.yaml")], env),
  );
  await check("kubernetes-validate: the Deployment with infra/kubernetes.gpu.yaml", async () => {
    const path = join(folder, "kubernetes-gpu.yaml");
    await writeFile(path, stringify(deploymentOnGpus()));
    await outputOf(".", [...validate(path)], env);
  });
  await check("kubernetes-validate refuses infra/kubernetes.yaml with a field that does not exist", async () => {
    const path = join(folder, "broken-kubernetes.yaml");
    const source = await readFile("infra/kubernetes.yaml", "utf8");
    await writeFile(path, source.replace("maxReplicas:", "maxReplica:"));
    await refused(".", [...validate(path)], env, "maxReplica");
  });
}
