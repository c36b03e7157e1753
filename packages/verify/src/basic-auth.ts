import { bytesOf, textOf } from '#crypto'
import { malformed, missing, type Reading, type Recipe, type Signed } from './reading.ts'
import { isSame } from './static-token.ts'

const HEADER = 'Authorization'
const FORM = 'Basic <base64 of user:password>'
const WELL_FORMED = /^basic +([A-Za-z0-9+/]+={0,2})$/i

const RECIPE: Recipe = {
  prefix: '',
  algorithm: 'sha256',
  encoding: 'base64',
  thing: 'user name and password',
  accepts: (secret, { reading }) => reading.given.some((text) => isSame(text, secret)),
}

/** HTTP Basic authentication (RFC 7617). The secret is `user:password`. */
export function readBasicAuth(headers: Signed['headers']): Reading {
  const value = headers['authorization']
  const encoded = value === undefined ? undefined : WELL_FORMED.exec(value)?.[1]
  return {
    header: HEADER,
    form: FORM,
    value,
    given: encoded === undefined ? [] : [textOf(bytesOf(encoded, 'base64'), 'utf8')],
    before: '',
    recipe: RECIPE,
    time: undefined,
    failure: value === undefined ? missing(HEADER) : encoded === undefined ? malformed(HEADER, FORM) : undefined,
  }
}
