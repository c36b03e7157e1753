import type { RoomCommand } from '@postroad/contract/commands'
import { invokedAs } from '../options.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table, type Column } from '../text/table.ts'
import { dayMoment, moment } from '../text/time.ts'
import { wordOf } from './lookup.ts'

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The ids in an answer, for pipes. */
export function idsIn(answer: unknown, { items }: RoomCommand): readonly string[] {
  if (!isMembers(answer)) return []
  const list = items === undefined ? undefined : answer[items.member]
  if (Array.isArray(list)) return list.flatMap((item) => idOf(item))
  const ids = Object.values(answer).flatMap((value) => idOf(value))
  return ids.length > 0 ? ids : idOf(answer)
}

const idOf = (value: unknown): readonly string[] =>
  isMembers(value) && typeof value['id'] === 'string' ? [value['id']] : []

/** An answer for people: a table of a list, and fields of everything else. */
export function answerText(answer: unknown, command: RoomCommand, named: readonly string[]): string {
  if (!isMembers(answer)) return String(answer)
  const { items } = command
  const list = items === undefined ? undefined : answer[items.member]
  if (Array.isArray(list)) return listText(list.filter(isMembers), { command, answer })
  if (command.method === 'DELETE' && answer['ok'] === true)
    return [
      `${doneWord(command)} ${named.join(' ')}.`,
      ...effects(command).map(style.dim),
      ...afterDeletion(answer).map(style.dim),
    ].join('\n')
  if (Object.keys(answer).join() === 'ok') return 'Done.'
  return fieldsText(answer, command.showsSecret)
}

/** How to undo a deletion, and the things that it could not remove. */
function afterDeletion({ deletion, left_behind: left }: Members): readonly string[] {
  const undo =
    isMembers(deletion) && typeof deletion['restorable_until'] === 'string'
      ? [
          `You can restore it until ${moment(deletion['restorable_until'])}:`,
          `${invokedAs()} deletions restore ${String(deletion['id'])}`,
        ]
      : []
  return [...undo, ...(typeof left === 'string' ? [left] : [])]
}

/** `Revoke an API key` → `Revoked`. */
function doneWord({ summary }: RoomCommand): string {
  const [verb = ''] = summary.split(' ')
  return verb.endsWith('e') ? `${verb}d` : verb === 'Cancel' ? 'Canceled' : `${verb}ed`
}

/** The other effects of a deletion, from the description of its route. A first sentence that only repeats the verb is left out. */
export function effects({ description }: RoomCommand): readonly string[] {
  const sentences = description.split(/(?<=\.) /).filter((sentence) => !sentence.startsWith('A suspended workspace'))
  return /^(?:Deletes|Removes|Revokes|Cancels|Ends) /.test(description) ? sentences.slice(1) : sentences
}

type ListOf = { readonly command: RoomCommand; readonly answer: Members }

const FREE_TEXT = /^(?:name|title|text|description|url|email|note|reason|datasets|kinds|domains)$/

function listText(rows: readonly Members[], { command, answer }: ListOf): string {
  const { many, room } = wordOf(command.room)
  const cursor = typeof answer['next_cursor'] === 'string' ? answer['next_cursor'] : null
  const lines = searchedText(answer, command)
  if (rows.length === 0 && lines.length > 0) return ['Nothing was found.', ...lines, ...more(cursor)].join('\n')
  if (rows.length === 0) return emptyText(many, room)
  const columns = (command.items?.columns ?? []).map((name, at): Column => {
    const cells = rows.map((row) => cellText(row[name]))
    const isNumber = rows.every((row) => typeof row[name] === 'number')
    return {
      head: headOf(name),
      cells,
      ...(isNumber ? { align: 'right' } : {}),
      // A name can be cut. Half of an id or a time is useless, so its column is whole or left out, the last one first.
      ...(FREE_TEXT.test(name) ? { least: 10 } : {}),
      ...(name === 'id' || name === 'name' || name === 'slug' || at === 0 ? {} : { spare: true }),
    }
  })
  return [table(columns), ...lines, ...more(cursor)].join('\n')
}

