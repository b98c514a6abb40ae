import { Option } from "commander";

/** Makes the option for keys of a model's modules that bert-edge does not know. It can be given several times. */
export const acceptKeyOption = (): Option =>
  new Option(
    "--accept-key <module.key>",
    "take a key of a module's configuration that bert-edge does not know, such as 1_Pooling.some_key; can be repeated. Give it only if results do not depend on the key",
  ).argParser((name: string, names: readonly string[] = []) => [...names, name]);

/** The option of `acceptKeyOption`, as commander gives it. */
export interface AcceptedKeys {
  acceptKey?: readonly string[];
}

/** Names the accepted keys; no line if there are none. */
export const acceptedLine = (names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`accepted keys: ${names.join(", ")}`];
