import type { ByteWriter } from 'hyparquet-writer'

/** `timestamp` takes dates and stores milliseconds; `int64` takes bigints. Every column may be null. */
export type ParquetType = 'string' | 'int64' | 'double' | 'boolean' | 'timestamp'
export type ParquetColumn = { readonly name: string; readonly type: ParquetType }
type Cell = string | number | bigint | boolean | Date | null

const TYPES = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const

/**
 * A Parquet file in chunks. Each group has the cells of its rows, column by column, and becomes one row group, so only
 * one group is in memory. The library is loaded at the first use.
 */
export async function* parquetFile(
  columns: readonly ParquetColumn[],
  groups: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncIterable<Uint8Array> {
  const library = await import('hyparquet-writer')
  const bytes = new library.ByteWriter()
  const file = new library.ParquetWriter({
    writer: bytes,
    createdBy: 'Postroad',
    schema: [
      { name: 'record', num_children: columns.length },
      ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...TYPES[type] })),
    ],
  })
  for await (const cells of groups) {
    await file.write({
      columnData: columns.map(({ name }, index) => ({ name, data: [...(cells[index] ?? [])] })),
      rowGroupSize: cells[0]?.length ?? 1,
    })
    yield taken(bytes)
  }
  await file.finish()
  yield taken(bytes)
}

/** The bytes since the last call. The offsets of the writer continue. */
function taken(bytes: ByteWriter): Uint8Array {
  const chunk = bytes.getBytes().slice()
  bytes.index = 0
  return chunk
}
