import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { Failure } from '../failure.ts'
import { io } from '../io.ts'
import { withExample, withWorkspace, type CommonOptions, type ConnectionOptions } from '../options.ts'
import { print } from '../output.ts'
import { mayBecome } from '../output-file.ts'
import { fields } from '../text/table.ts'

type DataExport = RouteAnswer<Routes['dataExport']['get']>['data_export']
type Options = CommonOptions & { readonly id?: string; readonly output?: string }

const ASK_MS = 1_000
/** The number of times that one run tries to download the file. */
const TRIES_MAX = 5

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .summary('export the whole workspace as a zip')
    .description(
      'Requests an export, waits until it is written, and downloads it. For admins.\nTo resume a download that broke off, run the command again with --id.',
    )
    .option('--id <export>', 'download this export (exp_…) instead of requesting a new one')
    .option('-o, --output <file>', 'the file to write (without it, the id with .zip)')
    .action(exportWorkspace)
  withExample(withWorkspace(command), 'export', 'export --output backup.zip --json')
}

async function exportWorkspace({ id: asked, output, ...options }: Options): Promise<void> {
  // Check the file before an export is requested, because an export takes time and counts toward a limit.
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

const withoutProject = ({ url, profile }: ConnectionOptions): ConnectionOptions => ({
  ...(url === undefined ? {} : { url }),
  ...(profile === undefined ? {} : { profile }),
})

/** Waits until the export is written, and shows its progress on a terminal. */
async function written(client: Client, id: string): Promise<DataExport> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- polls the state
    const { data_export: one } = await client.dataExport.get({ id })
    if (one.state === 'ready') return one
    if (one.state === 'failed') throw new Failure(one.error ?? 'The export failed. Create a new one.')
    if (one.state === 'expired')
      throw new Failure('This export has expired, and its file was deleted. Create a new one.')
    const { rows_done, rows_total, files_done, files_total } = one.progress
    showProgress(
      rows_total === null || rows_total === 0
        ? 'Counting …'
        : `Writing … ${rows_done} of ${rows_total} rows, ${files_done} of ${files_total} files`,
    )
    // oxlint-disable-next-line no-await-in-loop -- polls the state
    await pause(ASK_MS)
  }
}

/** Stores the downloaded part next to the file, under the id of the export, so that another run can resume it. */
async function download(client: Client, { ready, file }: { ready: DataExport; file: string }): Promise<void> {
  const part = `${file}.${ready.id}.part`
  const bytes = ready.file?.bytes ?? 0
  for (let tries = 1; (await sizeOf(part)) < bytes; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await fetchRest(client, { ready, part })
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await pause(ASK_MS)
    }
  }
  showProgress('')
  if ((await sha256Of(part)) !== ready.file?.sha256) {
    await rm(part)
    throw new Failure('The downloaded file differs from the file on the server, so it was deleted. Download it again.')
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
      showProgress(`Downloading … ${done} of ${ready.file?.bytes ?? 0} bytes`)
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
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer) // oxlint-disable-line typescript/no-unsafe-type-assertion -- without an encoding a stream yields bytes
  return hash.digest('hex')
}

/** Overwrites one line on the terminal. */
function showProgress(text: string): void {
  const { stderr } = io()
  if (stderr.isTTY === true) stderr.write(`\r\u001b[2K${text}`)
}
