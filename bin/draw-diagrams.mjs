// Draws the diagrams of docs/explanation into docs/images. `--check`: fails when a file differs from its diagram.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// The panel has its own colours, so that the text is readable on a page of any colour.
const STYLE = `
  text { font: 13px "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1d2733 }
  .small { font-size: 11.5px } .bold { font-weight: 600 } .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px }
  .panel { fill: #ffffff } .box { fill: #eef3f8; stroke: #5b7083 } .own { fill: #dcebdc; stroke: #4c7a4c }
  .other { fill: #f6e9d8; stroke: #94703c } .warn { fill: #f7dede; stroke: #a04848 } .line { stroke: #41525f; fill: none }
  .dash { stroke-dasharray: 5 4 } .grid { stroke: #8ea0ae; fill: none } .head { fill: #41525f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4eaf0 } .panel { fill: #18202a } .box { fill: #26323f; stroke: #8ba1b5 } .own { fill: #23402a; stroke: #7fb58a }
    .other { fill: #443722; stroke: #cfa865 } .warn { fill: #4c2a2a; stroke: #d98c8c } .line { stroke: #a9b8c5 } .grid { stroke: #62717f } .head { fill: #a9b8c5 }
  }`;

function picture(width, height, title, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${STYLE}
</style>
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 10 5 0 10z"/></marker></defs>
<rect class="panel" width="${width}" height="${height}" rx="8"/>
${parts.flat(9).join("\n")}
</svg>
`;
}

const text = (x, y, words, { of = "", anchor = "middle" } = {}) =>
  `<text x="${x}" y="${y}" class="${of}" text-anchor="${anchor}">${escaped(words)}</text>`;
const rect = (x, y, w, h, kind, radius = 5) =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${w}" height="${h}" rx="${radius}"/>`;
/** A box with its words, a line each; the first is bold where there are several. */
const box = (x, y, w, h, kind, ...lines) => [
  rect(x, y, w, h, kind),
  lines.map((line, i) =>
    text(x + w / 2, y + h / 2 + 4.5 + (i - (lines.length - 1) / 2) * 16, line, {
      of: i === 0 ? (lines.length > 1 ? "bold" : "") : "small",
    }),
  ),
];
const arrow = (x1, y1, x2, y2, words = "", { dash = false, at = [0, -7], anchor = "middle" } = {}) => [
  `<path class="line${dash ? " dash" : ""}" d="M${x1} ${y1} ${x2} ${y2}" marker-end="url(#arrow)"/>`,
  words === "" ? [] : text((x1 + x2) / 2 + at[0], (y1 + y2) / 2 + at[1], words, { of: "small", anchor }),
];
const line = (x1, y1, x2, y2, of = "line") => `<path class="${of}" d="M${x1} ${y1} ${x2} ${y2}"/>`;
const cells = (x, y, side, columns, rows, of = "grid") => [
  Array.from({ length: columns + 1 }, (_, i) => line(x + i * side, y, x + i * side, y + rows * side, of)),
  Array.from({ length: rows + 1 }, (_, i) => line(x, y + i * side, x + columns * side, y + i * side, of)),
];

const PICTURES = {
  "tile-path": picture(760, 330, "The way of a request for a tile", [
    box(20, 40, 110, 50, "other", "client", "asks for a tile"),
    arrow(130, 65, 180, 65),
    box(180, 40, 120, 50, "box", "address", "layer, z, x, y"),
    arrow(300, 65, 350, 65),
    box(350, 40, 130, 50, "own", "memory tier", "hot tiles"),
    arrow(480, 65, 540, 65, "not there"),
    box(540, 40, 130, 50, "own", "store", "files, bundles, S3"),
    arrow(605, 90, 605, 140, "not there, or expired", { at: [8, 4], anchor: "start" }),
    box(540, 140, 130, 50, "box", "render in flight?", "one per metatile"),
    arrow(540, 165, 480, 165, "no"),
    box(350, 140, 130, 50, "box", "permit", "users first"),
    arrow(350, 165, 300, 165),
    box(180, 140, 120, 50, "box", "renderer", "a process"),
    arrow(225, 190, 225, 250, "picture of the metatile", { at: [-8, 4], anchor: "end" }),
    arrow(255, 250, 255, 190),
    box(165, 250, 150, 50, "other", "map server", "WMS, tiles, archive"),
    arrow(605, 190, 605, 250, "yes: wait for it", { at: [8, 4], anchor: "start" }),
    box(540, 250, 130, 50, "own", "the same render", "many wait, one asks"),
    arrow(180, 150, 75, 94, "stored, then answered", { at: [-48, 22], anchor: "middle" }),
    text(415, 22, "a hit ends here: read from memory, or one read of a file", { of: "small" }),
  ]),
  metatile: picture(760, 350, "A metatile of 4 x 4 tiles with a gutter", [
    text(170, 28, "one request to the map server", { of: "bold" }),
    rect(40, 45, 260, 260, "other", 2),
    rect(66, 71, 208, 208, "own", 0),
    cells(66, 71, 52, 4, 4),
    text(170, 60, "gutter: rendered, and cut off", { of: "small" }),
    text(170, 330, "(4 x 256 + 2 x 32) pixels = 1088 x 1088", { of: "small" }),
    arrow(310, 175, 375, 175, "cut"),
    text(490, 28, "16 tiles of 256 x 256", { of: "bold" }),
    Array.from({ length: 16 }, (_, i) =>
      rect(390 + (i % 4) * 54, 75 + Math.floor(i / 4) * 54, 46, 46, i === 6 ? "warn" : "own", 2),
    ),
    text(490, 310, "the tile that somebody waits for is", { of: "small" }),
    text(490, 326, "encoded, stored and sent first", { of: "small" }),
    arrow(610, 175, 655, 175),
    box(660, 150, 85, 50, "box", "store", "all 16"),
  ]),
  cells: picture(760, 350, "A block of 8 x 8 cells, a cell of 16 x 16 tiles", [
    text(150, 28, "block: 128 x 128 tiles of a level", { of: "bold" }),
    [
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 2],
      [5, 5],
    ].map(([x, y]) => rect(30 + x * 30, 45 + y * 30, 30, 30, "own", 0)),
    [
      [6, 2],
      [1, 5],
      [0, 7],
    ].map(([x, y]) => rect(30 + x * 30, 45 + y * 30, 30, 30, "warn", 0)),
    cells(30, 45, 30, 8, 8),
    text(150, 310, "one record of the ledger: which tiles", { of: "small" }),
    text(150, 326, "are there; per cell size, last use, frequency", { of: "small" }),
    line(120, 105, 340, 70, "line dash"),
    line(120, 135, 340, 230, "line dash"),
    text(420, 58, "cell: 16 x 16 tiles", { of: "bold" }),
    rect(340, 70, 160, 160, "own", 0),
    cells(340, 70, 10, 16, 16),
    text(420, 250, "evicted as a whole", { of: "small" }),
    box(540, 60, 200, 46, "own", "often read", "stays"),
    box(540, 116, 200, 46, "box", "written by a running seed", "no seed evicts it"),
    box(540, 172, 200, 46, "box", "pinned, or under a floor", "stays"),
    box(540, 228, 200, 46, "warn", "least used or oldest", "LFU or LRU: goes first"),
  ]),
  truncation: picture(760, 300, "A truncation raises the generation of a layer", [
    line(40, 250, 730, 250, "line"),
    text(730, 272, "time", { anchor: "end", of: "small" }),
    line(380, 40, 380, 262, "line dash"),
    text(380, 30, "truncate", { of: "bold" }),
    text(200, 272, "generation 7"),
    text(560, 272, "generation 8"),
    box(70, 60, 150, 36, "own", "render A"),
    arrow(220, 78, 300, 78, "stored"),
    box(150, 120, 290, 36, "warn", "render B began in 7, ends in 8"),
    arrow(440, 138, 550, 138, "not stored"),
    box(470, 180, 150, 36, "own", "render C"),
    arrow(620, 198, 700, 198, "stored"),
    text(560, 60, "1 record   2 rename   3 answer", { of: "code" }),
    text(560, 80, "later: reclaim the space", { of: "small" }),
  ]),
  outage: picture(760, 300, "The states of a map server", [
    box(40, 110, 140, 56, "own", "up", "requests are sent"),
    arrow(180, 125, 290, 125, "a failure"),
    arrow(290, 152, 180, 152, "any answer", { at: [0, 16] }),
    box(290, 110, 130, 56, "box", "failing", "1 to 4 in a row"),
    arrow(420, 138, 570, 138, "5 in a row, over 1 s"),
    box(570, 110, 160, 56, "warn", "down", "503 at once"),
    arrow(650, 110, 650, 60),
    box(560, 20, 180, 40, "box", "pause", "1 s, then up to 15 s"),
    arrow(560, 40, 400, 40, "then one request"),
    box(290, 20, 110, 40, "box", "probe"),
    arrow(290, 40, 110, 108, "answered", { at: [-22, -8] }),
    arrow(390, 62, 570, 122, "failed", { at: [-12, -8] }),
    text(380, 215, "Jobs do not fail meanwhile: they wait, and ask for a metatile that was rendered before.", {
      of: "small",
    }),
    text(380, 235, "If that one is rendered, the server is up and the other metatile is at fault: it alone fails.", {
      of: "small",
    }),
    text(380, 255, "An exception document, a 404 or a wrong picture is an answer: it is no outage.", { of: "small" }),
  ]),
  security: picture(760, 320, "Who may reach what", [
    box(20, 60, 120, 50, "other", "everybody", "maps"),
    box(20, 190, 120, 50, "other", "operators", "own network"),
    arrow(140, 85, 200, 85, "https"),
    arrow(140, 215, 200, 215, "https"),
    box(200, 40, 130, 220, "box", "proxy", "TLS, name, path", "refuses management", "from outside"),
    arrow(330, 85, 425, 85, "tiles"),
    arrow(330, 215, 425, 215, "management", { at: [-4, -7] }),
    rect(413, 25, 197, 250, "box"),
    text(510, 44, "Nuthatch", { of: "bold" }),
    box(425, 60, 170, 50, "own", "tiles", "public, or accounts"),
    box(425, 190, 170, 50, "warn", "management", "account, role, origin"),
    box(425, 125, 170, 50, "own", "renderers", "processes of their own"),
    arrow(595, 150, 650, 150),
    box(650, 120, 95, 60, "other", "map server", "credentials", "stay here"),
    arrow(595, 215, 650, 240),
    box(650, 215, 95, 50, "own", "state", "mode 0600"),
    text(510, 300, "no secret in answers, logs and messages", { of: "small" }),
  ]),
  kill: picture(760, 300, "What a kill at any moment leaves", [
    line(30, 220, 735, 220, "line"),
    text(735, 242, "time", { anchor: "end", of: "small" }),
    box(40, 60, 140, 50, "box", "1 mark the cell", "in the database"),
    arrow(180, 85, 215, 85),
    box(215, 60, 140, 50, "own", "2 write tiles", "temporary, renamed"),
    arrow(355, 85, 390, 85),
    box(390, 60, 150, 50, "box", "3 count them", "in memory, then rows"),
    arrow(540, 85, 575, 85),
    box(575, 60, 150, 50, "box", "4 remove the mark", "in the database"),
    line(195, 120, 195, 214, "line dash"),
    line(372, 120, 372, 214, "line dash"),
    line(557, 120, 557, 214, "line dash"),
    text(110, 150, "killed here: nothing", { of: "small" }),
    text(110, 166, "was written", { of: "small" }),
    text(285, 150, "killed here: the marked", { of: "small" }),
    text(285, 166, "cells are counted", { of: "small" }),
    text(285, 182, "from the store", { of: "small" }),
    text(465, 150, "killed here: the same,", { of: "small" }),
    text(465, 166, "nothing else is", { of: "small" }),
    text(465, 182, "looked at", { of: "small" }),
    text(650, 150, "killed here: the rows", { of: "small" }),
    text(650, 166, "are right already", { of: "small" }),
    text(
      380,
      275,
      "A tile is the old one or the new one, never half of one. A start after a kill takes as long as any start.",
      {
        of: "small",
      },
    ),
  ]),
};

let isStale = false;
for (const [name, svg] of Object.entries(PICTURES)) {
  const file = fileURLToPath(new URL(`../docs/images/${name}.svg`, import.meta.url));
  if (!process.argv.includes("--check")) writeFileSync(file, svg);
  else if (readFileSync(file, "utf8") !== svg) {
    console.error(`docs/images/${name}.svg is not what bin/draw-diagrams.mjs draws: run it`);
    isStale = true;
  }
}
process.exit(isStale ? 1 : 0);
