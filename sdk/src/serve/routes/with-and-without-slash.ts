/** Returns a route's path, and the path with a slash at the end: callers often write either. */
export const withAndWithoutSlash = (path: string): string[] => (path === "/" ? [path] : [path, `${path}/`]);
