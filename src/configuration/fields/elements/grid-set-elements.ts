import { geoWebCacheUnitOf, unitOf } from "../../../grid/crs/units.ts";
import { fieldOf, isMapNode, map, numberOf } from "../../gwc/document-node.ts";
import { type Element, type Elements, type Form, type Keys, keysOf, rankOf } from "../../gwc/element.ts";
import { corners, decimal, doubles, flag, integer, text, texts } from "../../gwc/forms.ts";
import { GridSetSchema } from "../grid-set-schema.ts";

type GridSetKeys = Keys<typeof GridSetSchema>;

const srs: Form<string | number> = {
  type: { map: { number: "integer" } },
  read(node) {
    const number = isMapNode(node) ? fieldOf(node, "number") : undefined;
    return number === undefined ? undefined : numberOf(number);
  },
  write: (value) => map([["number", Number(value)]]),
  restOf: (rest) => `.number${rest}`,
};

const of = keysOf(GridSetSchema);

/**
 * Metres per unit. A grid set without this element has GeoWebCache's value, if that differs from the value of its CRS.
 */
const metersPerUnit: Element<GridSetKeys> = {
  ...of("metersPerUnit", decimal),
  read(part, node) {
    const code = part["srs"];
    if (node !== undefined) part["metersPerUnit"] = numberOf(node);
    else if (typeof code === "number") {
      const implied = geoWebCacheUnitOf(code);
      if (implied !== unitOf(code)) part["metersPerUnit"] = implied;
    }
  },
};

const TILE_PIXELS = 256;

/** The width (0) or the height (1) of a tile. */
const side = (index: 0 | 1): Element<GridSetKeys> => ({
  type: integer.type,
  rank: rankOf(GridSetSchema, "tileSize"),
  read(part, node) {
    if (node === undefined) return;
    const size: unknown[] = Array.isArray(part["tileSize"]) ? part["tileSize"] : [TILE_PIXELS, TILE_PIXELS];
    part["tileSize"] = size.with(index, numberOf(node));
  },
  write: ({ tileSize }) => tileSize?.[index],
  pathOf: (path, name) => (path === `tileSize[${index}]` ? name : undefined),
});

/** The elements of a grid set. */
export const GRID_SET = {
  name: of("id", text, { missing: "" }),
  description: of("title", text),
  srs: of("srs", srs),
  extent: of("extent", corners),
  alignTopLeft: of("alignTopLeft", flag),
  resolutions: of("resolutions", doubles),
  scaleDenominators: of("scaleDenominators", doubles),
  levels: of("levels", integer),
  metersPerUnit,
  pixelSize: of("pixelSize", decimal),
  scaleNames: of("scaleNames", texts, { unread: [] }),
  tileHeight: side(1),
  tileWidth: side(0),
  yCoordinateFirst: of("yCoordinateFirst", flag),
} satisfies Elements<GridSetKeys>;
