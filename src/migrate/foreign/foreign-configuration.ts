import type { Content } from "../../lib/is-map.ts";
import { commentOf, type ReportedElement } from "../element-report.ts";
import { literal } from "../literal-text.ts";
import { writtenYaml } from "../written-yaml.ts";

/** A layer of another program. */
export interface ForeignLayer {
  readonly content: Content;
  /** The titles of the objects from which the layer is made. */
  readonly from: readonly string[];
  /** The file and line of the layer, as `FILE:LINE`. */
  readonly origin: string | undefined;
}

/** A configuration of another program, in the shape of the configuration file. */
export interface ForeignConfiguration {
  readonly gridSets: readonly Content[];
  readonly layers: readonly ForeignLayer[];
  readonly serviceInformation: Content | undefined;
  readonly reports: readonly ReportedElement[];
  /** The names of variables with secrets. */
  readonly variables: readonly string[];
  /** The omitted objects, one line each. */
  readonly leftOut: readonly string[];
  readonly warnings: readonly string[];
}

/** Returns another program's configuration as a configuration file, with comments on objects that have no effect. */
export function foreignYaml(program: string, configuration: ForeignConfiguration): string {
  const { gridSets, layers, serviceInformation, leftOut, reports, variables } = configuration;
  const content = {
    ...(serviceInformation === undefined ? {} : { serviceInformation }),
    ...(gridSets.length === 0 ? {} : { gridSets }),
    layers: layers.map((layer) => layer.content),
  };
  const comments = layers.map(({ from }) =>
    commentOf(
      reports.filter(({ title }) => from.includes(title)),
      ({ title, path }) => `${path} of ${title}`,
    ),
  );
  return writtenYaml(
    program,
    Object(literal(content, new Set(variables))),
    leftOut.map((line) => `Left out: ${line}.`),
    [{ key: "layers", comments }],
  );
}
