const HOLDERS = [
  "PropertyDefinition",
  "ExportNamedDeclaration > TSInterfaceDeclaration",
  "ExportNamedDeclaration > TSTypeAliasDeclaration",
];

const TIMERS = "/^(set|clear)(Timeout|Interval|Immediate)$/";

/**
 * The seams of src/ (ARCHITECTURE.md): the expressions and the modules that reach the machine, and the files in which
 * they may stand. A module's `computing` names reach nothing, and neither do its types.
 */
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
    ],
    modules: /^(node:)?(timers|perf_hooks)/,
    files: ["src/lib/time/machine-clock.ts", "src/launch/"],
    message: "Take a Clock (src/lib/time/clock.ts): a test or a simulation moves it.",
  },
  {
    code: ['MemberExpression[object.name="Math"][property.name="random"]', 'MemberExpression[object.name="crypto"]'],
    modules: /^(node:)?crypto$/,
    computing: /^(?!random|getRandom|webcrypto)/,
    files: ["src/lib/random/machine-random.ts", "src/launch/"],
    message: "Take a Random (src/lib/random/random.ts): a test or a simulation gives it a seed.",
  },
  {
    code: ['CallExpression[callee.name="fetch"]'],
    modules: /^(node:)?(net|tls|https?|http2|dgram|dns)(\/|$)/,
    computing: /^(isIP|isIPv4|isIPv6|BlockList)$/,
    files: [
      "src/lib/http/",
      "src/http/server.ts",
      "src/app/cluster/link/connections.ts",
      "src/state/postgres/client.ts",
      "src/cli/client/server-client.ts",
      "src/app/process/start-faults.ts",
    ],
    message: "Only HttpClient, the HTTP server, the links of a cluster and the client of PostgreSQL open sockets.",
  },
  {
    modules: /^undici(\/|$)/,
    files: ["src/lib/http/", "src/store/remote/transport.ts"],
    message: "Take an HttpClient, or the dispatcher of src/lib/http/http-dispatcher.ts.",
  },
  {
    modules: /^aws4$/,
    files: ["src/lib/aws/aws-signature.ts"],
    message: "Requests to AWS are signed in src/lib/aws/aws-signature.ts.",
  },
  {
    modules: /^(libsql|pg)$/,
    files: [
      "src/state/",
      // Only its type: the connections come from src/state/postgres/client.ts.
      "src/feed/outbox/",
      // Files of SQLite that are no state: MBTiles, the lock of a compact store, the tiles of a command.
      "src/source/archive/",
      "src/store/compact/internal/store-lock.ts",
      "src/cli/exchange/staged-tiles.ts",
    ],
    message: "Take a Database (src/state/database.ts).",
  },
  {
    modules: /^(node:)?fs(\/|$)/,
    computing: /^constants$/,
    // A change of this list makes it shorter.
    files: [
      "src/launch/",
      "src/lib/file/",
      "src/lib/process/data-file.ts",
      "src/source/",
      "src/render/renderer/render-mask.ts",
      "src/grid/crs/epsg-definitions.ts",
      "src/configuration/geowebcache/default-files.ts",
      "src/configuration/internal/",
      "src/configuration/keep/",
      "src/migrate/",
      "src/http/console/built-files.ts",
      "src/http/api/server/server-places.ts",
      "src/app/",
      "src/cli/",
    ],
    message: "Take a Disk (src/lib/file/disk.ts), or read a file through another function of src/lib/file/.",
  },
];

