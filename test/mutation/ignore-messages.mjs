import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

// Texts for people are no promise word by word. Two rules for Stryker, which name the texts that it does not mutate:
// `log-messages` and `error-messages`. Each process of Stryker loads this file, without tsx.

const isText = ({ type }) => type === "StringLiteral" || type === "TemplateLiteral";

/** What a text may be a part of and is still the same message. */
const PARTS = new Set(["ConditionalExpression", "BinaryExpression", "LogicalExpression", "TemplateLiteral"]);

/** The names of the functions and classes that take the text at `path`, and of the property that has it. */
function takers(path) {
  let at = path;
  while (PARTS.has(at.parent?.type)) at = at.parentPath;
  const { parent } = at;
  switch (parent?.type) {
    case "ObjectProperty":
      return { property: parent.key.name };
    case "NewExpression":
      return { created: parent.callee.name };
    case "CallExpression": {
      const { callee } = parent;
      if (callee.type !== "MemberExpression") return { called: callee.name };
      const { object } = callee;
      return { called: callee.property.name, on: object.name ?? object.property?.name ?? object.property?.id?.name };
    }
    default:
      return {};
  }
}

const isLog = ({ called, on }) => /^(?:debug|info|warn|error)$/.test(called ?? "") && /^log$/i.test(on ?? "");

const isError = ({ created = "", called = "", property = "" }) =>
  /(?:Error|Aborted|Fault)$/.test(created) ||
  /^(?:refuse|badField|wrong|invariant|unreachable)$/.test(called) ||
  /^(?:message|reason|expected|description|help)$/.test(property);

const rule = (name, applies) =>
  declareValuePlugin(PluginKind.Ignore, name, {
    shouldIgnore: (path) => (isText(path.node) && applies(takers(path)) ? "a text for people" : undefined),
  });

export const strykerPlugins = [rule("log-messages", isLog), rule("error-messages", isError)];
