import type { ViewProps } from "../../view.ts";
import { LayerPage } from "./layer-page.tsx";
import { LayersPage } from "./layers-page.tsx";

export function View({ segments: [name, tab] }: ViewProps) {
  return name === undefined ? <LayersPage /> : <LayerPage key={name} name={name} tab={tab} />;
}
