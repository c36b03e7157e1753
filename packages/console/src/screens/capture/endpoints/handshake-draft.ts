import type {
  HANDSHAKE_STATUSES,
  HANDSHAKE_TYPES,
  HandshakeCondition,
  HandshakeForm,
  HandshakeKind,
  RouteAnswer,
  RouteRequest,
  Routes,
} from '@postroad/contract'
import { handshakeConditions, verifyTokenNeed } from '@postroad/contract/handshake'
import { KNOWN_HANDSHAKES } from '@postroad/contract/handshake-forms'

/** The form of a handshake as text that a person edits: one condition or header a line. */
export type FormDraft = {
  readonly method: 'any' | 'POST' | 'GET' | 'OPTIONS'
  readonly question: string
  readonly proof: 'none' | 'token' | 'signature'
  readonly tokenAt: string
  readonly status: (typeof HANDSHAKE_STATUSES)[number]
  readonly type: (typeof HANDSHAKE_TYPES)[number]
  readonly headers: string
  readonly body: string
}

export type HandshakeDraft = {
  readonly kind: HandshakeKind
  readonly token: string
  readonly form: FormDraft
  /** The form that the text was made from. While the text is unchanged, it is sent as it is. */
  readonly source: HandshakeForm
}

type Stored = RouteAnswer<Routes['webhooks']['get']>['webhook']['handshake']

const EMPTY: HandshakeForm = {
  when: {},
  proof: null,
  answer: { status: 200, content_type: 'text/plain', headers: {}, body: '' },
}

export function handshakeDraftOf({ kind, when, proof = null, answer }: Stored): HandshakeDraft {
  const form =
    when === undefined || answer === undefined ? EMPTY : { when, proof, answer: { ...EMPTY.answer, ...answer } }
  return { kind, token: '', form: formDraftOf(form), source: form }
}

export function formDraftOf({ when, proof, answer }: HandshakeForm): FormDraft {
  return {
    method: when.method ?? 'any',
    question: handshakeConditions(when).map(lineOf).join('\n'),
    proof: proof?.kind ?? 'none',
    tokenAt: proof?.kind === 'token' ? tokenLineOf(proof) : '',
    status: answer.status,
    type: answer.content_type,
    headers: Object.entries(answer.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    body: answer.body,
  }
}

function lineOf({ in: where, name, equals, absent }: HandshakeCondition): string {
  if (absent === true) return `${where} ${name} absent`
  return equals === undefined ? `${where} ${name}` : `${where} ${name} = ${JSON.stringify(equals)}`
}

type TokenProof = Extract<HandshakeForm['proof'], { kind: 'token' }>

function tokenLineOf({ header, query, body_path: path }: TokenProof): string {
  if (header !== undefined) return `header ${header.toLowerCase()}`
  return query === undefined ? `body ${path ?? ''}` : `query ${query}`
}

/** The provider of the list whose form this is; undefined: none. */
export function knownIn(form: FormDraft): string | undefined {
  return KNOWN_HANDSHAKES.find((known) => isSame(form, formDraftOf(known.form)))?.id
}

const isSame = (one: FormDraft, other: FormDraft): boolean => JSON.stringify(one) === JSON.stringify(other)

type Sent = NonNullable<RouteRequest<Routes['webhooks']['update']>['handshake']>
type Read<Value> = { readonly value: Value } | { readonly problem: string }

/** The setting of a draft, or the sentence about its fault. */
export function handshakeOf({ kind, token, form, source }: HandshakeDraft): Read<Sent> {
  const sentToken = token === '' ? {} : { verify_token: token }
  if (kind === 'hub_challenge' || kind === 'url_verification') return { value: { kind, ...sentToken } }
  if (kind !== 'custom') return { value: { kind } }
  const read = isSame(form, formDraftOf(source)) ? { value: source } : formOf(form)
  if ('problem' in read) return read
  return { value: { kind, ...read.value, ...(verifyTokenNeed(read.value) === 'none' ? {} : sentToken) } }
}

/** Whether the handshake of a draft has a use for a verify token. */
export function tokenNeedOf({ kind, form }: HandshakeDraft): ReturnType<typeof verifyTokenNeed> {
  if (kind !== 'custom') return verifyTokenNeed({ kind })
  const read = formOf(form)
  return 'value' in read ? verifyTokenNeed(read.value) : form.proof === 'token' ? 'required' : 'none'
}

function formOf({ method, question, proof, tokenAt, status, type, headers, body }: FormDraft): Read<HandshakeForm> {
  const conditions = linesIn(question).map((line) => ({ line, condition: conditionIn(line) }))
  const wrong = conditions.find(({ condition }) => condition === undefined)
  if (wrong !== undefined)
    return { problem: `“${wrong.line}” is not a place. Write a line such as query challenge or body type = "check".` }
  const place = /^(header|query|body) (\S+)$/.exec(tokenAt.trim())
  if (proof === 'token' && place === null)
    return { problem: 'Write the place of the verify token, such as query hub.verify_token.' }
  const wrongHeader = linesIn(headers).find((line) => line.indexOf(':') < 1)
  if (wrongHeader !== undefined)
    return { problem: `“${wrongHeader}” is not a header. Write a name, a colon and a value.` }
  const found = conditions.flatMap(({ condition }) => (condition === undefined ? [] : [condition]))
  return {
    value: {
      when: { ...(method === 'any' ? {} : { method }), ...whenOf(found) },
      proof: proof === 'none' ? null : proof === 'signature' ? { kind: proof } : tokenProof(place),
      answer: {
        status,
        content_type: type,
        headers: Object.fromEntries(
          linesIn(headers).map((line) => [
            line.slice(0, line.indexOf(':')).trim(),
            line.slice(line.indexOf(':') + 1).trim(),
          ]),
        ),
        body: status === 204 ? '' : body,
      },
    },
  }
}

function tokenProof(place: RegExpExecArray | null): TokenProof {
  const [, where, name = ''] = place ?? []
  return {
    kind: 'token',
    ...(where === 'body' ? { body_path: name } : where === 'header' ? { header: name } : { query: name }),
  }
}

const linesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const LINE = /^(header|query|body)\s+(\S+)(?:\s+(absent)|\s*=\s*(.+))?$/

function conditionIn(line: string): HandshakeCondition | undefined {
  const [, where, name = '', absent, value] = LINE.exec(line) ?? []
  if (where !== 'header' && where !== 'query' && where !== 'body') return undefined
  if (absent !== undefined) return where === 'body' ? { in: where, name, absent: true } : undefined
  return value === undefined ? { in: where, name } : { in: where, name, equals: valueIn(where, value) }
}

/** A value in quotes is text; without them, numbers, true and false of the body are themselves. */
function valueIn(where: string, text: string): string | number | boolean {
  const value = jsonIn(text)
  if (typeof value === 'string') return value
  return where === 'body' && (typeof value === 'number' || typeof value === 'boolean') ? value : text
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function whenOf(conditions: readonly HandshakeCondition[]): HandshakeForm['when'] {
  const named = (where: 'header' | 'query') =>
    conditions
      .filter((condition) => condition.in === where)
      .map(({ name, equals }) => (equals === undefined ? name : { name, equals: String(equals) }))
  const body = conditions
    .filter((condition) => condition.in === 'body')
    .map(({ name: path, equals, absent }) => {
      if (absent === true) return { path, absent }
      return equals === undefined ? path : { path, equals }
    })
  const [header, query] = [named('header'), named('query')]
  return {
    ...(header.length === 0 ? {} : { header }),
    ...(query.length === 0 ? {} : { query }),
    ...(body.length === 0 ? {} : { body_path: body }),
  }
}
