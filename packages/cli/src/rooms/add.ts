import { COMMANDS_BY_OTHERS } from '@postroad/contract/command-words'
import type { CommandArgument, CommandFlag, RoomCommand } from '@postroad/contract/commands'
import type { Client } from '@postroad/sdk'
import { Option, type Command } from 'commander'
import { confirmDeletion, withYes, type ConfirmOptions } from '../commands/confirm.ts'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import {
  collected,
  numberIn,
  timeAhead,
  timeOf,
  withCommon,
  withExample,
  withPages,
  withWorkspace,
  type CommonOptions,
} from '../options.ts'
import { print } from '../output.ts'
import { readData, readMembers } from '../send/data.ts'
import { idNamed, wordOf } from './lookup.ts'
import { roomTable } from './table.ts'
import { answerText, effects, idsIn } from './text.ts'

/** Members that would hide an option of every command. `--data` takes them. */
const TAKEN = new Set(['url', 'project', 'profile', 'json', 'quiet', 'data', 'yes', 'help'])

/** Rooms that people use from the first day. */
const HOMES: Readonly<Record<string, string>> = {
  rules: 'Set up sources and destinations:',
  ingestKeys: 'Set up sources and destinations:',
  apiKeys: 'Manage the workspace:',
  broadcasts: 'More about the workspace:',
}

/** Where the help lists the rooms of each group of routes. */
const HEADINGS: Readonly<Record<RoomCommand['group'], string>> = {
  automation: 'Workflows and AI agents:',
  sources: 'Set up sources and destinations:',
  capture: 'More about sources:',
  delivery: 'More about deliveries:',
  people: 'People and sign-in:',
  workspace: 'More about the workspace:',
  serving: 'Search, portals and forwarding:',
  operate: 'For operators of the installation:',
}

/**
 * Adds a command for each route without one, also to rooms that have other commands. With `asked`, every room gets its name, and
 * only the room with this name gets its commands.
 */
export function addRooms(program: Command, asked: string | undefined): void {
  for (const command of roomTable()) {
    const [roomWord, verbWord] = command.words
    if (`${command.room}.${command.verb}` in COMMANDS_BY_OTHERS) continue
    program.commandsGroup(HOMES[command.room] ?? HEADINGS[command.group])
    const room = program.commands.find((one) => one.name() === roomWord) ?? newRoom(program, command)
    if (asked !== undefined && asked !== roomWord && !room.aliases().includes(asked)) continue
    if (room.commands.some((one) => one.name() === verbWord)) continue
    addVerb(room, command)
  }
}

function newRoom(program: Command, { room, words: [name] }: RoomCommand): Command {
  const verbs = roomTable().filter(
    (command) => command.room === room && !(`${room}.${command.verb}` in COMMANDS_BY_OTHERS),
  )
  return program
    .command(name)
    .summary(summaryOf(verbs, wordOf(room).many))
    .description(verbs.map(({ summary, words: [, verb] }) => `${verb}: ${summary}.`).join('\n'))
}

const USUAL = new Set(['list', 'create', 'get', 'update', 'delete'])

