import { bytesOf, textOf } from '#crypto'
import { anyEqual, digest } from './digest.ts'
import type { Reading, Recipe, SignatureFailure } from './reading.ts'
import { otherHeaderHints, type HeldSecret, type SampleToExplain } from './schemes.ts'

/** Hints for a person when a sample is refused: likely mistakes, tried one at a time with the stored secrets. */
export function hintsFor(
  failure: SignatureFailure,
  at: { readonly sample: SampleToExplain; readonly reading: Reading },
): readonly string[] {
  switch (failure.step) {
    case 'secret':
      return at.sample.secrets.length > 0 ? ['The stored secret has expired. Set a new one.'] : []
    case 'header':
      return otherHeaderHints(at.sample)
    case 'tolerance':
      return [
        ...millisecondHints(at.reading),
        'Send "now" with the time at which the sample was received, so that its age does not matter.',
      ]
    case 'format':
    case 'timestamp':
    case 'digest':
      return [...millisecondHints(at.reading), ...signatureHints(at)]
  }
}

function millisecondHints({ time }: Reading): readonly string[] {
  return time?.timestamp !== undefined && time.timestamp >= 100_000_000_000
    ? ['The timestamp looks like milliseconds; this scheme uses seconds.']
    : []
}

const NOTHING_FOUND =
  'The signature matches none of the usual changes of the body. Most likely the sender signs with another secret. Copy the secret from the sender again.'

const otherSecret = ({ recipe: { thing } }: Reading): string =>
  `The ${thing ?? 'signature'} was made for another secret, or with other settings. Copy the secret from the sender once more.`

function signatureHints(at: { sample: SampleToExplain; reading: Reading }): readonly string[] {
  // There is no other way to make a token, or a signature by a private key, that could be tried here.
  if (at.reading.recipe.accepts !== undefined) return [otherSecret(at.reading)]
  const tokens = tokensIn(at.reading.value ?? '')
  const found = at.sample.secrets
    .map((secret) => mistakeWith(secret, { ...at, tokens }))
    .find((hints) => hints !== undefined)
  return found ?? [NOTHING_FOUND]
}

type Trial = { readonly sample: SampleToExplain; readonly reading: Reading; readonly tokens: readonly string[] }

/**
 * Returns the sentences that describe how the signature was made, if it was made with this secret in one of the ways tried
 * here.
 */
function mistakeWith(secret: HeldSecret, trial: Trial): readonly string[] | undefined {
  const { reading, sample, tokens } = trial
  const asSet = [
    { recipe: reading.recipe, before: reading.before, after: reading.after, hints: [] as readonly string[] },
  ]
  const ways = [...asSet, ...otherWays(reading, secret.value)]
  for (const body of [{ bytes: sample.body, hint: undefined }, ...bodyVariants(sample.body)]) {
    // Each mistake is tried alone: only the unchanged body is tried in every way.
    for (const way of body.hint === undefined ? ways : asSet) {
      const written = writtenAs(tokens, { secret: secret.value, way, body: body.bytes })
      if (written === undefined) continue
      const ended = secret.ended === true ? ['It was made with the previous secret, which no longer verifies.'] : []
      const made = [...(body.hint === undefined ? [] : [body.hint]), ...way.hints]
      return [...ended, ...made, ...writingHints(written, { reading, explained: made.length > 0 })]
    }
  }
  return undefined
}

type Way = {
  readonly recipe: Pick<Recipe, 'algorithm' | 'keyOf' | 'contentOf'>
  readonly before: string
  readonly after: string | undefined
  readonly hints: readonly string[]
}

const IS_BASE64 = /^[A-Za-z0-9+/_-]{16,}={0,2}$/
const IS_HEX = /^(?:[0-9A-Fa-f]{2}){8,}$/

/**
 * Signed bytes, digests and interpretations of the secret other than those of the settings. A secret is decoded as a
 * whole or not at all: a part of it would be a key short enough to be guessed here, and so to be read out.
 */
function otherWays({ recipe, before, after }: Reading, secret: string): readonly Way[] {
  const algorithm = recipe.algorithm === 'sha256' ? 'sha1' : 'sha256'
  const encoded = secret.replace(/^whsec_/, '')
  const keyed = (key: string | Uint8Array, hint: string): Way => ({
    recipe: { ...recipe, keyOf: () => key },
    before,
    after,
    hints: [hint],
  })
  return [
    ...(before === ''
      ? []
      : [
          {
            recipe,
            before: '',
            after: undefined,
            hints: ['The signature covers the body alone, without the text that this scheme puts before it.'],
          },
        ]),
    {
      recipe: { ...recipe, algorithm },
      before,
      after,
      hints: [`The digest is made with ${algorithm}; this endpoint is set to ${recipe.algorithm}.`],
    },
    keyed(secret, 'The sender signs with the text of the secret; this scheme signs with the bytes that it encodes.'),
    keyed(secret.trim(), 'The stored secret starts or ends with white space, but the sender signs without it.'),
    ...(IS_BASE64.test(encoded) ? [keyed(bytesOf(encoded, 'base64'), decodedHint('base64'))] : []),
    ...(IS_HEX.test(secret) ? [keyed(bytesOf(secret, 'hex'), decodedHint('hex'))] : []),
  ]
}

