import { LIMITS } from '@postroad/contract'
import { errorBody, Refusal, refuse } from '../../domain/refusal.ts'
import type { Entered } from '../route-calls.ts'
import { cutTo, partAt } from './cut.ts'
import { remedyFor } from './remedies.ts'
import { tokensIn } from './tokens.ts'
import type { PreparedTool } from './prepared.ts'

type Members = Readonly<Record<string, unknown>>

/** The result of a tool call, in the form of the protocol. */
export type ToolAnswer = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Record<string, unknown>
  readonly isError?: true
}

export type ToolCall = { readonly entered: Entered; readonly prepared: PreparedTool; readonly args: Members }

/** Calls the route of the tool. A refusal is an answer that the model reads; any other error is a fault of the server. */
export async function answerTool(call: ToolCall): Promise<ToolAnswer> {
  try {
    refuseUnknown(call)
    const { list } = call.prepared
    return answered(list?.paged === true ? await pageOf(call, list.member) : await partOf(call))
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    return { ...answered(refused(error, call.prepared)), isError: true }
  }
}

function answered(members: Members): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(members) }], structuredContent: { ...members } }
}

function refused(refusal: Refusal, prepared: PreparedTool): Members {
  const next = remedyFor(refusal.reason, prepared)
  return { ...errorBody(refusal), ...(next === undefined ? {} : { next_step: next }) }
}

function refuseUnknown({ prepared, args }: ToolCall): void {
  const known = Object.keys(prepared.shown.inputSchema.properties ?? {})
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw refuse(
    'invalid_request',
    `${unknown.slice(0, 64)} is not an argument of ${prepared.tool.name}. Its arguments are ${known.join(', ')}.`,
  )
}

/** Calls the route with the arguments as the parts of a request. */
function ask({ entered, prepared, args }: ToolCall, changed: Members = {}): Promise<unknown> {
  const { room, verb, members, route } = prepared
  const given = { ...args, ...changed }
  const pick = (names: readonly string[]): Members =>
    Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]))
  return entered.call({
    room,
    verb,
    project: route.area === 'project' ? textOf(args['project_id']) : undefined,
    params: pick(members.params),
    query: asQuery(pick(members.query)),
    body: pick(members.body),
  })
}

/** The value of an argument that must be text. Any other value is refused like an unknown id. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A query has texts and lists of texts. */
function asQuery(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(queryText) : queryText(value),
    ]),
  )
}

const queryText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/**
 * One page of a list that has pages. It contains the items that fit. If these are fewer than the route returned, the
 * route is called again for exactly that many, so that its cursor continues behind the last shown item.
 */
async function pageOf(call: ToolCall, member: string): Promise<Members> {
  const { limit: asked } = call.args
  const budget = asked === undefined ? LIMITS.mcpListTokensMax : LIMITS.mcpAnswerTokensMax
  let limit = asked ?? LIMITS.mcpListDefault
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each attempt depends on the size of the previous one
    const page = asMembers(await ask(call, { limit }))
    const items = asList(page[member]).map((item) => shownItem(call.prepared, item))
    const { fitting, missing } = fittingItems(items, budget)
    if (fitting.length === items.length) return withoutNulls({ ...page, [member]: fitting, ...notes(missing) }, 1)
    limit = fitting.length
  }
}

/** The tokens that the members around the items cost. */
const FRAME_TOKENS = 150
/** An item that costs more is shortened, so that a page has several. */
const ITEMS_PER_PAGE_MIN = 5

function fittingItems(
  items: readonly unknown[],
  budget: number,
): { fitting: readonly unknown[]; missing: readonly string[] } {
  const each = Math.floor((budget - FRAME_TOKENS) / Math.max(1, Math.min(items.length, ITEMS_PER_PAGE_MIN)))
  const fitting: unknown[] = []
  const missing: string[] = []
  let left = budget - FRAME_TOKENS
  for (const [index, item] of items.entries()) {
    const cut = cutTo(item, each)
    const cost = tokensIn(JSON.stringify(cut.value))
    if (cost > left && fitting.length > 0) break
    left -= cost
    fitting.push(cut.value)
    if (cut.missing.length > 0 && missing.length < ITEMS_PER_PAGE_MIN) {
      missing.push(`${index}.${cut.missing[0] ?? ''}`)
      left -= tokensIn(missing.at(-1) ?? '')
    }
  }
  return { fitting, missing }
}

