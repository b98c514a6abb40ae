import { readFileSync } from "node:fs";

/** Names of the variables that the region reads: its own, and those of the S3 store and of the API keys. */
export function regionVariables(): ReadonlySet<string> {
  const region = readFileSync("functions/region.ts", "utf8");
  const s3 = readFileSync("sdk/src/storage/s3-settings.ts", "utf8").match(/\b(S3|AWS)_[A-Z_]+\b/g) ?? [];
  const keys = readFileSync("sdk/src/serve/keys/keys-from-env.ts", "utf8").match(/^ {2}[A-Z_]+(?=\?:)/gm) ?? [];
  const own = [...region.matchAll(/const \{([^}]*)\} =\s+(process\.env|env);/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  return new Set([...own.filter((name) => /^[A-Z]/.test(name)), ...s3, ...keys.map((name) => name.trim())]);
}
