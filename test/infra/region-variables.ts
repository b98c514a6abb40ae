import { readFileSync } from "node:fs";

/** Names of the variables that the region reads: its own, and those of the S3 store, of the API keys and of the signers. */
export function regionVariables(): ReadonlySet<string> {
  const region = readFileSync("functions/region.ts", "utf8");
  const s3 = readFileSync("sdk/src/storage/s3-settings.ts", "utf8").match(/\b(S3|AWS)_[A-Z_]+\b/g) ?? [];
  const described = ["sdk/src/serve/keys/key-list.ts", "sdk/src/storage/signed.ts"].flatMap(
    (file) => readFileSync(file, "utf8").match(/^ {2}[A-Z_]+(?=\?:)/gm) ?? [],
  );
  const own = [...region.matchAll(/const \{([^}]*)\} =\s+(process\.env|env);/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.replace(/=.*/s, "").trim()),
  );
  const single = region.match(/(?<=\benv\.)[A-Z_]+/g) ?? [];
  return new Set(
    [...own, ...single, ...s3, ...described.map((name) => name.trim())].filter((name) => /^[A-Z]/.test(name)),
  );
}