function shownItem({ tool }: PreparedTool, item: unknown): unknown {
  const members = withoutNulls(asMembers(item), 1)
  const { shows } = tool
  return shows === undefined
    ? members
    : Object.fromEntries(Object.entries(members).filter(([name]) => shows.includes(name)))
}

/** An answer without pages: whole if it fits, otherwise cut; or the part of it at `path`, from the place of `cursor`. */
async function partOf(call: ToolCall): Promise<Members> {
  const whole = asMembers(await ask(call))
  const { list } = call.prepared
  const path = textOf(call.args['path'])
  const from = offsetOf(call.args['cursor'])
  if (list !== undefined && path === undefined)
    return slicedList(
      asList(whole[list.member]).map((item) => shownItem(call.prepared, item)),
      { name: list.member, from, tokens: LIMITS.mcpListTokensMax },
    )
  if (path === undefined) {
    const cut = cutTo(withoutNulls(whole, 2), LIMITS.mcpAnswerTokensMax)
    return { ...asMembers(cut.value), ...notes(cut.missing) }
  }
  const part = list === undefined ? partAt(whole, path) : partOfList(asList(whole[list.member]), path)
  if (part === undefined)
    throw refuse(
      'invalid_request',
      `path: the answer has nothing at "${path.slice(0, 120)}". Leave path out to see the whole answer.`,
    )
  return { path, ...slicedPart(part, from) }
}

/** The item of a list by its id, slug or name, and a part of it. */
function partOfList(items: readonly unknown[], path: string): unknown {
  const [first = '', ...rest] = path.split('.')
  const item =
    items.map(asMembers).find(({ id, slug, name }) => [id, slug, name].includes(first)) ?? items[Number(first)]
  return rest.length === 0 ? item : partAt(item, rest.join('.'))
}

/** A long text or list is read in pieces; anything else is cut. */
function slicedPart(part: unknown, from: number): Members {
  if (typeof part === 'string') {
    const to = from + LIMITS.mcpTextCharsMax
    return { part: part.slice(from, to), ...(to < part.length ? { next_cursor: String(to) } : {}) }
  }
  if (Array.isArray(part)) return slicedList(part, { name: 'part', from, tokens: LIMITS.mcpAnswerTokensMax })
  const cut = cutTo(part, LIMITS.mcpAnswerTokensMax)
  return { part: cut.value, ...notes(cut.missing) }
}

function slicedList(
  items: readonly unknown[],
  { name, from, tokens }: { name: string; from: number; tokens: number },
): Members {
  const { fitting, missing } = fittingItems(items.slice(from), tokens)
  const next = from + fitting.length
  return { [name]: fitting, ...notes(missing), ...(next < items.length ? { next_cursor: String(next) } : {}) }
}

function offsetOf(cursor: unknown): number {
  if (cursor === undefined || cursor === null || cursor === '') return 0
  if (typeof cursor === 'string' && /^\d{1,12}$/.test(cursor)) return Number(cursor)
  throw refuse('invalid_request', 'cursor: send next_cursor of the previous answer unchanged.')
}

function notes(missing: readonly string[]): Members {
  return missing.length === 0 ? {} : { missing }
}

/**
 * Without members that are null, down to this depth, because they cost tokens and an absent member means the same. The
 * items of a list have the depth of the list. Payloads are deeper.
 */
function withoutNulls(members: Members, depth: number): Members {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, depth > 1 ? shorter(value, depth - 1) : value]),
  )
}

function shorter(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => (isMembers(item) ? withoutNulls(item, depth) : item))
  return isMembers(value) ? withoutNulls(value, depth) : value
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
