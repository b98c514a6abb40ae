import { addDependency, runProgram, runScript, runScriptWith } from "../package-manager.ts";
import { modelName, type Project } from "../project.ts";
import { bucketName } from "./wrangler-toml.ts";

/** Parts of README.md that come from the project's other files. */
interface OtherFiles {
  /** Paths of the files that contain the model's name. */
  readonly namingModel: readonly string[];
  /** Files that only a model for onnxruntime-web needs. */
  readonly ortWebFiles: readonly (readonly [path: string, content: string])[];
}

/** Makes the project's README.md. */
export function readme(project: Project, { namingModel, ortWebFiles }: OtherFiles): string {
  const { name, plan, region, packageManager: manager } = project;
  const [model, bucket, exec, add] = [
    modelName(project),
    bucketName(project),
    runProgram[manager],
    addDependency[manager],
  ];
  return `# ${name}

Embeddings from a Cloudflare Worker, with [bert-edge](https://www.npmjs.com/package/bert-edge).

## Run it

\`${runScript(manager, "start")}\` serves the model on this machine, and prints the URL and an API key. Ctrl-C stops it.
\`${runScript(manager, "test")}\` tests the Worker in workerd. \`${runScript(manager, "check")}\` checks types.

## Call it

\`\`\`sh
curl http://127.0.0.1:8787/v1/embed -H 'authorization: Bearer <key>' -H 'content-type: application/json' -d '{"inputs": "to be or not to be"}'
\`\`\`

With the typed client of bert-edge, or with the package \`openai\`:

\`\`\`ts
const bert = new BertEdge({ baseURL: "http://127.0.0.1:8787", apiKey: "<key>" }); // from "bert-edge/client"
const { embeddings } = await bert.embed(["to be", "not to be"]);

const openai = new OpenAI({ baseURL: "http://127.0.0.1:8787/v1", apiKey: "<key>" }); // from "openai"
const { data } = await openai.embeddings.create({ model: "${model}", input: ["to be", "not to be"] });
\`\`\`

## Add a route

The Worker in \`functions/edge.ts\` is a Hono app. Add this before its last line:

\`\`\`ts
app.get("/hello", (c) => c.json({ model: c.env.MODEL }));
\`\`\`

## Use your own model

A model is a Hugging Face folder with \`config.json\`, \`tokenizer.json\` and \`model.safetensors\` or \`model.onnx\`.

\`\`\`sh
${region === "none" ? `${add} onnxruntime-node\n` : ""}${exec} bert-edge prepare <folder> --name my-model --out models/my-model
\`\`\`
${model === "my-model" ? "" : `\nThen write \`my-model\` instead of \`${model}\` in ${listed(namingModel)}.\n`}
### If your model needs onnxruntime-web

\`prepare\` says so if the engine of bert-edge cannot run your model at the edge. Then add the package:

\`\`\`sh
${add} onnxruntime-web
\`\`\`

Set \`main = "functions/edge-ort-web.ts"\` in \`wrangler.toml\`, and make the files below. The Worker then has
3.7 MB compressed. That needs the paid Workers plan: the free plan takes 3 MB.

${ortWebFiles.map(fileSection).join("\n\n")}

## Deploy it

Make a bucket. Then publish the model to it, with an R2 API token in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY:

\`\`\`sh
${exec} wrangler r2 bucket create ${bucket}
${add} @aws-sdk/client-s3
${exec} bert-edge publish models/${model} --to s3://${bucket} --endpoint https://<account>.r2.cloudflarestorage.com
\`\`\`

Deploy the Worker, and give it its API keys. Without keys it refuses every request.

\`\`\`sh
${runScriptWith(manager, "deploy", "--dry-run")}   # without --dry-run, it deploys
${exec} wrangler secret put API_KEYS
\`\`\`
${regionSection[region](project)}
## CPU time

${cpuTime[plan]}
`;
}

const listed = (paths: readonly string[]): string =>
  new Intl.ListFormat("en-GB").format(paths.map((path) => `\`${path}\``));

const fileSection = ([path, content]: readonly [path: string, content: string]): string =>
  `\`${path}\`:\n\n\`\`\`ts\n${content.trimEnd()}\n\`\`\``;

const cpuTime = {
  free: `The free Workers plan allows 10 ms of CPU time per request. That is enough for a short text, but hardly for a long one:
Cloudflare may end the request with error 1102. \`cpuLimitMs\` in \`functions/edge-settings.ts\` tells the edge this limit, so
that a region, if there is one, gets longer texts. On the paid plan, set it to 30_000.`,
  paid: `The paid Workers plan allows 30 s of CPU time per request. \`cpuLimitMs\` in \`functions/edge-settings.ts\` tells the edge
this limit. The free plan allows 10 ms, which is hardly enough for a long text.`,
};

const edgeSecrets = (exec: string) => `Tell the edge where the region is, and the key that it takes:

\`\`\`sh
${exec} wrangler secret put REGION_URL
${exec} wrangler secret put REGION_KEY
\`\`\`
`;

const regionSection: Readonly<Record<Project["region"], (project: Project) => string>> = {
  none: () => "",
  aws: ({ packageManager: manager }) => `
## Deploy the region

On AWS Lambda. Afterwards, publish the model to the bucket of the stack as well. The stack's outputs contain its name.

\`\`\`sh
REGION_KEY=<key> ${runScript(manager, "deploy:region")}
\`\`\`

${edgeSecrets(runProgram[manager])}
The function's URL accepts only signed requests. Make keys for the stack's user \`EdgeUserName\`, and give them to the edge:

\`\`\`sh
aws iam create-access-key --user-name <EdgeUserName>
${runProgram[manager]} wrangler secret put REGION_AWS_ACCESS_KEY_ID
${runProgram[manager]} wrangler secret put REGION_AWS_SECRET_ACCESS_KEY
\`\`\`

A new AWS account cannot reserve concurrency: raise its quota, or delete \`reservedConcurrency\` from \`serverless.yml\`.
`,
  container: ({ name, packageManager: manager }) => `
## Deploy the region

On any container host. \`infra/Dockerfile\` lists the variables that the container needs.

\`\`\`sh
docker build --file infra/Dockerfile --tag ${name}-region .
\`\`\`

${edgeSecrets(runProgram[manager])}`,
};
