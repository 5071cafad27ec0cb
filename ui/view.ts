import type { ComponentType } from "preact";

/** A view, loaded when it is first shown. `segments` are the decoded path segments after the view's own. */
export interface ViewProps {
  readonly segments: readonly string[];
}

export interface View {
  readonly View: ComponentType<ViewProps>;
}
