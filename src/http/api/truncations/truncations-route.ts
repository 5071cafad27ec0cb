import type { Catalogue } from "../../../layer/catalogue.ts";
import { type Refusal, unknownLayer, unknownTruncation } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import {
  MASS_TRUNCATION_TYPES,
  type MassTruncationFilter,
  type MassTruncationRequest,
  TRUNCATION_MODES,
  TRUNCATION_STATES,
} from "../../../truncation/mass-truncation.ts";
import { refusalProblem } from "../../errors.ts";
import type { Resource } from "../../resource.ts";
import { type ApiParts, doing, idOf, json, layerOf, limitOf, oneOf, viewAnswer } from "../api-parts.ts";
import { fieldsOf, type Given, isObject, note, parseObject, textOf, wordOf } from "../json-fields.ts";

const FIELDS = ["layer", "type", "mode", "parameters"];

/** `truncations`: GET lists truncations, POST truncates. */
export function truncationsResource({ operations, catalogue }: ApiParts): Resource {
  return {
    methods: {
      GET: {
        need: "read",
        async handle({ query }) {
          const filter = decodeFilter(query, catalogue());
          if (!filter.ok) return refusalProblem(filter.error);
          return json({ truncations: await operations.truncations(filter.value) });
        },
      },
      POST: {
        need: "operate",
        async handle({ body, by, base, catalogue: { layers } }) {
          const bytes = await body();
          if (!bytes.ok) return refusalProblem(bytes.error);
          const asked = decodeTruncation(bytes.value);
          if (!asked.ok) return refusalProblem(asked.error);
          if (!layers.has(asked.value.layer)) return refusalProblem(unknownLayer(asked.value.layer));
          const made = await operations.truncate(asked.value, by);
          return { ...json(made, 201), headers: { Location: `${base}/api/v1/truncations/${made.id}` } };
        },
      },
    },
  };
}

/** `truncations/ID`: GET returns a truncation, DELETE reclaims its space. */
export function truncationResource({ operations }: ApiParts, id: number): Resource {
  return {
    methods: {
      GET: {
        need: "read",
        async handle() {
          const view = await operations.truncation(id);
          return view === undefined ? refusalProblem(unknownTruncation(id)) : json(view);
        },
      },
      DELETE: { need: "operate", handle: async ({ by }) => viewAnswer(await operations.reclaimTruncation(id, by)) },
    },
  };
}

/** `truncations/ID/undo`: undoes a truncation. */
export const undoResource = ({ operations }: ApiParts, id: number): Resource =>
  doing(async ({ by }) => viewAnswer(await operations.undoTruncation(id, by)));

/**
 * Decodes the body of a POST. Without `type` and `mode` it means the same as `truncateLayer` of the classic interface.
 */
function decodeTruncation(body: Uint8Array): Result<MassTruncationRequest, Refusal> {
  const document = parseObject(body, "truncation");
  if (!document.ok) return document;
  const fields = fieldsOf(document.value, FIELDS);
  if (!fields.ok) return fields;
  const given = fields.value;
  // A missing name must never truncate all layers.
  const layer = textOf(given, "layer") ?? note(given, "layer", "the name of a layer");
  const type = wordOf(given, "type", MASS_TRUNCATION_TYPES, "truncateLayer");
  const mode = wordOf(given, "mode", TRUNCATION_MODES, "hard");
  const parameters = parametersOf(given);
  if (type === "truncateParameters" && parameters === undefined)
    note(given, "parameters", "an object with at least one key and value");
  if (type !== "truncateParameters" && parameters !== undefined) note(given, "parameters", `none for ${type}`);
  if (mode === "soft" && type !== "truncateLayer")
    note(given, "mode", `hard for ${type}: only a whole layer is softened`);
  const [problem] = given.problems;
  if (problem !== undefined) return refuse(problem);
  if (layer === undefined || type === undefined || mode === undefined)
    throw new TypeError("a field that was not understood has not been noted");
  if (type === "truncateParameters") return ok({ type, mode: "hard", layer, parameters: parameters ?? {} });
  return ok(type === "truncateLayer" ? { type, mode, layer } : { type, mode: "hard", layer });
}

/** Reads `parameters`; undefined if they are absent or invalid. */
function parametersOf(given: Given): Readonly<Record<string, string>> | undefined {
  const value = given.fields.get("parameters");
  if (value === undefined) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  const texts = entries.flatMap(([key, entry]): [string, string][] =>
    typeof entry === "string" ? [[key, entry]] : [],
  );
  if (texts.length === 0 || texts.length < entries.length)
    return note(given, "parameters", 'an object of texts such as {"STYLES":"night"}');
  return Object.fromEntries(texts);
}

function decodeFilter(query: URLSearchParams, catalogue: Catalogue): Result<MassTruncationFilter, Refusal> {
  const layer = layerOf(query, catalogue);
  if (!layer.ok) return layer;
  const state = oneOf(query, "state", TRUNCATION_STATES);
  if (!state.ok) return state;
  const limit = limitOf(query, { standard: 100, most: 1_000 });
  if (!limit.ok) return limit;
  const after = idOf(query, "after", "truncation");
  if (!after.ok) return after;
  return ok({
    limit: limit.value,
    ...(layer.value === undefined ? {} : { layer: layer.value }),
    ...(state.value === undefined ? {} : { state: state.value }),
    ...(after.value === undefined ? {} : { after: after.value }),
  });
}
