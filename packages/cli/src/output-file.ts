import { existsSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EXIT, Failure } from './failure.ts'

/** Refuses a file that already exists or cannot be written. */
export async function mayBecome(file: string): Promise<void> {
  if (existsSync(file)) throw new Failure(`${file} already exists. Name another file with --output.`)
  const folder = dirname(file)
  const there = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!there)
    throw new Failure(`The folder ${folder} does not exist. Create it, or name another file with --output.`, EXIT.usage)
  await access(folder, constants.W_OK).catch(() => {
    throw new Failure(`You do not have permission to write to ${folder}. Name another file with --output.`, EXIT.usage)
  })
}
