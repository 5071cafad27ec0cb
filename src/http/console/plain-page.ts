import type { UsageView } from "../../coordinator/usage-view.ts";
import { advertisedLayers, type Catalogue } from "../../layer/catalogue.ts";
import { defaultSubset, type Layer } from "../../layer/layer.ts";
import { listedValues } from "../../layer/parameter-filter.ts";
import { escapeHtml } from "../../lib/text/escape.ts";
import type { TaskRow } from "../../plan/job/job-request.ts";
import { JOB_TYPES } from "../../plan/seed-request.ts";
import { legendAddress, legendOf } from "../tiles/wms/legend-address.ts";

/** The data of the page, all of one moment. */
export interface PlainPageData {
  /** The mount: "" or a path such as "/geowebcache". */
  readonly mount: string;
  readonly catalogue: Catalogue;
  readonly chosen: Layer | undefined;
  readonly rows: readonly TaskRow[];
  readonly usage: UsageView;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function readableBytes(bytes: bigint): string {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

const seedPath = (mount: string, layer: string): string => `${mount}/rest/seed/${encodeURIComponent(layer)}`;

/** Returns the legend of the default style, if the layer has a legend on this server. */
function legendFigure({ mount, chosen }: PlainPageData): string {
  const legend = chosen === undefined ? undefined : legendOf(chosen, undefined);
  // The page's Content-Security-Policy blocks pictures of other hosts.
  if (chosen === undefined || legend === undefined || legend.url !== undefined) return "";
  const address = escapeHtml(legendAddress(chosen, legend, mount));
  return `<img class="legend" src="${address}" width="${legend.width}" height="${legend.height}" alt="Legend">`;
}

function layerRows({ mount, catalogue, chosen, usage }: PlainPageData): string {
  const stored = new Map(usage.layers.map((l) => [l.layer, l]));
  return advertisedLayers(catalogue)
    .map((layer) => {
      const sum = stored.get(layer.name);
      const name = escapeHtml(layer.name);
      const link = `${mount}/?plain&layer=${encodeURIComponent(layer.name)}`;
      const grids = layer.gridSubsets.map((s) => escapeHtml(s.gridSet.id)).join(", ");
      const mark = layer === chosen ? ' aria-current="true"' : "";
      return `<tr><td><a href="${escapeHtml(link)}"${mark}>${name}</a><br><small>${escapeHtml(layer.title)} · ${grids}</small></td><td class="number">${sum?.tiles ?? 0n}</td><td class="number">${readableBytes(sum?.bytes ?? 0n)}</td></tr>`;
    })
    .join("");
}

function taskRows({ mount, rows }: PlainPageData): string {
  if (rows.length === 0) return '<p class="none">No task is running.</p>';
  const items = rows.map((row) => {
    const left = row.remainingSeconds < 0 ? "…" : `${row.remainingSeconds} s`;
    const kill = `<form class="inline" method="post" action="${escapeHtml(seedPath(mount, row.layer))}"><input type="hidden" name="kill_thread" value="1"><input type="hidden" name="thread_id" value="${row.id}"><button class="quiet">Kill task ${row.id}</button></form>`;
    return `<tr><td>${row.id}</td><td>${escapeHtml(row.layer)}</td><td>${row.type}</td><td>${row.status === 1 ? "running" : "pending"}</td><td class="number">${row.processed} / ${row.total}</td><td class="number">${left}</td><td>${kill}</td></tr>`;
  });
  const all = `<form class="inline" method="post" action="${escapeHtml(mount)}/rest/seed"><input type="hidden" name="kill_all" value="all"><button class="quiet">Kill all</button></form>`;
  return `<table><thead><tr><th>Id</th><th>Layer</th><th>Type</th><th>State</th><th class="number">Tiles</th><th class="number">Left</th><td></td></tr></thead><tbody>${items.join("")}</tbody></table><p>${all}</p>`;
}

const option = (value: string | number, selected = false): string =>
  `<option value="${escapeHtml(String(value))}"${selected ? " selected" : ""}>${escapeHtml(String(value))}</option>`;

function seedForm({ mount, chosen }: PlainPageData): string {
  if (chosen === undefined) return "";
  const standard = defaultSubset(chosen);
  const first = Math.min(...chosen.gridSubsets.map((s) => s.zoomStart));
  const last = Math.max(...chosen.gridSubsets.map((s) => s.zoomStop));
  const zooms = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const filters = chosen.parameterFilters.map((filter) => {
    const name = escapeHtml(`parameter_${filter.key}`);
    const listed = listedValues(filter);
    const field =
      listed !== undefined
        ? `<select name="${name}">${listed.map((v) => option(v)).join("")}</select>`
        : `<input name="${name}" value="${escapeHtml(filter.default)}">`;
    return `<label>${escapeHtml(filter.key)}${field}</label>`;
  });
  const box = ["minX", "minY", "maxX", "maxY"].map(
    (name) => `<label>${name}<input name="${name}" inputmode="decimal"></label>`,
  );
  return `<section><h2>New task for ${escapeHtml(chosen.name)}</h2>
<form class="fields" method="post" action="${escapeHtml(seedPath(mount, chosen.name))}">
<label>Type<select name="type">${JOB_TYPES.map((t) => option(t)).join("")}</select></label>
<label>Grid set<select name="gridSetId">${chosen.gridSubsets.map((s) => option(s.gridSet.id, s === standard)).join("")}</select></label>
<label>Format<select name="tileFormat">${chosen.formats.map((f) => option(f.mimeType)).join("")}</select></label>
<label>Threads<select name="threadCount">${[1, 2, 4, 8, 16, 32, 64, 128].map((n) => option(n)).join("")}</select></label>
<label>First zoom<select name="zoomStart">${zooms.map((z) => option(z)).join("")}</select></label>
<label>Last zoom<select name="zoomStop">${zooms.map((z) => option(z, z === Math.min(last, first + 4))).join("")}</select></label>
${box.join("\n")}
${filters.join("\n")}
<div><button>Submit</button></div>
</form><p class="none">Empty bounds: the whole layer.</p></section>`;
}

/** Returns the page for browsers without JavaScript: the running tasks, a form for a new task, the layers. Pure. */
export function plainPage(data: PlainPageData): string {
  const m = escapeHtml(data.mount);
  const title = data.chosen === undefined ? "" : `<h2>${escapeHtml(data.chosen.title)}</h2>`;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Nuthatch</title>
<link rel="icon" href="${m}/assets/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="${m}/assets/page.css"></head>
<body><header><h1>Nuthatch</h1><p>${data.catalogue.layers.size} layers · ${data.usage.total.tiles} tiles, ${readableBytes(data.usage.total.bytes)}</p>
<p><a href="${m}/">Console (needs JavaScript)</a> · <a href="${m}/service/wmts?SERVICE=WMTS&amp;REQUEST=GetCapabilities">WMTS</a> · <a href="${m}/service/wms?REQUEST=GetCapabilities">WMS-C</a> · <a href="${m}/service/tms/1.0.0">TMS</a></p></header>
<main><div><section><h2>Running tasks</h2>${taskRows(data)}<p class="none">This list is of the moment at which the page was loaded. <a href="${m}/?plain">Load it again</a></p></section>
<section>${title}${legendFigure(data)}</section>${seedForm(data)}</div>
<div><section><h2>Layers</h2><table><caption class="none">Stored tiles</caption><thead><tr><th scope="col">Layer</th><th scope="col" class="number">Tiles</th><th scope="col" class="number">Bytes</th></tr></thead><tbody>${layerRows(data)}</tbody></table></section></div></main></body></html>
`;
}
