import type { Conditions } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import { filterItems } from '../../tasks/filter-items.ts'

type Matching = {
  readonly workspaceId: string
  readonly texts: readonly string[]
  readonly conditions: Conditions
}

/** The items that meet the conditions, which compare with strict equality. */
export async function matching(
  { heavy }: Pick<Deps, 'heavy'>,
  { workspaceId, texts, conditions }: Matching,
): Promise<readonly string[]> {
  if (conditions.length === 0) return texts
  const chars = texts.reduce((sum, { length }) => sum + length, 0)
  const input = { texts, conditions: stringifyJson(conditions) }
  const work = chars * (1 + conditions.length)
  const kept = await heavy.run(filterItems, { workspaceId, isPatient: true, input, work })
  return kept.flatMap((at) => texts[at] ?? [])
}
