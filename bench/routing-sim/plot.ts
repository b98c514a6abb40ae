import { boundsOf, sharesOf } from "./figures.ts";
import { BIN_MS, type Phases, type ScenarioResult, timesOf } from "./scenario.ts";

const [WIDTH, HEIGHT, GAP] = [760, 180, 56];
const [LEFT, TOP] = [48, 34];

/** A diagram of a run: the share of the requests that were answered in time, over time. */
export interface Panel {
  readonly title: string;
  readonly result: ScenarioResult;
}

/** Draws runs below each other, as SVG. */
export function plot(panels: readonly Panel[], phases: Phases): string {
  const height = TOP + panels.length * (HEIGHT + GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 16} ${height}" font-family="sans-serif" font-size="12">`,
    "<title>Share of the requests that were answered in time, over time</title>",
    `<rect width="100%" height="100%" fill="#fff"/>`,
    legend(),
    ...panels.map((panel, i) => drawPanel(panel, phases, TOP + i * (HEIGHT + GAP))),
    "</svg>",
    "",
  ].join("\n");
}

const EDGE = "#8ecae6";
const REGION = "#219ebc";
const BOUND = "#d62828";

function legend(): string {
  const entries = [
    [EDGE, "answered in time by the edge", LEFT],
    [REGION, "by a region", LEFT + 200],
    [BOUND, "upper bound", LEFT + 300],
  ] as const;
  return entries
    .map(([color, text, x]) => {
      return `<rect x="${x}" y="8" width="12" height="12" fill="${color}"/><text x="${x + 18}" y="18">${text}</text>`;
    })
    .join("\n");
}

function drawPanel({ title, result }: Panel, phases: Phases, top: number): string {
  const times = timesOf(phases);
  const lengthMs = times.afterOutage.to;
  const x = (ms: number) => (LEFT + (WIDTH * ms) / lengthMs).toFixed(1);
  const y = (percent: number) => (top + 20 + (HEIGHT - 20) * (1 - percent / 100)).toFixed(1);
  const points = result.bins.map((bin, i) => ({ at: i * BIN_MS, ...sharesOf([bin]), bound: boundsOf([bin]).both }));
  const line = (of: (point: (typeof points)[number]) => number) =>
    points.flatMap((point) => [`${x(point.at)},${y(of(point))}`, `${x(point.at + BIN_MS)},${y(of(point))}`]);
  const area = (color: string, of: (point: (typeof points)[number]) => number) =>
    `<polygon fill="${color}" points="${x(0)},${y(0)} ${line(of).join(" ")} ${x(lengthMs)},${y(0)}"/>`;
  const marks = (
    [
      ["outage", "all regions down"],
      ["crowd", "crowd in one region"],
    ] as const
  ).map(([phase, text]) => {
    const { from, to } = times[phase];
    const width = Number(x(to)) - Number(x(from));
    return `<rect x="${x(from)}" y="${y(100)}" width="${width}" height="${HEIGHT - 20}" fill="#000" opacity="0.08"/><text x="${x(from)}" y="${Number(y(100)) - 4}" fill="#555">${text}</text>`;
  });
  const labels = [0, 25, 50, 75, 100].map(
    (percent) =>
      `<text x="${LEFT - 6}" y="${Number(y(percent)) + 4}" text-anchor="end" fill="#555">${percent} %</text>`,
  );
  const seconds = Array.from({ length: Math.floor(lengthMs / 5_000) + 1 }, (_, i) => i * 5).map(
    (s) => `<text x="${x(1_000 * s)}" y="${top + HEIGHT + 16}" text-anchor="middle" fill="#555">${s} s</text>`,
  );
  return [
    `<text x="${LEFT}" y="${top + 4}" font-weight="bold">${title}</text>`,
    area(REGION, ({ kept }) => kept),
    area(EDGE, ({ keptByEdge }) => keptByEdge),
    `<polyline fill="none" stroke="${BOUND}" points="${line(({ bound }) => bound).join(" ")}"/>`,
    ...marks,
    ...labels,
    ...seconds,
  ].join("\n");
}
