/** Characters that no shell interprets inside double quotes. cmd.exe has double quotes too. */
const QUOTABLE = /^[\w./\\:@+ -]*[\w./:@+ -]$/;

/** Writes a path as it is typed in a shell: in quotes if it contains a space or another special character. */
export function shellPath(path: string): string {
  if (/^[\w./\\:@+-]+$/.test(path)) return path;
  return QUOTABLE.test(path) ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
