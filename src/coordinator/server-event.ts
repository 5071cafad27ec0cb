import type { ActivityRow } from "../activity/activity-service.ts";
import type { JobView } from "../plan/job/job-documents.ts";
import type { QuotaConfiguration } from "../quota/configuration/quota-configuration.ts";
import type { UpstreamView } from "../render/upstream/upstream-documents.ts";
import type { MassTruncationView } from "../truncation/truncation-documents.ts";

/** A change that the event stream sends to its clients. A persisted change is sent after its commit. */
export type ServerEvent =
  /** A job was changed. Changes of counts alone are sent once a second, all other changes at once. */
  | { readonly kind: "job"; readonly job: JobView }
  /** The job was removed from the history. */
  | { readonly kind: "forgotten"; readonly id: number }
  /** A truncation was made or undone, or its space was reclaimed. */
  | { readonly kind: "truncation"; readonly truncation: MassTruncationView }
  /** A schedule was added, replaced, paused, resumed or removed, or one of its runs was made or skipped. */
  | { readonly kind: "schedule"; readonly name: string }
  /** The state of an upstream has changed. */
  | { readonly kind: "upstream"; readonly upstream: UpstreamView }
  /** The quota was changed by a request or a reload. */
  | { readonly kind: "quota"; readonly quota: QuotaConfiguration }
  /** A reload has changed the configuration. `layers` is the number of its layers. */
  | { readonly kind: "configuration"; readonly layers: number }
  | { readonly kind: "activity"; readonly entry: ActivityRow };