/** The names of fields and parameters that have a brand, with the primitive that they must not have. */
const BRANDED_NAMES = [
  { names: /^#?(?:layer|layerName)$/, primitive: "TSStringKeyword", brand: "LayerName" },
  { names: /^#?(?:gridSet|gridSetName|gridSetId)$/, primitive: "TSStringKeyword", brand: "GridSetName" },
  { names: /^#?parametersId$/, primitive: "TSStringKeyword", brand: "ParametersId" },
  { names: /^#?(?:z|zoom|zoomStart|zoomStop)$/, primitive: "TSNumberKeyword", brand: "Zoom" },
  { names: /^x$/, primitive: "TSNumberKeyword", brand: "TileX", beside: /^(?:z|zoom)$/ },
  { names: /^y$/, primitive: "TSNumberKeyword", brand: "TileY", beside: /^(?:z|zoom)$/ },
];
const BRANDS = [
  "LayerName",
  "GridSetName",
  "ParametersId",
  "FormatName",
  "Zoom",
  "TileX",
  "TileY",
  "TileCount",
  "TileIndex",
  "TileRect",
  "PasswordHash",
];

/** Returns whether a type is a primitive, or a union with it. */
const includesPrimitive = (type, primitive) =>
  type.type === primitive ||
  (type.type === "TSUnionType" && type.types.some((member) => includesPrimitive(member, primitive))) ||
  (type.type === "TSParenthesizedType" && includesPrimitive(type.typeAnnotation, primitive));

const nameOf = (node) => node?.name ?? node?.key?.name ?? node?.label?.name ?? node?.left?.name;

/** Returns the names of the parameters of a function, or of the members of a type, among which a node stands. */
const neighbours = ({ parent }) => (parent?.params ?? parent?.members ?? parent?.body ?? []).map?.(nameOf) ?? [];

/** The project's own rules for oxlint. */
export default {
  meta: { name: "nuthatch" },
  rules: {
    // Only the block table keeps blocks. Fields of objects, and values that modules pass to each other, name blocks by
    // address.
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
        const rules = refused.flatMap(({ code = [], message }) =>
          code.map((selector) => [selector, (node) => context.report({ node, message })]),
        );
        const checkImport = (node) => {
          const names = (node.specifiers ?? []).filter(({ importKind }) => importKind !== "type");
          for (const { modules, computing, message } of refused) {
            if (node.importKind === "type" || modules?.test(node.source.value) !== true) continue;
            if (!names.every(({ imported }) => computing?.test(imported?.name))) context.report({ node, message });
          }
        };
        return { ...Object.fromEntries(rules), ImportDeclaration: checkImport };
      },
    },
    // A layer's name or a level is not any string or number: two of them cannot be swapped.
    "branded-names": {
      create(context) {
        const check = (node, name, type) => {
          for (const { names, primitive, brand, beside } of BRANDED_NAMES) {
            if (!names.test(name ?? "") || type === undefined || type === null) continue;
            if (!includesPrimitive(type, primitive)) continue;
            if (beside !== undefined && !neighbours(node).some((other) => beside.test(other ?? ""))) continue;
            context.report({ node, message: `${name} has the type ${brand}, which \`as${brand}\` makes.` });
          }
        };
        const checkMember = (node) => check(node, nameOf(node), node.typeAnnotation?.typeAnnotation);
        return {
          Identifier: checkMember,
          TSPropertySignature: checkMember,
          PropertyDefinition: checkMember,
          TSNamedTupleMember: (node) => check(node, node.label.name, node.elementType),
        };
      },
    },
    // Where nothing is read, nothing makes a name: it comes with the layer, the tile set or the message.
    "names-at-edges": {
      create(context) {
        return {
          "CallExpression[callee.name=/^as(?:LayerName|GridSetName|ParametersId)$/]"(node) {
            const { name } = node.callee;
            context.report({ node, message: `${name} is for code that reads a configuration, a request or a row.` });
          },
        };
      },
    },
    // One function makes each brand, so that a search for its name finds every place where text becomes a name.
    "no-brand-cast": {
      create(context) {
        const brands = BRANDS.join("|");
        return {
          [`TSAsExpression TSTypeReference[typeName.name=/^(?:${brands})$/]`](node) {
            const brand = node.typeName.name;
            context.report({ node, message: `A cast to ${brand} checks nothing: \`as${brand}\` makes one.` });
          },
        };
      },
    },
  },
};
