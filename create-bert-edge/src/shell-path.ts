/** Writes a path as it is typed in a shell: in quotes if it contains a space or another special character. */
export const shellPath = (path: string): string => (/^[\w./\\:@+-]+$/.test(path) ? path : `"${path}"`);
