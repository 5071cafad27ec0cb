import * as z from "zod";
import { layerContent } from "../../../configuration/gwc/layer-object.ts";
import { layerOrigin } from "../../../configuration/gwc/object-origin.ts";
import {
  layerConfiguration,
  layerConfigurationWithSecrets,
  layerTag,
} from "../../../configuration/layer-configuration.ts";
import { corners } from "../../../grid/extent.ts";
import { gridSetDocument } from "../../../grid/grid-set-document.ts";
import { type GridSubset, subsetExtent } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { text } from "../../../lib/document-fields.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { fixedLayer } from "../../configuration/layers-route.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import { type ChangedKind, objectOperations } from "../configured/object-changes.ts";
import { wholeNumber } from "../query-fields.ts";
import { layerDocument, layerSummary } from "./layer-document.ts";

/** The default limit, which is more than the layers of any configuration. */
const MOST_LAYERS = 100_000;

const layersQuery = z.object({
  q: text.exactOptional().meta({ description: "A part of the name or the title, in any case" }),
  limit: wholeNumber({ least: 1, most: MOST_LAYERS, standard: MOST_LAYERS }),
  after: text.exactOptional().meta({ description: "The name of the last layer of the page before" }),
  fields: z.enum(["summary"]).exactOptional(),
});

function layerKind(parts: Pick<RouteOptions, "operations" | "configured">): ChangedKind<Layer, "Layer"> {
  const { operations, configured } = parts;
  return {
    kind: "layer",
    what: "layer",
    nameKey: "name",
    find: (of) => configured().layers.find(({ name }) => name === of),
    unknown: (of) => unknownLayer(of, new Map(configured().layers.map((layer) => [layer.name, layer]))),
    shown: layerConfiguration,
    whole: layerConfigurationWithSecrets,
    made: layerContent,
    tag: layerTag,
    fixed: (name) => fixedLayer(parts, name),
    describe: async (layer, { base, editable }) => ({
      ...layerDocument(layer, { base, quota: await operations.quota(), origin: layerOrigin(configured(), layer.name) }),
      editable,
    }),
    users: () => [],
  };
}

export const layerOperations = [
  operation(
    "GET /layers",
    "listLayers",
    "Lists the layers with their grid sets, formats and parameters; the first grid set and format are the defaults",
    { query: layersQuery, answer: ["Layers", "LayerSummaries"] },
    async (_, { fields, query, catalogue }) => {
      const found = pageOf([...catalogue.layers.values()], fields);
      if (!found.ok) return found;
      const { layers, total, next } = found.value;
      if (fields.fields === "summary") return ok({ layers: layers.map(layerSummary), total, next });
      const used = new Set(layers.flatMap(({ gridSubsets }) => gridSubsets.map(({ gridSet }) => gridSet)));
      return ok({
        layers: layers.map(listedLayer),
        gridSets: [...used].map(gridSetDocument),
        ...(query.size > 0 ? { total, next } : {}),
      });
    },
  ),
  ...objectOperations(
    ["layers", "layer"],
    "Layer",
    { summary: "Returns one layer, without its secrets", keys: "LayerConfiguration" },
    layerKind,
  ),
];

interface Page {
  readonly layers: readonly Layer[];
  /** The number of layers that match the search, on all pages. */
  readonly total: number;
  /** The value of `after` for the next page. Null if this page is the last one. */
  readonly next: string | null;
}

function pageOf(all: readonly Layer[], { q, limit, after }: z.output<typeof layersQuery>): Result<Page, Refusal> {
  const last = after === undefined ? -1 : all.findIndex(({ name }) => name === after);
  if (after !== undefined && last < 0)
    return refuse(badField("after", "the name of a layer; without it the list begins again", after));
  const sought = q?.toLowerCase() ?? "";
  const isFound = ({ name, title }: Layer): boolean =>
    name.toLowerCase().includes(sought) || title.toLowerCase().includes(sought);
  const total = all.filter(isFound).length;
  const rest = all.slice(last + 1).filter(isFound);
  const layers = rest.slice(0, limit);
  return ok({ layers, total, next: rest.length > limit ? (layers.at(-1)?.name ?? null) : null });
}

const listedLayer = ({ name, title, formats, gridSubsets, parameterFilters, jobs }: Layer) => ({
  name,
  title,
  formats: formats.map(({ mimeType }) => mimeType),
  gridSets: gridSubsets.map(subsetDocument),
  parameters: parameterFilters,
  jobs: { weight: jobs.weight, maxTasks: jobs.maxTasks ?? null },
});

function subsetDocument(subset: GridSubset) {
  const { gridSet, zoomStart, zoomStop } = subset;
  return { gridSet: gridSet.id, srs: gridSet.srs, zoomStart, zoomStop, bounds: corners(subsetExtent(subset)) };
}
