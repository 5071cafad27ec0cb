const HOLDERS = [
  "PropertyDefinition",
  "ExportNamedDeclaration > TSInterfaceDeclaration",
  "ExportNamedDeclaration > TSTypeAliasDeclaration",
];

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
  },
};
