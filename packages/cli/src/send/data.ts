import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'

/** What `-d` names, as bytes: the text itself, `@file`, or `-` for stdin. */
export async function readData(given: string): Promise<Buffer> {
  if (given === '-') return buffer(io().stdin)
  if (!given.startsWith('@')) return Buffer.from(given)
  try {
    return await readFile(given.slice(1))
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? 'There is no such file'
        : 'It cannot be read'
    throw new Failure(`${why}: ${given.slice(1)}`, EXIT.usage)
  }
}
