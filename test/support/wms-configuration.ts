/** A configuration with one or more layers in front of a test upstream. */
export function wmsConfiguration(
  url: string,
  layers: readonly {
    name: string;
    extra?: string;
    gridSubsets?: string;
    connections?: number;
    timeoutSeconds?: number;
  }[] = [{ name: "ws:roads" }],
  more = "",
): string {
  return `${more}
layers:
${layers
  .map(
    (l) => `  - name: ${JSON.stringify(l.name)}
    source: { type: wms, url: ${JSON.stringify(url)}, layers: [roads], connections: ${l.connections ?? 8}, timeoutSeconds: ${l.timeoutSeconds ?? 10} }
    gridSubsets: ${l.gridSubsets ?? "[{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }]"}
    formats: [image/png, image/jpeg]
    ${l.extra ?? ""}`,
  )
  .join("\n")}
`;
}
