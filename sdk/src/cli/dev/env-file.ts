/**
 * Writes variables as a file for wrangler's `--env-file`. Each value is quoted, and its `$` are escaped, because wrangler
 * otherwise replaces `$NAME` in a value by another variable.
 */
export const envFile = (vars: Readonly<NodeJS.Dict<string>>): string =>
  Object.entries(vars)
    .map(([name, value = ""]) => `${name}=${quoted(value.replaceAll("$", "\\$"))}\n`)
    .join("");

/** Quotes a value. A value cannot contain all three quotes: in files of this format, nothing escapes a quote. */
function quoted(value: string): string {
  const quote = ["'", "`", '"'].find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}
