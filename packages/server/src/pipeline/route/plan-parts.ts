import {
  sharesOf,
  writeChoosing,
  writeDestinations,
  type Choosing,
} from '../../domain/routing/decision/decision-plan.ts'
import { uuidOf, uuidOfDigest } from '../../platform/ids.ts'
import type { PlanPart, PlanPartsOf } from '../../resources/capture/routing-plans/index.ts'
import type { DestinationShare } from '../../resources/delivery/destinations/queries.ts'
import { decidingOf, destinationOf, type DestinationPlan, type RoutingRows } from './routing.ts'

/** A share of the destinations of a project, compiled. A plan that has the same share has this very one. */
export type CompiledShare = DestinationShare & { readonly plans: readonly DestinationPlan[] }

/** Shares in which nothing changed came without their rows, and stay as they were compiled before. */
export function compileShares(
  shares: readonly DestinationShare[],
  known: ReadonlyMap<string, CompiledShare>,
): readonly CompiledShare[] {
  return shares.map((share) => known.get(share.digest) ?? { ...share, plans: share.rows.map(destinationOf) })
}

/** The parts in which the settings of a project are stored for the reasons of its decisions. */
export function partsOf(
  { rules, workflows, triggers }: Pick<RoutingRows, 'rules' | 'workflows' | 'triggers'>,
  shares: readonly CompiledShare[],
): PlanPartsOf {
  return {
    rules: choosing(rules),
    destinations: shares.map(({ digest, rows }) => ({
      id: uuidOfDigest(digest),
      content: () => writeDestinations(rows.map(decidingOf)),
    })),
    workflows: choosing(
      workflows.map(({ entry_dataset: dataset, entry_conditions: conditions, ...row }) => ({
        ...row,
        dataset,
        conditions,
      })),
    ),
    triggers: choosing(triggers),
  }
}

const choosing = (rows: readonly Choosing[]): readonly PlanPart[] =>
  sharesOf(rows).map((share) => {
    const content = writeChoosing(share)
    return { id: uuidOf(content), content: () => content }
  })
