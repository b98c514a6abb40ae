import { openContext, KEY } from "./routing/context.ts";
import { startEdgeAlone, startRegion } from "./routing/tiers.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import { drawTexts } from "./routing/load/texts.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
const c = await openContext({ quick: true, model: "models/default", against: undefined, seconds: 1, rounds: 1, seed: 1 }, () => {});
for (const start of [startEdgeAlone, startRegion]) {
const r = await start(c);
const random = randomNumbers(1);
const inputs = Array.from({ length: 8 }, () => drawTexts("long", random)).flat();
for (let i = 0; i < 40; i++) { const n = i % 4 === 0 ? 8 : 1; const p = await startEmbed({ url: r.url, key: KEY }, n === 8 ? inputs : [["hello"], [inputs[0]!], [inputs[0]!.slice(0, 500)]][i % 4 - 1]!).reply; if (i < 4 || i > 35) console.log(n, p.ms.toFixed(1), p.headers["server-timing"], p.headers["x-bert-edge-decision"], JSON.parse(p.body.toString()).usage.tokens); }
await r.stop(); }
await c.close();
