const HOLDERS = [
  "PropertyDefinition",
  "ExportNamedDeclaration > TSInterfaceDeclaration",
  "ExportNamedDeclaration > TSTypeAliasDeclaration",
];

const TIMERS = "/^(set|clear)(Timeout|Interval|Immediate)$/";

/** The seams of src/ (ARCHITECTURE.md): the code that reaches the machine, and the files in which it may stand. */
const SEAMS = [
  {
    code: [
      `CallExpression[callee.name=${TIMERS}]`,
      `CallExpression > Identifier.arguments[name=${TIMERS}]`,
      `NewExpression > Identifier.arguments[name=${TIMERS}]`,
      'MemberExpression[object.name="Date"][property.name="now"]',
      'NewExpression[callee.name="Date"][arguments.length=0]',
      'MemberExpression[object.name="performance"]',
      'MemberExpression[object.name="process"][property.name="hrtime"]',
      'MemberExpression[object.name="AbortSignal"][property.name="timeout"]',
      "ImportDeclaration[source.value=/^(node:)?(timers|perf_hooks)/]",
    ],
    files: ["src/lib/time/machine-clock.ts", "src/launch/"],
    message: "Take a Clock (src/lib/time/clock.ts): a test or a simulation moves it.",
  },
  {
    code: [
      'MemberExpression[object.name="Math"][property.name="random"]',
      "ImportDeclaration[source.value=/^(node:)?crypto$/] ImportSpecifier[imported.name=/^(random|getRandom|webcrypto)/]",
      'MemberExpression[object.name="crypto"]',
    ],
    files: ["src/lib/random/machine-random.ts", "src/launch/"],
    message: "Take a Random (src/lib/random/random.ts): a test or a simulation gives it a seed.",
  },
];

/** The project's own rules for oxlint. */
export default {
  meta: { name: "nuthatch" },
  rules: {
    // The block table alone keeps blocks: an object's fields, and what modules hand each other, name them by address.
    "no-kept-block": {
      create(context) {
        const selector = HOLDERS.map((holder) => `${holder} TSTypeReference[typeName.name="Block"]`).join(", ");
        return {
          [selector](node) {
            context.report({
              node,
              message:
                "The block table may let a block go at any await: keep its BlockAddress and ask the table again.",
            });
          },
        };
      },
    },
    seams: {
      create(context) {
        const path = context.filename.slice(context.cwd.length + 1);
        const refused = SEAMS.filter(({ files }) => !files.some((file) => path.startsWith(file)));
        return Object.fromEntries(
          refused.map(({ code, message }) => [code.join(", "), (node) => context.report({ node, message })]),
        );
      },
    },
  },
};
