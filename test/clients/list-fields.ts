// Writes test/clients/client-fields.json: names of the fields that clients send, from the types of their npm packages, from Jina's
// schemas on PyPI, and from the OpenAPI file of text-embeddings-inference. Lists of other sources are kept: they were read in
// documentation.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../commands/command-line.ts";
import { runCommand } from "../fixtures/run-command.ts";

const { positionals, refuse } = commandLine(
  "node test/clients/list-fields.ts openapi.json\nLists the fields that clients send. The file is docs/openapi.json of text-embeddings-inference.",
  {},
  { allowPositionals: true },
);
const [openApiFile = refuse("Give the OpenAPI file.")] = positionals;
const LIST = "test/clients/client-fields.json";

interface FieldList {
  readonly source: string;
  readonly version: string;
  readonly route: string;
  readonly fields: readonly string[];
}

/** A type of a package that describes a body, or what its field `within` has. */
interface BodyType {
  readonly route: string;
  readonly file: string;
  readonly type: string;
  readonly within?: string;
}

const task = (folder: string, type: string, within?: string): BodyType => ({
  ...{ route: "/", file: `dist/commonjs/tasks/${folder}/inference.d.ts`, type },
  ...(within && { within }),
});

/** `@huggingface/inference` has its bodies' types from `@huggingface/tasks`, apart from fields that it adds. */
const packages: Readonly<Record<string, readonly BodyType[]>> = {
  openai: [{ route: "/v1/embeddings", file: "resources/embeddings.d.ts", type: "EmbeddingCreateParams" }],
  "cohere-ai": [
    ...["Embed", "Rerank"].map((name) => ({
      route: `/v2/${name.toLowerCase()}`,
      file: `serialization/resources/v2/client/requests/V2${name}Request.d.ts`,
      type: "Raw",
    })),
    { route: "/v1/rerank", file: "serialization/client/requests/RerankRequest.d.ts", type: "Raw" },
  ],
  voyageai: [
    { route: "/v1/embeddings", name: "Embed" },
    { route: "/v1/rerank", name: "Rerank" },
  ].map(({ route, name }) => ({
    ...{ route, file: `dist/cjs/serialization/client/requests/${name}Request.d.ts`, type: "Raw" },
  })),
  "@llamaindex/jinaai": [{ route: "/v1/embeddings", file: "dist/index.d.ts", type: "JinaEmbeddingRequest" }],
  "@huggingface/inference": [
    {
      route: "/",
      file: "dist/commonjs/tasks/nlp/featureExtraction.d.ts",
      type: "FeatureExtractionOAICompatInput",
    },
  ],
  "@huggingface/tasks": [
    task("feature-extraction", "FeatureExtractionInput"),
    task("sentence-similarity", "SentenceSimilarityInput"),
    ...[
      "text-classification",
      "token-classification",
      "question-answering",
      "fill-mask",
      "zero-shot-classification",
    ].map((folder) => {
      const name = folder.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
      return task(folder, `${name}Parameters`, "parameters");
    }),
  ],
};

/** The package of Jina's own schemas: pydantic models that take fields by their names and aliases. */
const JINA_SCHEMAS = "jinaai-api-schemas";
const jinaModels = [
  { route: "/v1/embeddings", file: "embedding.py", type: "TextEmbeddingInput" },
  { route: "/v1/rerank", file: "rank.py", type: "MixedRankInput" },
];

/** Returns the names of the members of an interface. Those of nested types are indented more. */
function membersOf(text: string, type: string): string[] {
  const start = `^( *)(?:export )?(?:interface ${type}|type ${type} =) {\\n`;
  const [, indent, body] = new RegExp(`${start}([^]*?)^\\1}`, "m").exec(text) ?? [];
  if (body === undefined) throw new Error(`There is no interface ${type}.`);
  return Array.from(body.matchAll(new RegExp(`^${indent} {4}(\\w+)\\??:`, "gm")), ([, name]) => name as string);
}

async function listsOf(name: string, folder: string): Promise<FieldList[]> {
  const inside = join(folder, "node_modules", name);
  await runCommand(folder, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", name);
  const { version } = JSON.parse(await readFile(join(inside, "package.json"), "utf8"));
  const lists = (packages[name] ?? []).map(async ({ route, file, type, within }) => {
    const members = membersOf(await readFile(join(inside, file), "utf8"), type);
    return { source: name, version, route, fields: members.map((member) => (within ? `${within}.${member}` : member)) };
  });
  return Promise.all(lists);
}

async function listsOfJina(folder: string): Promise<FieldList[]> {
  const target = join(folder, "schemas");
  await runCommand(folder, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, JINA_SCHEMAS);
  const version = /^jinaai_api_schemas-(.*)\.dist-info$/m.exec((await readdir(target)).join("\n"))?.[1] ?? "";
  const lists = jinaModels.map(async ({ route, file, type }) => {
    const text = await readFile(join(target, "api_schemas", file), "utf8");
    const [, body] = new RegExp(`^class ${type}\\(.*\\n([^]*?)(?=^\\S|(?![^]))`, "m").exec(text) ?? [];
    if (body === undefined) throw new Error(`There is no class ${type}.`);
    const fields = Array.from(
      body.matchAll(/^ {4}(\w+): |\balias='(\w+)'/gm),
      ([, name, alias]) => name ?? alias ?? "",
    );
    return { source: JINA_SCHEMAS, version, route, fields };
  });
  return Promise.all(lists);
}

async function listsOfServer(): Promise<FieldList[]> {
  const { info, paths, components } = JSON.parse(await readFile(openApiFile, "utf8"));
  const typeOf = ($ref: string) => components.schemas[$ref.split("/").at(-1) as string];
  return Object.entries(paths as Record<string, { post?: { requestBody: { content: object } } }>).flatMap(
    ([route, { post }]) => {
      const $ref =
        post &&
        JSON.stringify(post.requestBody.content)
          .match(/"#\/[^"]*/)?.[0]
          .slice(1);
      const fields = $ref && typeOf($ref)?.properties;
      if (!fields) return [];
      const inner = route === "/similarity" ? Object.keys(typeOf("SimilarityParameters").properties) : [];
      const names = [...Object.keys(fields), ...inner.map((name) => `parameters.${name}`)];
      return { source: "text-embeddings-inference", version: info.version, route, fields: names };
    },
  );
}

const folder = await mkdtemp(join(tmpdir(), "bert-edge-fields-"));
try {
  await writeFile(join(folder, "package.json"), "{}");
  const found: FieldList[] = [];
  for (const name of Object.keys(packages)) found.push(...(await listsOf(name, folder)));
  found.push(...(await listsOfJina(folder)), ...(await listsOfServer()));
  const kept = (JSON.parse(await readFile(LIST, "utf8")) as FieldList[]).filter(
    ({ source }) => !found.some((list) => list.source === source),
  );
  await writeFile(LIST, `${JSON.stringify([...found, ...kept], null, 2)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
