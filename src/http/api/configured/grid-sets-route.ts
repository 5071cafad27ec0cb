import { documentOf, fileOf } from "../../../configuration/gwc/configured-object.ts";
import { gridSetContent } from "../../../configuration/gwc/grid-set-object.ts";
import { builtInGridSetIds } from "../../../grid/built-in.ts";
import type { GridSet } from "../../../grid/grid-set.ts";
import { gridSetDocument, gridSetTag } from "../../../grid/grid-set-document.ts";
import { findSubset } from "../../../layer/layer.ts";
import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { fixedGridSet, gridSetOf } from "../../configuration/grid-sets-route.ts";
import type { Handler, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import { type ChangedKind, isEditable, locationOf, objectOperations } from "./object-changes.ts";

type Configured = Pick<RouteOptions, "configured">;

const unknownGridSet = (id: string): Refusal => ({ code: "not_found", message: `Unknown grid set: ${id}` });

/** Returns the names of the layers that use a grid set. */
const usersOf = ({ configured }: Configured, id: string): readonly string[] =>
  configured().layers.flatMap((layer) => (findSubset(layer, id) === undefined ? [] : [layer.name]));

function originOf({ configured }: Configured, id: string): "built-in" | "file" | "http" {
  if (documentOf(configured().objects, "gridSet", id) !== undefined) return "http";
  return configured().gridSets.some((gridSet) => gridSet.id === id) ? "file" : "built-in";
}

const listHandler = (parts: Configured): Handler =>
  reader(async () => {
    const own = parts.configured().gridSets.map(({ id }) => id);
    const ids = [...own, ...builtInGridSetIds.filter((id) => !own.includes(id))];
    const counts = new Map<string, number>();
    for (const { gridSubsets } of parts.configured().layers)
      for (const { gridSet } of gridSubsets) counts.set(gridSet.id, (counts.get(gridSet.id) ?? 0) + 1);
    const gridSets = ids.flatMap((id) => {
      const found = gridSetOf(parts, id);
      if (found === undefined) return [];
      const { title = null, srs } = found;
      return [{ id, title, srs, origin: originOf(parts, id), layers: counts.get(id) ?? 0 }];
    });
    return documentAnswer("GridSets", { gridSets });
  });

function gridSetKind(parts: Configured): ChangedKind {
  const { configured } = parts;
  const answerWith = (gridSet: GridSet, base: string, status: number) => {
    const origin = originOf(parts, gridSet.id);
    const users = [...usersOf(parts, gridSet.id)];
    const configuredAt =
      origin === "file" ? (fileOf(configured(), { kind: "gridSet", name: gridSet.id }) ?? null) : null;
    const editable = isEditable(parts, fixedGridSet(parts, gridSet.id));
    const document = { ...gridSetDocument(gridSet), origin, editable, configuredAt, layers: users };
    return documentAnswer("GridSet", document, status, {
      ETag: gridSetTag(gridSet),
      ...locationOf(status, base, "grid-sets", gridSet.id),
    });
  };
  return {
    kind: "gridSet",
    what: "grid set",
    nameKey: "id",
    present: (_, of) => {
      const found = gridSetOf(parts, of);
      if (found === undefined) return undefined;
      const made = documentOf(configured().objects, "gridSet", of);
      return {
        shown: { ...gridSetDocument(found) },
        made: made === undefined ? undefined : gridSetContent(made),
        whole: { ...gridSetDocument(found) },
        tag: gridSetTag(found),
        fixed: fixedGridSet(parts, of),
      };
    },
    unknown: unknownGridSet,
    answer: async ({ base }, of, status) => {
      const found = gridSetOf(parts, of);
      return found === undefined ? refuse(unknownGridSet(of)) : answerWith(found, base, status);
    },
    inUse: (_, of) => {
      const users = usersOf(parts, of);
      return users.length === 0 ? undefined : conflict(`The grid set ${of} is in use by ${users.join(", ")}.`);
    },
  };
}

export const gridSetOperations = [
  operation(
    "GET /grid-sets",
    "listGridSets",
    "Lists the configured grid sets, then the built-in ones",
    { answers: "GridSets" },
    listHandler,
  ),
  ...objectOperations(
    "/grid-sets/{name}",
    "GridSet",
    { summary: "Returns one grid set, as the configuration file has it" },
    gridSetKind,
  ),
];
