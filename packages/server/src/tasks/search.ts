import type { Conditions } from '@postroad/contract'
import { queryMembers } from '@postroad/contract/plain'
import { storedView } from '../domain/capture/request-view.ts'
import { textOfRequest } from '../domain/capture/search-index/terms.ts'
import { responseDocument, textOfResponse, type StoredResponse } from '../domain/delivery/searched-response.ts'
import { parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { compileConditions } from '../domain/routing/condition.ts'
import type { RequestView } from '../domain/routing/event-path.ts'
import { compileSearch, folded, unescaped } from '../domain/text-search.ts'
import { WorkCounter } from '../domain/work-budget.ts'
import { task } from '../platform/heavy/task.ts'
import { readStored, type StoredBody } from './read-stored.ts'

/** Work for each character of a payload. */
const LOOKED_THROUGH_WORK = 4
const READ_WORK = 8

/** Where a search looks for text. */
export type TextPlace = 'payload' | 'headers' | 'response'

/** The conditions of a search on received events; `text` occurs somewhere in these places, in upper or lower case. */
export type PayloadFilter = {
  readonly conditions: Conditions
  readonly text: string | null
  /** Conditions on the headers of the request, whose names are in lower case; absent: none. */
  readonly headerConditions?: Conditions
  /** Conditions on the members of its query string; absent: none. */
  readonly queryConditions?: Conditions
  /** Absent: only the payload. */
  readonly textIn?: readonly TextPlace[]
  /** Conditions that one response to a delivery must match; absent: none. */
  readonly responseConditions?: Conditions
}

/** A payload, and the headers of its request as JSON and its query string if the filter needs them. */
export type Searched = {
  readonly payload: string
  readonly headers?: string | undefined
  readonly query?: string | null | undefined
  /** The rest of its request; absent: no sender sent it. */
  readonly sent?: StoredBody['sent']
  /** The responses to a delivery, if the filter needs them. */
  readonly responses?: readonly StoredResponse[] | undefined
}

type StoredRequest = StoredBody & { readonly query: string | null }

export type SearchItem = Searched | StoredRequest | undefined

export type SearchAsked = {
  /** JSON: its conditions can have numbers that are stored as their source. */
  readonly filter: string
  /** A stored body stands for its payload and headers; undefined: there is nothing to look at. */
  readonly items: readonly SearchItem[]
  readonly workLeft: number
}

export type SearchDone = {
  /** The number of items looked at before the work was used up, at least one. */
  readonly looked: number
  /** The places of those that match. */
  readonly found: readonly number[]
  /** The number of bodies that could not be read as a payload. */
  readonly unreadable: number
  readonly work: number
}

export const searchItems = task(
  'search.match',
  async ({ filter, items, workLeft }: SearchAsked): Promise<SearchDone> => {
    const work = new WorkCounter(workLeft)
    const meets = testOf(readFilter(filter), work)
    const found: number[] = []
    let [looked, unreadable] = [0, 0]
    for (const [at, item] of items.entries()) {
      if (looked > 0 && work.usedUp) break
      looked += 1
      // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
      const searched = item !== undefined && 'body' in item ? await readBody(item, work) : item
      if (searched === 'unreadable') unreadable += 1
      else if (searched !== undefined && meets(searched)) found.push(at)
    }
    return { looked, found, unreadable, work: workLeft - work.left }
  },
)

export const filterText = (filter: PayloadFilter): string =>
  stringifyJson({
    conditions: filter.conditions,
    text: filter.text,
    textIn: filter.textIn,
    headerConditions: filter.headerConditions,
    queryConditions: filter.queryConditions,
    responseConditions: filter.responseConditions,
  })

function readFilter(text: string): PayloadFilter {
  const parsed = parseStoredJson(text)
  if (!parsed.ok) throw new Error(`A filter is not JSON: ${parsed.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `filterText`
  return parsed.value as PayloadFilter
}

async function readBody(
  { query, sent, ...stored }: StoredRequest,
  work: WorkCounter,
): Promise<Searched | 'unreadable'> {
  const read = await readStored(stored)
  if (!read.ok) return 'unreadable'
  work.spend(READ_WORK * read.chars)
  return { payload: read.text, headers: JSON.stringify(stored.headers), query, sent }
}

type Test = (searched: Searched) => boolean

/** The test of a received event. Conditions compare like those of rules. */
function testOf(filter: PayloadFilter, work: WorkCounter): Test {
  const { text, textIn, conditions, headerConditions = [], queryConditions = [], responseConditions = [] } = filter
  const tests = [
    ...(text === null ? [] : [textTest(text, { places: textIn ?? ['payload'], work })]),
    ...(conditions.length === 0
      ? []
      : [conditionTest(conditions, { textOf: ({ payload }) => payload, requestOf, work })]),
    ...(headerConditions.length === 0
      ? []
      : [
          conditionTest(headerConditions, {
            textOf: ({ headers }) => headers ?? '{}',
            requestOf: () => null,
            work,
          }),
        ]),
    ...(queryConditions.length === 0 ? [] : [queryTest(queryConditions, work)]),
    ...(responseConditions.length === 0 ? [] : [responseTest(responseConditions, work)]),
  ]
  return (searched) => tests.every((test) => test(searched))
}

type InPlaces = { readonly places: readonly TextPlace[]; readonly work: WorkCounter }

function textTest(text: string, { places, work }: InPlaces): Test {
  const search = compileSearch(folded(text))
  const isIn = (searched: string): boolean => {
    work.spend(searched.length * LOOKED_THROUGH_WORK)
    return search(folded(searched))
  }
  return ({ payload, headers, query = null, responses = [] }) => {
    if (places.includes('response') && responses.some((one) => isIn(textOfResponse(one)))) return true
    if (places.includes('headers') && headers !== undefined) {
      if (isIn(textOfRequest({ headers: headersOf(headers), query }))) return true
    }
    if (!places.includes('payload')) return false
    if (isIn(payload)) return true
    // JSON can write any character as an escape, and a person searches for the character.
    return payload.includes('\\') && isIn(unescaped(payload))
  }
}

type OfText = {
  readonly textOf: (searched: Searched) => string
  readonly requestOf: (searched: Searched) => RequestView | null
  readonly work: WorkCounter
}

const requestOf = ({ headers, sent }: Searched): RequestView | null =>
  headers === undefined || sent === undefined ? null : storedView({ headers, ...sent })

function conditionTest(conditions: Conditions, { textOf, requestOf: of, work }: OfText): Test {
  const compiled = compileConditions(conditions, 'text')
  return (searched) => {
    const text = textOf(searched)
    work.spend(text.length * READ_WORK)
    const parsed = parseStoredJson(text)
    return parsed.ok && compiled.firstFailure({ payload: parsed.value, request: of(searched) }, work) === undefined
  }
}

function queryTest(conditions: Conditions, work: WorkCounter): Test {
  const compiled = compileConditions(conditions, 'text')
  return ({ query = null }) => {
    work.spend((query?.length ?? 0) * READ_WORK)
    return compiled.firstFailure({ payload: queryMembers(query), request: null }, work) === undefined
  }
}

/** One response must match all conditions. */
function responseTest(conditions: Conditions, work: WorkCounter): Test {
  const compiled = compileConditions(conditions, 'text')
  return ({ responses = [] }) =>
    responses.some((one) => {
      work.spend((one.response_body?.length ?? 0) * READ_WORK)
      return compiled.firstFailure({ payload: responseDocument(one), request: null }, work) === undefined
    })
}

/** The stored headers of a request, by their names in lower case. */
export function headersOf(text: string): Readonly<Record<string, unknown>> {
  const parsed = parseStoredJson(text)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server stores headers as a JSON object
  return parsed.ok ? (parsed.value as Record<string, unknown>) : {}
}
