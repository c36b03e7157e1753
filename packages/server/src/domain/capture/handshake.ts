import {
  HANDSHAKE_FORMS,
  handshakeConditions,
  handshakePieces,
  LIMITS,
  placesOf,
  answerPieces,
  verifyTokenNeed,
  type HandshakeCondition,
  type HandshakeForm,
  type HandshakeKind,
  type HandshakePiece,
  type HandshakePlace,
  type KindForm,
} from '@postroad/contract'
import { isRawNumber, parseStoredJson, stringifyJson } from '../json/json-text.ts'
import { compilePath, readPath, type Path } from '../routing/dot-path.ts'

/** The handshake of an endpoint, compiled: whether a request asks, and the answer. One evaluator for every form. */

/** A request that may be a question. */
export type Question = {
  readonly method: 'GET' | 'POST' | 'OPTIONS'
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The parsed body; undefined: there is none, or it is not JSON. */
  readonly body: unknown
}

export type CompiledForm = {
  readonly asks: (question: Question) => boolean
  /** The answer comes only after the signature check. */
  readonly isSigned: boolean
  readonly readsBody: boolean
  /** Where the verify token is; undefined: none is compared. */
  readonly tokenIn: Place | undefined
  /** The token is compared even if the endpoint has none, and then nothing equals it. */
  readonly needsToken: boolean
  /** The answer contains a signature with the verification secret. */
  readonly isKeyed: boolean
  readonly confirms: KindForm['confirms']
  readonly status: number
  readonly contentType: string
  /** The values of the question that the answer uses. */
  readonly places: readonly Place[]
  readonly headers: readonly (readonly [name: string, write: Write])[]
  readonly body: Write
}

export type CompiledHandshake = {
  readonly kind: HandshakeKind
  readonly forms: readonly CompiledForm[]
  /** The members of a body that the forms after the signature check read. */
  readonly paths: readonly Path[]
}

type Place = HandshakePlace & { readonly path: Path | undefined; readonly isOptional: boolean }
export type DigestPiece = Extract<HandshakePiece, { readonly digest: string }>
/** The question that an answer is written from, and the digests of its values. */
export type Writing = {
  readonly question: Question
  readonly digest: (piece: DigestPiece, read: (place: HandshakePlace) => string) => string
}
type Write = (writing: Writing) => string

const NONE: CompiledHandshake = { kind: 'none', forms: [], paths: [] }

/** `form` is that of the kind custom. */
export function compileHandshake(kind: HandshakeKind, form: HandshakeForm | null): CompiledHandshake {
  if (kind === 'none') return NONE
  const forms: readonly KindForm[] = kind === 'custom' ? (form === null ? [] : [form]) : HANDSHAKE_FORMS[kind]
  const compiled = forms.map(compileForm)
  const conditions = forms.flatMap(({ when }) => handshakeConditions(when))
  const places = [...conditions, ...compiled.flatMap(({ places: used, tokenIn }) => [...used, ...listOf(tokenIn)])]
  const paths = places.filter((place) => place.in === 'body').map(({ name }) => compilePath(name))
  return { kind, forms: compiled, paths }
}

const listOf = <Item>(item: Item | undefined): readonly Item[] => (item === undefined ? [] : [item])

/** The form that a request asks by; `isSigned`: its signature was checked. */
export function formAskedBy(
  { forms }: CompiledHandshake,
  { question, isSigned }: { readonly question: Question; readonly isSigned: boolean },
): CompiledForm | undefined {
  return forms.find((form) => form.isSigned === isSigned && form.asks(question))
}

function compileForm(form: KindForm): CompiledForm {
  const { when, proof, answer, optional_token: optionalToken, confirms } = form
  const conditions = handshakeConditions(when)
  const pieces = answerPieces(answer)
  const places = placesOf(pieces).map((place) => placed(place, isOptionalIn(pieces, place)))
  const tokenPlace = proof?.kind === 'token' ? proof : optionalToken
  return {
    asks: askedBy(form, conditions),
    isSigned: proof?.kind === 'signature',
    readsBody: [...conditions, ...places].some((place) => place.in === 'body'),
    tokenIn: tokenPlace === undefined ? undefined : placeOfToken(tokenPlace),
    needsToken: proof?.kind === 'token' || verifyTokenNeed(form) === 'required',
    isKeyed: pieces.some((piece) => typeof piece === 'object' && 'of' in piece && piece.digest.startsWith('hmac')),
    confirms,
    status: answer.status,
    contentType: answer.content_type,
    places,
    headers: Object.entries(answer.headers).map(([name, text]) => [name, writeText(text)] as const),
    body:
      answer.content_type === 'application/json' && answer.body !== ''
        ? writeJson(answer.body)
        : writeText(answer.body),
  }
}

