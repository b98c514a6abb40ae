import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { Command, InvalidArgumentError } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { MAX_SETTINGS_BYTES, tooLarge } from "../compile/files/whole-file.ts";
import { KEY_NAME } from "../serve/keys/key-list.ts";
import { textUpTo } from "../storage/bounded-text.ts";
import { printJson, printNote, printResult } from "./output.ts";

/** Number of random bytes in a new key. Nobody can guess such a key, so a plain SHA-256 without a salt protects it. */
const KEY_BYTES = 32;

/** Minimum characters of a key whose hash may be in a setting. A shorter key can be found from its hash. */
const LEAST_CHARACTERS = 20;

interface Options {
  name?: string;
  json?: true;
}

const jsonOption = ["--json", "print the result as JSON"] as const;
const nameOption = ["--name <name>", "name of the key, for logs and limits", nameOf] as const;

export const keysCommand = new Command("keys")
  .description("make API keys and hash them for a deployment; make keys that sign models")
  .addCommand(
    new Command("new")
      .description("print a new key to stdout, and its entry for the deployment to stderr")
      .option(...nameOption)
      .option(...jsonOption)
      .action(async ({ name, json }: Options) => {
        const key = randomBytes(KEY_BYTES).toString("base64url");
        if (json) return printJson({ key, entry: await entryOf(key, name) });
        printResult(key);
        printNote(`Give the key to its user. It is not kept. Its entry in API_KEYS:\n${await entryOf(key, name)}`);
      }),
  )
  .addCommand(
    new Command("hash")
      .description("read a key from stdin, and print its entry for the deployment")
      .option(...nameOption)
      .option(...jsonOption)
      .action(async ({ name, json }: Options) => {
        if (process.stdin.isTTY) printNote("Type or paste the key, then Enter and Ctrl-D.");
        const text = await textUpTo(Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>, MAX_SETTINGS_BYTES);
        if (text === undefined) throw tooLarge("stdin", `more than ${MAX_SETTINGS_BYTES} bytes`, MAX_SETTINGS_BYTES);
        const entry = await entryOf(text.trim(), name);
        if (json) printJson({ entry });
        else printResult(entry);
      }),
  )
  .addCommand(
    new Command("signer")
      .description("print a new key that signs models to stdout, and its public key to stderr")
      .option(...jsonOption)
      .action(async ({ json }: Options) => {
        const { importSigningKey, newSigningKey } = await import("../artifact/signing-key.ts");
        const privateKey = await newSigningKey();
        const { signer } = await importSigningKey(privateKey);
        if (json) return printJson({ privateKey, signer });
        printResult(privateKey.trimEnd());
        printNote(`Keep the private key secret. The public key, for MODEL_SIGNERS of the deployment:\n${signer}`);
      }),
  );

async function entryOf(key: string, name: string | undefined): Promise<string> {
  if (!/^[!-~]+$/.test(key) || key.length < LEAST_CHARACTERS) {
    throw new BertEdgeError("setting_invalid", `stdin has no API key of ${LEAST_CHARACTERS} characters or more.`, {
      hint: "Pipe one key into the command, without spaces. `bert-edge keys new` makes one.",
    });
  }
  return `${name === undefined ? "" : `${name}:`}sha256:${await sha256Hex(new TextEncoder().encode(key))}`;
}

function nameOf(value: string): string {
  if (KEY_NAME.test(value)) return value;
  throw new InvalidArgumentError("Use 1 to 64 letters, digits, _, . and -.");
}
