import type { KeyTable, Treatment } from "#sdk/compile/checkpoint/modules/key-table.ts";
import { type Ledger, ledgers } from "#sdk/compile/checkpoint/modules/ledger.ts";
import { table } from "./markdown-table.ts";

/** The keys of a table by what becomes of them, and why. */
function rows(keys: KeyTable): string[] {
  const texts = new Map<string, string[]>();
  for (const [key, treatment] of Object.entries(keys)) {
    const text = said(treatment);
    texts.set(text, [...(texts.get(text) ?? []), `\`${key}\``]);
  }
  return [...texts].map(([text, names]) => `- ${text}: ${names.join(", ")}`);
}

function said(treatment: Treatment): string {
  switch (treatment.is) {
    case "obeyed":
      return "Obeyed";
    case "no-effect":
      return `Without effect on results (${treatment.why})`;
    case "only":
      return `Refused unless it is ${treatment.values.map((value) => `\`${JSON.stringify(value)}\``).join(" or ")}`;
    case "nested":
      return `An object with only these keys (${Object.keys(treatment.keys)
        .map((key) => `\`${key}\``)
        .join(", ")})`;
  }
}

/** The number of keys of each treatment. Keys of objects in a file count, too. */
function counted({ file, keys }: Ledger): string[] {
  const all = (known: KeyTable): Treatment[] =>
    Object.values(known).flatMap((each) => (each.is === "nested" ? all(each.keys) : [each]));
  const treatments = all(keys);
  const count = (is: Treatment["is"]) => `${treatments.filter((each) => each.is === is).length}`;
  return [`[\`${file}\`](#${anchor(file)})`, count("obeyed"), count("no-effect"), count("only")];
}

/** Returns the anchor of a heading, as GitHub makes it. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

const section = ({ file, library, keys }: Ledger): string =>
  [`## ${file}`, "", `Read by ${library}.`, "", ...rows(keys)].join("\n");

/** The text of docs/model-folders.md. */
export const modelFoldersPage = (): string => `# Keys of model folders

<!-- Written from sdk/src/compile/checkpoint/modules. Update: npx vitest run test/docs/model-folders-page.test.ts --update -->

The tables say for each key in the files of a model folder whether it is obeyed:

${table(["keys of", "obeyed", "without effect", "refused unless it has a listed value"], ledgers.map(counted))}

The tokens of added_tokens.json are obeyed as transformers does: if tokenizer_config.json has no \`added_tokens_decoder\`.

A key in no table is named in the report of \`prepare\`. In modules.json and in the configuration of a module of
sentence-transformers it is refused, because it could change results. If you are sure that results do not depend on it, accept it by
its name: \`--accept-key 1_Pooling.some_key\`, once for each key.

- The name is the path of the module's folder, a dot and the key. The error has it. The Transformer module in the model folder itself
  is \`Transformer\`, and keys of modules.json begin with \`modules.json\`.
- \`prepare\`, \`dev\`, \`optimize\` and \`quantize\` take the option. It cannot change a refused value.
- Accepted keys are in the report, in the artifact's manifest, in \`/info\` (\`reading\`) and in what \`inspect\` prints.

\`bert-edge inspect <folder>\` counts and lists the keys of your folder, also of one that is refused.

config.json also has the keys of its family, such as \`hidden_size\`. They are obeyed, or refused with another value than the
supported ones. Where versions of transformers read a folder differently, the version that wrote it counts (\`transformers_version\`), else
the older one:

- Pairs have no token types if transformers 5 wrote the folder, its tokenizer's class is PreTrainedTokenizerFast, TokenizersBackend or
  AlbertTokenizer, and \`model_input_names\` does not name them.
- For folders that transformers 5 wrote, these classes build \`normalizer\`, \`pre_tokenizer\`, \`post_processor\` and \`model\` anew, from the
  vocabulary and tokenizer_config.json: BERT, DistilBERT, ELECTRA, MPNet, RoBERTa, Longformer, XLM-RoBERTa, CamemBERT, ALBERT and
  DeBERTa-v2. The report names the parts that tokenizer.json has otherwise.
- \`tokenize_chinese_chars\` counts for MPNet, and the tokenizer_class of ModernBERT does not, if transformers 5 wrote the folder.

Families without a table of positions, such as ModernBERT and DeBERTa-v2, read no more than \`max_position_embeddings\` tokens here. transformers cuts
their texts at \`model_max_length\` only. A longer one is refused; without one, texts are cut, and the report says so.

${ledgers.map(section).join("\n\n")}
`;
