import { malformed, missing, type Reading, type Recipe, type Signed } from './reading.ts'

const HEADER = 'X-Shopify-Hmac-Sha256'
const FORM = '<base64 of 32 bytes>'
const WELL_FORMED = /^[A-Za-z0-9+/]{43}=$/
const RECIPE: Recipe = { prefix: '', algorithm: 'sha256', encoding: 'base64' }

/** The base64 digest of the body. */
export function readCommercePlatform(headers: Signed['headers']): Reading {
  const value = headers['x-shopify-hmac-sha256']
  return {
    header: HEADER,
    form: FORM,
    value,
    given: value === undefined ? [] : [value],
    before: '',
    recipe: RECIPE,
    time: undefined,
    failure: value === undefined ? missing(HEADER) : WELL_FORMED.test(value) ? undefined : malformed(HEADER, FORM),
  }
}
