/** The facts about the tables of a room. It is data alone, because every process loads it (docs/adr/0410). */
export type About = { readonly tables: Readonly<Record<string, Table>> }

export type Table = (
  | { readonly owner: 'installation' }
  | {
      /** The file of an export that contains its rows. */
      readonly exported: string
    }
  | {
      /** The reason why no file of an export contains its rows, for the manifest. */
      readonly leftOut: string
    }
) & {
  /** The owner of a row whose table has sealed columns. Without it, the owner is a project. */
  readonly owner?: 'workspace' | 'installation'
  /** The kind of its rows, which no configuration contains, and which of them it lists by name. */
  readonly unconfigured?: { readonly kind: string; readonly where?: string }
  /** The column with the id in the places of sealed values, if it is not `id`. */
  readonly id?: string
  /** Columns with sealed values. A column that is not listed cannot be sealed. They are resealed when the key changes. */
  readonly sealed?: readonly string[]
}
