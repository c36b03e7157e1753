import type { HandshakeForm, HandshakeKind } from './handshake-form.ts'
import { handshakePieces, piecesInJson, type HandshakePiece, type HandshakePlace } from './handshake-template.ts'

/** The parts of a form, read the same way on both sides of the wire. */

/** The pieces of the body; the fault of one that cannot be written. */
export function bodyPieces({ content_type: type, body }: HandshakeForm['answer']) {
  if (type !== 'application/json' || body === '') return handshakePieces(body)
  const json = jsonIn(body)
  return json === undefined
    ? { error: 'must be JSON with the content type application/json; put each {{ … }} inside a string' }
    : piecesInJson(json.value)
}

function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** The pieces of the body and of the headers of an answer, which was checked before. */
export function answerPieces(answer: HandshakeForm['answer']): readonly HandshakePiece[] {
  return [bodyPieces(answer), ...Object.values(answer.headers).map(handshakePieces)].flatMap((pieces) =>
    'error' in pieces ? [] : pieces,
  )
}

/** The values of the question that these pieces use. */
export function placesOf(pieces: readonly HandshakePiece[]): readonly HandshakePlace[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === 'string') return []
    return 'place' in piece ? [piece.place] : piece.of.filter((operand) => typeof operand === 'object')
  })
}

/** One place of a question. Without `equals` and `absent` it must have a text. */
export type HandshakeCondition = HandshakePlace & {
  readonly equals?: string | number | boolean
  readonly absent?: true
}

export function handshakeConditions({
  header,
  query,
  body_path,
}: HandshakeForm['when']): readonly HandshakeCondition[] {
  return [
    ...listOf(header).map((of) =>
      typeof of === 'string'
        ? { in: 'header' as const, name: of.toLowerCase() }
        : { in: 'header' as const, name: of.name.toLowerCase(), equals: of.equals },
    ),
    ...listOf(query).map((of) =>
      typeof of === 'string' ? { in: 'query' as const, name: of } : { in: 'query' as const, ...of },
    ),
    ...listOf(body_path).map((of) => {
      if (typeof of === 'string') return { in: 'body' as const, name: of }
      const { path: name, ...rest } = of
      return { in: 'body' as const, name, ...rest }
    }),
  ]
}

function listOf<Item>(value: Item | Item[] | undefined): readonly Item[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

/** Whether an endpoint with this handshake needs a verify token, takes one, or has no use for it. */
export function verifyTokenNeed(handshake: {
  readonly kind?: HandshakeKind | undefined
  readonly proof?: HandshakeForm['proof'] | undefined
  readonly answer?: HandshakeForm['answer'] | undefined
}): 'required' | 'optional' | 'none' {
  const { kind = 'custom', proof, answer } = handshake
  if (kind === 'hub_challenge') return 'required'
  if (kind === 'url_verification') return 'optional'
  if (kind !== 'custom' || answer === undefined) return 'none'
  const isHashed = answerPieces(answer).some(
    (piece) => typeof piece === 'object' && 'of' in piece && piece.of.includes('verify_token'),
  )
  return proof?.kind === 'token' || isHashed ? 'required' : 'none'
}
