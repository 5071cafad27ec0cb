import * as z from "zod";
import { newToken, token } from "../../../account/account-documents.ts";
import { LayerSchema } from "../../../configuration/fields/layer-schema.ts";
import { storeCopy } from "../../../coordinator/copy/store-copy-documents.ts";
import { coverage, coverageLevels } from "../../../coordinator/coverage/coverage-documents.ts";
import { usage, usageHistory } from "../../../coordinator/usage/usage-documents.ts";
import { changeSourceState } from "../../../feed/change-documents.ts";
import { JOB_MOMENTS } from "../../../jobs/job-event.ts";
import { verification } from "../../../ledger/counting/verification-documents.ts";
import { type DocumentOf, moment, text } from "../../../lib/document-fields.ts";
import {
  batch,
  estimate,
  estimates,
  failures,
  job,
  jobArea,
  jobLevels,
  jobs,
  jobTimeline,
} from "../../../plan/job/job-documents.ts";
import { purgeState } from "../../../purge/purge-documents.ts";
import { upstream, upstreamProbe } from "../../../render/upstream/upstream-documents.ts";
import { truncation, truncationPreview } from "../../../truncation/truncation-documents.ts";
import { node, nodes } from "../nodes/node-documents.ts";
import {
  configurationEffect,
  gridSetDetails,
  gridSetList,
  layer,
  layerSummaries,
  layers,
  layerTest,
  storeDetails,
  storeList,
  wmsPicture,
  wmsProposal,
} from "./layer-documents.ts";
import { schedule, scheduledJob, schedulePreview, scheduleRun } from "./schedule-documents.ts";
import {
  activity,
  activityEntry,
  configurationCheck,
  crs,
  problem,
  quota,
  quotaPreview,
  reload,
  server,
  session,
  stats,
  status,
  tileImport,
  user,
  users,
} from "./server-documents.ts";

/**
 * The documents of `/api/v1` and of webhooks, by their names in the OpenAPI document. Each is described only here: the
 * OpenAPI document and the types of answers are derived from the schemas.
 */
export const documents = {
  Job: job,
  Jobs: jobs,
  JobTimeline: jobTimeline,
  JobLevels: jobLevels,
  JobArea: jobArea,
  Batch: batch,
  Failures: failures,
  Estimate: estimate,
  Estimates: estimates,
  Truncation: truncation,
  TruncationPreview: truncationPreview,
  Truncations: z.object({ truncations: z.array(truncation) }),
  Schedule: schedule,
  Schedules: z.object({ schedules: z.array(schedule) }),
  ScheduleRun: scheduleRun,
  SchedulePreview: schedulePreview,
  ScheduledJob: scheduledJob,
  Layers: layers,
  LayerSummaries: layerSummaries,
  Layer: layer,
  LayerConfiguration: LayerSchema,
  LayerTest: layerTest,
  WmsProposal: wmsProposal,
  WmsPicture: wmsPicture,
  Node: node,
  Nodes: nodes,
  ConfigurationEffect: configurationEffect,
  GridSet: gridSetDetails,
  GridSets: gridSetList,
  Store: storeDetails,
  Stores: storeList,
  Status: status,
  Server: server,
  Stats: stats,
  Upstream: upstream,
  ChangeSources: z.object({ changes: z.array(changeSourceState) }),
  Purges: z.object({ purges: z.array(purgeState) }),
  Upstreams: z.object({ upstreams: z.array(upstream) }),
  UpstreamProbe: upstreamProbe,
  Usage: usage,
  UsageHistory: usageHistory,
  Crs: crs,
  Quota: quota,
  QuotaPreview: quotaPreview,
  Reload: reload,
  ConfigurationCheck: configurationCheck,
  User: user,
  Users: users,
  Activity: activity,
  ActivityEntry: activityEntry,
  Coverage: coverage,
  CoverageLevels: coverageLevels,
  TileImport: tileImport,
  StoreCopy: storeCopy,
  StoreCopies: z.object({ copies: z.array(storeCopy) }),
  Session: session,
  Tokens: z.object({ tokens: z.array(token) }),
  NewToken: newToken,
  Verification: verification,
  WebhookDelivery: z.object({ id: text.meta({ format: "uuid" }), event: z.enum(JOB_MOMENTS), sentAt: moment, job }),
  Problem: problem,
};

/** The types of the documents. */
export type Documents = { readonly [N in keyof typeof documents]: DocumentOf<(typeof documents)[N]> };
