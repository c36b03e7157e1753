import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'

/** The bytes that `-d` names: the text itself, `@file`, or `-` for stdin. */
export async function readData(given: string): Promise<Buffer> {
  if (given === '-') return buffer(io().stdin)
  if (!given.startsWith('@')) return Buffer.from(given)
  try {
    return await readFile(given.slice(1))
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? 'This file does not exist'
        : 'This file cannot be read'
    throw new Failure(`${why}: ${given.slice(1)}`, EXIT.usage)
  }
}

/** The object that `-d` names; empty without it. */
export async function readMembers(given: string | undefined): Promise<object> {
  if (given === undefined) return {}
  try {
    const value: unknown = JSON.parse((await readData(given)).toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    if (error instanceof Failure) throw error
  }
  throw new Failure(`--data must be a JSON object, such as '{"enabled":false}'.`, EXIT.usage)
}
