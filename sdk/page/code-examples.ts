import { type Connection, NO_KEY } from "./connection.ts";
import { element, make } from "./elements.ts";

/** Stands for the key where the page shows code. What is copied has the key. */
const HIDDEN_KEY = "•••";

/** A request: its route, its body, and how the typed client and the packages of OpenAI make it. */
interface Example {
  readonly path: string;
  readonly body: object;
  readonly typed: string;
  /** Whether OpenAI's API has the route. */
  readonly isOpenai?: boolean;
}

function exampleOf({ task, input, model_type }: Connection["info"]): Example | undefined {
  if (task === "embed") {
    const inputs = ["to be", "not to be"];
    const typed = `const { embeddings, tier } = await bert.embed(${JSON.stringify(inputs)});
console.log(embeddings, tier);`;
    return { path: "v1/embed", body: { inputs }, typed, isOpenai: true };
  }
  if ("reranker" in model_type) {
    const [query, documents] = ["something sweet", ["Chocolate mousse", "A fast train"]];
    const typed = `const { results, tier } = await bert.rerank("${query}", ${JSON.stringify(documents)});
console.log(results, tier);`;
    return { path: "v1/rerank", body: { query, documents }, typed };
  }
  if (task !== "classify") return undefined;
  const inputs = input === "pair" ? [{ text: "It rains.", text_pair: "It is wet." }] : ["What a film!"];
  const typedInputs = input === "pair" ? [{ text: "It rains.", textPair: "It is wet." }] : inputs;
  const typed = `const { results, tier } = await bert.classify(${JSON.stringify(typedInputs)});
console.log(results, tier);`;
  return { path: "v1/classify", body: { inputs }, typed };
}

/** Quotes a word of a command for a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Returns programs that ask the deployment, by the name of their tab. */
function programs({ baseURL, info }: Connection, key: string): Map<string, string> {
  const example = exampleOf(info);
  if (!example) return new Map();
  const { path, body, typed, isOpenai } = example;
  const json = JSON.stringify(body);
  const url = baseURL.replace(/\/$/, "");
  const model = info.model_id;
  return new Map([
    [
      "curl",
      `curl ${baseURL}${path} \\
  -H ${quoted(`authorization: Bearer ${key}`)} \\
  -H 'content-type: application/json' \\
  -d ${quoted(json)}`,
    ],
    [
      "TypeScript",
      `// npm install bert-edge
import { BertEdge } from "bert-edge/client";

const bert = new BertEdge({ baseURL: "${url}", apiKey: ${JSON.stringify(key)} });
${typed}`,
    ],
    ...(isOpenai
      ? ([
          [
            "openai",
            `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: ${JSON.stringify(key)} });
const { data } = await client.embeddings.create({ model: "${model}", input: ["to be", "not to be"] });
console.log(data.map(({ embedding }) => embedding));`,
          ],
          [
            "Python",
            `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=${JSON.stringify(key)})
answer = client.embeddings.create(model="${model}", input=["to be", "not to be"])
print([item.embedding for item in answer.data])`,
          ],
        ] as const)
      : ([
          [
            "Python",
            `# pip install requests
import requests

headers = {"authorization": ${JSON.stringify(`Bearer ${key}`)}}
answer = requests.post("${baseURL}${path}", headers=headers, json=${json})
print(answer.json())`,
          ],
        ] as const)),
  ]);
}

/** Shows programs that ask this deployment, one tab a language, with a button that copies the program and its key. */
export function showCode(connection: Connection): void {
  const hasKey = connection.key !== NO_KEY;
  const shown = programs(connection, hasKey ? HIDDEN_KEY : NO_KEY);
  if (shown.size === 0) return;
  const example = element("example", HTMLElement);
  const state = element("copy-state", HTMLElement);
  element("code", HTMLElement).hidden = false;
  if (hasKey) element("key-note", HTMLElement).textContent = `The copy has your key instead of ${HIDDEN_KEY}.`;
  const tabs = [...shown].map(([name, program], at) => {
    const tab = make("button", name);
    tab.type = "button";
    tab.role = "tab";
    tab.setAttribute("aria-controls", "example");
    const select = () => {
      for (const each of tabs) {
        each.ariaSelected = `${each === tab}`;
        each.tabIndex = each === tab ? 0 : -1;
      }
      example.textContent = program;
      example.ariaLabel = name;
      state.textContent = "";
    };
    tab.addEventListener("click", select);
    tab.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const next = tabs.at((at + step) % tabs.length);
      next?.focus();
      next?.click();
    });
    return tab;
  });
  element("languages", HTMLElement).replaceChildren(...tabs);
  tabs[0]?.click();
  element("copy", HTMLButtonElement).addEventListener("click", async () => {
    const name = tabs.find(({ ariaSelected }) => ariaSelected === "true")?.textContent ?? "";
    try {
      await navigator.clipboard.writeText(programs(connection, connection.key).get(name) ?? "");
      state.textContent = "Copied.";
    } catch {
      // Browsers have no clipboard on pages without HTTPS, except on this machine.
      state.textContent = `The browser does not allow it. Select the text, and put your key in place of ${HIDDEN_KEY}.`;
    }
  });
}
