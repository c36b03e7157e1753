import type { Conditions } from '@postroad/contract'
import { parseStoredJson } from '../domain/json/json-text.ts'
import { compileConditions } from '../domain/routing/condition.ts'
import { task } from '../platform/heavy/task.ts'

/** Both are JSON. */
type Asked = { readonly texts: readonly string[]; readonly conditions: string }

/** The places of the items that meet the conditions, which compare with strict equality. An item that is not JSON meets them. */
export const filterItems = task('items.filter', ({ texts, conditions }: Asked): readonly number[] => {
  const read = parseStoredJson(conditions)
  if (!read.ok) throw new Error(`Conditions are not JSON: ${read.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the source that asks
  const compiled = compileConditions(read.value as Conditions, 'strict')
  return texts.flatMap((text, at) => {
    const parsed = parseStoredJson(text)
    return parsed.ok && compiled.firstFailure({ payload: parsed.value, request: null }) !== undefined ? [] : [at]
  })
})
