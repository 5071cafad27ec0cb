import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { int64Json } from "../../../lib/document-fields.ts";
import { SESSION_COOKIE } from "../../auth/session-cookie.ts";
import type { ApiOperation } from "../api-operation.ts";
import { apiOperations } from "../api-operations.ts";
import { documents } from "../documents/documents.ts";
import { documentsJson, queryParameters, requestJson } from "./openapi-json.ts";
import { answer, created, gone, ref } from "./openapi-parts.ts";

/** The schemas of the request documents of all operations, by their names. */
const requests: Readonly<Record<string, object>> = Object.fromEntries(
  apiOperations.flatMap(({ about: { body } }) =>
    typeof body === "object" ? Object.entries(body).map(([name, schema]) => [name, requestJson(schema)]) : [],
  ),
);

/** All schemas, by the names that references use. */
const schemas = {
  ...documentsJson(documents),
  // A client may send this document back, so its fields may be null like those of a request.
  ScheduledJob: requestJson(documents.ScheduledJob),
  ...requests,
  // A PUT has the name in its path.
  ScheduleRequest: { ...requests["ScheduleRequest"], required: ["cron", "job"] },
};

const failed = {
  description: "A problem (RFC 9457)",
  content: { "application/problem+json": { schema: ref("Problem") } },
};

interface Exchanged {
  readonly parameters?: readonly object[];
  /** The name of the request document. */
  readonly body?: string;
  /** The answers by status. */
  readonly answers: Readonly<Partial<Record<number | "2XX", object>>>;
  /** The statuses of problem documents. */
  readonly failures?: readonly number[];
}

/** Returns the description of an operation. */
const operation = (operationId: string, summary: string, { parameters, body, answers, failures = [] }: Exchanged) => ({
  operationId,
  summary,
  ...(parameters === undefined ? {} : { parameters }),
  ...(body === undefined
    ? {}
    : { requestBody: { required: true, content: { "application/json": { schema: ref(body) } } } }),
  responses: { ...answers, ...Object.fromEntries(failures.map((status) => [status, failed])) },
});

/** Returns the description of the value in the path. */
function keyParameters({ path, isNumbered, about: { keyDescription } }: ApiOperation): readonly object[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  if (name === undefined) return [];
  const description = keyDescription === undefined ? {} : { description: keyDescription };
  return [{ name, in: "path", required: true, schema: isNumbered ? int64Json : { type: "string" }, ...description }];
}

function describe(one: ApiOperation): object {
  const { headers = [], query, openQuery = query, body, openBody, answers, failures } = one.about;
  const parameters = [
    ...keyParameters(one),
    ...headers,
    ...(openQuery === undefined ? [] : queryParameters(openQuery)),
  ];
  return {
    ...operation(one.id, one.summary, {
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(body === undefined ? {} : { body: bodyName(body) }),
      answers: answers ?? documentsOf(one.about),
      ...(failures === undefined ? {} : { failures }),
    }),
    ...(openBody === undefined ? {} : { requestBody: openBody }),
  };
}

const bodyName = (body: NonNullable<ApiOperation["about"]["body"]>): string =>
  typeof body === "string" ? body : (Object.keys(body)[0] ?? "");

/** Returns the answers of an operation with documents, or the answer without a body. */
function documentsOf({ answer: name, status }: ApiOperation["about"]): Exchanged["answers"] {
  if (name === undefined) return gone;
  const names = [name].flat();
  return { [status ?? 200]: status === 201 ? created(...names) : answer(...names) };
}

/** Returns the paths of the OpenAPI document. */
function pathsOf(): Readonly<Record<string, object>> {
  const paths = new Map<string, Record<string, object>>();
  for (const one of apiOperations) {
    const path = paths.get(one.path) ?? {};
    path[one.method.toLowerCase()] = describe(one);
    paths.set(one.path, path);
  }
  return Object.fromEntries(paths);
}

const header = (name: string, schema: object) => ({ name, in: "header", required: true, schema });

/** The requests that this server sends to configured webhooks. */
const webhooks = {
  job: {
    post: operation(
      "tellOfJob",
      "Reports an event of a job to a configured webhook. Sent again, with the same id, until the answer is 200 to 299",
      {
        parameters: [
          header("X-Nuthatch-Event", { enum: JOB_MOMENTS }),
          header("X-Nuthatch-Delivery", { type: "string", format: "uuid" }),
          header("X-Nuthatch-Signature", { type: "string", pattern: "^sha256=[0-9a-f]{64}$" }),
        ],
        body: "WebhookDelivery",
        answers: { "2XX": { description: "Accepted" } },
      },
    ),
  },
};

const securitySchemes = {
  basic: { type: "http", scheme: "basic" },
  token: { type: "http", scheme: "bearer", description: "An API token of /tokens" },
  session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE },
};

/** The description of `/api/v1` (OpenAPI 3.1). */
export const openApi = (base: string): unknown => ({
  openapi: "3.1.0",
  info: {
    title: "Nuthatch",
    version: "1",
    description:
      "Jobs, schedules and usage. The classic interface (/rest/seed, /masstruncate, /diskquota) exists beside it.",
  },
  servers: [{ url: `${base}/api/v1` }],
  components: { schemas, securitySchemes },
  security: [{ basic: [] }, { token: [] }, { session: [] }, {}],
  webhooks,
  paths: pathsOf(),
});
