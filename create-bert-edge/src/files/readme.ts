import { addDependency, runProgram, runScript, runScriptWith } from "../package-manager.ts";
import { prepareCommand } from "../prepare-command.ts";
import { modelName, type Project, servedNames } from "../project.ts";
import { bucketName } from "./wrangler-toml.ts";

/** Parts of README.md that come from the project's other files. */
interface OtherFiles {
  /** Paths of the files that contain the model's name. */
  readonly namingModel: readonly string[];
  /** Files, and lines of wrangler.toml, that only a model for onnxruntime-web needs. */
  readonly ortWeb: {
    readonly files: readonly (readonly [path: string, content: string])[];
    readonly settings: string;
  };
}

/** Makes the project's README.md. */
export function readme(project: Project, { namingModel, ortWeb }: OtherFiles): string {
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

\`${runScript(manager, "start")}\` serves the model on this machine, and prints the URL of a page, an API key and a request to try. Ctrl-C stops it.
\`${runScript(manager, "test")}\` tests the Worker in workerd. \`${runScript(manager, "check")}\` checks types. The API key of this machine is in \`.dev.vars\`.

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

A running Worker lists all routes, fields and headers: http://127.0.0.1:8787/docs, or \`/docs\` of the deployed one.

## Add a route

The Worker in \`functions/edge.ts\` is a Hono app. Add this before its last line:

\`\`\`ts
/** GET /v1/similar?a=…&b=…: how similar two texts are. 1: the same, 0 or less: not at all. */
app.get("/v1/similar", async (c) => {
  const { a = "", b = "" } = c.req.query();
  const { embeddings } = await app.embed(c, [a, b]);
  const [x, y] = embeddings;
  return c.json({ similarity: x.reduce((sum, value, i) => sum + value * y[i], 0) });
});
\`\`\`

Under \`/v1/\`, every route needs an API key. **Routes elsewhere, such as \`/similar\`, are open to everyone.** \`app.embed\` computes in
this Worker, without HTTP. (\`loadModel\` of bert-edge is for Node processes. It cannot be bundled into a Worker.) Try it:

\`\`\`sh
curl 'http://127.0.0.1:8787/v1/similar?a=a+cat&b=a+kitten' -H 'authorization: Bearer <key>'
\`\`\`

## Use your own model

A model is a Hugging Face folder with \`config.json\`, \`tokenizer.json\` and \`model.safetensors\`, \`pytorch_model.bin\` or \`model.onnx\`, or
the name of such a model on the Hugging Face Hub:

\`\`\`sh
${add} @huggingface/hub${region === "none" ? " onnxruntime-node" : ""}
${exec} bert-edge models   # popular models with short names, their licences, and where they fit
${prepareCommand(project, "all-minilm-l6-v2", "my-model")}
\`\`\`
${model === "my-model" ? otherName(namingModel) : afterPreparing(project, namingModel)}
### If \`prepare\` says "edge uses ort-web instead of wasm"

Then bert-edge's own engine cannot run your model, and onnxruntime-web runs it. Add the package:

\`\`\`sh
${add} onnxruntime-web
\`\`\`

In \`wrangler.toml\`, set \`main = "functions/edge-ort-web.ts"\`, and add at the end:

\`\`\`toml
${ortWeb.settings.trimEnd()}
\`\`\`

Make the files below. The Worker then has 14 MB instead of 0.7 MB (Cloudflare allows 64 MB), so it starts more slowly.

${ortWeb.files.map(fileSection).join("\n\n")}

## Deploy it

Log in to Cloudflare, and make a bucket for the model. R2 must be enabled in your account: the dashboard asks you once.

\`\`\`sh
${exec} wrangler login
${exec} wrangler r2 bucket create ${bucket}
\`\`\`

Make an R2 API token in the dashboard: R2, *Manage API tokens*, permission *Object Read & Write*. It shows an access key ID, a
secret access key, and the endpoint with your account ID, which \`${exec} wrangler whoami\` prints too. Publish the model:

\`\`\`sh
${add} @aws-sdk/client-s3
export AWS_ACCESS_KEY_ID=<access key ID> AWS_SECRET_ACCESS_KEY=<secret access key>
${exec} bert-edge publish models/${model} --to s3://${bucket} --endpoint https://<account ID>.r2.cloudflarestorage.com
\`\`\`

Deploy the Worker, and give it one or more API keys, separated by commas. Without keys it refuses every request.

\`\`\`sh
${runScriptWith(manager, "deploy", "--dry-run")}   # bundles the Worker, and uploads nothing
${runScript(manager, "deploy")}                # uploads it, and prints its URL
node -p 'crypto.randomUUID()'     # makes a key
${exec} wrangler secret put API_KEYS  # asks for the keys
\`\`\`

Call it:

\`\`\`sh
curl https://${name}.<subdomain>.workers.dev/v1/embed -H 'authorization: Bearer <key>' -H 'content-type: application/json' -d '{"inputs": "to be or not to be"}'
\`\`\`
${regionSection[region](project)}
## CPU time

${cpuTime[plan]}
`;
}

