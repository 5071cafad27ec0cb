import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { SESSION_COOKIE } from "../../auth/session-cookie.ts";
import { documents } from "../documents/documents.ts";
import { jobChangeSchema, jobRequestSchema } from "../jobs/job-document.ts";
import { layerTestSchema } from "../layers/layer-test-route.ts";
import { quotaChangeSchema } from "../quota/quota-document.ts";
import { scheduleChangeSchema, schedulePreviewSchema, scheduleRequestSchema } from "../schedules/schedule-document.ts";
import { signInSchema } from "../session/session-document.ts";
import { storeCopyRequestSchema } from "../stores/store-copies-route.ts";
import { tileExportSchema } from "../tiles/export-route.ts";
import { tokenRequestSchema } from "../tokens/token-document.ts";
import { truncationRequestSchema } from "../truncations/truncation-document.ts";
import { userChangeSchema, userRequestSchema } from "../users/user-document.ts";
import { documentsJson, requestJson } from "./openapi-json.ts";
import { operation, ref } from "./openapi-parts.ts";
import { pathsOf } from "./openapi-paths.ts";

const scheduleRequest = requestJson(scheduleRequestSchema);

const change = requestJson(scheduleChangeSchema);
const scheduleChange = { ...change, properties: { ...change.properties, job: ref("JobRequest") } };

/** All schemas, by the names that references use. */
const schemas = {
  ...documentsJson(documents),
  // A client may send this document back, so its fields may be null like those of a request.
  ScheduledJob: requestJson(documents.ScheduledJob),
  JobRequest: requestJson(jobRequestSchema),
  JobTerms: requestJson(jobChangeSchema),
  ScheduleRequest: {
    ...scheduleRequest,
    // A PUT has the name in its path.
    required: ["cron", "job"],
    properties: { ...scheduleRequest.properties, job: ref("JobRequest") },
  },
  ScheduleChange: scheduleChange,
  SchedulePreviewRequest: requestJson(schedulePreviewSchema),
  QuotaChange: requestJson(quotaChangeSchema),
  LayerTestRequest: requestJson(layerTestSchema),
  SignIn: requestJson(signInSchema),
  TokenRequest: requestJson(tokenRequestSchema),
  UserRequest: requestJson(userRequestSchema),
  UserChange: requestJson(userChangeSchema),
  TileExportRequest: requestJson(tileExportSchema),
  StoreCopyRequest: requestJson(storeCopyRequestSchema),
  TruncationRequest: requestJson(truncationRequestSchema),
};

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
