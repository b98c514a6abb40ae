import { isOurs, type Results } from "../../bench/neighbours/results.ts";
import { bestOf, tableOf } from "../../bench/neighbours/table.ts";
import { table } from "./markdown-table.ts";

const number = (value: number): string => value.toLocaleString("en");

/** The measured part of docs/comparison.md, between its marks. */
export function neighboursSection(results: Results): string {
  const { heads, rows } = tableOf(results);
  const { model, date, commit, machine, truth, versions, neighbours, rounds, maxTokens, sets } = results;
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `![Share of the nearest neighbours that each form keeps, and its texts per second: the numbers of the table](images/neighbours.svg)

${table(heads, rows)}

${bestSentence(results)}

${bestOf(results)
  .map(({ column, form, cell, tied }) => `- ${column}: ${form.title} (${cell})${equals(tied)}.`)
  .join("\n")}

${model}, the ${neighbours} nearest neighbours, ${rounds} rounds, at most ${maxTokens} tokens of each text:

${sets.map(({ title, kind, texts, available, tokens }) => `- ${title}: ${number(texts)}${texts < available ? ` of ${number(available)}` : ""} ${kind}, ${tokens} tokens on average.`).join("\n")}
- Machine: ${machine.cores} cores, ${machine.cpu}, load before the run ${machine.load[0]?.toFixed(1)}. Truth: ${truth}. Date: ${date}, commit ${commit}.
- Versions: ${packages.join(", ")}.`;
}

const equals = (tied: readonly { readonly title: string }[]): string =>
  tied.length === 0 ? "" : `; not different from it: ${tied.map(({ title }) => title).join("; ")}`;

function bestSentence(results: Results): string {
  const all = bestOf(results);
  const ours = all.filter(({ form }) => isOurs(form));
  return `The best int8 form of each column. In ${ours.length} of ${all.length}, it is one of bert-edge:`;
}
