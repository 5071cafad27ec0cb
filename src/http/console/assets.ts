/** The style of the page. It needs no external host. */
export const STYLE = `
:root { --ink: #1f2a33; --soft: #5b6b77; --line: #d9e0e5; --accent: #2c6e8f; --paper: #fbfcfc; }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header { padding: 14px 24px; border-bottom: 1px solid var(--line); display: flex; gap: 16px; align-items: baseline; flex-wrap: wrap; }
header h1 { font-size: 20px; margin: 0; }
header p { margin: 0; color: var(--soft); }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(300px, 2fr); gap: 24px; padding: 24px; max-width: 1500px; margin: auto; }
@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } }
section { margin-bottom: 28px; min-width: 0; }
h2 { font-size: 16px; margin: 0 0 8px; }
#map { height: 60vh; min-height: 320px; border: 1px solid var(--line); border-radius: 6px; background: #eef2f4; }
section.map { position: relative; }
img.legend { position: absolute; left: 12px; bottom: 12px; z-index: 1000; border: 1px solid var(--line); border-radius: 4px; opacity: .95; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: 13px; }
td.number, th.number { text-align: right; }
a { color: var(--accent); }
form.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 12px; }
label { display: block; font-size: 13px; color: var(--soft); }
input, select, button { font: inherit; width: 100%; padding: 5px 8px; border: 1px solid var(--line); border-radius: 4px; background: white; color: var(--ink); }
button { width: auto; cursor: pointer; background: var(--accent); color: white; border-color: var(--accent); }
button.quiet { background: white; color: var(--accent); }
form.inline { display: inline; }
.none { color: var(--soft); }
`;

/** An icon: four tiles, one of them a seed. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#2c6e8f"/><g fill="#d9e8ef"><rect x="5" y="5" width="10" height="10" rx="1.5"/><rect x="17" y="5" width="10" height="10" rx="1.5"/><rect x="5" y="17" width="10" height="10" rx="1.5"/></g><path d="M22 16.5c4 1.6 5.6 4.4 5 6.8-.6 2.4-2.6 4-5 4s-4.4-1.6-5-4c-.6-2.4 1-5.2 5-6.8z" fill="#e0a458"/></svg>
`;

/** The script of the page: shows the map and updates the tasks. Without it only the map is missing. */
export const SCRIPT = `"use strict";
(() => {
  // Pixels of a level are counted from the corner at which rows begin.
  const crsOf = ({ corner: [x, y], resolutions }) => {
    const resolutionAt = (zoom) => {
      const from = Math.max(0, Math.min(resolutions.length - 1, Math.floor(zoom)));
      const to = Math.min(resolutions.length - 1, from + 1);
      return resolutions[from] * Math.pow(resolutions[to] / resolutions[from], zoom - from);
    };
    const zoomAt = (scale) => {
      const next = resolutions.findIndex((resolution) => resolution * scale <= 1);
      if (next === 0) return 0;
      if (next < 0) return resolutions.length - 1;
      const before = resolutions[next - 1];
      return next - 1 + Math.log(before * scale) / Math.log(before / resolutions[next]);
    };
    const transformation = new L.Transformation(1, -x, -1, y);
    return L.extend({}, L.CRS.Simple, { transformation, scale: (zoom) => 1 / resolutionAt(zoom), zoom: zoomAt });
  };
  const tilesOf = (plane, template, options) => {
    const layer = L.tileLayer(template, { tileSize: L.point(plane.tileSize), bounds: plane.bounds, ...options });
    layer.getTileUrl = ({ x, y, z }) => L.Util.template(template, { x, y: plane.fromTop ? y : plane.heights[z] + y, z });
    return layer;
  };
  const holder = document.getElementById("map");
  const data = holder && holder.dataset;
  if (data && data.tiles && window.L) {
    const zooms = { minZoom: Number(data.minzoom), maxZoom: Number(data.maxzoom) };
    const plane = data.plane && JSON.parse(data.plane);
    const view = { center: [Number(data.y), Number(data.x)], zoom: Number(data.zoom), ...zooms };
    const map = L.map(holder, plane ? { crs: crsOf(plane), ...view } : view);
    const options = { attribution: data.attribution, ...zooms };
    if (plane) tilesOf(plane, data.tiles, options).addTo(map);
    else L.tileLayer(data.tiles, options).addTo(map);
  }
  const tasks = document.getElementById("tasks");
  if (!tasks) return;
  const renew = async () => {
    try {
      const page = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!page.ok) return;
      const fresh = new DOMParser().parseFromString(await page.text(), "text/html").getElementById("tasks");
      if (fresh && !tasks.contains(document.activeElement)) tasks.replaceChildren(...fresh.childNodes);
    } catch (error) {
      console.warn("the tasks could not be renewed", error);
    }
  };
  setInterval(renew, 2000);
})();
`;
