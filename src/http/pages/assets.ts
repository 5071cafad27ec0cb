/** The page's own style: plain, no external host. */
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

/** Makes the map and renews the tasks; the page works without it but for the map. */
export const SCRIPT = `"use strict";
(() => {
  const holder = document.getElementById("map");
  const data = holder && holder.dataset;
  if (data && data.tiles && window.L) {
    const lonLat = data.crs === "4326";
    const map = L.map(holder, { crs: lonLat ? L.CRS.EPSG4326 : L.CRS.EPSG3857, center: [Number(data.lat), Number(data.lon)], zoom: Number(data.zoom), minZoom: Number(data.minzoom), maxZoom: Number(data.maxzoom) });
    L.tileLayer(data.tiles, { minZoom: Number(data.minzoom), maxZoom: Number(data.maxzoom), noWrap: lonLat, attribution: data.attribution }).addTo(map);
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
