import { deserialize, serialize } from 'node:v8'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

/** `timestamp` takes dates and stores milliseconds; `int64` takes bigints. Every column may be null. */
export type ParquetType = 'string' | 'int64' | 'double' | 'boolean' | 'timestamp'
export type ParquetColumn = { readonly name: string; readonly type: ParquetType }
export type ParquetCell = string | number | bigint | boolean | Date | null

const TYPES = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const

/** A part of a file: its bytes, the length of the file so far, and what the footer says about it. */
export type ParquetPart = { readonly bytes: Uint8Array; readonly offset: number; readonly about: Uint8Array }

/** The part of the writer that its types leave out: `pendingIndexes` and `row_groups` become the footer. */
type About = Pick<ParquetWriter, 'pendingIndexes' | 'row_groups' | 'num_rows'>

/** A file starts with four bytes that name its format. */
const HEADER_BYTES = 4

/**
 * One row group, for a file that has `offset` bytes; 0: the file starts with it. The cells are column by column. Groups of one file can
 * be written by different threads, because a group depends only on its place.
 */
export async function parquetGroup(
  columns: readonly ParquetColumn[],
  cells: readonly (readonly ParquetCell[])[],
  offset: number,
): Promise<ParquetPart> {
  const { file, bytes } = fileAt(columns, offset)
  await file.write({
    columnData: columns.map(({ name }, index) => ({ name, data: [...(cells[index] ?? [])] })),
    rowGroupSize: cells[0]?.length ?? 1,
  })
  const { pendingIndexes, row_groups, num_rows } = file
  return { ...written(bytes), about: serialize({ pendingIndexes, row_groups, num_rows } satisfies About) }
}

/** The end of a file with these groups. A file without groups is only this. */
export async function parquetFooter(
  columns: readonly ParquetColumn[],
  groups: readonly Uint8Array[],
  offset: number,
): Promise<Uint8Array> {
  const { file, bytes } = fileAt(columns, offset)
  for (const group of groups) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `parquetGroup`
    const { pendingIndexes, row_groups, num_rows } = deserialize(group) as About
    file.pendingIndexes.push(...pendingIndexes)
    file.row_groups.push(...row_groups)
    file.num_rows += num_rows
  }
  await file.finish()
  return written(bytes).bytes
}

function fileAt(columns: readonly ParquetColumn[], offset: number) {
  const bytes = new ByteWriter()
  const file = new ParquetWriter({
    writer: bytes,
    createdBy: 'Postroad',
    schema: [
      { name: 'record', num_children: columns.length },
      ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...TYPES[type] })),
    ],
  })
  if (offset > 0) {
    bytes.index -= HEADER_BYTES
    bytes.offset = offset
  }
  return { file, bytes }
}

const written = (bytes: ByteWriter) => ({ bytes: bytes.getBytes().slice(), offset: bytes.offset })
