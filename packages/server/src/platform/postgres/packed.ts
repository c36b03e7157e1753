/** A cluster as one compressed file: the data folder of a PostgreSQL that was stopped cleanly. */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createZstdDecompress, zstdCompressSync } from 'node:zlib'

/** Folders come before their content. `bytes`: null for a folder. */
type Entry = { readonly path: string; readonly bytes: number | null }

const HEAD_BYTES = 4
const CHUNK_BYTES = 65_536

/** Packs a data folder. The modes and owners of its files are not stored, because PostgreSQL prescribes them. */
export function packCluster(folder: string): Buffer {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name !== 'postmaster.opts')
    .map((entry) => ({ path: join(entry.parentPath, entry.name).slice(folder.length + 1), isFile: entry.isFile() }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const contents = found.map(({ path, isFile }) => (isFile ? readFileSync(join(folder, path)) : null))
  const entries: Entry[] = found.map(({ path }, index) => ({ path, bytes: contents[index]?.length ?? null }))
  const list = Buffer.from(JSON.stringify(entries))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(list.length)
  return zstdCompressSync(Buffer.concat([head, list, ...contents.filter((content) => content !== null)]))
}

/** Writes the packed cluster into an empty folder, piece by piece and without forcing anything to disk. */
export async function unpackCluster(packed: Buffer, folder: string): Promise<void> {
  const stream = createZstdDecompress({ chunkSize: CHUNK_BYTES })
  stream.end(packed)
  const reader = readerOf(stream)
  const head = await reader.exactly(HEAD_BYTES)
  const list = await reader.exactly(head.readUInt32BE())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `packCluster` wrote it
  const entries = JSON.parse(list.toString()) as readonly Entry[]
  for (const { path, bytes } of entries) {
    if (bytes === null) mkdirSync(join(folder, path), { mode: 0o700 })
    // oxlint-disable-next-line no-await-in-loop -- one file after another
    else await writeFile(reader, { file: join(folder, path), bytes })
  }
}

async function writeFile(reader: Reader, { file, bytes }: { file: string; bytes: number }): Promise<void> {
  const handle = openSync(file, 'wx', 0o600)
  try {
    for (let left = bytes; left > 0;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after another
      const piece = await reader.some(left)
      writeFileSync(handle, piece)
      left -= piece.length
    }
  } finally {
    closeSync(handle)
  }
}

type Reader = {
  /** The next bytes, exactly so many. */
  exactly(bytes: number): Promise<Buffer>
  /** The next bytes, at least one. It copies nothing. */
  some(bytesMax: number): Promise<Buffer>
}

function readerOf(stream: AsyncIterable<Buffer>): Reader {
  const chunks = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const some = async (bytesMax: number): Promise<Buffer> => {
    if (held.length === 0) {
      const { done, value } = await chunks.next()
      if (done === true) throw new Error('The packed cluster is incomplete.')
      held = value
    }
    const piece = held.subarray(0, bytesMax)
    held = held.subarray(bytesMax)
    return piece
  }
  const exactly = async (bytes: number): Promise<Buffer> => {
    const pieces: Buffer[] = []
    for (let left = bytes; left > 0; left -= pieces.at(-1)?.length ?? 0)
      // oxlint-disable-next-line no-await-in-loop -- one piece after another
      pieces.push(await some(left))
    return Buffer.concat(pieces)
  }
  return { exactly, some }
}
