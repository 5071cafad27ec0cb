import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import { jsonText } from "../../lib/text/json-text.ts";
import { withDetail } from "../activity-detail.ts";
import type { Answer } from "../reply.ts";
import { type Handler, type Reply, reading } from "../resource.ts";
import type { Documents } from "./documents/documents.ts";
import { withoutQuery } from "./query-fields.ts";

/** Returns a document as the answer. `name` is its name in the OpenAPI document. A missing field does not compile. */
export const documentAnswer = <N extends keyof Documents>(
  _name: N,
  value: Documents[N],
  status = 200,
  headers: Answer["headers"] = {},
): Answer => ({ ...json(value, status), headers });

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json",
  body: jsonText(value),
});

/** Returns a handler that needs the right to read and refuses query fields. */
export const reader = (handle: Handler["handle"]): Handler => reading(withoutQuery(handle));

/**
 * Returns the answer to an action: the job, schedule or truncation after the action, or the refusal. `detail` is for
 * the record of activity.
 */
export const viewAnswer = <N extends keyof Documents>(
  name: N,
  view: Result<Documents[N], Refusal>,
  detail?: (value: Documents[N]) => string,
): Reply => (view.ok ? withDetail(documentAnswer(name, view.value), detail?.(view.value)) : view);