const decodedHint = (encoding: string): string =>
  `The sender signs with the bytes that the secret encodes in ${encoding}; this scheme signs with its text.`

type Written = 'hex' | 'HEX' | 'base64' | 'base64url'

/** How the digest is written in the header, if it is there. The comparison takes the same time whatever the header contains. */
function writtenAs(
  tokens: readonly string[],
  made: { secret: string; way: Way; body: Uint8Array },
): Written | undefined {
  const { algorithm, keyOf, contentOf } = made.way.recipe
  const key = keyOf === undefined ? made.secret : keyOf(made.secret)
  const { before, after } = made.way
  const body = contentOf === undefined ? made.body : contentOf(made.body)
  const hex = digest({ key, before, body, after, algorithm, encoding: 'hex' })
  const bytes = bytesOf(hex, 'hex')
  const forms: readonly (readonly [Written, string])[] = [
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
    ['base64', textOf(bytes, 'base64')],
    ['base64url', textOf(bytes, 'base64url')],
    ['base64', textOf(bytes, 'base64').replace(/=+$/, '')],
  ]
  return forms.find(([, text]) => anyEqual(tokens, text))?.[0]
}

/**
 * The mistake in the encoding of a correct digest. The form of the header is mentioned only when nothing else explains
 * the failure.
 */
function writingHints(
  written: Written,
  { reading, explained }: { reading: Reading; explained: boolean },
): readonly string[] {
  const { encoding } = reading.recipe
  if (written !== encoding)
    return [`The digest is correct but encoded as ${NAMES[written]}. This endpoint expects ${NAMES[encoding]}.`]
  if (explained || reading.failure?.step !== 'format') return []
  return [
    `The digest is correct, but the header does not have the form ${reading.form}. Check the text around the digest.`,
  ]
}

const NAMES: Readonly<Record<Written, string>> = {
  hex: 'lower-case hex',
  HEX: 'capital hex',
  base64: 'base64',
  base64url: 'base64url',
}

/** Everything in a header that may be a digest: its items, with and without the text before a "=" or a ",". */
function tokensIn(value: string): readonly string[] {
  const tokens = new Set<string>()
  for (const item of [value, ...value.split(/[\s,;]+/)]) {
    tokens.add(item.trim())
    const equals = item.indexOf('=')
    if (equals > 0) tokens.add(item.slice(equals + 1).trim())
  }
  tokens.delete('')
  return [...tokens].slice(0, 16)
}

type BodyVariant = { readonly bytes: Uint8Array; readonly hint: string }

/** The body as it may have been before something on the way rewrote it. */
function bodyVariants(body: Uint8Array): readonly BodyVariant[] {
  const text = textOf(body, 'utf8')
  const variants: [string, string][] = [
    ['the white space at its end removed', text.trimEnd()],
    ['a line break at its end', `${text}\n`],
    ['a byte order mark removed', text.replace(/^\uFEFF/, '')],
    ['LF line breaks instead of CRLF', text.replaceAll('\r\n', '\n')],
    ['CRLF line breaks instead of LF', text.replace(/\r?\n/g, '\r\n')],
    ...jsonVariants(text),
    ['nothing in it', ''],
  ]
  return variants
    .filter(([, variant]) => variant !== text)
    .map(([what, variant]) => ({
      bytes: bytesOf(variant, 'utf8'),
      hint: `The signature is valid for the body with ${what}. The body was changed in transit.`,
    }))
}

function jsonVariants(text: string): [string, string][] {
  const tokens = tokensOfJson(text)
  if (tokens === undefined) return []
  const compact = tokens.join('')
  return [
    ['its JSON compacted', compact],
    ['its JSON compacted and a line break at its end', `${compact}\n`],
    ['a space after each comma and colon of its JSON', spaced(compact)],
    ['its JSON indented by two spaces', indented(tokens, '  ')],
    ['its JSON indented by four spaces', indented(tokens, '    ')],
    ['the slashes of its JSON escaped', compact.replaceAll('/', '\\/')],
    ['the non-ASCII characters of its JSON escaped', escaped(compact)],
    ['a space after each comma and colon of its JSON and the non-ASCII characters escaped', escaped(spaced(compact))],
  ]
}

/** The tokens of a JSON text, its numbers as written; undefined when it is no JSON. */
function tokensOfJson(text: string): readonly string[] | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  return tokens.map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token))
}

/** As `JSON.stringify` indents. */
function indented(tokens: readonly string[], step: string): string {
  let depth = 0
  const line = (): string => `\n${step.repeat(depth)}`
  const written = tokens.map((token, at) => {
    const [last = '', next = ''] = [tokens[at - 1], tokens[at + 1]]
    if (token === ':') return ': '
    if (token === ',') return `,${line()}`
    if ('{['.includes(token)) {
      depth += 1
      return '}]'.includes(next) ? token : token + line()
    }
    if (!'}]'.includes(token)) return token
    depth -= 1
    return '{['.includes(last) ? token : line() + token
  })
  return written.join('')
}

/** Compact JSON as Python writes it. The content of strings stays unchanged. */
function spaced(compact: string): string {
  return compact.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[,:]/g, (token) => (token.length === 1 ? `${token} ` : token))
}

function escaped(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
