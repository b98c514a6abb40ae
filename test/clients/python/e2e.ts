// Installs other projects' Python clients from PyPI into virtual environments, and runs them against the edge, in workerd, and against
// the region.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../../commands/command-line.ts";
import { pythonWith } from "../../fixtures/python-with.ts";
import { runCommand } from "../../fixtures/run-command.ts";
import { DEFAULT_MODEL, onBothTiers } from "../served-models.ts";

const { positionals } = commandLine(
  `npm run e2e:python [-- <word>]
Runs Python clients, from PyPI, against edge and region. With a word, only in the environments whose requirements have it.`,
  {},
  { allowPositionals: true },
);

/** Virtual environments: what is installed in each, and the script that runs in it. */
const environments: readonly (readonly [script: string, ...requirements: string[]])[] = [
  ["with_requests.py"],
  ["with_openai.py", "openai==1.*"],
  ["with_openai.py", "openai==2.*"],
  // With numpy, the client decodes base64 in another way.
  ["with_openai.py", "openai", "numpy"],
  // Each of the three writes null fields in another way.
  ["with_litellm.py", "litellm==1.80.10"],
  ["with_litellm.py", "litellm==1.81.9"],
  ["with_litellm.py", "litellm"],
  ["with_cohere.py", "cohere==5.*"],
  ["with_cohere.py", "cohere"],
  ["with_hugging_face.py", "huggingface_hub", "numpy"],
  [
    "with_langchain.py",
    ...["langchain-openai", "langchain-cohere", "langchain-tests"],
    // Newer versions take no URL.
    "langchain-huggingface==1.2.1",
    // Has the file of OpenAI's tokenizer.
    "llama-index-core",
  ],
  [
    "with_llama_index.py",
    ...["openai", "openai-like", "text-embeddings-inference", "huggingface-api"].map(
      (name) => `llama-index-embeddings-${name}`,
    ),
    ...["tei", "jinaai", "cohere"].map((name) => `llama-index-postprocessor-${name}-rerank`),
  ],
];

const [word = ""] = positionals;
const chosen = environments.filter((environment) => environment.join(" ").includes(word));
const folder = await mkdtemp(join(tmpdir(), "bert-edge-python-clients-"));
try {
  const runs: (readonly [python: string, script: string])[] = [];
  for (const [index, [script, ...requirements]] of chosen.entries()) {
    const place = join(folder, `${index}`);
    await mkdir(place);
    runs.push([await pythonWith(place, requirements), join(import.meta.dirname, script)]);
  }
  await onBothTiers(folder, async (url, key) => {
    for (const [python, script] of runs) await runCommand(folder, python, "-B", script, url, key, DEFAULT_MODEL);
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
