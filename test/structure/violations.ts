import type { SourceFile } from "./imports.ts";
import { crowded, layers, narrower, nodeOnly, stairs, strangers, webStandard } from "./layers.ts";

const isIn = (path: string, room: string) => room === "" || path.startsWith(`${room}/`);

/** Returns the room of a file: the longest name in `layers` that its path starts with. */
export function roomOf(path: string): string {
  const rooms = layers.filter((room) => isIn(path, room));
  return rooms.reduce((longest, room) => (room.length > longest.length ? room : longest), "");
}

/** Lists the imports that `layers`, `stairs`, `narrower` or `strangers` forbid. */
export function backwardImports(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  /** Returns the room of a file, or the rooms that a file of `stairs` leads to. */
  const roomsBehind = (path: string, seen = new Set<string>()): string[] => {
    if (roomOf(path) !== stairs) return [roomOf(path)];
    if (seen.has(path)) return [];
    seen.add(path);
    return (byPath.get(path)?.imports ?? []).flatMap((next) => roomsBehind(next, seen));
  };
  return eachImport(files, (from, to) => {
    const own = roomOf(from);
    const others = isIn(from, stairs) && own !== stairs ? roomsBehind(to) : [roomOf(to)];
    const areStrangers = strangers.some(([room, apart]) => isIn(from, room) && isIn(to, apart));
    const isForbidden = (other: string) =>
      areStrangers ||
      layers.indexOf(other) > layers.indexOf(own) ||
      (own in narrower && own !== other && !narrower[own]?.includes(other));
    const other = others.find(isForbidden);
    if (other === undefined) return undefined;
    return `${from} imports ${to}: ${own || "the root"} must not import ${other || "the root"}`;
  });
}

/** Lists Node built-ins in code that must run on every runtime. */
export function misplacedBuiltIns(files: readonly SourceFile[]): string[] {
  return files
    .filter(
      ({ path }) => webStandard.some((room) => isIn(path, room)) && !nodeOnly.some((node) => path.startsWith(node)),
    )
    .flatMap(({ path, builtIns }) => builtIns.map((name) => `${path} imports ${name}, but also runs outside of Node`));
}

/**
 * Lists groups of files that import each other in a circle. Type imports count too. The groups are the strongly
 * connected components of the import graph (Tarjan, 1972).
 */
export function circles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[] = [];
  const visit = (path: string) => {
    index.set(path, index.size);
    low.set(path, index.get(path) as number);
    stack.push(path);
    for (const next of byPath.get(path)?.imports ?? []) {
      if (!byPath.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(low.get(path) as number, low.get(next) as number));
    }
    if (low.get(path) !== index.get(path)) return;
    const members = stack.splice(stack.indexOf(path));
    if (members.length > 1) found.push(`circle of ${members.length}: ${members.sort().join(", ")}`);
  };
  for (const path of byPath.keys()) if (!index.has(path)) visit(path);
  return found;
}

/** Lists names that two files declare and export. */
export function sharedNames(files: readonly SourceFile[], allowed: Readonly<Record<string, string>>): string[] {
  const places = new Map<string, string[]>();
  for (const { path, declares } of files) {
    for (const name of declares) places.set(name, [...(places.get(name) ?? []), path]);
  }
  const shared = [...places].filter(([name, paths]) => paths.length > 1 && !(name in allowed));
  const stale = Object.keys(allowed).filter((name) => (places.get(name)?.length ?? 0) < 2);
  return [
    ...shared.map(([name, paths]) => `${name} is exported by ${paths.join(" and ")}`),
    ...stale.map((name) => `${name} is in the allow-list, but no longer exported twice`),
  ];
}

/** Lists files that the package contains, but that none of its entries reaches by imports and scripts. */
export function unreachedFiles(files: readonly SourceFile[], entries: readonly string[]): string[] {
  const reached = reachedFrom(entries, files);
  return files
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => `${path} is reached by no entry of the package`);
}

/**
 * Lists short files that only one other file imports: they belong into it.
 *
 * @param needed files that something else needs, too
 */
export function crumbs(files: readonly SourceFile[], needed: readonly string[], limit = 15): string[] {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of files) {
    for (const target of new Set(imports)) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  return files
    .filter(({ path, lines }) => lines <= limit && !needed.includes(path) && !path.includes("/rules/"))
    .flatMap(({ path }) => {
      const [only, ...others] = importers.get(path) ?? [];
      return only && others.length === 0 ? [`${path} belongs into ${only}, which alone imports it`] : [];
    });
}

/** Lists folders that have more files of their own than a reader can remember. */
export function crowdedFolders(files: readonly SourceFile[], limit = 25): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) => {
    const most = crowded[folder] ?? limit;
    return count > most ? [`${folder}/ has ${count} files, at most ${most} are allowed`] : [];
  });
}

/** Returns the files that imports, types included, and scripts reach from some files, in the order of a walk. */
export function reachedFrom(starts: readonly string[], files: readonly SourceFile[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set(starts);
  // The loop also visits what it adds.
  for (const path of reached) {
    const { imports = [], scripts = [] } = byPath.get(path) ?? {};
    for (const next of [...imports, ...scripts]) reached.add(next);
  }
  return reached;
}

/** Returns a message if compile/ has more rooms than a reader can remember. */
export function crowdedWing(files: readonly SourceFile[], limit = 20): string[] {
  const rooms = new Set(files.flatMap(({ path }) => /^compile\/([^/]+)\//.exec(path)?.[1] ?? []));
  return rooms.size > limit ? [`compile/ has ${rooms.size} folders, at most ${limit} are allowed`] : [];
}

function eachImport(files: readonly SourceFile[], check: (from: string, to: string) => string | undefined): string[] {
  return files.flatMap(({ path, imports }) => imports.flatMap((target) => check(path, target) ?? []));
}
