import { builtInGridSet } from "../../src/grid/built-in.js";
import { formatOf } from "../../src/layer/format.js";
import { DEFAULT_JPEG_QUALITY, gridSubset } from "../../src/layer/layer.js";
/** A format of which the test knows that it exists. */
export function formatNamed(mimeType) {
    const format = formatOf(mimeType);
    if (format === undefined)
        throw new Error(`no format ${mimeType}`);
    return format;
}
/** A grid set of which the test knows that it exists. */
export function gridSetNamed(id) {
    const gridSet = builtInGridSet(id);
    if (gridSet === undefined)
        throw new Error(`no grid set ${id}`);
    return gridSet;
}
/** A layer of PNG tiles in the web's grid set, but for what the test is about. */
export const layerNamed = (name, more = {}) => ({
    name,
    title: "",
    description: "",
    source: { type: "demo", dataset: "world", connections: 1 },
    gridSubsets: [gridSubset(gridSetNamed("EPSG:900913"), {})],
    formats: [formatNamed("image/png")],
    metatile: [4, 4],
    gutter: 0,
    parameterFilters: [],
    expireCacheSeconds: 0,
    staleWhileRevalidateSeconds: 0,
    queryable: false,
    fullWms: false,
    jpegQuality: DEFAULT_JPEG_QUALITY,
    expireClientSeconds: 0,
    secured: false,
    ...more,
});
//# sourceMappingURL=layer.js.map