import { sha256 } from '#crypto'
import type { VerificationSettings } from './settings.ts'
import { anyEqual, digest } from './digest.ts'
import { claimIn, tokenIn, type Token } from './json-web-token.ts'
import { malformed, missing, type Reading, type Recipe, type Signed } from './reading.ts'
import { valueIn } from './signed-content.ts'

export type JwtSettings = Extract<VerificationSettings, { scheme: 'jwt' }>

const NAMES = { sha256: 'HS256', sha384: 'HS384', sha512: 'HS512' } as const

/** A JSON Web Token that is signed with the secret, and has the hash of the body in a claim. */
export function readJwt(headers: Signed['headers'], settings: JwtSettings): Reading {
  const { header, prefix, tolerance_seconds } = settings
  const value = valueIn(headers, header)
  const token = value?.startsWith(prefix) === true ? tokenIn(value.slice(prefix.length)) : undefined
  const form = `${prefix}<token>`
  const timestamp = token === undefined ? undefined : timeOf(token.claims)
  return {
    header,
    form,
    value,
    given: token === undefined ? [] : [token.signature],
    before: '',
    recipe: recipeFor(token, settings),
    time: { header, timestamp, tolerance: tolerance_seconds },
    failure:
      value === undefined
        ? missing(header)
        : token === undefined || token.head['alg'] !== NAMES[settings.algorithm]
          ? malformed(header, `${form} by ${NAMES[settings.algorithm]}`)
          : timestamp === undefined
            ? malformed(header, `${form} with a time (iat, nbf or exp)`, 'timestamp')
            : undefined,
  }
}

function recipeFor(token: Token | undefined, settings: JwtSettings): Recipe {
  const { algorithm, body_hash_claim: claim, body_hash_encoding: encoding } = settings
  return {
    prefix: '',
    algorithm,
    encoding: 'base64url',
    accepts: (secret, { body }) => {
      if (token === undefined) return false
      const signature = digest({ key: secret, body: token.signed, algorithm, encoding: 'base64url' })
      const hash = claimIn(token.claims, claim)
      const isRight = anyEqual([token.signature], signature)
      return isRight && typeof hash === 'string' && isHashOf(body, { hash, encoding })
    },
  }
}

function isHashOf(
  body: Uint8Array,
  { hash, encoding }: { readonly hash: string; readonly encoding: JwtSettings['body_hash_encoding'] },
): boolean {
  const expected = sha256({ content: body, encoding })
  return anyEqual([encoding === 'hex' ? hash.toLowerCase() : hash], expected)
}

/** When the token was issued; without that claim, the start or the end of its validity. */
function timeOf(claims: Token['claims']): number | undefined {
  const [time] = [claims['iat'], claims['nbf'], claims['exp']].filter((value) => typeof value === 'number')
  return time === undefined || !Number.isFinite(time) ? undefined : Math.floor(time)
}