/** The line about the progress of a search: `Scanned: 4,096. Read: 3. Reached: …` */
function searchedText(answer: Members, { items }: RoomCommand): readonly string[] {
  const members = Object.entries(answer).filter(
    ([name, value]) => name !== 'next_cursor' && name !== items?.member && value !== null,
  )
  if (members.length === 0) return []
  return [style.dim(members.map(([name, value]) => `${labelOf(name)}: ${valueText(value)}.`).join(' '))]
}

function emptyText(many: string, room: string): string {
  return `There are no ${many} here. See ${invokedAs()} ${room} --help.`
}

/** `created_at` → `Created (UTC)`; a table shows times without their zone. */
function headOf(name: string): string {
  if (name === 'id') return 'Id'
  const text = labelOf(name)
  return name.endsWith('_at') || name === 'at' ? `${text.replace(/ at$/, '')} (UTC)` : text
}

const labelOf = (name: string): string => {
  const text = name
    .replaceAll('_', ' ')
    .replaceAll(/\bip\b/g, 'IP')
    .replaceAll(/\burl\b/g, 'URL')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return TIME.test(value) ? dayMoment(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.map(cellText).join(', ') : JSON.stringify(value)
}

/**
 * One line for each member. An object around everything is left out: `{"rule": {…}}` shows the members of the rule.
 * With several objects, each line names its object: `User id`, `Workspace id`.
 */
function fieldsText(answer: Members, showsSecret: boolean): string {
  const members = Object.entries(answer)
  const isSecret = ([, value]: readonly [string, unknown]): boolean => showsSecret && typeof value === 'string'
  const secrets = members.filter(isSecret).map(rowOf)
  const others = members.filter((member) => !isSecret(member))
  const isOnly = others.filter(([, value]) => isMembers(value)).length === 1
  const rows = others
    .flatMap(([name, value]) =>
      isOnly && isMembers(value) ? Object.entries(value).flatMap(linesOf) : linesOf([name, value]),
    )
    .map(rowOf)
  return [
    ...(secrets.length === 0 ? [] : [`${style.dim('Shown only once:')}\n${fields(secrets)}`]),
    ...(rows.length === 0 ? [] : [fields(rows)]),
  ].join('\n\n')
}

/** Members with content that others wrote, so the names in them are shown as they are. */
const NOT_OURS = /^(?:body|context|data|details|headers|input|output|payload|template|variables)$/

/** The members of a setting are lines too: `totals` with `records` is `totals_records`. */
function linesOf([name, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (!isMembers(value) || NOT_OURS.test(name)) return [[name, value]]
  const members = Object.entries(value)
  if (members.length === 0 || members.some(([member]) => !/^[a-z][a-z\d_]*$/.test(member))) return [[name, value]]
  return members.flatMap(([member, inner]) =>
    linesOf([member, inner]).map(([inside, one]) => [`${name}_${inside}`, one] as const),
  )
}

const rowOf = ([name, value]: readonly [string, unknown]): readonly [string, string] => [
  labelOf(name),
  isAbsent(value) ? (ABSENT[name] ?? 'none') : name === 'headers' ? headersText(value) : valueText(value),
]

/** A line for each header, as in a request. */
function headersText(headers: unknown): string {
  if (!isMembers(headers)) return valueText(headers)
  return Object.entries(headers)
    .map(([name, value]) =>
      plain(value === null ? name : `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    )
    .join('\n')
}

/** The meaning of null or an empty list, where it is not "none". */
const ABSENT: Readonly<Record<string, string>> = {
  datasets: 'all',
  ip_allowlist: 'every address',
  expires_at: 'never',
  last_used_at: 'never',
  retention_days: 'that of the plan',
}

const isAbsent = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'string') return plain(TIME.test(value) ? `${dayMoment(value)} UTC` : value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return String(value)
  if (!Array.isArray(value)) return plain(JSON.stringify(value))
  if (value.length === 0) return 'none'
  const isFlat = value.every((item) => typeof item !== 'object' || item === null)
  return value.map((item) => (isFlat ? valueText(item) : plain(JSON.stringify(item)))).join(isFlat ? ', ' : '\n')
}
