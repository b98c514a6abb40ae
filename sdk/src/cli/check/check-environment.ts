import { relative } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { bucketText } from "../deploy/deploy-plan.ts";
import { knownDeployment } from "../deploy/known-deployment.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { builtConfig } from "../wrangler/built-config.ts";
import { readWranglerConfig } from "../wrangler/config.ts";
import { environmentText } from "../wrangler/environment.ts";

interface Target {
  /** URL of the deployment. Default: the URL that `deploy` has kept for the environment. */
  readonly url: string | undefined;
  /** Name of the model that the deployment should serve. */
  readonly model: string;
}

/**
 * Finds the URL of an environment's deployment. Reports a given URL or a model that does not belong to the environment.
 *
 * @param root the project's folder
 * @param env the option `--env`
 * @throws BertEdgeError `setting_invalid` if no URL was given and `deploy` has kept none, and the errors of `readWranglerConfig`
 */
export async function environmentToCheck(
  root: string,
  env: string | undefined,
  { url, model }: Target,
): Promise<{ readonly url: string; readonly findings: Finding[] }> {
  const configuration = readWranglerConfig(root, env);
  const { path, environment, name = "", account, variable, models, deployedBucket } = configuration;
  builtConfig(root, configuration);
  const place = {
    worker: name,
    account: account ?? variable("CLOUDFLARE_ACCOUNT_ID")?.value,
    environment: environment.name,
  };
  const { facts } = await knownDeployment(root, place);
  const asked = url ?? facts.url;
  const config = relative(root, path);
  if (asked === undefined) {
    throw new BertEdgeError(
      "setting_invalid",
      `The URL of the Worker ${name} of ${environmentText(environment)} is not known.`,
      {
        hint: "Give it: bert-edge check <url> --model <artifact>. `bert-edge deploy` keeps the URL of what it deploys from this folder.",
      },
    );
  }
  const { ok, broken } = findingsOf("environment", config);
  const bucket = deployedBucket ? `, which reads the bucket ${bucketText(deployedBucket)}` : "";
  const findings = [ok(`It is ${environmentText(environment)}: the Worker ${name}${bucket}.`)];
  const same = (one: string) => one.replace(/\/+$/, "");
  if (facts.url !== undefined && same(facts.url) !== same(asked)) {
    findings.push(
      broken(
        `The URL is not that of ${name}, which was deployed to ${facts.url}.`,
        "Leave the URL out, or give the environment of this URL with --env.",
      ),
    );
  }
  if (models.length > 0 && !models.includes(model)) {
    findings.push(
      broken(
        `It serves ${models.join(", ")}, not ${model}.`,
        "Give the artifact of this environment with --model, or another --env.",
      ),
    );
  }
  return { url: asked, findings };
}
