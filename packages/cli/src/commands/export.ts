import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { access, constants, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect, type ConnectionOptions } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { withExample, withWorkspace, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { fields } from '../text/table.ts'

type DataExport = RouteAnswer<Routes['dataExport']['get']>['data_export']
type Options = CommonOptions & { readonly id?: string; readonly output?: string }

const ASK_MS = 1_000
/** A download that breaks off is gone on with so often in one run. */
const TRIES_MAX = 5

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .summary('export everything of the workspace as a zip')
    .description(
      'Asks for an export, waits until it is written, and downloads it. For admins.\nA download that broke off is gone on with when it is called again with --id.',
    )
    .option('--id <export>', 'download this one (exp_…) instead of asking for another')
    .option('-o, --output <file>', 'where to write it (without it, the id with .zip)')
    .action(exportWorkspace)
  withExample(withWorkspace(command), 'export', 'export --output backup.zip --json')
}

async function exportWorkspace({ id: asked, output, ...options }: Options): Promise<void> {
  // Before an export is asked for, which takes its time and counts.
  if (output !== undefined) await mayBecome(resolve(output))
  const { client } = await connect(withoutProject(options))
  const id = asked ?? (await client.dataExport.create()).data_export.id
  const file = resolve(output ?? `${id}.zip`)
  if (output === undefined) await mayBecome(file)
  const ready = await written(client, id)
  await download(client, { ready, file })
  const json = { data_export: ready, file }
  print(
    {
      json,
      ids: [id],
      text: () =>
        fields([
          ['Export', id],
          ['Rows', String(ready.progress.rows_done)],
          ['Bytes', String(ready.file?.bytes ?? 0)],
          ['File', file],
        ]),
    },
    options,
  )
}

/** Refuses a file that is there already, or that could not be written. */
async function mayBecome(file: string): Promise<void> {
  if (existsSync(file)) throw new Failure(`${file} is there already. Name another file with --output.`)
  const folder = dirname(file)
  const there = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!there)
    throw new Failure(`There is no folder ${folder}. Make it, or name another file with --output.`, EXIT.usage)
  await access(folder, constants.W_OK).catch(() => {
    throw new Failure(`${folder} may not be written to by this user. Name another file with --output.`, EXIT.usage)
  })
}

const withoutProject = ({ url }: ConnectionOptions): ConnectionOptions => (url === undefined ? {} : { url })

/** Waits, and says on a terminal how far it is. */
async function written(client: Client, id: string): Promise<DataExport> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asked again after a while
    const { data_export: one } = await client.dataExport.get({ id })
    if (one.state === 'ready') return one
    if (one.state === 'failed') throw new Failure(one.error ?? 'The export failed. Ask for a new one.')
    if (one.state === 'expired') throw new Failure('This export has expired and its file is gone. Ask for a new one.')
    const { rows_done, rows_total, files_done, files_total } = one.progress
    tell(
      rows_total === null || rows_total === 0
        ? 'Counting …'
        : `Writing … ${rows_done} of ${rows_total} rows, ${files_done} of ${files_total} files`,
    )
    // oxlint-disable-next-line no-await-in-loop -- likewise
    await pause(ASK_MS)
  }
}

/** What came is kept beside under the id of the export, so that another run goes on with it. */
async function download(client: Client, { ready, file }: { ready: DataExport; file: string }): Promise<void> {
  const part = `${file}.${ready.id}.part`
  const bytes = ready.file?.bytes ?? 0
  for (let tries = 1; (await sizeOf(part)) < bytes; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one try after the other
      await fetchRest(client, { ready, part })
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      // oxlint-disable-next-line no-await-in-loop -- likewise
      await pause(ASK_MS)
    }
  }
  tell('')
  if ((await sha256Of(part)) !== ready.file?.sha256) {
    await rm(part)
    throw new Failure('What was downloaded is not the file that the server has. It was removed; download it again.')
  }
  await rename(part, file)
}

async function fetchRest(client: Client, { ready, part }: { ready: DataExport; part: string }): Promise<void> {
  const from = await sizeOf(part)
  const etag = ready.file?.etag ?? ''
  const pieces = await client.dataExport.download({ id: ready.id }, from === 0 ? {} : { rest: { from, etag } })
  const handle = await open(part, 'a')
  try {
    let done = from
    for await (const piece of pieces) {
      await handle.appendFile(piece)
      done += piece.length
      tell(`Downloading … ${done} of ${ready.file?.bytes ?? 0} bytes`)
    }
  } finally {
    await handle.close()
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer) // oxlint-disable-line typescript/no-unsafe-type-assertion -- without an encoding a stream gives bytes
  return hash.digest('hex')
}

/** One line that is written over, for people who watch. */
function tell(text: string): void {
  const { stderr } = io()
  if (stderr.isTTY === true) stderr.write(`\r\u001b[2K${text}`)
}
