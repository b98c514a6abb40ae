// Checks everything that deploys bert-edge, without an account: packages and bundles it, compares templates and manifests with
// their schemas, and runs the steps of the container images. Needs Python, and registries of npm and PyPI. It downloads 2 GB.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { commandLine } from "../commands/command-line.ts";
import { developerEnv } from "../e2e/clean-env.ts";
import { checks, outputOf } from "./checks.ts";
import { checkCloudFormation } from "./cloud-formation.ts";
import { checkCloudRun } from "./cloud-run.ts";
import { checkImages } from "./images.ts";
import { checkKubernetes } from "./kubernetes.ts";

commandLine(
  "npm run e2e:infra\nChecks templates, manifests and container images with their own tools, from npm and PyPI.",
);

const all = checks();
const folder = await mkdtemp(join(tmpdir(), "bert-edge-infra-"));
try {
  const venv = join(folder, "python");
  const env = { ...developerEnv(), PATH: [join(venv, "bin"), developerEnv()["PATH"]].join(delimiter) };
  const hasPython = await all.check(
    "a Python environment with cfn-lint, kubernetes-validate, google-api-python-client",
    async () => {
      await outputOf(".", ["python3", "-m", "venv", venv], env);
      const packages = ["cfn-lint", "kubernetes-validate", "google-api-python-client"];
      await outputOf(".", ["pip", "install", "--quiet", ...packages], env);
      return true;
    },
  );
  if (hasPython) {
    await checkCloudFormation(all, folder, env);
    await checkKubernetes(all, folder, env);
    await checkCloudRun(all, env);
  }
  for (const config of ["wrangler.toml", "infra/wrangler.s3.toml"]) {
    const outdir = join(folder, "worker");
    const wrangler = [process.execPath, "node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run"] as const;
    await all.check(`wrangler deploy --dry-run: ${config}`, () =>
      outputOf(".", [...wrangler, "--config", config, "--outdir", outdir], { ...env, WRANGLER_SEND_METRICS: "false" }),
    );
  }
  await checkImages(all, folder, env);
  all.skip("deploying to AWS, Google Cloud, a cluster and Cloudflare", "these need accounts");
} finally {
  await rm(folder, { recursive: true, force: true });
}
all.finish();