const isOptionalIn = (pieces: readonly HandshakePiece[], { in: where, name }: HandshakePlace): boolean =>
  pieces.every(
    (piece) =>
      typeof piece === 'string' ||
      ('place' in piece
        ? piece.place.in !== where || piece.place.name !== name || piece.otherwise !== undefined
        : !piece.of.some((of) => typeof of === 'object' && of.in === where && of.name === name)),
  )

function placed({ in: where, name }: HandshakePlace, isOptional: boolean): Place {
  return { in: where, name, path: where === 'body' ? compilePath(name) : undefined, isOptional }
}

function placeOfToken(of: {
  readonly header?: string | undefined
  readonly query?: string | undefined
  readonly body_path?: string | undefined
}): Place {
  if (of.header !== undefined) return placed({ in: 'header', name: of.header.toLowerCase() }, false)
  if (of.query !== undefined) return placed({ in: 'query', name: of.query }, false)
  return placed({ in: 'body', name: of.body_path ?? '' }, false)
}

/** Without a method, a question comes as GET or POST; one that reads the body is a POST. */
function askedBy({ when: { method } }: KindForm, conditions: readonly HandshakeCondition[]): CompiledForm['asks'] {
  const checks = conditions.map((condition) => {
    const place = placed(condition, false)
    const { equals, absent } = condition
    if (absent === true) return (question: Question) => valueAt(question, place) === undefined
    if (equals !== undefined) return (question: Question) => valueAt(question, place) === equals
    return (question: Question) => typeof valueAt(question, place) === 'string'
  })
  return (question) =>
    (method === undefined ? question.method !== 'OPTIONS' : question.method === method) &&
    checks.every((check) => check(question))
}

/** The value of a question, of any type; undefined: it has none there. */
export function valueAt(
  { headers, query, body }: Question,
  { in: where, name, path }: Omit<Place, 'isOptional'>,
): unknown {
  switch (where) {
    case 'header':
      return Object.hasOwn(headers, name) ? headers[name] : undefined
    case 'query':
      return query.get(name) ?? undefined
    case 'body':
      return readPath(body, path ?? compilePath(name))
  }
}

/** Whether the answer can be written: each value that it uses is a short text. */
export function hasAnswer(form: CompiledForm, question: Question): boolean {
  return form.places.every((place) => {
    const value = valueAt(question, place)
    return value === undefined ? place.isOptional : typeof value === 'string' && isShort(value)
  })
}

/** Whether a value may be part of an answer. */
export const isShort = (text: string): boolean => text.length > 0 && text.length <= LIMITS.challengeCharsMax

function writeText(text: string): Write {
  const pieces = handshakePieces(text)
  if ('error' in pieces) throw new TypeError(`A stored handshake ${pieces.error}.`)
  return (writing) => pieces.map((piece) => textOf(piece, writing)).join('')
}

function textOf(piece: HandshakePiece, { question, digest }: Writing): string {
  const read = (place: HandshakePlace): string => {
    const value = valueAt(question, placed(place, false))
    return typeof value === 'string' ? value : ''
  }
  if (typeof piece === 'string') return piece
  if ('place' in piece) return read(piece.place) || (piece.otherwise ?? '')
  return digest(piece, read)
}

/** The strings of a JSON document are filled in, and the whole is written again, so that no value can leave its string. */
function writeJson(text: string): Write {
  const document = parseStoredJson(text)
  if (!document.ok) throw new TypeError(`A stored handshake is not JSON: ${document.error}`)
  const fill = filler(document.value)
  return (writing) => stringifyJson(fill(writing))
}

function filler(value: unknown): (writing: Writing) => unknown {
  if (typeof value === 'string') return writeText(value)
  if (Array.isArray(value)) {
    const items = value.map(filler)
    return (writing) => items.map((item) => item(writing))
  }
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return () => value
  const members = Object.entries(value).map(([name, member]) => [name, filler(member)] as const)
  return (writing) => Object.fromEntries(members.map(([name, write]) => [name, write(writing)]))
}
