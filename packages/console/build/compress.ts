import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const TEXT = /\.(?:js|css|html|svg)$/
const BYTES_MIN = 1_024

/** Writes the compressed forms of every text file of a folder once, so that the server never compresses. */
export async function compressFolder(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => TEXT.test(name))
  await Promise.all(names.map((name) => compressFile(join(folder, name))))
}

async function compressFile(file: string): Promise<void> {
  const bytes = readFileSync(file)
  if (bytes.length < BYTES_MIN) return
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    promisify(gzip)(bytes, { level: 9 }),
  ])
  writeFileSync(`${file}.br`, brotli)
  writeFileSync(`${file}.gz`, gzipped)
}
