import type { Doc } from "../../core/server/api.ts";
import type { Loaded } from "../../core/server/resource.ts";

/** The layer of a tab, and its usage. */
export interface TabProps {
  readonly layer: Doc<"Layer">;
  readonly usage: Loaded<Doc<"Usage">>;
}