const listed = (paths: readonly string[]): string =>
  new Intl.ListFormat("en-GB").format(paths.map((path) => `\`${path}\``));

/** Describes the steps after preparing a model in a project that came with another one. */
const afterPreparing = (project: Project, namingModel: readonly string[]): string => `
Then write \`my-model\` instead of \`${modelName(project)}\` in ${listed(namingModel)}.

If a file of \`models/${modelName(project)}\` is lost, restore it from Git, or copy the folder from a new project:
\`npx create-bert-edge another-api --template ${project.region === "none" ? "edge" : "edge+region"} --no-install\`.
`;

/** Describes another name in a project that came without a model. */
const otherName = (namingModel: readonly string[]): string => `
For another name than \`my-model\`, also change it in ${listed(namingModel)}.
`;

const fileSection = ([path, content]: readonly [path: string, content: string]): string =>
  `\`${path}\`:\n\n\`\`\`ts\n${content.trimEnd()}\n\`\`\``;

const cpuTime = {
  free: `The free Workers plan allows 10 ms of CPU time per request. bert-edge-mini computes 20 to 100 words in this time, depending on the
machine, and a larger model fewer: \`npm start\` prints the number of tokens. Cloudflare may end longer requests with error 1102.
\`cpuLimitMs\` in \`functions/edge-settings.ts\` tells the edge this limit, so that a region, if there is one, gets longer texts. On the
paid plan, set it to 30_000.`,
  paid: `The paid Workers plan allows 30 s of CPU time per request. \`cpuLimitMs\` in \`functions/edge-settings.ts\` tells the edge
this limit. The free plan allows 10 ms: bert-edge-mini computes 20 to 100 words in this time, depending on the machine, and a larger model fewer.`,
};

const edgeSecrets = (exec: string) => `\`\`\`sh
${exec} wrangler secret put REGION_URL
${exec} wrangler secret put REGION_KEY
\`\`\`
`;

const regionSection: Readonly<Record<Project["region"], (project: Project) => string>> = {
  none: () => "",
  aws: (project) => {
    const [manager, exec] = [project.packageManager, runProgram[project.packageManager]];
    return `
## Deploy the region

The region runs on AWS Lambda. It has a bucket and a key of its own. The commands use your AWS credentials. If your shell still
has the keys of R2, unset AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY first, or set them to keys of AWS.

\`\`\`sh
REGION_KEY=<region key> ${runScript(manager, "deploy:region")}
npx osls info --verbose   # prints the function's URL, and ModelBucketName
${exec} bert-edge publish models/${modelName(project)} --to s3://<ModelBucketName>
\`\`\`

Tell the edge the function's URL and the region key:

${edgeSecrets(exec)}
The URL accepts only signed requests. Make keys for the stack's user \`EdgeUserName\`, and give them to the edge:

\`\`\`sh
aws iam create-access-key --user-name <EdgeUserName>
${exec} wrangler secret put REGION_AWS_ACCESS_KEY_ID
${exec} wrangler secret put REGION_AWS_SECRET_ACCESS_KEY
\`\`\`

A new AWS account cannot reserve concurrency: raise its quota, or delete \`reservedConcurrency\` from \`serverless.yml\`.
`;
  },
  container: (project) => `
## Deploy the region

The region is a container, and has a key of its own. It reads the model from the same bucket.

\`\`\`sh
docker build --file infra/Dockerfile --tag ${project.name}-region .
docker run --publish 8080:8080 \\
  --env MODEL=${servedNames(project)} --env API_KEYS=<region key> \\
  --env S3_BUCKET=${bucketName(project)} --env S3_ENDPOINT=https://<account ID>.r2.cloudflarestorage.com \\
  --env S3_ACCESS_KEY_ID=<access key ID> --env S3_SECRET_ACCESS_KEY=<secret access key> \\
  ${project.name}-region
\`\`\`

Run it like this on a host with a public URL. Tell the edge this URL and the region key:

${edgeSecrets(runProgram[project.packageManager])}`,
};
