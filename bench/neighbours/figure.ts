import { type FormResult, isOurs, type Results, type Score } from "./results.ts";
import { percent, rate } from "./table.ts";

const [WIDTH, LEFT, BARS, KEPT, RATE] = [760, 200, 350, 628, 744];
const [TOP, HEAD, ROW, BAR, GAP, FOOT] = [16, 52, 24, 16, 20, 24];

/** Colours for a light background, and for a dark one if the reader prefers it. */
const STYLE = `<style>
.paper { fill: #ffffff; } .text { fill: #1f2328; } .quiet { fill: #59636e; } .track { fill: #eaeef2; }
.ours { fill: #0969da; } .peer { fill: #6e7781; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } .text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .track { fill: #262c36; }
.ours { fill: #4493f8; } .peer { fill: #8b949e; }
}
</style>`;

/** Draws the share of neighbours that each form keeps, as SVG: one group of bars for each set of texts. */
export function figureOf({ model, neighbours, sets, forms, machine }: Results): string {
  const measured = forms.filter(({ absent }) => absent === undefined);
  const groupHeight = HEAD + measured.length * ROW + GAP;
  const height = TOP + sets.length * groupHeight + FOOT;
  const title = `Nearest neighbours that each form of ${model} keeps`;
  const groups = sets.map(({ id, title, kind, texts }, i) => ({
    heading: `${title}: ${texts} ${kind}`,
    top: TOP + i * groupHeight,
    bars: measured.flatMap((form) => (form.scores?.[id] ? [{ form, score: form.scores[id] }] : [])),
  }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description" font-family="sans-serif" font-size="13">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(`Share of the ${neighbours} nearest neighbours in float32, and texts per second on one thread. ${groups.map(described).join(" ")}`)}</desc>`,
    STYLE,
    '<rect class="paper" width="100%" height="100%"/>',
    ...groups.map(drawn),
    `<text x="16" y="${height - 16}" class="quiet">${escaped(`One thread of ${machine.cpu}. The edge is WebAssembly, all others are native.`)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

interface Group {
  readonly heading: string;
  readonly top: number;
  readonly bars: readonly { readonly form: FormResult; readonly score: Score }[];
}

const kept = ({ kept }: Score): string => `${percent(kept)} %`;

const described = ({ heading, bars }: Group): string =>
  `${heading}. ${bars.map(({ form, score }) => `${form.title} ${kept(score)}, ${rate(score)} texts per second`).join("; ")}.`;

function drawn({ heading, top, bars }: Group): string {
  const text = (x: number, y: number, words: string, attributes = 'class="text"') =>
    `<text x="${x}" y="${y}" ${attributes}>${escaped(words)}</text>`;
  const right = (name: string) => `class="${name}" text-anchor="end"`;
  return [
    text(16, top + 16, heading, 'class="text" font-weight="bold"'),
    text(LEFT, top + 40, "0 %", 'class="quiet"'),
    text(LEFT + BARS, top + 40, "100 %", right("quiet")),
    text(KEPT, top + 40, "kept", right("quiet")),
    text(RATE, top + 40, "texts/s", right("quiet")),
    ...bars.flatMap(({ form, score }, i) => {
      const y = top + HEAD + i * ROW;
      const bar = (name: string, width: number) =>
        `<rect class="${name}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"/>`;
      return [
        text(16, y + 13, form.title),
        bar("track", BARS),
        bar(isOurs(form) ? "ours" : "peer", BARS * score.kept),
        text(KEPT, y + 13, kept(score), right("text")),
        text(RATE, y + 13, rate(score), right("text")),
      ];
    }),
  ].join("\n");
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
