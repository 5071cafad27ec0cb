import { Document, isMap, isSeq } from "yaml";
import type { Content } from "../../configuration/gwc/content.ts";
import { literal } from "../literal-text.ts";
import type { ReportedElement } from "./foreign-object.ts";

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
  const document = new Document(literal(content, new Set(variables)), { aliasDuplicateObjects: false });
  document.commentBefore = [
    ` Written by Nuthatch from a configuration of ${program}.`,
    ...leftOut.map((line) => ` Left out: ${line}.`),
  ].join("\n");
  const list = document.get("layers");
  if (isSeq(list))
    for (const [i, { from }] of layers.entries()) {
      const item = list.items[i];
      const own = reports.filter(({ title }) => from.includes(title));
      const kept = own.filter(({ outcome, how }) => outcome === "kept" && how === undefined).map(named);
      const lines = [
        ...(kept.length === 0 ? [] : [` No effect: ${kept.join(", ")}.`]),
        ...own.flatMap((one) => (one.how === undefined ? [] : [` ${named(one)}: ${one.how}.`])),
      ];
      if (isMap(item) && lines.length > 0) item.commentBefore = lines.join("\n");
    }
  return document.toString({ lineWidth: 0 });
}

const named = ({ title, path }: ReportedElement): string => `${path} of ${title}`;
