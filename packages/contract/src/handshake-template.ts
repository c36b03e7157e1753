import { splitPath } from './dot-path.ts'

/** The small language of the answer to a handshake: text with `{{ … }}`, each a value of the question or a digest of some. */

/** A value of the question. The name of a header is in lower case; that of the body is a dot path. */
export type HandshakePlace = { readonly in: 'header' | 'query' | 'body'; readonly name: string }

/** `url` is the public URL of the endpoint. Both are only part of a digest, so no answer shows the verify token. */
export type HandshakeOperand = HandshakePlace | 'verify_token' | 'url'

export const HANDSHAKE_DIGESTS = ['hmac_sha256', 'hmac_sha1', 'sha256'] as const
export type HandshakeDigest = (typeof HANDSHAKE_DIGESTS)[number]

export type HandshakePiece =
  | string
  /** `otherwise` is the text if the question lacks the value; undefined: then the question is refused. */
  | { readonly place: HandshakePlace; readonly otherwise: string | undefined }
  | {
      readonly digest: HandshakeDigest
      readonly of: readonly HandshakeOperand[]
      readonly encoding: 'hex' | 'base64'
    }

const EXAMPLE = '{{ query.challenge }}'
const OUTPUT = /\{\{([^{}]*)\}\}/g
const PLACE = /^(header|query|body)\.([^\s|"]+)$/
const ECHO = /^(\S+)(?:\s*\|\s*default:\s*"([^"]*)")?$/

/** The pieces of a text, or the fault in a sentence without a subject. */
export function handshakePieces(text: string): readonly HandshakePiece[] | { readonly error: string } {
  const pieces: HandshakePiece[] = []
  let from = 0
  for (const { 0: whole, 1: inner = '', index } of text.matchAll(OUTPUT)) {
    if (index > from) pieces.push(text.slice(from, index))
    const piece = pieceOf(inner.trim())
    if (piece === undefined)
      return {
        error: `has "${whole.slice(0, 80)}", which is none of {{ query.x }}, {{ header.x }}, {{ body.x }} and {{ hmac_sha256 body.x }}`,
      }
    pieces.push(piece)
    from = index + whole.length
  }
  const rest = text.slice(from)
  if (pieces.length === 0 ? OPEN.test(text) : pieces.some((piece) => typeof piece === 'string' && OPEN.test(piece)))
    return { error: UNCLOSED }
  if (OPEN.test(rest)) return { error: UNCLOSED }
  return rest === '' ? pieces : [...pieces, rest]
}

const OPEN = /\{\{/
const UNCLOSED = `has a "{{" without its "}}"; write a value as ${EXAMPLE}`

function pieceOf(inner: string): HandshakePiece | undefined {
  const [name = '', ...words] = inner.split(/\s+/)
  const digest = HANDSHAKE_DIGESTS.find((known) => known === name)
  if (digest !== undefined) return digestOf(digest, words)
  const [, named = '', otherwise] = ECHO.exec(inner) ?? []
  const place = placeOf(named)
  return place === undefined ? undefined : { place, otherwise }
}

function digestOf(digest: HandshakeDigest, words: readonly string[]): HandshakePiece | undefined {
  const last = words.at(-1)
  const encoding = last === 'hex' || last === 'base64' ? last : undefined
  const operands = (encoding === undefined ? words : words.slice(0, -1)).map(operandOf)
  const of = operands.filter((operand) => operand !== undefined)
  return of.length === 0 || of.length < operands.length ? undefined : { digest, of, encoding: encoding ?? 'hex' }
}

function operandOf(word: string): HandshakeOperand | undefined {
  return word === 'verify_token' || word === 'url' ? word : placeOf(word)
}

function placeOf(text: string): HandshakePlace | undefined {
  const [, where, name = ''] = PLACE.exec(text) ?? []
  switch (where) {
    case 'header':
      return { in: where, name: name.toLowerCase() }
    case 'query':
      return { in: where, name }
    case 'body':
      return splitPath(name).includes('') ? undefined : { in: where, name }
    case undefined:
    default:
      return undefined
  }
}

/** The pieces of every string in a JSON document; the fault of the first that has one. */
export function piecesInJson(value: unknown): readonly HandshakePiece[] | { readonly error: string } {
  if (typeof value === 'string') return handshakePieces(value)
  if (typeof value !== 'object' || value === null) return []
  const pieces: HandshakePiece[] = []
  for (const [name, member] of Object.entries(value)) {
    if (OPEN.test(name)) return { error: 'has a "{{" in the name of a member; only values are filled in' }
    const found = piecesInJson(member)
    if ('error' in found) return found
    pieces.push(...found)
  }
  return pieces
}
