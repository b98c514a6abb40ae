import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checks } from "./checks.ts";
import { outputOf, refused } from "./checks.ts";

/** Packages serverless.yml, and lets cfn-lint read all templates. */
export async function checkCloudFormation({ check }: Checks, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const output = join(folder, "aws");
  await check("osls package", () =>
    outputOf(".", [process.execPath, "node_modules/osls/bin/serverless.js", "package", "--package", output], {
      ...env,
      REGION_KEY: "key",
    }),
  );
  const templates = [
    [join(output, "cloudformation-template-update-stack.json"), "what osls packaged"],
    ["infra/bucket.yml", "infra/bucket.yml"],
    ["infra/sagemaker.yml", "infra/sagemaker.yml"],
  ] as const;
  for (const [path, name] of templates) {
    await check(`cfn-lint: ${name}`, () => outputOf(".", ["cfn-lint", "--template", path], env));
  }
  await check("cfn-lint refuses infra/sagemaker.yml with a property that does not exist", async () => {
    const broken = join(folder, "broken-sagemaker.yml");
    const source = await readFile("infra/sagemaker.yml", "utf8");
    await writeFile(broken, source.replace("EnableNetworkIsolation:", "NetworkIsolation:"));
    await refused(".", ["cfn-lint", "--template", broken], env, "NetworkIsolation");
  });
}
