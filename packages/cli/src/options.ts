import { InvalidArgumentError, type Command } from 'commander'
import { io } from './io.ts'
import type { OutputOptions } from './output.ts'

export type ConnectionOptions = { readonly url?: string; readonly project?: string; readonly profile?: string }

/** The options of every command that calls a server. */
export type CommonOptions = ConnectionOptions & OutputOptions

/** The options of every list. */
export type ListOptions = CommonOptions & { readonly limit: number; readonly cursor?: string }

const LIMIT = 20
const LIMIT_MAX = 200

/** For commands about one project. */
export function withCommon(command: Command): Command {
  return withProject(withOutput(command))
}

/** The server and the project. */
export function withProject(command: Command): Command {
  return command
    .option('--project <project>', 'slug or id of a project (without it, that of project use)')
    .option('--url <url>', URL_HELP)
    .option('--profile <profile>', PROFILE_HELP)
}

/** For commands about the whole workspace. */
export function withWorkspace(command: Command): Command {
  return withUrl(withOutput(command))
}

export function withUrl(command: Command): Command {
  return command.option('--url <url>', URL_HELP).option('--profile <profile>', PROFILE_HELP)
}

const URL_HELP = 'address of the server (default: POSTROAD_URL)'
const PROFILE_HELP = 'server and sign-in of this profile (see login)'

function withOutput(command: Command): Command {
  return command.option('--json', 'print the response of the API as JSON').option('-q, --quiet', 'print ids only')
}

export function withList(command: Command): Command {
  return withCommon(withPages(command))
}

export function withPages(command: Command): Command {
  return command
    .option('-n, --limit <count>', `maximum number of items, 1 to ${LIMIT_MAX}`, numberIn(1, LIMIT_MAX), LIMIT)
    .option('--cursor <cursor>', 'next_cursor of the previous page')
}

/** Adds examples to the help of a command, written in the way in which the command line was called. */
export function withExample(command: Command, ...examples: readonly string[]): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples'
  return command.addHelpText(
    'after',
    `\n${title}:${examples.map((example) => `\n  ${invokedAs()} ${example}`).join('')}`,
  )
}

/** `npx postroad` when npm runs the command, so that its hints can be pasted. */
export function invokedAs(): string {
  return ['npx', 'postroad', 'start'].includes(io().env['npm_lifecycle_event'] ?? '') ? 'npx postroad' : 'postroad'
}

/** Collects the values of a repeatable option. */
export function collected(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** Parses a whole number within bounds. */
export function numberIn(...[least, most]: [least: number, most: number]): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`The value must be a whole number from ${least} to ${most}.`)
    return number
  }
}

const AGO: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time in the form that the API takes: `6h` is six hours ago. */
export function timeOf(text: string): string {
  return timeAt(text, { sign: -1, where: 'before now' })
}

/** The same for a time in the future: `30d` is in thirty days. */
export function timeAhead(text: string): string {
  return timeAt(text, { sign: 1, where: 'from now' })
}

function timeAt(text: string, { sign, where }: { readonly sign: 1 | -1; readonly where: string }): string {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const at = count === undefined ? Date.parse(text) : Date.now() + sign * Number(count) * (AGO[unit] ?? 0)
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      `The value must be a time such as 2026-01-31T12:00:00Z, or a span ${where} such as 30m, 6h or 2d.`,
    )
  return new Date(at).toISOString()
}