/** `list, create and get datasets`, or the words of the only route, or `members: list, update, leave`. */
function summaryOf(verbs: readonly RoomCommand[], things: string): string {
  const words = verbs.map(({ words: [, verb] }) => verb)
  const [only, ...others] = verbs
  if (only !== undefined && others.length === 0) return lower(only.summary)
  if (!words.every((verb) => USUAL.has(verb))) return `${things}: ${words.join(', ').replaceAll('-', ' ')}`
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)} ${things}`
}

type VerbOptions = CommonOptions & ConfirmOptions & Readonly<Record<string, unknown>> & { readonly data?: string }

function addVerb(room: Command, command: RoomCommand): void {
  const { words, args, summary, area, pages, method } = command
  const verb = room.command(words[1]).summary(lower(summary)).description(descriptionOf(command))
  const said = lower(summary).split(' ')[0] ?? ''
  // A key is revoked, and a member is removed: the word of the summary works too.
  if (method === 'DELETE' && !words.includes(said)) verb.alias(said)
  for (const argument of args) verb.argument(`<${argumentName(argument, command)}>`, argumentHelp(argument))
  for (const flag of command.flags) if (!TAKEN.has(flag.name)) verb.addOption(optionOf(flag))
  if (command.hasBody) verb.option('-d, --data <json>', 'request fields, as in the API: JSON, @file, or - for stdin')
  if (pages) withPages(verb)
  if (area === 'project') withCommon(verb)
  else withWorkspace(verb)
  if (method === 'DELETE') withYes(verb)
  verb.action((...given: readonly unknown[]) => {
    const named = given.slice(0, args.length).map(String)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- commander passes the arguments and then the options
    return runVerb(command, named, given[args.length] as VerbOptions)
  })
  withExample(verb, exampleOf(command))
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

function descriptionOf({ description, people, operator }: RoomCommand): string {
  if (operator) return `${description}\nFor an operator of the installation who is signed in as a person: see login.`
  return people ? `${description}\nOnly a signed-in person can do this. See login.` : description
}

/** `webhooks/{id}` takes an endpoint, `views/{view_id}` a view. */
function argumentName({ name, lookup }: CommandArgument, { room }: RoomCommand): string {
  if (name !== 'id') return name.replace(/_id$/, '').replaceAll('_', '-')
  return wordOf(lookup?.room ?? room)
    .one.replaceAll(' ', '-')
    .toLowerCase()
}

function argumentHelp({ name, prefix, lookup }: CommandArgument): string {
  if (prefix === undefined) return name.replaceAll('_', ' ')
  return lookup === undefined ? `its id (${prefix}_…)` : `its ${lookup.by} or its id (${prefix}_…)`
}

const flagName = (name: string): string => `--${name.replaceAll('_', '-')}`

const PLACES: Readonly<Record<CommandFlag['type'], string>> = {
  text: 'text',
  time: 'time',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  texts: 'text',
  json: 'json',
}

function optionOf({ name, type, in: place, required, choices, description }: CommandFlag): Option {
  const notes = [
    description?.replace(/\.$/, '') ?? name.replaceAll('_', ' '),
    ...(type === 'texts' ? ['may be repeated'] : []),
    ...(type === 'json' ? ['JSON or @file'] : []),
    ...(required ? ['required'] : []),
  ]
  const option = new Option(`${flagName(name)} <${PLACES[type]}>`, notes.filter((note) => note !== '').join('; '))
  if (type === 'texts') {
    if (choices !== undefined) option.choices(choices)
    return option.argParser(collected)
  }
  if (type === 'boolean') return option.choices(['true', 'false'])
  if (type === 'integer') return option.argParser(numberIn(0, Number.MAX_SAFE_INTEGER))
  if (type === 'time')
    return option.argParser((text) => (text === 'null' ? text : place === 'query' ? timeOf(text) : timeAhead(text)))
  return choices === undefined ? option : option.choices(choices)
}

function exampleOf(command: RoomCommand): string {
  const { words, args, flags } = command
  const named = args.map((argument) => (argument.prefix === undefined ? '1' : `${argument.prefix}_…`))
  const required = flags
    .filter(({ required: isNeeded }) => isNeeded)
    .map(({ name, choices, type }) => `${flagName(name)} ${choices?.[0] ?? (type === 'json' ? `'…'` : '…')}`)
  return [...words, ...named, ...required].join(' ')
}

async function runVerb(command: RoomCommand, named: readonly string[], options: VerbOptions): Promise<void> {
  const { room, verb, args, method, summary } = command
  const members = { ...(await readMembers(options.data)), ...(await flagMembers(command, options)) }
  const { client } = await connect(options)
  const ids = await Promise.all(args.map((argument, at) => idNamed(client, argument, named[at] ?? '')))
  if (method === 'DELETE')
    await confirmDeletion([`${summary}: ${named.join(' ')}.`, ...effects(command)].join(' '), options)
  const inPath = Object.fromEntries(args.map(({ name }, at) => [name, ids[at]]))
  const answer = await methodOf(client, room, verb)({ ...members, ...inPath })
  const shown = idsIn(answer, command)
  print({ json: answer, ids: shown.length === 0 ? ids : shown, text: () => answerText(answer, command, ids) }, options)
}

type Method = (members: object) => Promise<unknown>

// oxlint-disable-next-line max-params -- a room and a verb are one name
function methodOf(client: Client, room: string, verb: string): Method {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has the names of the contract's routes
  const method = (client as unknown as Readonly<Record<string, Readonly<Record<string, Method>>>>)[room]?.[verb]
  if (method !== undefined) return method
  throw new Failure(`This command line and its table differ: ${room}.${verb} does not exist.`)
}

/** The members that the options set. */
async function flagMembers({ flags, pages }: RoomCommand, options: VerbOptions): Promise<object> {
  const members: [string, unknown][] = []
  for (const flag of flags) {
    const given = TAKEN.has(flag.name) ? undefined : options[camel(flag.name)]
    // oxlint-disable-next-line no-await-in-loop -- `-` reads stdin once
    if (given !== undefined) members.push([flag.name, await valueOf(flag, given)])
  }
  if (pages) members.push(['limit', options['limit']], ['cursor', options['cursor']])
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

async function valueOf({ name, type, nullable }: CommandFlag, given: unknown): Promise<unknown> {
  if (given === 'null' && nullable) return null
  if (type === 'boolean') return given === 'true'
  if (type === 'number') return Number(given)
  if (type !== 'json' || typeof given !== 'string') return given
  const text = (await readData(given)).toString()
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure(`${flagName(name)} must be JSON, such as '[]' or @file.`, EXIT.usage)
  }
}
