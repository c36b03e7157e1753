import { createContext, Script } from 'node:vm'
import type { RouteRequest, Routes } from '@postroad/contract'
import type { Filter, Seen } from '@postroad/contract/filter'
import type { Client } from '@postroad/sdk'
import { EXIT, Failure } from '../failure.ts'

/** The filters of a command. `ofRequest`: one of them is on the request, so the stream must send it. */
export type EventFilter = {
  readonly meets: (event: Seen) => boolean
  readonly ofRequest: boolean
  readonly conditions: NonNullable<RouteRequest<Routes['rules']['test']>['conditions']>
}

export const FILTER_HELP =
  'only events that meet this condition, such as "amount > 1000", "type = order.paid", "coupon exists", or a condition of the API as JSON; may be repeated'

/** One condition in the form of the server, and the filters with which the command line tests it. */
type Parsed = { readonly condition: unknown; readonly anyOf: readonly Filter[] }

/** Reads the filters that a person typed. */
export async function readFilters(texts: readonly string[] = []): Promise<EventFilter> {
  if (texts.length === 0) return { meets: () => true, ofRequest: false, conditions: [] }
  const { isOfRequest, meets, typedFilter } = await import('@postroad/contract/filter')
  const parsed = texts.map((text) => {
    const sent = text.trimStart().startsWith('{') ? fromJson(text) : fromFilter(typedFilter(text))
    if (sent !== undefined) return sent
    throw new Failure(`"${text}" is not a condition. Write it as "amount > 1000" or "type = order.paid".`, EXIT.usage)
  })
  const matches = patternTest()
  return {
    meets: (event) => parsed.every(({ anyOf }) => anyOf.some((filter) => meets(event, filter, matches))),
    ofRequest: parsed.some(({ anyOf }) => anyOf.some(({ path }) => isOfRequest(path))),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks them and names the mistake
    conditions: parsed.map(({ condition }) => condition) as EventFilter['conditions'],
  }
}

/** The server checks the filters, so that they mean the same as in rules. */
export async function checkFilters(client: Client, { conditions }: EventFilter): Promise<void> {
  if (conditions.length > 0) await client.rules.test({ conditions, payloads: [{}] })
}

function fromFilter(filter: Filter | undefined): Parsed | undefined {
  if (filter === undefined) return undefined
  const { path, op, value } = filter
  if (op === 'exists') return { condition: { path, op }, anyOf: [filter] }
  const number = Number(value)
  if (/^(?:gt|lt)e?$/.test(op)) return { condition: { path, op, value: number }, anyOf: [filter] }
  return { condition: { path, op, value: op === 'in' ? value.split(',') : value }, anyOf: [filter] }
}

/** The values of a list are tested one by one, because the text of a value can contain a comma. */
function fromJson(text: string): Parsed | undefined {
  try {
    const condition: { path?: unknown; op?: unknown; value?: unknown; equals?: unknown } = JSON.parse(text)
    const path = String(condition.path)
    const value = 'equals' in condition ? condition.equals : condition.value
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server refuses another op
    const op = (condition.op ?? 'equals') as Filter['op']
    const anyOf: Filter[] =
      op === 'in' && Array.isArray(value)
        ? value.map((one) => ({ path, op: 'equals', value: String(one) }))
        : [{ path, op, value: String(value) }]
    return { condition, anyOf }
  } catch {
    return undefined
  }
}

const PATTERN_MS_MAX = 250

/**
 * Tests a pattern with the engine of Node, which gives the same answers as the server's, but can take seconds where the
 * server's is linear. So each test has a time limit, and a text that reaches it does not match.
 */
function patternTest(): (pattern: string, text: string) => boolean {
  const box: { pattern?: RegExp; text?: string } = {}
  const context = createContext(box)
  const script = new Script('pattern.test(text)')
  const patterns = new Map<string, RegExp>()
  return (source, text) => {
    const pattern = patterns.get(source) ?? new RegExp(source)
    patterns.set(source, pattern)
    Object.assign(box, { pattern, text })
    try {
      return script.runInContext(context, { timeout: PATTERN_MS_MAX }) === true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
      throw error
    }
  }
}
