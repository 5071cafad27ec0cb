import { activityOperations } from "./activity/activity-route.ts";
import type { ApiOperation } from "./api-operation.ts";
import { changeOperations } from "./changes/changes-route.ts";
import { configurationOperations } from "./configuration/configuration-route.ts";
import { gridSetOperations } from "./configured/grid-sets-route.ts";
import { storeOperations } from "./configured/stores-route.ts";
import { coverageOperations } from "./coverage/coverage-route.ts";
import { crsOperations } from "./crs/crs-route.ts";
import { eventsOperations } from "./events/events-route.ts";
import { batchOperations } from "./jobs/batches-route.ts";
import { estimateOperations } from "./jobs/estimate-route.ts";
import { failureOperations } from "./jobs/failures-route.ts";
import { jobPartOperations } from "./jobs/job-parts-route.ts";
import { jobOperations } from "./jobs/jobs-route.ts";
import { layerTestOperations } from "./layers/layer-test-route.ts";
import { layerOperations } from "./layers/layers-route.ts";
import { wmsOperations } from "./layers/wms-route.ts";
import { nodeOperations } from "./nodes/nodes-route.ts";
import { purgeOperations } from "./purges/purges-route.ts";
import { quotaOperations } from "./quota/quota-route.ts";
import { schedulePreviewOperations } from "./schedules/schedule-preview.ts";
import { scheduleOperations } from "./schedules/schedules-route.ts";
import { serverOperations } from "./server/server-route.ts";
import { sessionOperations } from "./session/session-route.ts";
import { statsOperations } from "./stats/stats-route.ts";
import { statusOperations } from "./status/status-route.ts";
import { storeCopyOperations } from "./stores/store-copies-route.ts";
import { exportOperations } from "./tiles/export-route.ts";
import { importOperations } from "./tiles/import-route.ts";
import { tokenOperations } from "./tokens/tokens-route.ts";
import { truncationOperations } from "./truncations/truncations-route.ts";
import { upstreamOperations } from "./upstreams/upstreams-route.ts";
import { usageOperations } from "./usage/usage-route.ts";
import { userOperations } from "./users/users-route.ts";

/** All operations of `/api/v1`, in the order of the OpenAPI document. */
export const apiOperations: readonly ApiOperation[] = [
  ...jobOperations,
  ...estimateOperations,
  ...failureOperations,
  ...jobPartOperations,
  ...eventsOperations,
  ...batchOperations,
  ...scheduleOperations,
  ...schedulePreviewOperations,
  ...truncationOperations,
  ...layerOperations,
  ...layerTestOperations,
  ...wmsOperations,
  ...gridSetOperations,
  ...storeOperations,
  ...storeCopyOperations,
  ...crsOperations,
  ...statsOperations,
  ...upstreamOperations,
  ...changeOperations,
  ...purgeOperations,
  ...nodeOperations,
  ...statusOperations,
  ...serverOperations,
  ...quotaOperations,
  ...configurationOperations,
  ...activityOperations,
  ...coverageOperations,
  ...sessionOperations,
  ...tokenOperations,
  ...userOperations,
  ...usageOperations,
  ...exportOperations,
  ...importOperations,
];
