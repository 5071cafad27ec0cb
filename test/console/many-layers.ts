/** Returns a configuration of many layers on a few upstreams. The names sort in the order of the numbers. */
export function manyLayers(count: number): string {
  const layers = Array.from({ length: count }, (_, n) => {
    const name = `layer-${String(n).padStart(5, "0")}`;
    return `  - name: ${name}
    title: Title of number ${n}
    source: { type: wms, url: "http://127.0.0.1:9/wms${n % 12}", layers: [roads] }
    gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }]`;
  });
  return `layers:\n${layers.join("\n")}\n`;
}
