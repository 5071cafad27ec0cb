import { changeQuery } from "../configured/object-changes.ts";
import { layersQuery } from "../layers/layers-route.ts";
import { queryParameters } from "./openapi-json.ts";
import { answer, created, gone, name, operation, ref } from "./openapi-parts.ts";

const nameOfLayer = { ...name, name: "layer" };
const ifMatch = {
  name: "If-Match",
  in: "header",
  description: "The ETag of the state that the change is meant for; another state is a 412.",
  schema: { type: "string" },
};

const bodyOf = (schema: object) => ({ required: true, content: { "application/json": { schema } } });
const ANY_OBJECT = { type: "object" };

/**
 * Returns the operations that change an object, such as a layer.
 * @param configuration the schema of its keys
 */
function changesOf(document: string, parameter: object, configuration: object = ANY_OBJECT) {
  const query = queryParameters(changeQuery);
  const failures = [400, 404, 409, 412, 413];
  const changed = answer(document, "ConfigurationEffect");
  const parameters = [parameter, ifMatch, ...query];
  const put = operation(
    `put${document}`,
    "Creates or replaces what was made over HTTP: the keys of the configuration",
    {
      parameters,
      answers: { 200: changed, 201: created(document) },
      failures,
    },
  );
  const patch = operation(`change${document}`, "Changes single keys of what was made over HTTP (RFC 7396)", {
    parameters,
    answers: { 200: changed },
    failures,
  });
  return {
    put: { ...put, requestBody: bodyOf(configuration) },
    patch: { ...patch, requestBody: bodyOf(ANY_OBJECT) },
    delete: operation(`remove${document}`, "Removes what was made over HTTP, and the tiles of a layer", {
      parameters: [parameter, ifMatch, ...queryParameters(changeQuery.pick({ dryRun: true }))],
      answers: { 200: answer("ConfigurationEffect"), ...gone },
      failures: [400, 404, 409, 412],
    }),
  };
}

/** The paths of configured objects: layers, grid sets and stores. */
export const configuredPaths = {
  "/layers": {
    get: operation(
      "listLayers",
      "Lists the layers with their grid sets, formats and parameters; the first grid set and format are the defaults",
      {
        parameters: queryParameters(layersQuery),
        answers: { 200: answer("Layers", "LayerSummaries") },
        failures: [400],
      },
    ),
  },
  "/layers/{layer}": {
    get: operation("getLayer", "Returns one layer, without its secrets", {
      parameters: [nameOfLayer],
      answers: { 200: answer("Layer") },
      failures: [404],
    }),
    ...changesOf("Layer", nameOfLayer, ref("LayerConfiguration")),
  },
  "/grid-sets": {
    get: operation("listGridSets", "Lists the configured grid sets, then the built-in ones", {
      answers: { 200: answer("GridSets") },
    }),
  },
  "/grid-sets/{name}": {
    get: operation("getGridSet", "Returns one grid set, as the configuration file has it", {
      parameters: [name],
      answers: { 200: answer("GridSet") },
      failures: [404],
    }),
    ...changesOf("GridSet", name),
  },
  "/stores": {
    get: operation("listStores", "Lists the stores in the order of the configuration", {
      answers: { 200: answer("Stores") },
    }),
  },
  "/stores/{name}": {
    get: operation("getStore", "Returns one store, without its secrets", {
      parameters: [name],
      answers: { 200: answer("Store") },
      failures: [404],
    }),
    ...changesOf("Store", name),
  },
  "/layers/{layer}/test": {
    post: operation(
      "testLayer",
      "Renders one tile now without storing it, and returns the request to the upstream and its answer",
      {
        parameters: [nameOfLayer],
        body: "LayerTestRequest",
        answers: { 200: answer("LayerTest") },
        failures: [400, 404, 413, 503],
      },
    ),
  },
};
