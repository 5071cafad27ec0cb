const HOLDERS = [
  "PropertyDefinition",
  "ExportNamedDeclaration > TSInterfaceDeclaration",
  "ExportNamedDeclaration > TSTypeAliasDeclaration",
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
