import { once } from 'node:events'
import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { Failure } from '../failure.ts'
import { io } from '../io.ts'
import {
  invokedAs,
  timeOf,
  withExample,
  withPages,
  withUrl,
  withWorkspace,
  type CommonOptions,
  type ConnectionOptions,
  type ListOptions,
} from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { dayMoment, moment } from '../text/time.ts'

type Filters = RouteRequest<Routes['audit']['exportCsv']>
type Listed = RouteAnswer<Routes['audit']['list']>
type Verified = RouteAnswer<Routes['audit']['verify']>

export function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .summary('list, export and verify the audit log')
    .description('Every change in the workspace, with its actor, time and IP address. For admins.')
  const list = audit
    .command('list')
    .summary('list the changes')
    .description('Lists the changes, newest first.')
    .action(listRows)
  withExample(
    withWorkspace(withPages(withFilters(list))),
    'audit list --action create_api_key',
    'audit list --from 2026-01-01T00:00:00Z',
  )

  const verify = audit
    .command('verify')
    .summary('check that nobody changed or removed a row')
    .description(
      'Reads the whole log and checks that each row continues the previous one.\nThe exit code is 1 when one does not.',
    )
    .option('--hash <hash>', 'a hash that you recorded earlier; a row must have it')
    .action(verifyLog)
  withExample(withWorkspace(verify), 'audit verify')

  const csv = audit
    .command('export')
    .summary('write the log as CSV')
    .description('Writes every row that matches the filters, newest first, as CSV.')
    .option('--json', 'write one JSON object per line instead, as the API lists them')
    .action(exportLog)
  withExample(withUrl(withFilters(csv)), 'audit export > audit.csv')
}

function withFilters(command: Command): Command {
  return command
    .option('--actor <member>', 'only changes by this member (usr_…), or by system')
    .option('--agent <agent>', 'only changes through this agent (api_key:key_…)')
    .option('--action <action>', 'only this action, such as create_api_key')
    .option('--target <id>', 'only changes to the resource with this id')
    .option('--from <time>', 'only since this time: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--to <time>', 'only before this time', timeOf)
}

const filtersOf = ({ actor, agent, action, target, from, to }: Filters): Filters => ({
  actor,
  agent,
  action,
  target,
  from,
  to,
})

async function listRows({ limit, cursor, ...options }: ListOptions & Filters): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.audit.list({ ...filtersOf(options), limit, cursor })
  print({ json: answer, ids: answer.audit.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ audit, next_cursor }: Listed): string {
  if (audit.length === 0) return 'No changes match the filters.'
  const rows = table([
    { head: 'When (UTC)', cells: audit.map(({ at }) => dayMoment(at)), paint: style.dim },
    { head: 'Action', cells: audit.map(({ action }) => action) },
    { head: 'Target', cells: audit.map(({ target }) => target ?? ''), least: 12 },
    { head: 'Actor', cells: audit.map(({ actor }) => actor), least: 8 },
    { head: 'From', cells: audit.map(({ ip }) => ip ?? ''), spare: true },
    { head: 'Through', cells: audit.map(({ agent }) => agent ?? ''), spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

async function verifyLog({ hash, ...options }: CommonOptions & { readonly hash?: string }): Promise<void> {
  const { client } = await connect(options)
  let answer = await client.audit.verify({ hash })
  // A long log takes several requests.
  for (let cursor = answer.next_cursor; cursor !== null; cursor = answer.next_cursor)
    answer = await client.audit.verify({ hash, cursor })
  print({ json: answer, ids: idsOf(answer), text: () => verifiedText(answer) }, options)
  if (answer.problem !== null) throw new Failure(`${answer.problem.id ?? 'The audit log'}: ${answer.problem.text}`)
}

const idsOf = ({ problem }: Verified): readonly string[] =>
  problem === null || problem.id === null ? [] : [problem.id]

function verifiedText({ ok, count, removed, oldest, newest }: Verified): string {
  const place = (row: Verified['oldest']): string => (row === null ? 'none' : `${row.id}  ${style.dim(moment(row.at))}`)
  return fields([
    ['Audit log', ok ? style.strong('every row is intact') : style.strong('a row does not match')],
    ['Read', `${count} rows${removed === 0 ? '' : `; ${removed} older ones have expired`}`],
    ['Oldest', place(oldest)],
    [ok ? 'Newest' : 'Last intact', place(newest)],
    ...(newest === null ? [] : [['Its hash', newest.hash] as const]),
    ...(ok ? [] : [['Next', `${invokedAs()} audit list`] as const]),
  ])
}

async function exportLog({ json, ...options }: ConnectionOptions & Filters & { readonly json?: true }): Promise<void> {
  const { client } = await connect(options)
  const filters = filtersOf(options)
  if (json === true)
    for await (const row of client.audit.list({ ...filters, limit: 200 })) await write(`${JSON.stringify(row)}\n`)
  else for await (const piece of await client.audit.exportCsv(filters)) await write(piece)
}

/** Writes no faster than the reader reads. */
async function write(text: string): Promise<void> {
  const { stdout } = io()
  if (!stdout.write(text)) await once(stdout, 'drain')
}
