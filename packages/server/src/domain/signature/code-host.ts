import { malformed, missing, type Reading, type Recipe, type Signed } from './reading.ts'

const HEADER = 'X-Hub-Signature-256'
const FORM = 'sha256=<hex>'
const WELL_FORMED = /^sha256=[0-9a-f]{64}$/
const RECIPE: Recipe = { prefix: 'sha256=', algorithm: 'sha256', encoding: 'hex' }

/** `sha256=<hex>` over the body. */
export function readCodeHost(headers: Signed['headers']): Reading {
  const value = headers['x-hub-signature-256']
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
