import { InvalidArgumentError, type Command } from 'commander'
import type { ConnectionOptions } from './connection.ts'
import { io } from './io.ts'
import type { OutputOptions } from './output.ts'

/** What every command that speaks with a server takes. */
export type CommonOptions = ConnectionOptions & OutputOptions

/** What every list takes. */
export type ListOptions = CommonOptions & { readonly limit: number; readonly cursor?: string }

const LIMIT = 20
const LIMIT_MAX = 200

/** For what is about one project. */
export function withCommon(command: Command): Command {
  return withOutput(command)
    .option('--project <project>', 'slug or id of a project (without it, Default)')
    .option('--url <url>', URL_HELP)
}

/** For what is about the whole workspace. */
export function withWorkspace(command: Command): Command {
  return withUrl(withOutput(command))
}

export function withUrl(command: Command): Command {
  return command.option('--url <url>', URL_HELP)
}

const URL_HELP = 'address of the server (default: POSTROAD_URL)'

function withOutput(command: Command): Command {
  return command.option('--json', 'print the answer of the API as it is').option('-q, --quiet', 'print ids only')
}

export function withList(command: Command): Command {
  return withCommon(withPages(command))
}

export function withPages(command: Command): Command {
  return command
    .option('-n, --limit <count>', `how many at most, 1 to ${LIMIT_MAX}`, wholeNumber, LIMIT)
    .option('--cursor <cursor>', 'go on after an earlier page, by its next_cursor')
}

/** An example under the help of a command, written as this command line was called. */
export function withExample(command: Command, ...examples: readonly string[]): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples'
  return command.addHelpText(
    'after',
    `\n${title}:${examples.map((example) => `\n  ${invokedAs()} ${example}`).join('')}`,
  )
}

/** `npm run postroad --` when npm runs us, so that what we suggest can be pasted. */
export function invokedAs(): string {
  const script = io().env['npm_lifecycle_event']
  return script === 'postroad' || script === 'start' ? 'npm run postroad --' : 'postroad'
}

/** For a repeatable option. */
export function collected(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || number > LIMIT_MAX)
    throw new InvalidArgumentError(`It is a number from 1 to ${LIMIT_MAX}.`)
  return number
}

const AGO: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time as the API takes it: `6h` is six hours ago. */
export function timeOf(text: string): string {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const at = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (AGO[unit] ?? 0)
  if (Number.isNaN(at))
    throw new InvalidArgumentError('It is a time such as 2026-01-31T12:00:00Z, or 30m, 6h, 2d for so long ago.')
  return new Date(at).toISOString()
}
