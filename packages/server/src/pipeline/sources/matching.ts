import type { Conditions } from '@postroad/contract'
import { finish } from '../../domain/in-turns.ts'
import { parseStoredJson } from '../../domain/json/json-text.ts'
import { compileConditions, type CompiledConditions } from '../../domain/routing/condition.ts'
import { PacedWork } from '../../platform/paced-work.ts'

/** The items that meet the conditions, which compare with strict equality. */
export async function matching(
  texts: readonly string[],
  { conditions }: { readonly conditions: Conditions },
): Promise<readonly string[]> {
  if (conditions.length === 0) return texts
  const compiled: CompiledConditions = compileConditions(conditions, 'strict')
  const { spend } = new PacedWork(Infinity)
  const kept: string[] = []
  for (const text of texts) {
    // oxlint-disable-next-line no-await-in-loop -- one item after another
    await spend(text.length)
    const parsed = parseStoredJson(text)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const failed = parsed.ok ? await finish(compiled.firstFailure(parsed.value, spend)) : undefined
    if (failed === undefined) kept.push(text)
  }
  return kept
}
